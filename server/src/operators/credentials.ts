import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import type { Outsider } from './audit.ts'
import type { Operator } from './operator.ts'

/** A user's present credentials. */
export interface Credential {
  n: number
  /** The user who reset the ones before, and so could hold these; 0: nobody did, or the command line. */
  resetBy: bigint
}

/** Who does not sign in: the command line, or an agent. */
export const nobody = 0n

/** Notes that a user gets new credentials, and who reset the ones before, if somebody did. */
export async function noteCredentials(
  tx: Tx,
  userId: bigint,
  resetBy: Operator | Outsider | null,
  at: Date,
): Promise<void> {
  const isOwn = resetBy === null || resetBy.userId === null || resetBy.userId === userId
  const { n } = await credentialOf(tx, userId)
  await tx.query(
    'insert into user_credentials (user_id, n, reset_by, made_at) values ($1, $2, $3, $4)',
    [userId, n + 1, isOwn ? nobody : resetBy.userId, at],
  )
}

export async function credentialOf(db: Pool | Tx, userId: bigint): Promise<Credential> {
  const { rows } = await db.query<Credential>(
    `select n, reset_by as "resetBy" from user_credentials where user_id = $1
     order by n desc limit 1`,
    [userId],
  )
  return rows[0] ?? { n: 0, resetBy: nobody }
}
