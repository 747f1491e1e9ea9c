import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { writeHistory } from '../../bench/history.ts'
import { usually } from '../support/long.ts'
import { cleanUp, type Running, startSluice, tempFolder } from '../support/process.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

/** Made-up orders, each with a journal row, a payment and a callback. */
const orders = Number(process.env.ARCHIVE_ROWS ?? usually(1_200, { long: 3_000 }))

let service: TestService
beforeAll(async () => {
  service = await startTestService({ realTime: true })
})
afterAll(async () => {
  await service.close()
  await cleanUp()
})

/** The largest memory that a process has used, in MB, while it runs. */
async function memoryOf({ pid, ended }: Running): Promise<number> {
  let most = 0
  let isRunning = true
  void ended.then(() => {
    isRunning = false
  })
  while (isRunning) {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
    most = Math.max(most, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024)
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 100))])
  }
  return Math.round(most)
}

/** Deposits that are paid, one after the other, until it is told to stop. Returns how long each took. */
async function business(agent: AgentClient, until: Promise<unknown>): Promise<number[]> {
  const tookMs: number[] = []
  let isOver = false
  void until.then(() => {
    isOver = true
  })
  while (!isOver) {
    const started = performance.now()
    const { json } = await agent.deposit()
    expect(await agent.trigger(json.txn_id, 'PAID')).toMatchObject({ status: 200 })
    tookMs.push(performance.now() - started)
  }
  return tookMs
}

async function run(args: string[]) {
  const started = performance.now()
  const running = startSluice([...args, '--json'], {
    DATABASE_URL: service.database.url,
    DATABASE_OWNER_URL: service.database.ownerUrl,
    SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
  })
  const memory = memoryOf(running)
  return {
    running,
    async end() {
      const { code, stdout, stderr } = await running.ended
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      const seconds = (performance.now() - started) / 1000
      return { seconds, memoryMb: await memory, told: JSON.parse(stdout) }
    },
  }
}

it(`${orders} orders are archived beside others' business, and prove`, {
  timeout: 24 * 3_600_000,
}, async () => {
  const folder = join(await tempFolder(), 'archive')
  const old = await service.agent()
  await writeHistory(service.database.ownerUrl, orders, { newest: '40 days' })
  const other = await service.agent()
  const before = await sizeOf()

  const day = new Date(Date.now() - 33 * 86_400_000).toISOString()
  const archiving = await run(['archive', '--before', day, '--to', folder])
  const [ofOld, ofOther, archived] = await Promise.all([
    business(old, archiving.running.ended),
    business(other, archiving.running.ended),
    archiving.end(),
  ])
  // The last order stays, and with it the row that what follows is proved from.
  const [mine] = archived.told.agents
  expect(mine).toMatchObject({ app_id: old.appId })
  expect(mine.journal_rows).toBeGreaterThanOrEqual(orders)
  expect(mine.removed_orders).toBeGreaterThanOrEqual(orders - 1)
  const { rows } = await service.sql('select count(*)::int from archived_refs')
  expect(rows[0].count).toBe(mine.removed_orders)

  const files = await (await run(['archive', 'verify', folder])).end()
  expect(files.told).toMatchObject({ ok: true, checked: { journal_rows: mine.journal_rows } })
  const whole = await (await run(['verify', '--archive', folder])).end()
  expect(whole.told).toMatchObject({ ok: true, findings: [] })
  if (process.env.ARCHIVE_ROWS === undefined) return
  await service.sql('vacuum')
  const name = join(folder, old.appId)
  const sizes = await Promise.all((await readdir(name)).map((file) => stat(join(name, file))))
  const figures = {
    orders,
    archive: figuresOf(archived, orders),
    'archive verify': figuresOf(files, orders),
    'verify --archive': figuresOf(whole, orders),
    files_mb: Math.round(sizes.reduce((sum, { size }) => sum + size, 0) / 2 ** 20),
    database_mb: { before, after: await sizeOf() },
    paid_deposit_ms: { of_the_agent: spread(ofOld), of_another: spread(ofOther) },
  }
  process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`)
})

function figuresOf({ seconds, memoryMb }: { seconds: number; memoryMb: number }, rows: number) {
  return {
    seconds: Math.round(seconds),
    orders_per_s: Math.round(rows / seconds),
    memory_mb: memoryMb,
  }
}

function spread(tookMs: number[]) {
  const sorted = [...tookMs].sort((a, b) => a - b)
  const at = (share: number) => Math.round(sorted[Math.floor(sorted.length * share)] ?? 0)
  return { count: sorted.length, median: at(0.5), p99: at(0.99), most: at(0.999_999) }
}

async function sizeOf(): Promise<number> {
  const { rows } = await service.sql(
    'select (pg_database_size(current_database()) / 1048576)::int as mb',
  )
  return rows[0].mb
}
