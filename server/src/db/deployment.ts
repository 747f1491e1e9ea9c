import type { Tx } from './in-transaction.ts'
import type { Pool } from './pool.ts'
import { DatabaseFault } from './run-migration.ts'

export type Mode = 'sandbox' | 'live'

/** Writes the mode into a database that has none yet. Throws if the database is of the other mode. */
export async function keepMode(pool: Pool, mode: Mode, now: Date): Promise<void> {
  await pool.query(
    `insert into deployment (only_one, mode, taken_at) values (true, $1, $2)
     on conflict (only_one) do nothing`,
    [mode, now],
  )
  const is = await modeOf(pool)
  if (is === mode) return
  throw new DatabaseFault(
    is === 'sandbox'
      ? 'it is a sandbox, whose balances and secrets are made up: give MODE=live a database of its own'
      : 'it is live: set MODE=live, or give the sandbox a database of its own',
  )
}

/** The mode that the database was first started in. */
export async function modeOf(db: Pool | Tx): Promise<Mode> {
  const { rows } = await db.query<{ mode: Mode }>('select mode from deployment')
  if (!rows[0]) throw new Error('the database has not been started in any mode')
  return rows[0].mode
}
