import { inTransaction, type Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { fieldProblem, Problem } from '../lib/problem.ts'
import { type SecretKeys, seal, unseal } from '../lib/secret-box.ts'
import { writeAudit } from './audit.ts'
import { noteCredentials } from './credentials.ts'
import type { Role } from './operator.ts'
import { hashPassword, passwordFault } from './password.ts'
import { endSessions, hashOfToken, newToken } from './sessions.ts'
import { tellOwner } from './tell-people.ts'
import { newTotpSecret, stepOfCode } from './totp.ts'
import { findUser, parseEmail, type User } from './user.ts'

export const invitationValidMs = 24 * 3_600_000

export interface Invitation {
  /** Null for the first admin, who is not a user yet. */
  user: User | null
  role: Role
  /** The authenticator's secret, in base 32. */
  totpSecret: string
  expiresAt: Date
}

/**
 * The address of an invitation link. Browsers send what stands after # to nobody, so no log holds the token. Without a
 * token: where somebody signs in at an issuer.
 */
export function invitationLink(publicUrl: string, token: string | undefined): string {
  const page = token === undefined ? 'sign-in' : `invitation#${token}`
  return `${publicUrl.replace(/\/+$/, '')}/console/${page}`
}

/** Creates the single-use link with which a user chooses a password; the previous link ends. */
export async function invite(tx: Tx, userId: bigint, now: Date): Promise<string> {
  await tx.query('update invitations set ended_at = $2 where user_id = $1 and ended_at is null', [
    userId,
    now,
  ])
  return insertInvitation(tx, userId, now)
}

/** Creates a link for the first admin of a database without users; returns undefined if there are users. */
export async function inviteFirstAdmin(pool: Pool, now: Date): Promise<string | undefined> {
  const { rows } = await pool.query('select 1 from users limit 1')
  return rows.length > 0 ? undefined : insertInvitation(pool, null, now)
}

async function insertInvitation(db: Pool | Tx, userId: bigint | null, now: Date): Promise<string> {
  const token = newToken()
  await db.query(
    `insert into invitations (token_hash, user_id, created_at, expires_at)
     values ($1, $2, $3, $4)`,
    [hashOfToken(token), userId, now, new Date(now.getTime() + invitationValidMs)],
  )
  return token
}

/**
 * Opens an invitation for a browser. The first to open it gets an authenticator's secret that is drawn for it, and
 * sees it again; for every other browser the link has ended. So nobody who saw the link before or after can have the
 * secret that the user enrols.
 */
export async function openInvitation(
  pool: Pool,
  secretKeys: SecretKeys,
  { token, browser }: InvitationHolder,
  now: Date,
): Promise<Invitation | undefined> {
  const hash = hashOfToken(token)
  await pool.query(
    `update invitations set browser_hash = $2, sealed_totp_secret = $3
     where token_hash = $1 and browser_hash is null and ended_at is null and expires_at > $4`,
    [hash, hashOfToken(browser), seal(secretKeys, ownerOf(hash), newTotpSecret()), now],
  )
  return findOpened(pool, secretKeys, { token, browser }, now)
}

/** What opens an invitation: the link's token, and what its browser was given at the first look. */
export interface InvitationHolder {
  token: string
  browser: string
}

async function findOpened(
  db: Pool | Tx,
  secretKeys: SecretKeys,
  { token, browser }: InvitationHolder,
  now: Date,
): Promise<Invitation | undefined> {
  const hash = hashOfToken(token)
  const { rows } = await db.query<{
    user_id: bigint | null
    sealed_totp_secret: Buffer
    expires_at: Date
  }>(
    `select user_id, sealed_totp_secret, expires_at from invitations
     where token_hash = $1 and browser_hash = $3 and ended_at is null and expires_at > $2
       and (user_id is not null or not exists (select 1 from users))`,
    [hash, now, hashOfToken(browser)],
  )
  const row = rows[0]
  if (!row) return undefined
  const user = row.user_id === null ? null : await findUser(db, row.user_id)
  if (user === undefined || user?.disabledAt) return undefined
  const totpSecret = unseal(secretKeys, ownerOf(hash), row.sealed_totp_secret)
  if (totpSecret === undefined) return undefined
  return {
    user,
    role: user?.role ?? 'admin',
    totpSecret,
    expiresAt: row.expires_at,
  }
}

export interface Acceptance {
  /** Only the first admin enters an email address. */
  email: string | undefined
  password: string
  code: string
  ip: string
}

/** Turns an invitation into a user who can sign in, once per link. */
export async function acceptInvitation(
  pool: Pool,
  secretKeys: SecretKeys,
  holder: InvitationHolder,
  { password, code, ip, ...given }: Acceptance,
  now: Date,
): Promise<User> {
  const found = await findOpened(pool, secretKeys, holder, now)
  if (!found) throw invitationEnded()
  const email = found.user?.email ?? parseEmail(given.email ?? '')
  if (email === undefined) throw fieldProblem('email', 'must be an email address')
  const fault = passwordFault(password, email)
  if (fault !== undefined) throw fieldProblem('password', fault)
  const step = stepOfCode(found.totpSecret, code, now)
  if (step === undefined) {
    throw new Problem('code_refused', 'Scan the QR code and send the code that is shown now.')
  }
  const passwordHash = await hashPassword(password)
  return inTransaction(pool, async (tx) => {
    // Of two simultaneous acceptances, the second finds the link used, or the first admin's number taken.
    const { rowCount } = await tx.query(
      'update invitations set ended_at = $2 where token_hash = $1 and ended_at is null',
      [hashOfToken(holder.token), now],
    )
    if (rowCount !== 1) throw invitationEnded()
    const userId = found.user?.userId ?? (await insertFirstAdmin(tx, email, now))
    await tx.query(
      `update users set password_hash = $2, sealed_totp_secret = $3, last_totp_step = $4,
         updated_at = $5, code_failures = 0, device_failures = 0, codes_stopped_at = null
       where user_id = $1`,
      [userId, passwordHash, seal(secretKeys, `user ${userId}`, found.totpSecret), step, now],
    )
    await endSessions(tx, userId, now)
    await writeAudit(tx, {
      at: now,
      operator: { userId, email, ip },
      action: 'accept_invitation',
      subject: { kind: 'user', id: String(userId) },
      agentId: found.user?.agentId ?? null,
      after: { email, role: found.role },
    })
    const words = 'A password and an authenticator were chosen for your account.'
    await tellOwner(tx, userId, { what: 'has credentials', words, at: now })
    const user = await findUser(tx, userId)
    if (!user) throw new Error('a user is not there after accepting an invitation')
    return user
  })
}

/** The first user has the number 1, which can be taken only once. */
async function insertFirstAdmin(tx: Tx, email: string, now: Date): Promise<bigint> {
  const { rowCount } = await tx.query(
    `insert into users (user_id, email, role, created_at, updated_at)
     values (1, $1, 'admin', $2, $2) on conflict do nothing`,
    [email, now],
  )
  if (rowCount !== 1) throw invitationEnded()
  await noteCredentials(tx, 1n, null, now)
  return 1n
}

function ownerOf(hash: Buffer): string {
  return `invitation ${hash.toString('hex')}`
}

function invitationEnded(): Problem {
  return new Problem('not_found', 'This link has been used or has ended: ask for a new one.')
}
