import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openEmbeddedPostgres } from '../dist/db/embedded.js'
import { benchCallbacks } from './callbacks.js'
import { runFiveMillion, runMemory, runMixed } from './mixed-row.js'
import {
  type Bench,
  batchesOfOne,
  noDatabase,
  type OrdersRow,
  plainSql,
  runOrders,
  service,
} from './orders-row.js'
import { runPages } from './pages-row.js'
import { runStart, runStartFull } from './start-row.js'
import { runStatement } from './statement-row.js'
import { watchStatements } from './statements.js'
import {
  runFleet,
  runFullOrder,
  runFullWithdrawal,
  runTrickle,
  writeProfiles,
} from './whole-order-rows.js'

const deposits: OrdersRow = {
  name: 'deposits',
  asks: '/payment/deposit',
  method: 'link',
  agents: 10,
  fund: 0,
  connections: 64,
  requests: 6_000,
  variants: [service, batchesOfOne, noDatabase],
}
const withdrawals: OrdersRow = {
  ...deposits,
  name: 'withdrawals-hot-wallet',
  asks: '/payment/withdraw',
  agents: 1,
  fund: 1_000_000_000,
  variants: [service, batchesOfOne, plainSql],
}

/** Every row by its name. */
const rows: Record<string, (bench: Bench) => Promise<unknown>> = {
  'full-order': runFullOrder,
  'full-withdrawal': runFullWithdrawal,
  trickle: runTrickle,
  fleet: runFleet,
  deposits: (bench) => runOrders(bench, deposits),
  'deposits-qr': (bench) =>
    runOrders(bench, {
      ...deposits,
      name: 'deposits-qr',
      method: 'link+qrcode+transfer',
      requests: 3_000,
      variants: [service, noDatabase],
    }),
  'deposits-bank-account': (bench) =>
    runOrders(bench, {
      ...deposits,
      name: 'deposits-bank-account',
      method: 'link+qrcode+transfer',
      requests: 3_000,
      variants: [
        { name: 'QR code of a bank account', kind: 'bank account' },
        { name: 'QR code of the sandbox', kind: 'database' },
        { name: 'link only', kind: 'database', method: 'link' },
      ],
    }),
  'withdrawals-hot-wallet': (bench) => runOrders(bench, withdrawals),
  'withdrawals-small-agents': (bench) =>
    runOrders(bench, {
      ...withdrawals,
      name: 'withdrawals-small-agents',
      agents: 1_000,
      fund: 1_000_000,
      variants: [service, batchesOfOne],
    }),
  settle: (bench) =>
    runOrders(bench, {
      ...deposits,
      name: 'settle',
      asks: 'notices',
      requests: 3_000,
      variants: [service, batchesOfOne],
    }),
  'two-processes': (bench) =>
    runOrders(bench, {
      ...deposits,
      name: 'two-processes',
      variants: [
        { name: 'two processes', kind: 'database', processes: 2 },
        { name: 'one process', kind: 'database' },
      ],
    }),
  callbacks: (bench) => runCallbacks(bench),
  statement: runStatement,
  mixed: runMixed,
  start: runStart,
}

/** Those that take long: only with --full, or by name. */
const longRows: Record<string, (bench: Bench) => Promise<unknown>> = {
  'five-million': runFiveMillion,
  'start-five-million': runStartFull,
  memory: runMemory,
  pages: runPages,
}

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'string' },
    only: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    full: { type: 'boolean', default: false },
    history: { type: 'string' },
    orders: { type: 'string', default: '2000' },
    connections: { type: 'string', default: '64' },
    against: { type: 'string' },
    profile: { type: 'string' },
    statements: { type: 'boolean', default: false },
  },
})
const all = { ...rows, ...longRows }
// `bench pages` is the same as `bench --only pages`.
const only = options.only ?? positionals[0]
if (only !== undefined && !(only in all)) {
  process.stderr.write(`there is no row "${only}"; there are ${Object.keys(all).join(', ')}\n`)
  process.exit(1)
}
const dataDir = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
const openPostgres = () => openEmbeddedPostgres({ dataDir, use: 'serve', log: () => {} })
let postgres = await openPostgres()
if (options.statements) {
  await watchStatements(postgres.ownerUrl)
  // They are watched from the next start on.
  await postgres.close()
  postgres = await openPostgres()
}
const bench: Bench = {
  postgresUrl: postgres.ownerUrl,
  dataDir,
  rounds: Number(options.rounds),
  historyOrders: Number(options.history ?? (only === 'pages' ? 1_000_000 : 5_000_000)),
  orders: Number(options.orders),
  connections: Number(options.connections),
  against: options.against,
  statements: options.statements,
}
const results = []
try {
  if (options.profile !== undefined) await writeProfiles(bench, options.profile)
  for (const [name, run] of Object.entries(all)) {
    const isAsked =
      only === undefined
        ? options.profile === undefined && (options.full || name in rows)
        : only === name
    if (isAsked) results.push(await run(bench))
  }
} finally {
  bench.checkedOut?.remove()
  await postgres.close()
  rmSync(dataDir, { recursive: true, force: true })
}
const report = {
  settings: {
    node: process.version,
    cores: availableParallelism(),
    fsync: 'on',
    rounds: bench.rounds,
    historyOrders: bench.historyOrders,
    connections: bench.connections,
  },
  rows: results,
}
if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`)

async function runCallbacks({ postgresUrl, rounds, dataDir: folder }: Bench) {
  process.stderr.write('callbacks: ')
  const row = await benchCallbacks(postgresUrl, rounds, folder)
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
  return row
}
