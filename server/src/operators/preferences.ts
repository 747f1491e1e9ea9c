import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'

/** How a user reads the console, in any browser; null: as the service and the browser have it. */
export interface Preferences {
  timeZone: string | null
  language: string | null
}

export async function readPreferences(pool: Pool, userId: bigint): Promise<Preferences> {
  const { rows } = await pool.query<Preferences>(
    'select time_zone as "timeZone", language from users where user_id = $1',
    [userId],
  )
  return rows[0] ?? { timeZone: null, language: null }
}

export async function savePreferences(
  tx: Tx,
  userId: bigint,
  { timeZone, language }: Preferences,
): Promise<void> {
  await tx.query('update users set time_zone = $2, language = $3 where user_id = $1', [
    userId,
    timeZone,
    language,
  ])
}
