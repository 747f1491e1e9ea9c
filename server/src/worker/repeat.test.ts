import { afterEach, expect, it, vi } from 'vitest'
import { repeat } from './repeat.ts'

afterEach(() => vi.useRealTimers())

it('what is done once an hour is tried again ten seconds after an error, then each hour', async () => {
  vi.useFakeTimers()
  const errors: unknown[] = []
  let rounds = 0
  const repeated = repeat(
    3_600_000,
    async () => {
      rounds++
      if (rounds === 1) throw new Error('the database is away')
      return 'done'
    },
    (error) => errors.push(error),
  )
  await vi.advanceTimersByTimeAsync(9_999)
  expect([rounds, errors.length]).toEqual([1, 1])
  await vi.advanceTimersByTimeAsync(1)
  expect(rounds).toBe(2)
  await vi.advanceTimersByTimeAsync(3_599_999)
  expect(rounds).toBe(2)
  await vi.advanceTimersByTimeAsync(1)
  expect([rounds, errors.length]).toEqual([3, 1])
  await repeated.stop()
})
