import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'

const answerWithinMs = 1_000

/** Writes to whichever machine takes it, over a new connection each time: when the database itself is there. */
export class Probe {
  /** When a write was acknowledged. */
  written = []
  #isStopping = false
  #working

  constructor(addresses) {
    this.#working = Promise.all(addresses.map((address) => this.#work(address)))
  }

  async stop() {
    this.#isStopping = true
    await this.#working
  }

  async #work(address) {
    while (!this.#isStopping) {
      if (await write(address)) this.written.push(Date.now())
      await pause(100)
    }
  }
}

async function write(address) {
  const client = new pg.Client({
    connectionString: address,
    connectionTimeoutMillis: answerWithinMs,
    query_timeout: answerWithinMs,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query('select pg_is_in_recovery() as waits')
    if (rows[0].waits) return false
    await client.query('update public.failover_probe set at = now()')
    return true
  } catch {
    return false
  } finally {
    // The library has no other way to leave a server that does not answer.
    client.connection.stream.destroy()
  }
}

/** The longest time without any of these moments since a moment; it may have begun before. */
export function longestGap(moments, since) {
  const sorted = moments.toSorted((a, b) => a - b)
  let gap = { from: since, to: since, ms: 0 }
  for (let at = 1; at < sorted.length; at++) {
    const [from, to] = [sorted[at - 1], sorted[at]]
    if (to >= since && to - from > gap.ms) gap = { from, to, ms: to - from }
  }
  return gap
}
