import pg from 'pg'
import { addressNow } from './hosts.ts'
import { DatabaseFault } from './run-migration.ts'

/** How many transactions are looked at: a pooler gives the server connection that became free last to whoever asks. */
const looks = 5

/**
 * Refuses an address whose pooler gives each transaction another session, where sessions are needed. Two connections that
 * have the same process at the server betray it.
 */
export async function refuseTransactionPooler(url: string, words: string): Promise<void> {
  const address = await addressNow(url)
  const clients = [newClient(address), newClient(address)] as const
  try {
    for (const client of clients) await client.connect()
    const [one, two] = clients
    for (let look = 0; look < looks; look++) {
      if ((await processOf(one)) === (await processOf(two))) throw new DatabaseFault(words)
    }
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => {})))
  }
}

function newClient(address: string): pg.Client {
  const client = new pg.Client({
    connectionString: address,
    application_name: 'sluice session',
    connectionTimeoutMillis: 5_000,
    query_timeout: 10_000,
  })
  client.on('error', () => {})
  return client
}

async function processOf(client: pg.Client): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return rows[0]?.pid
}
