import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { openBackend } from '../dist/backend.js'
import { readConfig } from '../dist/config.js'
import { createUser } from '../dist/operators/save-user.js'
import { startSession } from '../dist/operators/sessions.js'

/**
 * All orders as a table over HTTP, taken by a reader who stops for five seconds every twenty megabytes:
 * how large the service becomes, and what the database is held back by. Works on what is in DATA_DIR:
 *
 *   DATA_DIR=./big npx sluice seed --orders 1000000
 *   npm run build && npx tsc -p server/tsconfig.bench.json
 *   DATA_DIR=./big node server/dist-bench/slow-export.js
 */
const port = '18080'
const stopEvery = 20_000_000
const stopMs = 5_000

const service = spawn(
  process.execPath,
  [new URL('../dist/main.js', import.meta.url).pathname, 'serve'],
  {
    env: { ...process.env, PORT: port, LOG_LEVEL: 'silent' },
    stdio: ['ignore', 'ignore', 'inherit'],
  },
)
const url = `http://127.0.0.1:${port}`
while (!(await fetch(`${url}/readyz`).catch(() => undefined))?.ok) await sleep(200)

const read = readConfig({ ...process.env, PORT: port })
if ('faults' in read) throw new Error(read.faults.join('\n'))
const { pool, close } = await openBackend(read.config, 'command', () => {})
const by = {
  operator: { userId: null, email: 'command line', ip: null },
  reason: null,
  at: new Date(),
}
const email = `export-${Date.now()}@sluice.example`
const { user } = await createUser(pool, { email, role: 'viewer', agentId: null }, by)
const seat = { userId: user.userId, ip: '127.0.0.1', userAgent: 'slow-export' }
const { token } = await startSession(pool, seat, new Date())

function residentMb(): number {
  const [, kb] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kb) / 1024)
}

/** What of the service's sessions is open in the database, and how far it holds vacuum back. */
async function heldBack() {
  const { rows } = await pool.query<{ in_transaction: bigint; oldest_s: string; horizon: string }>(
    `select count(*) filter (where xact_start is not null and pid <> pg_backend_pid()) as in_transaction,
       coalesce(max(extract(epoch from now() - xact_start)), 0)::numeric(9, 2) as oldest_s,
       coalesce(max(age(backend_xmin)), 0) as horizon
     from pg_stat_activity where backend_type = 'client backend'`,
  )
  return rows[0]
}

const began = performance.now()
const rest = residentMb()
let most = rest
const watch = setInterval(() => {
  most = Math.max(most, residentMb())
}, 100)
const response = await new Promise<IncomingMessage>((resolve, reject) => {
  const headers = { cookie: `sluice_session=${token}` }
  get(`${url}/console/api/orders.csv`, { headers, agent: false }, resolve).on('error', reject)
})
let bytes = 0
let rows = -1
let stops = 0
for await (const part of response) {
  bytes += part.length
  for (const byte of part) if (byte === 10) rows++
  if (bytes < stopEvery * (stops + 1)) continue
  stops++
  await sleep(stopMs)
  const held = await heldBack()
  console.log(
    `stopped at ${Math.round(bytes / 1e6)} MB: ${residentMb()} MB resident, ` +
      `${held?.in_transaction} in a transaction, the oldest for ${held?.oldest_s} s, horizon ${held?.horizon}`,
  )
}
clearInterval(watch)
const seconds = Math.round((performance.now() - began) / 1000)
console.log(
  `status ${response.statusCode}: ${rows} rows, ${Math.round(bytes / 1e6)} MB in ${seconds} s, ` +
    `${stops} stops; resident ${rest} MB before, ${most} MB at most`,
)
await close()
service.kill('SIGTERM')
