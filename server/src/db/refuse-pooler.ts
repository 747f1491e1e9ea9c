import { withClient } from './in-transaction.ts'
import type { Pool, PoolClient } from './pool.ts'
import { DatabaseFault } from './run-migration.ts'

/** How many transactions are looked at: a pooler gives the server connection that became free last to whoever asks. */
const looks = 5

/**
 * Refuses a pooler that gives each transaction another session: settings, prepared statements and the wait for
 * notifications belong to a session. Two sessions that have the same process at the server betray it.
 */
export async function refuseTransactionPooler(pool: Pool): Promise<void> {
  await withClient(pool, (one) =>
    withClient(pool, async (two) => {
      for (let look = 0; look < looks; look++) {
        if ((await processOf(one)) !== (await processOf(two))) continue
        throw new DatabaseFault(
          'a pooler before it gives each transaction another session (pool_mode = transaction): name the server itself in DATABASE_URL, or a pool with pool_mode = session and ignore_startup_parameters = options',
        )
      }
    }),
  )
}

async function processOf(client: PoolClient): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return rows[0]?.pid
}
