import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkPartitions } from '../../src/cli/check-books.ts'
import { coveredUntil, makePartitionsAhead } from '../../src/db/partitions.ts'
import { root } from '../support/process.ts'
import { startTestService, type TestService } from '../support/service.ts'

let s: TestService

beforeAll(async () => {
  // Without a worker, which would make partitions by itself.
  s = await startTestService({ env: { ROLE: 'api' } })
})
afterAll(() => s.close())

/** Twelve o'clock on the second day of the month that is so many ahead. */
function inMonth(ahead: number): Date {
  const now = s.clock()
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead, 2, 12))
}

let seq = 0

/** Writes a body of a time as the service does. Returns the partition that it is in. */
async function partitionOf(createdAt: Date): Promise<string> {
  await s.backend.pool.query(`insert into callback_bodies values (1, $1, $2, '{}')`, [
    ++seq,
    createdAt,
  ])
  const { rows } = await s.sql(
    'select tableoid::regclass::text from callback_bodies where seq = $1',
    [seq],
  )
  return rows[0].tableoid
}

const monthName = (time: Date) =>
  `callback_bodies_${time.toISOString().slice(0, 7).replace('-', '_')}`

test('every month has its partition before it begins, however many processes make them', async () => {
  expect(await partitionOf(inMonth(3))).toBe(monthName(inMonth(3)))
  // Who would have to wait for long leaves it to the next round.
  await Promise.allSettled(
    Array.from({ length: 10 }, () => makePartitionsAhead(s.backend.pool, inMonth(2))),
  )
  await makePartitionsAhead(s.backend.pool, inMonth(2))
  expect(await partitionOf(inMonth(5))).toBe(monthName(inMonth(5)))
  expect((await coveredUntil(s.backend.pool, s.clock())).get('callback_bodies')).toEqual(
    new Date(inMonth(6).toISOString().slice(0, 7)),
  )
  expect(await makePartitionsAhead(s.backend.pool, inMonth(2))).toBe(0)
})

test('a row of a month without a partition is kept all the same, and stays where it is', async () => {
  expect(await partitionOf(inMonth(8))).toBe('callback_bodies_default')
  await makePartitionsAhead(s.backend.pool, inMonth(7))
  expect(await partitionOf(inMonth(8))).toBe('callback_bodies_default')
  expect(await partitionOf(inMonth(9))).toBe(monthName(inMonth(9)))
})

test('who has hold of the table is not waited for, and the next round makes up for it', async () => {
  const reader = await s.backend.pool.connect()
  await reader.query('begin')
  await reader.query('select from callback_bodies')
  const making = makePartitionsAhead(s.backend.pool, inMonth(11))
  await expect(making).rejects.toMatchObject({ code: '55P03' })
  await reader.query('rollback')
  reader.release()
  expect(await makePartitionsAhead(s.backend.pool, inMonth(11))).toBeGreaterThan(0)
})

test.each([
  ["select make_month_partition('journal', current_date)", '42501'],
  ["select make_month_partition('journal; drop table journal', current_date)", '42501'],
  ["select drop_month_partition('callback_bodies', now())", '42501'],
  ["select drop_month_partition('journal', now())", '42501'],
  [
    "create table mine partition of callback_bodies for values from ('2000-01-01') to ('2000-02-01')",
    '42501',
  ],
  ['drop table callback_bodies_default', '42501'],
  ['update callback_bodies set body = body', '42501'],
  ['delete from callback_bodies', '42501'],
])('the service may not say: %s', async (statement, code) => {
  await expect(s.backend.pool.query(statement)).rejects.toMatchObject({ code })
})

test("months long past or far ahead are nobody's to make", async () => {
  const { rows } = await s.backend.pool.query(
    `select make_month_partition('callback_bodies', '1999-01-01') as past,
       make_month_partition('callback_bodies', '2999-01-01') as ahead`,
  )
  expect(rows).toEqual([{ past: false, ahead: false }])
})

test('the metric and the doctor say when the months run out', async () => {
  const soon = (await coveredUntil(s.backend.pool, s.clock())).values().next().value
  expect(soon).toBeInstanceOf(Date)
  const metrics = await (await fetch(`${s.service.url}/metrics`)).text()
  const [, ahead] = /^sluice_partitions_ahead_seconds (\S+)$/m.exec(metrics) ?? []
  expect(Number(ahead)).toBeGreaterThan(80 * 86_400)
  expect((await checkPartitions(s.backend, s.clock())).state).toBe('ok')
  expect(await checkPartitions(s.backend, inMonth(30))).toMatchObject({
    state: 'warn',
    advice: expect.stringContaining('default partition'),
  })
})

test('the documentation says of every table how long its rows are kept, and of no other', async () => {
  const page = readFileSync(join(root, 'docs/operate.md'), 'utf8')
  const [, table = ''] = /## What is kept for how long\n([\s\S]*?)\nTables that/.exec(page) ?? []
  const named = [...table.matchAll(/^\| (`[^|]*?) *\|/gm)].flatMap(([, cell = '']) =>
    cell.split(', '),
  )
  const { rows } = await s.sql(
    `select relname from pg_class where relnamespace = 'sluice'::regnamespace
       and relkind in ('r', 'p') and not relispartition`,
  )
  expect(named.toSorted()).toEqual(rows.map(({ relname }) => `\`${relname}\``).toSorted())
})
