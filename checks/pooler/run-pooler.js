/**
 * `npm run pooler`: puts PgBouncer between the service and PostgreSQL. What cannot work is refused with words; with
 * DATABASE_POOLER=transaction two processes take load through a pool that is smaller than what they open, and the books are
 * proved. LOAD_SECONDS=20 sets for how long. Debian: apt install pgbouncer.
 */
import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { openEmbeddedPostgres } from '../../server/dist/db/embedded.js'
import { migrate } from '../../server/dist/db/migrate.js'
import { freePort } from '../free-port.js'
import { Company } from '../load/company.js'
import { Load } from '../load/load.js'
import { commandLine, serve, settings } from '../load/service.js'

const seconds = Number(process.env.LOAD_SECONDS ?? 20)
const scratch = mkdtempSync(join(tmpdir(), 'sluice-pooler-'))
chmodSync(scratch, 0o755)
const poolers = []
const postgres = await openEmbeddedPostgres({ dataDir: scratch, use: 'command', log: () => {} })
let hasFailed = false
try {
  await migrate(postgres.ownerUrl, { serviceLogin: 'sluice' })
  // Fewer connections than one process opens, so that transactions do share sessions.
  const byTransaction = await pooler('transaction', 'default_pool_size = 8')
  const bySession = await pooler(
    'session',
    'default_pool_size = 60\nignore_startup_parameters = options',
  )
  const migrating = migrate(byTransaction, {})
  await refused('a migration through it', migrating, 'name the server itself in DATABASE_OWNER_URL')
  const unsaid = started('unsaid', { DATABASE_URL: byTransaction })
  await refused('transaction, not said', unsaid, 'set DATABASE_POOLER=transaction')
  const said = { DATABASE_URL: byTransaction, DATABASE_POOLER: 'transaction' }
  const circular = started('circular', { ...said, DATABASE_DIRECT_URL: byTransaction })
  await refused('transaction, nothing direct', circular, 'DATABASE_DIRECT_URL leads to a pooler')
  await checked('transaction', { ...said, DATABASE_DIRECT_URL: postgres.url })
  await nothingLeft(byTransaction)
  await checked('session', { DATABASE_URL: bySession })
} catch (error) {
  tell(false, `${error.stack}${error.stdout ?? ''}`)
} finally {
  for (const child of poolers) child.kill('SIGKILL')
  await postgres.close()
  rmSync(scratch, { recursive: true, force: true })
}
process.exit(hasFailed ? 1 : 0)

function tell(isOk, words) {
  hasFailed ||= !isOk
  console.log(`${isOk ? 'ok  ' : 'FAIL'}  ${words}`)
}

/** PgBouncer in a mode; returns the service's address by way of it. */
async function pooler(mode, more) {
  const to = new URL(postgres.url)
  const port = await freePort()
  const file = join(scratch, `${mode}.ini`)
  const direct = [
    'host=127.0.0.1',
    `port=${JSON.parse(readFileSync(join(scratch, 'postgres/sluice.json'), 'utf8')).port}`,
    `user=${decodeURIComponent(to.username)}`,
    `password=${decodeURIComponent(to.password)}`,
  ]
  writeFileSync(
    file,
    `[databases]
${to.pathname.slice(1)} = ${direct.join(' ')}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
max_client_conn = 200
${more}
`,
  )
  chmodSync(file, 0o644)
  const user = process.getuid?.() === 0 ? ['-u', 'postgres'] : []
  const child = spawn('pgbouncer', [...user, file], { stdio: 'ignore' })
  child.on('error', () => tell(false, 'pgbouncer must be installed: apt-get install pgbouncer'))
  poolers.push(child)
  const url = `postgres://sluice@127.0.0.1:${port}${to.pathname}`
  for (let tries = 0; tries < 50; tries++) {
    if (await ask(url, 'select 1').then(Boolean, () => false)) return url
    await pause(100)
  }
  throw new Error('PgBouncer does not start')
}

async function ask(url, text) {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.query(text)).rows[0]
  } finally {
    await client.end().catch(() => {})
  }
}

function started(name, more) {
  return serve(scratch, name, settings(scratch, name, more))
}

async function refused(what, starting, words) {
  const told = await starting.then(
    () => 'it was not refused',
    (error) => error.message,
  )
  tell(told.includes(words), `${what}: ${told}`)
}

/** Two processes with one role each, so that callbacks go out by wake-ups, and load on the one. */
async function checked(mode, more) {
  const common = { ...more, SECRET_KEY: Buffer.alloc(32, 3).toString('base64') }
  const env = settings(scratch, 'commands', { ...common, DATABASE_OWNER_URL: postgres.ownerUrl })
  const services = []
  for (const role of ['all', 'api']) {
    const own = settings(scratch, role, { ...common, ROLE: role })
    services.push(await serve(scratch, `${mode}-${role}`, own))
  }
  const doors = services.map(({ url }) => url)
  const company = await Company.open()
  const sluice = commandLine(env)
  if (mode === 'transaction') await company.connect(sluice, scratch, doors)
  const load = new Load(doors, company)
  if (mode === 'transaction') {
    await load.prepare(sluice)
    load.start(6)
    await pause(seconds * 1000)
    await load.stop()
    await Promise.race([company.settled(), pause(60_000)])
  }
  const findings = [...(await load.settle(60_000)), ...(await load.findings())]
  await sluice('verify').catch(({ stdout, stderr }) => findings.push(`${stdout}${stderr}`))
  await Promise.all(services.map(({ stop }) => stop()))
  load.close()
  company.close()
  const done =
    mode === 'transaction'
      ? `${load.taken.length} orders in ${seconds} s, ${company.payouts.length} payouts, ${load.callbacks} callbacks; the books prove`
      : 'serves, and its books prove'
  tell(findings.length === 0, `pool_mode = ${mode}: ${findings.join('\n') || done}`)
}

/** What the service set ended with each transaction: others who use the pool find sessions as they were. */
async function nothingLeft(url) {
  const own = await ask(postgres.url, 'show search_path')
  for (let look = 0; look < 20; look++) {
    const left = await ask(
      url,
      `select current_setting('search_path') as search_path, (select count(*)::int from pg_prepared_statements) as prepared`,
    )
    if (left.search_path === own.search_path && left.prepared === 0) continue
    return tell(false, `sessions of the pool were left with ${JSON.stringify(left)}`)
  }
  tell(true, 'no session of the pool was left with settings or prepared statements')
}
