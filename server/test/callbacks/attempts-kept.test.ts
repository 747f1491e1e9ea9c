import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pruneAttempts } from '../../src/callbacks/prune-attempts.ts'
import { startTestService, type TestService } from '../support/service.ts'

let s: TestService

beforeAll(async () => {
  // Without a worker, which would prune by itself.
  s = await startTestService({ env: { ROLE: 'api' } })
})
afterAll(() => s.close())

const pool = () => s.backend.pool

async function month(name: string, from: string, until: string): Promise<void> {
  await s.sql(`alter table callback_attempts detach partition callback_attempts_before`)
  await s.sql('drop table callback_attempts_before')
  await s.sql(
    `create table ${name} partition of callback_attempts for values from ('${from}') to ('${until}')`,
  )
}

/** Attempts at a callback at these times, as ids that go up with them. */
async function attempts(seq: number, times: string[]): Promise<void> {
  for (const [at, time] of times.entries()) {
    await s.sql(
      `insert into callback_attempts (agent_id, seq, attempt_id, started_at, duration_ms, url)
       values (1, $1, $2, $3, 1, 'https://shop.example')`,
      [seq, `0190000${at}${randomUUID().slice(8)}`, time],
    )
  }
}

const kept = async () =>
  (
    await s.sql('select seq::int, started_at from callback_attempts order by seq, started_at')
  ).rows.map(({ seq, started_at }) => `${seq} ${started_at.toISOString().slice(0, 10)}`)

test('each month that has ended long ago is looked at once: the latest attempt of every callback stays', async () => {
  await month('callback_attempts_2026_01', '2026-01-01 00:00+00', '2026-02-01 00:00+00')
  await s.sql(
    `create table callback_attempts_2026_02 partition of callback_attempts
     for values from ('2026-02-01 00:00+00') to ('2026-03-01 00:00+00')`,
  )
  await attempts(1, ['2026-01-01', '2026-01-02', '2026-01-03'])
  await attempts(2, ['2026-01-31', '2026-02-01', '2026-02-02'])
  await attempts(3, ['2026-01-05'])
  await attempts(4, ['2026-02-05', '2026-02-06'])
  // Nothing has ended yet.
  expect(await pruneAttempts(pool(), new Date('2026-01-31'), 2)).toBe('done')
  expect(await kept()).toHaveLength(9)

  // Steps of two, each by whoever comes, until nothing is left to be looked at.
  const rounds = async () => {
    let count = 0
    while ((await pruneAttempts(pool(), new Date('2026-02-01'), 2)) === 'more') count++
    return count
  }
  expect(await rounds()).toBe(3)
  const january = ['1 2026-01-03', '2 2026-02-01', '2 2026-02-02', '3 2026-01-05']
  expect(await kept()).toEqual([...january, '4 2026-02-05', '4 2026-02-06'])

  // Not looked at again, whatever is there.
  await attempts(5, ['2026-01-07', '2026-01-08'])
  expect(await rounds()).toBe(0)
  expect(await kept()).toHaveLength(8)

  while ((await pruneAttempts(pool(), new Date('2026-03-01'), 100)) === 'more');
  expect(await kept()).toEqual([
    '1 2026-01-03',
    '2 2026-02-02',
    '3 2026-01-05',
    '4 2026-02-06',
    '5 2026-01-07',
    '5 2026-01-08',
  ])
})

test('ten processes at once take nothing away twice and nothing too much', async () => {
  await s.sql('truncate attempt_prunings; truncate callback_attempts')
  for (let seq = 1; seq <= 20; seq++) await attempts(seq, ['2026-01-01', '2026-01-02'])
  await Promise.all(
    Array.from({ length: 10 }, async () => {
      for (let step = 0; step < 30; step++) await pruneAttempts(pool(), new Date('2026-02-01'), 3)
    }),
  )
  expect(await kept()).toEqual(
    Array.from({ length: 20 }, (_, at) => `${at + 1} 2026-01-02`).sort(
      (a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10),
    ),
  )
})
