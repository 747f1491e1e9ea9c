import type { Tx } from './in-transaction.ts'
import type { Pool } from './pool.ts'
import { DatabaseFault } from './run-migration.ts'

export type Mode = 'sandbox' | 'live'

/**
 * Writes the mode into a database that has none yet. Throws if the database is of the other mode. A command does
 * not decide for a database that was in use before modes were written down: the next start of the service does.
 */
export async function keepMode(
  pool: Pool,
  mode: Mode,
  use: 'serve' | 'command',
  now: Date,
): Promise<void> {
  await pool.query(
    `insert into deployment (only_one, mode, taken_at)
     select true, $1, $2 where $3 = 'serve' or not exists (select 1 from agents)
     on conflict (only_one) do nothing`,
    [mode, now, use],
  )
  const is = await modeOf(pool)
  if (is === mode || is === undefined) return
  throw new DatabaseFault(
    is === 'sandbox'
      ? 'it is a sandbox, whose balances and secrets are made up: give MODE=live a database of its own'
      : 'it is live: set MODE=live, or give the sandbox a database of its own',
  )
}

/** The mode that the database was first started in, if it was. */
export async function modeOf(db: Pool | Tx): Promise<Mode | undefined> {
  const { rows } = await db.query<{ mode: Mode }>('select mode from deployment')
  return rows[0]?.mode
}
