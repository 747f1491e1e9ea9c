import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { camt, dayAt } from '../support/bank-accounts.ts'
import { testDatabase } from '../support/database.ts'
import { seeded } from '../support/load.ts'
import {
  cleanUp,
  command,
  commandJson,
  kill,
  startSluice,
  tempFolder,
  verifyClean,
} from '../support/process.ts'

/** How often it is killed. CRASH_SEED repeats the random choices of a run, which prints its seed. */
const rounds = Number(process.env.CRASH_ROUNDS ?? 4)
const seed = Number(process.env.CRASH_SEED ?? Math.floor(Math.random() * 2 ** 31))

const lines = 300

afterEach(cleanUp)

test('however often an import is killed, its lines are booked once when it ends', async () => {
  console.info(`CRASH_SEED=${seed} CRASH_ROUNDS=${rounds}`)
  const random = seeded(seed)
  const database = await testDatabase()
  const folder = await tempFolder()
  const env = { DATABASE_URL: database.url, DATA_DIR: folder, LOG_LEVEL: 'warn' }
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
  const args = ['statement', 'import', file, '--account', 'shop']
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
  const done = await command([...args, '--json'], env)
  expect(done).toMatchObject({ code: 0 })
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
  await database.close()
})
