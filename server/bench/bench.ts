import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { openEmbeddedPostgres } from '../dist/db/embedded.js'
import { openPool } from '../dist/db/pool.js'
import { verify } from '../dist/ledger/verify.js'
import { benchCallbacks } from './callbacks.js'
import { type LoadResult, load, type Signer, signedPost } from './load.js'

interface Variant {
  name: string
  kind: 'database' | 'none'
  batch?: number
}

interface Row {
  name: string
  path: '/payment/deposit' | '/payment/withdraw'
  method: string
  agents: number
  fund: number
  connections: number
  requests: number
  variants: Variant[]
}

/** The service's own CPU time says more than its speed where others use the machine too. */
type Measured = LoadResult & { cpuPerRequestUs: number }

const service: Variant = { name: 'service', kind: 'database' }
const batchesOfOne: Variant = { name: 'batches of one', kind: 'database', batch: 1 }
const noDatabase: Variant = { name: 'no database', kind: 'none' }

const rows: Row[] = [
  {
    name: 'deposits',
    path: '/payment/deposit',
    method: 'link',
    agents: 10,
    fund: 0,
    connections: 64,
    requests: 6_000,
    variants: [service, batchesOfOne, noDatabase],
  },
  {
    name: 'deposits-qr',
    path: '/payment/deposit',
    method: 'link+qrcode+transfer',
    agents: 10,
    fund: 0,
    connections: 64,
    requests: 3_000,
    variants: [service, noDatabase],
  },
  {
    name: 'withdrawals-hot-wallet',
    path: '/payment/withdraw',
    method: 'link',
    agents: 1,
    fund: 1_000_000_000,
    connections: 64,
    requests: 6_000,
    variants: [service, batchesOfOne],
  },
]

const { values: options } = parseArgs({
  options: {
    json: { type: 'string' },
    only: { type: 'string' },
    rounds: { type: 'string', default: '5' },
  },
})
const rounds = Number(options.rounds)
const dataDir = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
const postgres = await openEmbeddedPostgres({ dataDir, use: 'serve', log: () => {} })
const results = []
try {
  for (const row of rows.filter(
    ({ name }) => options.only === undefined || name === options.only,
  )) {
    results.push(await runRow(row))
  }
  if (options.only === undefined || options.only === 'callbacks') {
    process.stderr.write('callbacks: ')
    const row = await benchCallbacks(postgres.url, rounds, dataDir)
    results.push(row)
    const { commitToArrival: arrival } = row
    process.stdout.write(
      `${row.name.padEnd(24)} ${row.perSecond.toFixed(0).padStart(6)}/s  ${row.cpuUs.toFixed(0)} µs of the sender's time each\n`,
    )
    for (const other of row.compared) {
      process.stdout.write(
        `${''.padEnd(24)} ${other.ratio.toFixed(2).padStart(6)} × ${other.with} (${other.perSecond.toFixed(0)}/s, ${other.cpuUs.toFixed(0)} µs)\n`,
      )
    }
    process.stdout.write(
      `${''.padEnd(24)} at ${arrival.perSecond}/s, commit to arrival: p50 ${arrival.p50Ms.toFixed(1)} ms  p99 ${arrival.p99Ms.toFixed(1)} ms\n`,
    )
  }
} finally {
  await postgres.close()
  rmSync(dataDir, { recursive: true, force: true })
}
const report = {
  settings: {
    node: process.version,
    cores: availableParallelism(),
    fsync: 'on',
    rounds,
    connections: 64,
  },
  rows: results,
}
if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`)

/** Runs a row's variants by turns, so that a noisy moment hits all of them, and compares medians. */
async function runRow(row: Row) {
  process.stderr.write(`${row.name}: `)
  const running = await Promise.all(row.variants.map((variant) => start(row, variant)))
  const measured = new Map<string, Measured[]>(row.variants.map(({ name }) => [name, []]))
  // One round is only for warming up.
  for (let round = 0; round <= rounds; round++) {
    for (const { variant, port, agents, cpuUs } of running) {
      const requests = Array.from({ length: row.requests }, (_, at) =>
        signedPost(agents[at % agents.length] as Signer, row.path, body()),
      )
      const cpuBeforeUs = await cpuUs()
      const result = await load(port, requests, row.connections)
      const cpuPerRequestUs = ((await cpuUs()) - cpuBeforeUs) / row.requests
      if (Object.keys(result.statuses).join() !== '201') {
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
  const own = median(service.name)
  const compared = row.variants
    .filter(({ name }) => name !== service.name)
    .map(({ name }) => {
      const other = median(name)
      const { perSecond, cpuPerRequestUs } = other
      return { with: name, perSecond, cpuPerRequestUs, ratio: own.perSecond / perSecond }
    })
  const cpu = ({ cpuPerRequestUs }: { cpuPerRequestUs: number }) =>
    `${cpuPerRequestUs.toFixed(0)} µs of CPU each`
  process.stdout.write(
    `${row.name.padEnd(24)} ${own.perSecond.toFixed(0).padStart(6)}/s  p50 ${own.p50Ms.toFixed(1)} ms  p99 ${own.p99Ms.toFixed(1)} ms  ${cpu(own)}\n`,
  )
  for (const other of compared) {
    process.stdout.write(
      `${''.padEnd(24)} ${other.ratio.toFixed(2).padStart(6)} × ${other.with} (${other.perSecond.toFixed(0)}/s, ${cpu(other)})\n`,
    )
  }
  return { name: row.name, ...own, compared }
}

async function start(row: Row, variant: Variant) {
  const name = `bench_${randomBytes(4).toString('hex')}`
  const admin = new pg.Client(postgres.url)
  await admin.connect()
  await admin.query(`create database ${name}`)
  await admin.end()
  const url = new URL(postgres.url)
  url.pathname = `/${name}`
  const child = fork(
    fileURLToPath(new URL('./serve-for-bench.js', import.meta.url)),
    [variant.kind, String(row.agents), row.method, String(row.fund)],
    {
      env: {
        ...process.env,
        DATABASE_URL: url.href,
        PORT: '0',
        TELLER_BATCH: String(variant.batch ?? 500),
        DATA_DIR: dataDir,
        LOG_LEVEL: 'silent',
      },
    },
  )
  const told = await new Promise<{ url: string; agents: Signer[] }>((resolve, reject) => {
    child.once('message', (message) => resolve(message as { url: string; agents: Signer[] }))
    child.on('exit', (code) => reject(new Error(`the service ended with ${code}`)))
  })
  return {
    variant,
    port: Number(new URL(told.url).port),
    agents: told.agents,
    cpuUs: () =>
      new Promise<number>((resolve) => {
        child.once('message', (message) => resolve(message as number))
        child.send('cpu')
      }),
    async stop() {
      child.removeAllListeners('exit')
      child.kill('SIGKILL')
      const pool = openPool({ url: url.href, max: 1, name: 'sluice bench', onError: () => {} })
      const proofs = await verify(pool, {})
      await pool.end()
      const lie = proofs.find(({ finding }) => finding !== null)
      if (lie) throw new Error(`${row.name}, ${variant.name}: ${lie.finding}`)
    },
  }
}

function body(): string {
  return JSON.stringify({
    refId: randomBytes(12).toString('hex'),
    userId: 'user-1',
    amount: 100,
    accountName: 'Somchai Jaidee',
    accountNo: '1234567890',
    bankCode: 'SCB',
    timestamp: new Date().toISOString(),
  })
}
