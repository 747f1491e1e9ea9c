import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import type { Role } from './operator.ts'

/** A user who may sign in, possibly only after accepting an invitation. */
export interface User {
  userId: bigint
  email: string
  role: Role
  agentId: bigint | null
  /** The user has an authenticator and a password, or an authenticator and an issuer. */
  isEnrolled: boolean
  /** The user signs in at an issuer and has no password. */
  isSso: boolean
  disabledAt: Date | null
  /** Since when the password signs in no new device: somebody who knew it guessed codes. */
  codesStoppedAt: Date | null
  createdAt: Date
  updatedAt: Date
}

export interface UserRow {
  user_id: bigint
  email: string
  role: Role
  agent_id: bigint | null
  is_enrolled: boolean
  is_sso: boolean
  disabled_at: Date | null
  codes_stopped_at: Date | null
  created_at: Date
  updated_at: Date
}

/** All columns of a user except the credentials. */
export const userColumns = `user_id, email, role, agent_id, sealed_totp_secret is not null as is_enrolled,
  oidc_issuer is not null as is_sso, disabled_at, codes_stopped_at, created_at, updated_at`

export function userFromRow(row: UserRow): User {
  return {
    userId: row.user_id,
    email: row.email,
    role: row.role,
    agentId: row.agent_id,
    isEnrolled: row.is_enrolled,
    isSso: row.is_sso,
    disabledAt: row.disabled_at,
    codesStoppedAt: row.codes_stopped_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

/** An email address in its stored form, or undefined if it is not one. */
export function parseEmail(text: string): string | undefined {
  const email = text.trim().toLowerCase()
  return /^[^@\s\p{C}]+@[^@\s\p{C}]+$/u.test(email) && email.length <= 254 ? email : undefined
}

export async function findUser(db: Pool | Tx, userId: bigint): Promise<User | undefined> {
  const { rows } = await db.query<UserRow>(`select ${userColumns} from users where user_id = $1`, [
    userId,
  ])
  return rows[0] && userFromRow(rows[0])
}

export async function findUserByEmail(db: Pool | Tx, email: string): Promise<User | undefined> {
  const { rows } = await db.query<UserRow>(`select ${userColumns} from users where email = $1`, [
    email,
  ])
  return rows[0] && userFromRow(rows[0])
}

/** All users, with when each was last seen. */
export async function listUsers(pool: Pool): Promise<(User & { lastSeenAt: Date | null })[]> {
  const { rows } = await pool.query<UserRow & { last_seen_at: Date | null }>(
    `select ${userColumns}, (select max(s.last_seen_at) from sessions s
       where s.user_id = users.user_id) as last_seen_at
     from users order by user_id`,
  )
  return rows.map((row) => ({ ...userFromRow(row), lastSeenAt: row.last_seen_at }))
}

/** How many users' passwords are known to somebody who guessed codes. */
export async function countStoppedUsers(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    'select count(*)::int as count from users where codes_stopped_at is not null and disabled_at is null',
  )
  return rows[0]?.count ?? 0
}
