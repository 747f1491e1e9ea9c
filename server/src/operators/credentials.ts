import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import type { Outsider } from './audit.ts'
import type { Operator } from './operator.ts'

/** A user's present credentials. */
export interface Credential {
  n: number
  /**
   * The user who reset the ones before, or made the user alone, and so could hold these; 0: nobody did, or the command
   * line.
   */
  resetBy: bigint
}

/** The credentials that somebody has given their word with. */
export interface Signature {
  userId: bigint
  credential: number
  resetBy: bigint
}

/** Who does not sign in: the command line, or an agent. */
export const nobody = 0n

/** Notes that a user gets new credentials, and who could hold them as well, if somebody could. */
export async function noteCredentials(
  tx: Tx,
  userId: bigint,
  holder: Operator | Outsider | null,
  at: Date,
): Promise<void> {
  const isOwn = holder === null || holder.userId === null || holder.userId === userId
  const { n } = await credentialOf(tx, userId)
  await tx.query(
    'insert into user_credentials (user_id, n, reset_by, made_at) values ($1, $2, $3, $4)',
    [userId, n + 1, isOwn ? nobody : holder.userId, at],
  )
}

export async function credentialOf(db: Pool | Tx, userId: bigint): Promise<Credential> {
  return (await credentialsOf(db, [userId]))(userId)
}

/** The present credentials of some users, in one look. */
export async function credentialsOf(
  db: Pool | Tx,
  userIds: readonly bigint[],
): Promise<(userId: bigint) => Credential> {
  const { rows } = await db.query<Credential & { userId: bigint }>(
    `select distinct on (user_id) user_id as "userId", n, reset_by as "resetBy"
     from user_credentials where user_id = any($1) order by user_id, n desc`,
    [[...new Set(userIds)]],
  )
  const known = new Map(rows.map((row) => [row.userId, row]))
  return (userId) => known.get(userId) ?? { n: 0, resetBy: nobody }
}

/**
 * The credentials that a user proposes or decides with: a row must be there that says so. Processes of a version
 * that knew of no credentials made users without one.
 */
export async function credentialInUse(tx: Tx, userId: bigint, at: Date): Promise<Credential> {
  const { rowCount } = await tx.query(
    `insert into user_credentials (user_id, n, reset_by, made_at)
     select $1, 0, 0, $2 where not exists (select 1 from user_credentials where user_id = $1)
     on conflict do nothing`,
    [userId, at],
  )
  return rowCount === 1 ? { n: 0, resetBy: nobody } : credentialOf(tx, userId)
}

/** The signature of a user who acts now. */
export async function signatureOf(tx: Tx, userId: bigint, at: Date): Promise<Signature> {
  const { n, resetBy } = await credentialInUse(tx, userId, at)
  return { userId, credential: n, resetBy }
}

type Signed = Pick<Signature, 'userId' | 'resetBy'>

/**
 * Why a second person could be the first, in words to the second; undefined if they are two people. Who resets a user
 * holds the link, and could sign in as them.
 */
export function tieBetween(first: Signed, second: Signed, name: string): string | undefined {
  if (first.resetBy === second.userId)
    return `You have reset or invited ${name}: somebody else has to decide.`
  if (second.resetBy === nobody) return undefined
  if (second.resetBy === first.userId)
    return `You were reset or invited by ${name}: somebody else has to decide.`
  if (second.resetBy === first.resetBy) {
    return 'One person has reset or invited you both: somebody else has to decide.'
  }
  return undefined
}
