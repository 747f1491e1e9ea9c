import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import { camt, dayAt } from '../support/bank-accounts.ts'
import { testDatabase } from '../support/database.ts'
import { seeded } from '../support/load.ts'
import {
  cleanUp,
  command,
  commandJson,
  kill,
  type Running,
  startSluice,
  tempFolder,
  verifyClean,
} from '../support/process.ts'

/** How often it is killed. CRASH_SEED repeats the random choices of a run, which prints its seed. */
const rounds = Number(process.env.CRASH_ROUNDS ?? 2)
const seed = Number(process.env.CRASH_SEED ?? Math.floor(Math.random() * 2 ** 31))

const lines = 300

afterEach(cleanUp)

/** An account, a statement of it, and the command that imports it. */
async function statementToImport() {
  const database = await testDatabase()
  const folder = await tempFolder()
  const env = {
    DATABASE_URL: database.url,
    DATABASE_OWNER_URL: database.ownerUrl,
    DATA_DIR: folder,
    LOG_LEVEL: 'warn',
  }
  await commandJson(
    ['bank-account', 'create', 'shop', '--currency', 'THB', '--bank', 'KBANK', '--feed', 'none']
      .concat(['--account-no', '1234567890', '--account-name', 'Shop', '--qr', 'none'])
      .concat(['--zone', 'Asia/Bangkok']),
    env,
  )
  const day = dayAt(new Date())
  const file = join(folder, 'statement.xml')
  await writeFile(
    file,
    camt({
      account: { accountNo: '1234567890', currency: 'THB' },
      day,
      opening: '0.00',
      closing: `${lines}.00`,
      lines: Array.from({ length: lines }, (_, at) => ({
        amount: '1.00',
        text: `line ${at % 50}`,
      })),
    }),
  )
  return { database, env, day, args: ['statement', 'import', file, '--account', 'shop'] }
}

type ToImport = Awaited<ReturnType<typeof statementToImport>>

/** Imports it once more, to its end: every line is a movement, and every movement is booked. */
async function expectAllBooked({ env, args, day }: ToImport): Promise<void> {
  // What a killed process had begun to book is booked by the next worker, or by the import a little later.
  await expect
    .poll(
      async () => {
        await commandJson(args, env)
        const { movements } = await commandJson(['movement', 'list', '--account', 'shop'], env)
        const waiting = movements.filter(({ state }: { state: string }) => state === 'waiting')
        return [movements.length, waiting.length]
      },
      { interval: 2_000 },
    )
    .toEqual([lines, lines])
  const { days } = await commandJson(['reconcile', '--account', 'shop'], env)
  expect(days).toMatchObject([{ day, state: 'green', breaks: [] }])
  await verifyClean(env)
}

test('however often an import is killed, its lines are booked once when it ends', async () => {
  console.info(`CRASH_SEED=${seed} CRASH_ROUNDS=${rounds}`)
  const random = seeded(seed)
  const toImport = await statementToImport()
  const { database, env, args } = toImport
  // How long an import takes here, so that it is killed at every stage of it.
  const startedAt = performance.now()
  await commandJson(['bank-account', 'list'], env)
  let longestMs = (performance.now() - startedAt) * 2 + 2_000
  for (let round = 0; round < rounds; round++) {
    const begunAt = performance.now()
    const importing = startSluice(args, env)
    const isOver = await Promise.race([
      importing.ended.then(() => true),
      pause(random() * longestMs).then(() => false),
    ])
    if (isOver) longestMs = performance.now() - begunAt
    kill(importing.pid)
    await importing.ended
    await verifyClean(env)
  }
  expect(await command([...args, '--json'], env)).toMatchObject({ code: 0 })
  await expectAllBooked(toImport)
  await database.close()
})

test('ten imports of one file at once, each by a process of its own, are one', async () => {
  const toImport = await statementToImport()
  const { database, env, args } = toImport
  const done = await Promise.all(Array.from({ length: 10 }, () => commandJson(args, env)))
  expect(done.filter(({ repeated }) => !repeated)).toHaveLength(1)
  expect(done.map(({ movements }) => movements).sort()).toEqual([...Array(9).fill(0), lines])
  await expectAllBooked(toImport)
  await database.close()
})

test('killed at each step, it goes on where it was', async () => {
  const toImport = await statementToImport()
  const { database, env, args } = toImport
  const [first, second] = [new pg.Client(database.ownerUrl), new pg.Client(database.ownerUrl)]
  await first.connect()
  await second.connect()
  const hold = async (client: pg.Client, table: string) => {
    await client.query('begin')
    await client.query(`lock table sluice.${table} in share mode`)
  }
  /** Waits until the import cannot go on, since it would write to this table. */
  const heldUpAt = (table: string) =>
    expect
      .poll(async () => {
        const { rows } = await first.query(
          `select 1 from pg_locks where not granted and relation = 'sluice.${table}'::regclass
             and database = (select oid from pg_database where datname = current_database())`,
        )
        return rows.length > 0
      })
      .toBe(true)
  const killed = async (importing: Running) => {
    kill(importing.pid)
    await importing.ended
  }
  // The file is to be kept; its statement and its lines are to be written; its movements are decided on, and the
  // books are to change.
  for (const table of ['bank_files', 'bank_statements', 'bank_reports', 'unmatched_payments']) {
    await hold(first, table)
    const importing = startSluice(args, env)
    await heldUpAt(table)
    await killed(importing)
    await first.query('rollback')
    await verifyClean(env)
    await first.query('update sluice.bank_movements set act_at = now() where act_at is not null')
  }
  // The books have changed, and the movements are to be marked.
  await hold(first, 'unmatched_payments')
  const importing = startSluice(args, env)
  await heldUpAt('unmatched_payments')
  await hold(second, 'bank_movements')
  await first.query('rollback')
  await heldUpAt('bank_movements')
  await killed(importing)
  await second.query('rollback')
  await verifyClean(env)
  await first.query('update sluice.bank_movements set act_at = now() where act_at is not null')
  await expectAllBooked(toImport)
  await first.end()
  await second.end()
  await database.close()
})
