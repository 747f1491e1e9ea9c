import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { openPool } from '../dist/db/pool.js'
import { verify } from '../dist/proof/verify.js'
import { type LoadResult, load, type Signer, signedPost } from './load.js'

/** Where the benchmark's own PostgreSQL is, and how often everything is measured. */
export interface Bench {
  postgresUrl: string
  dataDir: string
  rounds: number
  /** How many orders are there before the rows that are about a history. */
  historyOrders: number
  /** How many whole orders a round has. */
  orders: number
  /** By how many connections they are asked for at once. */
  connections: number
  /** A revision that whole orders are compared with. */
  against: string | undefined
  /** Whether to say what each statement of a whole order takes. */
  statements: boolean
  /** Where that is, once a row has asked for it. */
  checkedOut?: { tree: string; remove(): void }
}

export interface Variant {
  name: string
  /**
   * The real thing; the same with a bank account as the only provider; the same server without the database;
   * or the same server with a transaction of plain SQL for each order, by a pool of 16 connections.
   */
  kind: 'database' | 'bank account' | 'none' | 'plain'
  /** What its agents' answers have, if not what the row says. */
  method?: string
  batch?: number
  /** How many processes share the database and the load. */
  processes?: number
}

export interface OrdersRow {
  name: string
  /** Orders, or notices of payments for orders that are there. */
  asks: '/payment/deposit' | '/payment/withdraw' | 'notices'
  method: string
  agents: number
  fund: number
  connections: number
  requests: number
  variants: Variant[]
}

/** The service's own CPU time says more than its speed where others use the machine too. */
type Measured = LoadResult & { cpuPerRequestUs: number }

export const service: Variant = { name: 'service', kind: 'database' }
export const batchesOfOne: Variant = { name: 'batches of one', kind: 'database', batch: 1 }
export const noDatabase: Variant = { name: 'no database', kind: 'none' }
export const plainSql: Variant = { name: 'plain SQL, a pool of 16', kind: 'plain' }

/** Runs a row's variants by turns, so that a noisy moment hits all of them, and compares medians. */
export async function runOrders(bench: Bench, row: OrdersRow) {
  process.stderr.write(`${row.name}: `)
  const running = []
  for (const variant of row.variants) running.push(await start(bench, row, variant))
  const measured = new Map<string, Measured[]>(row.variants.map(({ name }) => [name, []]))
  // One round is only for warming up.
  for (let round = 0; round <= bench.rounds; round++) {
    for (const { variant, ports, requestsFor, cpuUs } of running) {
      const requests = await requestsFor(row.requests)
      const cpuBeforeUs = await cpuUs()
      const result = await load(ports, requests, row.connections)
      const cpuPerRequestUs = ((await cpuUs()) - cpuBeforeUs) / row.requests
      const expected = row.asks === 'notices' ? '200' : '201'
      if (Object.keys(result.statuses).join() !== expected) {
        throw new Error(`${row.name}, ${variant.name}: ${JSON.stringify(result.statuses)}`)
      }
      if (round > 0) measured.get(variant.name)?.push({ ...result, cpuPerRequestUs })
      process.stderr.write('.')
    }
  }
  process.stderr.write('\n')
  for (const { stop } of running) await stop()
  const median = (name: string) => {
    const sorted = (measured.get(name) ?? []).sort((a, b) => a.perSecond - b.perSecond)
    const middle = sorted[Math.floor(sorted.length / 2)]
    if (!middle) throw new Error(`${name} was not measured`)
    return middle
  }
  const [first = service, ...others] = row.variants
  const own = median(first.name)
  const compared = others.map(({ name }) => {
    const other = median(name)
    return { with: name, ...other, ratio: own.perSecond / other.perSecond }
  })
  const figures = ({ perSecond, p50Ms, p99Ms, cpuPerRequestUs }: typeof own) =>
    `${perSecond.toFixed(0)}/s, p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, ${cpuPerRequestUs.toFixed(0)} µs of CPU each`
  process.stdout.write(`${row.name.padEnd(24)} ${figures(own)}\n`)
  for (const other of compared) {
    process.stdout.write(
      `${''.padEnd(24)} ${other.ratio.toFixed(2)} × ${other.with} (${figures(other)})\n`,
    )
  }
  return { name: row.name, ...own, compared }
}

interface Told {
  url: string
  agents: Signer[]
}

async function start(bench: Bench, row: OrdersRow, variant: Variant) {
  const url = await newDatabase(bench.postgresUrl)
  const children: ChildProcess[] = []
  const told: Told[] = []
  for (let at = 0; at < (variant.processes ?? 1); at++) {
    // Only the first makes agents; the others serve them too.
    const agents = at === 0 ? row.agents : 0
    const child = fork(
      fileURLToPath(new URL('./serve-for-bench.js', import.meta.url)),
      [variant.kind, String(agents), variant.method ?? row.method, String(row.fund)],
      {
        env: {
          ...process.env,
          DATABASE_URL: url,
          PORT: '0',
          TELLER_BATCH: String(variant.batch ?? 500),
          DATA_DIR: bench.dataDir,
          LOG_LEVEL: 'silent',
        },
      },
    )
    children.push(child)
    told.push(await answerOf<Told>(child))
  }
  const agents = told[0]?.agents ?? []
  return {
    variant,
    ports: told.map((each) => Number(new URL(each.url).port)),
    async cpuUs() {
      const used = await Promise.all(children.map((child) => answerOf<number>(child, 'cpu')))
      return used.reduce((sum, each) => sum + each, 0)
    },
    async requestsFor(count: number): Promise<Buffer[]> {
      const [child] = children
      if (row.asks !== 'notices') {
        const { asks } = row
        return Array.from({ length: count }, (_, at) =>
          signedPost(agents[at % agents.length] as Signer, asks, orderBody()),
        )
      }
      if (!child) return []
      const notices = await answerOf<string[]>(child, { notices: count })
      return notices.map((text) => Buffer.from(text))
    },
    async stop() {
      for (const child of children) {
        child.removeAllListeners('exit')
        child.kill('SIGKILL')
      }
      if (variant.kind !== 'plain') await prove(url, `${row.name}, ${variant.name}`)
    },
  }
}

/** Says something to a child, if there is anything to say, and waits for its word. */
export function answerOf<T>(child: ChildProcess, what?: string | object): Promise<T> {
  return new Promise((resolve, reject) => {
    const gone = (code: number | null) => reject(new Error(`the service ended with ${code}`))
    child.once('exit', gone)
    child.once('message', (message) => {
      child.off('exit', gone)
      resolve(message as T)
    })
    if (what !== undefined) child.send(what)
  })
}

export async function newDatabase(postgresUrl: string): Promise<string> {
  const name = `bench_${randomBytes(4).toString('hex')}`
  const admin = new pg.Client(postgresUrl)
  await admin.connect()
  await admin.query(`create database ${name}`)
  await admin.end()
  const url = new URL(postgresUrl)
  url.pathname = `/${name}`
  return url.href
}

/** Every load run ends with the proof of its ledger. */
export async function prove(
  url: string,
  what: string,
  { isUnmatchedFine = false } = {},
): Promise<void> {
  const pool = openPool({ url, max: 1, name: 'sluice bench', onError: () => {} })
  const proofs = await verify(pool, {})
  const { rows: unmatched } = await pool.query('select why from unmatched_payments limit 1')
  await pool.end()
  if (unmatched[0] && !isUnmatchedFine)
    throw new Error(`${what}: a payment met no order, but waits: ${unmatched[0].why}`)
  const lie = proofs.find(({ finding }) => finding !== null)
  if (lie) throw new Error(`${what}: ${lie.finding}`)
}

export function orderBody(more: object = {}): string {
  return JSON.stringify({
    refId: randomBytes(12).toString('hex'),
    userId: 'user-1',
    amount: 100,
    accountName: 'Somchai Jaidee',
    accountNo: '1234567890',
    bankCode: 'SCB',
    timestamp: new Date().toISOString(),
    ...more,
  })
}
