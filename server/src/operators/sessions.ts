import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { addressKey } from '../lib/address-key.ts'
import { asAgentUser } from './agent-views.ts'
import type { Operator, Role } from './operator.ts'

/** A session ends after this long without a request, and at the latest this long after its start. */
export const idleLimitMs = 30 * 60_000
export const absoluteLimitMs = 12 * 3_600_000
/** Who signs in at an issuer does so again after this long: it may have dismissed them, or changed what they are. */
export const ssoLimitMs = 3_600_000
/** The last-seen time is written at most this often. */
const seenEveryMs = 60_000

export interface SessionView {
  sessionId: string
  ip: string
  userAgent: string | null
  createdAt: Date
  lastSeenAt: Date
}

/** The hash that the database stores for a token held by a browser or in a link. */
export function hashOfToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

/** 32 random bytes, encoded for a cookie or a link. */
export function newToken(): string {
  return randomBytes(32).toString('base64url')
}

/** Starts a session. Only the caller gets the token; the database stores its hash. */
export async function startSession(
  tx: Pool | Tx,
  { userId, ip, userAgent }: { userId: bigint; ip: string; userAgent: string | undefined },
  now: Date,
): Promise<{ token: string; sessionId: string }> {
  const token = newToken()
  const sessionId = randomUUID()
  await tx.query(
    `insert into sessions (session_id, user_id, token_hash, ip, user_agent, created_at, last_seen_at)
     values ($1, $2, $3, $4, $5, $6, $6)`,
    [sessionId, userId, hashOfToken(token), ip, userAgent?.slice(0, 256) ?? null, now],
  )
  return { token, sessionId }
}

/**
 * Finds the session of a token. It queries the database each time, so that every process refuses a revoked
 * session at once, and a session that sees an agent's console does so on each. `isUse` is false for a page's background requests, which do not keep a session alive.
 */
export async function findSession(
  pool: Pool,
  token: string,
  ip: string,
  now: Date,
  isUse: boolean,
): Promise<Operator | undefined> {
  const { rows } = await pool.query<{
    session_id: string
    last_seen_at: Date
    user_id: bigint
    email: string
    role: Role
    agent_id: bigint | null
    views_agent_id: bigint | null
    views_until: Date | null
  }>({
    name: 'session-of-token',
    text: `select s.session_id::text, s.last_seen_at, u.user_id, u.email, u.role, u.agent_id,
             s.views_agent_id, s.views_until
           from sessions s join users u using (user_id)
           where s.token_hash = $1 and s.ended_at is null and u.disabled_at is null
             and s.last_seen_at > $2
             and s.created_at > case when u.oidc_issuer is null then $3::timestamptz else $4 end`,
    values: [
      hashOfToken(token),
      before(now, idleLimitMs),
      before(now, absoluteLimitMs),
      before(now, ssoLimitMs),
    ],
  })
  const row = rows[0]
  if (!row) return undefined
  if (isUse && row.last_seen_at <= before(now, seenEveryMs)) {
    await pool.query(
      'update sessions set last_seen_at = greatest(last_seen_at, $2) where session_id = $1',
      [row.session_id, now],
    )
  }
  const operator = {
    userId: row.user_id,
    email: row.email,
    role: row.role,
    agentId: row.agent_id,
    sessionId: row.session_id,
    ip,
  }
  if (row.views_agent_id === null) return operator
  return asAgentUser(operator, { agentId: row.views_agent_id, until: row.views_until })
}

/** A user's active sessions, newest first. */
export async function listSessions(pool: Pool, userId: bigint, now: Date): Promise<SessionView[]> {
  const { rows } = await pool.query<{
    session_id: string
    ip: string
    user_agent: string | null
    created_at: Date
    last_seen_at: Date
  }>(
    `select session_id::text, ip, user_agent, created_at, last_seen_at from sessions
     where user_id = $1 and ended_at is null and last_seen_at > $2 and created_at > $3
     order by created_at desc, session_id limit 100`,
    [userId, before(now, idleLimitMs), before(now, absoluteLimitMs)],
  )
  return rows.map((row) => ({
    sessionId: row.session_id,
    ip: row.ip,
    userAgent: row.user_agent,
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at,
  }))
}

/** Ends one session of a user; returns false if they have no such active session. */
export async function endSession(
  tx: Pool | Tx,
  userId: bigint,
  sessionId: string,
  now: Date,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    'update sessions set ended_at = $3 where session_id = $2 and user_id = $1 and ended_at is null',
    [userId, sessionId, now],
  )
  return rowCount === 1
}

/** Ends all sessions of a user, except the given one. */
export async function endSessions(
  tx: Tx,
  userId: bigint,
  now: Date,
  except: string | null = null,
): Promise<void> {
  await tx.query(
    `update sessions set ended_at = $2
     where user_id = $1 and ended_at is null and session_id is distinct from $3`,
    [userId, now, except],
  )
}

/** Whether this user has signed in before from this address, or from one so near that it counts as the same. */
export async function hasBeenNear(db: Pool | Tx, userId: bigint, ip: string): Promise<boolean> {
  const { rows } = await db.query<{ ip: string }>(
    'select distinct ip from sessions where user_id = $1 limit 1000',
    [userId],
  )
  return rows.some((each) => addressKey(each.ip) === addressKey(ip))
}

/** Whether this user has signed in from this address before. */
export async function hasBeenAt(pool: Pool, userId: bigint, ip: string): Promise<boolean> {
  const { rows } = await pool.query(
    'select 1 from sessions where user_id = $1 and ip = $2 limit 1',
    [userId, ip],
  )
  return rows.length > 0
}

function before(now: Date, ms: number): Date {
  return new Date(now.getTime() - ms)
}

/** Whether any user has ever signed in: before, nobody but the command line can decide on anything. */
export async function hasAnybodySignedIn(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query<{ has: boolean }>(
    'select exists (select 1 from sessions) as has',
  )
  return rows[0]?.has === true
}
