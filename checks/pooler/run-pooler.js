import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openEmbeddedPostgres } from '../../server/dist/db/embedded.js'
import { migrate } from '../../server/dist/db/migrate.js'
import { freePort } from '../free-port.js'

/**
 * Puts PgBouncer between the service and PostgreSQL: pooling by session works, pooling by transaction is refused with
 * words. Debian: apt install pgbouncer.
 */
const sluice = fileURLToPath(new URL('../../server/bin/sluice.js', import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), 'sluice-pooler-'))
chmodSync(scratch, 0o755)
const children = []
const postgres = await openEmbeddedPostgres({ dataDir: scratch, use: 'command', log: () => {} })
let hasFailed = false
try {
  await migrate(postgres.ownerUrl, { serviceLogin: 'sluice' })
  await check('transaction', ({ output }) => output.includes('pool_mode = transaction'))
  await check('session', ({ output }) => output.includes('"listening"'))
} finally {
  for (const child of children) child.kill('SIGKILL')
  await postgres.close()
  rmSync(scratch, { recursive: true, force: true })
}
process.exit(hasFailed ? 1 : 0)

async function check(mode, isRight) {
  const url = await pooler(mode)
  const told = await serve(url)
  const isOk = isRight(told)
  hasFailed ||= !isOk
  const words = mode === 'session' && isOk ? 'serves, and its books prove' : told.output.trim()
  console.log(`${isOk ? 'ok  ' : 'FAIL'}  pool_mode = ${mode}: ${words}`)
}

/** PgBouncer in a mode; returns the service's address by way of it. */
async function pooler(mode) {
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
default_pool_size = 60
max_client_conn = 200
ignore_startup_parameters = options,extra_float_digits
`,
  )
  chmodSync(file, 0o644)
  const user = process.getuid?.() === 0 ? ['-u', 'postgres'] : []
  const child = spawn('pgbouncer', [...user, file], { stdio: 'ignore' })
  children.push(child)
  return `postgres://sluice@127.0.0.1:${port}${to.pathname}`
}

/** What a start says until it serves, or ends. */
async function serve(url) {
  const env = {
    PATH: process.env.PATH,
    PORT: '0',
    DATABASE_URL: url,
    DATABASE_OWNER_URL: postgres.ownerUrl,
    DATA_DIR: join(scratch, 'data'),
    SECRET_KEY: Buffer.alloc(32, 3).toString('base64'),
    LOG_LEVEL: 'error',
  }
  // PgBouncer may still be starting.
  for (let tries = 0; tries < 20; tries++) {
    const child = spawn(process.execPath, [sluice, 'serve', '--json'], { env })
    children.push(child)
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (text) => {
        output += text
      })
    }
    await new Promise((resolve) => {
      child.on('exit', resolve)
      child.stdout.on('data', () => output.endsWith('}\n') && resolve())
    })
    if (output.includes('ECONNREFUSED')) {
      await sleep(300)
      continue
    }
    if (child.exitCode === null) {
      execFileSync(process.execPath, [sluice, 'verify'], { env })
      child.kill('SIGTERM')
      await new Promise((resolve) => child.on('exit', resolve))
    }
    return { output: output.replaceAll('\n', ' ') }
  }
  return { output: 'PgBouncer does not start' }
}
