import { removeChannels } from '../alerts/alert-channels.ts'
import { inTransaction, type Tx } from '../db/in-transaction.ts'
import { type Pool, sqlState } from '../db/pool.ts'
import { fieldProblem, Problem } from '../lib/problem.ts'
import { type Outsider, writeAudit } from './audit.ts'
import { credentialOf, nobody, noteCredentials } from './credentials.ts'
import { invite } from './invite.ts'
import type { Operator, Role } from './operator.ts'
import { removePasskeys } from './passkeys.ts'
import { endSessions } from './sessions.ts'
import { takeEffect } from './take-effect.ts'
import { tellAdmins, tellOwner } from './tell-people.ts'
import { findUser, type User } from './user.ts'

/** Who requests a change, and why. */
export interface Asked {
  operator: Operator | Outsider
  reason: string | null
  at: Date
  /** What a proposer is shown of a new link, once. */
  answerOf?: (made: Invited) => object
}

export interface Invited {
  user: User
  /** The token of the link; the database stores only its hash. Undefined for a user who signs in at an issuer. */
  token: string | undefined
}

/**
 * Creates a user and the link with which they choose a password. Who makes users alone could hold their links: they
 * count as one person where two have to decide, but for the first colleague and the first other admin. Without those
 * nobody in a new house could decide anything.
 */
export async function createUser(
  pool: Pool,
  { email, role, agentId }: Pick<User, 'email' | 'role' | 'agentId'>,
  asked: Asked,
  options: { isAlone: boolean } = { isAlone: false },
): Promise<Invited & { token: string }> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await inTransaction(pool, async (tx) => {
        const { rows } = await tx.query<{ user_id: bigint }>(
          `insert into users (user_id, email, role, agent_id, created_at, updated_at)
           select coalesce(max(user_id), 0) + 1, $1, $2, $3, $4, $4 from users returning user_id`,
          [email, role, agentId, asked.at],
        )
        const userId = rows[0]?.user_id ?? 0n
        const user = await existing(tx, userId)
        await audit(tx, 'create_user', user, asked, undefined, shown(user))
        await tell(tx, user, asked, `was invited as ${role}`)
        const isTied = options.isAlone && !(await isFirstColleague(tx, user, asked))
        await noteCredentials(tx, userId, isTied ? asked.operator : null, asked.at)
        const made = { user, token: await invite(tx, userId, asked.at) }
        await takeEffect(tx, asked.operator, asked.at, asked.answerOf?.(made))
        return made
      })
    } catch (error) {
      const constraint = error instanceof Error && 'constraint' in error && error.constraint
      if (constraint === 'users_email_key') {
        throw new Problem('invalid_request', 'A user with this email address is there already.', {
          errors: [{ field: 'email', message: 'is taken' }],
        })
      }
      // Another transaction has taken the number.
      const isTaken = sqlState(error) === '23505' && constraint === 'users_pkey'
      if (!isTaken || attempt >= 50) throw error
    }
  }
}

/**
 * Whether a new user is the first beside their maker, or the first other admin. Who was disabled counts, but not who never
 * chose a password before their link ended: their address may be wrong. They are locked out, so that only one is first.
 */
async function isFirstColleague(tx: Tx, user: User, asked: Asked): Promise<boolean> {
  const { rows: others } = await tx.query<{ user_id: bigint; counts: boolean }>(
    `select user_id, not (${neverEnrolled}) or exists (select 1 from invitations i
       where i.user_id = u.user_id and i.ended_at is null and i.expires_at > $3) as counts
     from users u where user_id <> all ($1) and ($2 <> 'admin' or role = 'admin') for update of u`,
    [[user.userId, asked.operator.userId ?? 0n], user.role, asked.at],
  )
  if (others.some(({ counts }) => counts)) return false
  for (const { user_id: userId } of others) {
    const before = await existing(tx, userId)
    await tx.query(
      `update users set disabled_at = coalesce(disabled_at, $2), updated_at = $2 where user_id = $1`,
      [userId, asked.at],
    )
    const after = await existing(tx, userId)
    await audit(tx, 'change_user', after, asked, shown(before), shown(after))
  }
  return true
}

/** SQL for whether the user `u` never had credentials: a reset of any that they had would be noted. */
const neverEnrolled = `u.password_hash is null and u.sealed_totp_secret is null
  and not exists (select 1 from sessions s where s.user_id = u.user_id)
  and not exists (select 1 from user_credentials c where c.user_id = u.user_id and c.n > 1)`

export interface UserChange {
  role?: Role
  agentId?: bigint | null
  disabled?: boolean
}

/** Changes a user's role, or whether they may sign in. Any change ends their sessions at once. */
export async function changeUser(
  pool: Pool,
  userId: bigint,
  change: UserChange,
  asked: Asked,
): Promise<User> {
  return inTransaction(pool, async (tx) => {
    const admins = await lockAdmins(tx)
    const user = await lockUser(tx, userId)
    const role = change.role ?? user.role
    const agentId = role === 'agent' ? (change.agentId ?? user.agentId) : null
    const disabled = change.disabled ?? user.disabledAt !== null
    if (role === 'agent' && agentId === null) {
      throw new Problem('invalid_request', 'Name the agent this user belongs to.', {
        errors: [{ field: 'app_id', message: 'is required with the role agent' }],
      })
    }
    if (user.isSso && role !== user.role) {
      throw fieldProblem('role', 'follows what the issuer says: change it there')
    }
    if (role !== 'admin' || disabled) keepAnAdmin(admins, userId)
    const disabledAt = disabled ? (user.disabledAt ?? asked.at) : null
    const isSame =
      role === user.role && agentId === user.agentId && disabled === (user.disabledAt !== null)
    if (!isSame) {
      await tx.query(
        `update users set role = $2, agent_id = $3, disabled_at = $4, updated_at = $5
         where user_id = $1`,
        [userId, role, agentId, disabledAt, asked.at],
      )
      await endSessions(tx, userId, asked.at)
      const isNow = disabled ? 'was locked out' : `is ${role} now`
      await tell(tx, user, asked, isNow)
      await tellOwner(tx, userId, { what: isNow, words: `Your account ${isNow}.`, at: asked.at })
    }
    const changed = await existing(tx, userId)
    await audit(tx, 'change_user', changed, asked, shown(user), shown(changed))
    await takeEffect(tx, asked.operator, asked.at)
    return changed
  })
}

/**
 * Resets a user after a lost phone or a forgotten password: the old credentials stop working, all sessions
 * end, and a link lets the user choose new ones. Who signs in at an issuer enrols a new authenticator there next.
 */
export async function resetUser(
  pool: Pool,
  userId: bigint,
  asked: Asked,
  options: { keepsAnAdmin: boolean },
): Promise<Invited> {
  return inTransaction(pool, async (tx) => {
    const admins = await lockAdmins(tx)
    const user = await lockUser(tx, userId)
    if (options.keepsAnAdmin) keepAnAdmin(admins, userId)
    const isOnlyNewLink = await isUntiedAndNew(tx, userId)
    await tx.query(
      `update users set password_hash = null, sealed_totp_secret = null, updated_at = $2
       where user_id = $1`,
      [userId, asked.at],
    )
    await removePasskeys(tx, userId)
    await removeChannels(tx, userId)
    await endSessions(tx, userId, asked.at)
    await audit(tx, 'reset_user', user, asked, undefined, undefined)
    await tell(tx, user, asked, 'was reset')
    const words =
      'Your password, authenticator and passkeys were reset; you get a link to choose new ones.'
    await tellOwner(tx, userId, { what: 'was reset', words, at: asked.at })
    if (!isOnlyNewLink) await noteCredentials(tx, userId, asked.operator, asked.at)
    const token = user.isSso ? undefined : await invite(tx, userId, asked.at)
    const made = { user, token }
    await takeEffect(tx, asked.operator, asked.at, asked.answerOf?.(made))
    return made
  })
}

/** Whether nobody is tied to a user who has not had credentials yet: another link changes nothing about that. */
async function isUntiedAndNew(tx: Tx, userId: bigint): Promise<boolean> {
  const { rows } = await tx.query(`select 1 from users u where user_id = $1 and ${neverEnrolled}`, [
    userId,
  ])
  return rows.length > 0 && (await credentialOf(tx, userId)).resetBy === nobody
}

/**
 * Reads the admins who can sign in, whether or not an issuer answers, and locks them until the transaction ends. If two admins demote each other
 * at once, the second sees what the first has done.
 */
async function lockAdmins(tx: Tx): Promise<bigint[]> {
  const { rows } = await tx.query<{ user_id: bigint }>(
    `select user_id from users
     where role = 'admin' and disabled_at is null and password_hash is not null
     order by user_id for update`,
  )
  return rows.map(({ user_id }) => user_id)
}

function keepAnAdmin(admins: bigint[], userId: bigint): void {
  if (admins.length === 1 && admins[0] === userId) {
    throw new Problem('last_admin', 'Make somebody else an admin first.')
  }
}

async function lockUser(tx: Tx, userId: bigint): Promise<User> {
  await tx.query('select 1 from users where user_id = $1 for update', [userId])
  return existing(tx, userId)
}

async function existing(tx: Tx, userId: bigint): Promise<User> {
  const user = await findUser(tx, userId)
  if (!user) throw new Problem('not_found', 'There is no such user.')
  return user
}

function shown({ email, role, agentId, disabledAt }: User) {
  return { email, role, agent_id: agentId, disabled: disabledAt !== null }
}

async function tell(tx: Tx, user: User, { operator, at }: Asked, what: string): Promise<void> {
  const words = `${user.email} ${what}, by ${operator.email}.`
  await tellAdmins(tx, { what: `user ${user.userId} ${what}`, words, at })
}

async function audit(
  tx: Tx,
  action: string,
  user: User,
  { operator, reason, at }: Asked,
  before: unknown,
  after: unknown,
): Promise<void> {
  const subject = { kind: 'user', id: String(user.userId) }
  await writeAudit(tx, {
    at,
    operator,
    action,
    subject,
    agentId: user.agentId,
    before,
    after,
    reason,
  })
}
