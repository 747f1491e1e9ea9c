// Restores a base backup to a moment, beside the database that runs, and proves its books. A backup that was never
// restored is a hope; run this every month. Needs DATABASE_URL and SECRET_KEY as the service has them.
//
//   node deploy/backup/restore-drill.js --base DIR --wal DIR --until 2026-01-31T08:30:00Z [--bin DIR] [--to DIR --port N]
//
// With --to and --port the restored server stays, for the night on which it is meant: otherwise it goes away again.
import { execFileSync, spawn } from 'node:child_process'
import { chownSync, cpSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values: given } = parseArgs({
  options: {
    base: { type: 'string' },
    wal: { type: 'string' },
    until: { type: 'string' },
    bin: { type: 'string', default: '' },
    to: { type: 'string' },
    port: { type: 'string' },
  },
})
const { base, wal, until } = given
if (!base || !wal || !until || !process.env.DATABASE_URL) {
  console.error('--base, --wal, --until and DATABASE_URL are needed')
  process.exit(2)
}

const sluice = fileURLToPath(new URL('../../server/bin/sluice.js', import.meta.url))
const stays = given.to !== undefined
const folder = given.to ?? join(mkdtempSync(join(tmpdir(), 'sluice-drill-')), 'data')
const port = Number(given.port ?? (await freePort()))

const began = performance.now()
cpSync(base, folder, { recursive: true })
writeFileSync(join(folder, 'recovery.signal'), '')
// PostgreSQL does not run as root: then whoever owns the backup runs it.
const { uid, gid } = statSync(base)
const account = process.getuid?.() === 0 && uid !== 0 ? { uid, gid } : {}
if ('uid' in account) {
  execFileSync('chown', ['-R', `${uid}:${gid}`, folder])
  if (!stays) chownSync(join(folder, '..'), uid, gid)
}
const settings = [
  `port=${port}`,
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'archive_mode=off',
  'max_connections=200',
  `restore_command=cp "${wal}/%f" "%p"`,
  // It reads no abbreviations of zones, so no Z.
  `recovery_target_time=${new Date(until).toISOString().replace('T', ' ').replace('Z', '+00')}`,
  'recovery_target_action=promote',
]
const postgres = spawn(
  join(given.bin, 'postgres'),
  ['-D', folder, ...settings.flatMap((each) => ['-c', each])],
  {
    ...account,
    cwd: folder,
    detached: stays,
    stdio: ['ignore', 'ignore', stays ? 'ignore' : 'pipe'],
  },
)
let said = ''
postgres.stderr?.on('data', (text) => {
  said += text
})
const ended = new Promise((resolve) => postgres.on('exit', resolve))

const url = new URL(process.env.DATABASE_URL)
url.hostname = '127.0.0.1'
url.port = String(port)
let isProved = false
try {
  await untilWritable(url)
  const restoredMs = Math.round(performance.now() - began)
  const env = { ...process.env, DATABASE_URL: url.href, DATABASE_OWNER_URL: '' }
  const proof = execFileSync(process.execPath, [sluice, 'verify'], { env, encoding: 'utf8' })
  process.stdout.write(proof)
  console.log(`restored to ${until} in ${restoredMs} ms, and proved`)
  isProved = true
} catch (error) {
  console.error(error instanceof Error ? error.message : error, said)
} finally {
  if (stays && isProved) postgres.unref()
  else {
    postgres.kill('SIGINT')
    await ended
    if (!stays) rmSync(join(folder, '..'), { recursive: true, force: true })
  }
}
process.exit(isProved ? 0 : 1)

/** Recovery is over once the server can be written to. */
async function untilWritable(address) {
  const { default: pg } = await import('pg')
  for (;;) {
    if (postgres.exitCode !== null) throw new Error('PostgreSQL ended before it was restored')
    const client = new pg.Client({ connectionString: address.href })
    client.on('error', () => {})
    try {
      await client.connect()
      const { rows } = await client.query('select pg_is_in_recovery() as recovers')
      if (rows[0].recovers === false) return
    } catch {
      // It starts, or replays what came before it can be read.
    } finally {
      await client.end().catch(() => {})
    }
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port: free } = server.address()
      server.close(() => resolve(free))
    })
  })
}
