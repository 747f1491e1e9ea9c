import pg from 'pg'
import { addressNow } from '../db/hosts.ts'
import type { Pool } from '../db/pool.ts'

const channel = 'sluice_callbacks'
const togetherMs = 20

/**
 * Notifies senders in other processes which agents have callbacks due. A lost notification does no harm,
 * because the poll finds those callbacks too. Calls in quick succession share one NOTIFY.
 */
export class WakeUp {
  private readonly pool: Pool
  private readonly onError: (error: unknown) => void
  private agents = new Set<bigint>()
  private scheduled = false

  constructor(pool: Pool, onError: (error: unknown) => void) {
    this.pool = pool
    this.onError = onError
  }

  tell(agentIds: Iterable<bigint>): void {
    for (const agentId of agentIds) this.agents.add(agentId)
    if (this.scheduled) return
    this.scheduled = true
    setTimeout(() => {
      this.scheduled = false
      const named = [...this.agents]
      this.agents = new Set()
      this.tellNow(named).catch(this.onError)
    }, togetherMs).unref()
  }

  async tellNow(agentIds: bigint[]): Promise<void> {
    const names = agentIds.join(' ')
    // A payload holds at most 8,000 bytes. On an empty one, the listener polls.
    const payload = names.length < 7_900 ? names : ''
    await this.pool.query('select pg_notify($1, $2)', [channel, payload])
  }
}

export interface Listening {
  stop(): Promise<void>
}

/** Listens for the notifications of other processes, and reconnects for as long as it takes. */
export function listen(
  databaseUrl: string,
  onWake: (agentIds: bigint[]) => void,
  onError: (error: unknown) => void,
): Listening {
  let stopped = false
  let client: pg.Client | undefined
  let timer: NodeJS.Timeout | undefined

  const again = () => {
    client = undefined
    clearInterval(timer)
    if (!stopped) timer = setTimeout(connect, 1_000)
  }
  const connect = async () => {
    const address = await addressNow(databaseUrl)
    if (stopped) return
    const own = new pg.Client({
      connectionString: address,
      application_name: 'sluice listener',
      connectionTimeoutMillis: 5_000,
      query_timeout: 5_000,
      keepAlive: true,
    })
    client = own
    own.on('error', onError)
    own.on('end', () => {
      if (client === own) again()
    })
    own.on('notification', ({ payload }) =>
      onWake((payload ?? '').split(' ').filter(Boolean).map(BigInt)),
    )
    own
      .connect()
      .then(() => own.query(`listen ${channel}`))
      .then(() => {
        // A silently dropped connection raises no event, so query it regularly.
        timer = setInterval(() => {
          own.query('select 1').catch(() => own.end().catch(onError))
        }, 10_000)
      })
      .catch((error) => {
        onError(error)
        own.end().catch(onError)
        if (client === own) again()
      })
  }
  void connect()
  return {
    async stop() {
      stopped = true
      clearTimeout(timer)
      clearInterval(timer)
      await client?.end()
    },
  }
}
