import { DatabaseError } from 'pg'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Lease } from './lease.ts'
import type { Outcome } from './outcome.ts'
import { ResultRecorder } from './result-recorder.ts'

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

const refusal = () => databaseError('22021')
const contention = () => databaseError('40P01')
const lost = () => Object.assign(new Error('the connection was reset'), { code: 'ECONNRESET' })

it('results that come in together are recorded in one batch', async () => {
  const { recorder, written, recorded } = start()
  const results = [...Array(50).keys()].map(result)
  for (const each of results) recorder.add(each)
  expect(written).toEqual([])
  await vi.runAllTimersAsync()
  expect(written).toEqual([results])
  expect(recorded).toEqual(results)
  expect(recorder.isIdle).toBe(true)
})

it('while more are to come, results are gathered for a moment, and no longer', async () => {
  const { recorder, written } = start({ underWay: () => 100 })
  recorder.add(result(1))
  await vi.advanceTimersByTimeAsync(5)
  recorder.add(result(2))
  expect(written).toEqual([])
  await vi.advanceTimersByTimeAsync(5)
  expect(seqs(written)).toEqual([[1, 2]])
})

it('enough results are recorded at once, without waiting for the others', async () => {
  const { recorder, written } = start({ underWay: () => 128 })
  for (let seq = 1; seq <= 128; seq++) recorder.add(result(seq))
  expect(written.map((batch) => batch.length)).toEqual([128])
  await vi.runAllTimersAsync()
})

it('results that come in during a write share the next, in batches of 256 at most', async () => {
  let finish = () => {}
  const { recorder, written, recorded } = start({
    write: async () => {
      if (written.length === 1) await new Promise<void>((resolve) => (finish = resolve))
    },
  })
  recorder.add(result(0))
  await vi.runAllTimersAsync()
  for (let seq = 1; seq <= 300; seq++) recorder.add(result(seq))
  await vi.runAllTimersAsync()
  expect(written.map((batch) => batch.length)).toEqual([1])
  finish()
  await vi.runAllTimersAsync()
  expect(written.map((batch) => batch.length)).toEqual([1, 256, 44])
  expect(recorded.length).toBe(301)
})

it('each time results are gathered, and after each write, it is the moment to claim', async () => {
  const onGathered = vi.fn()
  const { recorder } = start({ onGathered })
  recorder.add(result(1))
  recorder.add(result(2))
  await vi.runAllTimersAsync()
  expect(onGathered).toHaveBeenCalledTimes(2)
})

it.each([
  ['the connection is lost', lost],
  ['others are in the way', contention],
])('where %s, the whole batch is tried again and nothing is lost', async (_, error) => {
  let failures = 3
  const { recorder, written, recorded, errors } = start({
    write: async () => {
      if (failures-- > 0) throw error()
    },
  })
  for (let seq = 1; seq <= 4; seq++) recorder.add(result(seq))
  await vi.advanceTimersByTimeAsync(10)
  expect(recorded).toEqual([])
  expect(recorder.isIdle).toBe(false)
  await vi.runAllTimersAsync()
  expect(seqs(written)).toEqual(Array(4).fill([1, 2, 3, 4]))
  expect(seqs([recorded])).toEqual([[1, 2, 3, 4]])
  expect(errors.length).toBe(3)
})

it('a result that the database refuses keeps no other from being recorded', async () => {
  const bad = [17, 90]
  const { recorder, recorded, errors } = start({ write: refusing(bad) })
  for (let seq = 1; seq <= 100; seq++) recorder.add(result(seq))
  await vi.advanceTimersByTimeAsync(100)
  const good = [...Array(101).keys()].slice(1).filter((seq) => !bad.includes(seq))
  expect(seqs([recorded])[0]?.sort((x, y) => x - y)).toEqual(good)
  expect(errors.length).toBe(bad.length)
  // Nor those that come later.
  recorder.add(result(101))
  await vi.advanceTimersByTimeAsync(100)
  expect(recorded.map(({ callback }) => callback.seq)).toContain(101n)
  expect(recorder.isIdle).toBe(false)
})

it('a result that was refused is recorded as soon as the database takes it', async () => {
  const bad = [2]
  const { recorder, recorded } = start({ write: refusing(bad) })
  for (const seq of [1, 2, 3]) recorder.add(result(seq))
  await vi.advanceTimersByTimeAsync(2_500)
  expect(seqs([recorded])).toEqual([[1, 3]])
  bad.pop()
  await vi.advanceTimersByTimeAsync(1_100)
  expect(seqs([recorded])).toEqual([[1, 3, 2]])
  expect(recorder.isIdle).toBe(true)
})

it.each([
  ['refused', refusal],
  ['not written', lost],
])('what is %s until its claim has ended is given up once', async (_, error) => {
  const { recorder, recorded } = start({ write: () => Promise.reject(error()) })
  for (const seq of [1, 2]) recorder.add(result(seq))
  await vi.advanceTimersByTimeAsync(59_000)
  expect(recorded).toEqual([])
  await vi.advanceTimersByTimeAsync(3_000)
  expect(seqs([recorded])[0]?.sort()).toEqual([1, 2])
  expect(recorder.isIdle).toBe(true)
})

it.each([
  ['refused', refusal],
  ['not written', lost],
])('in a hurry, what is %s is given up', async (_, error) => {
  const { recorder, recorded } = start({ write: () => Promise.reject(error()) })
  for (const seq of [1, 2]) recorder.add(result(seq))
  await vi.advanceTimersByTimeAsync(100)
  recorder.hurry()
  const ended = recorder.ended()
  await vi.advanceTimersByTimeAsync(1_100)
  await ended
  expect(seqs([recorded])[0]?.sort()).toEqual([1, 2])
})

it('in a hurry, what comes in last is recorded before it has ended', async () => {
  const { recorder, recorded } = start({ underWay: () => 100 })
  recorder.hurry()
  recorder.add(result(1))
  const ended = recorder.ended()
  await vi.advanceTimersByTimeAsync(1)
  await ended
  expect(seqs([recorded])).toEqual([[1]])
})

interface Start {
  write?: (results: readonly Outcome[]) => Promise<void>
  underWay?: () => number
  onGathered?: () => void
}

function start({ write = async () => {}, underWay = () => 0, onGathered = () => {} }: Start = {}) {
  /** Each batch that was tried. */
  const written: Outcome[][] = []
  const recorded: Outcome[] = []
  const errors: unknown[] = []
  const recorder = new ResultRecorder({
    write: (results) => {
      written.push([...results])
      return write(results)
    },
    underWay,
    onGathered,
    onRecorded: (results) => recorded.push(...results),
    onError: (error) => errors.push(error),
  })
  return { recorder, written, recorded, errors }
}

/** A database that writes no batch with one of these in it. */
function refusing(bad: readonly number[]) {
  return async (results: readonly Outcome[]) => {
    if (results.some(({ callback }) => bad.includes(Number(callback.seq)))) throw refusal()
  }
}

function result(seq: number): Outcome {
  const lease = new Lease(() => new Date())
  return {
    callback: {
      agentId: 1n,
      seq: BigInt(seq),
      kind: 'deposit',
      body: '{}',
      attempts: 0,
      createdAtMs: 0,
      turn: 1n,
      lease,
    },
    attempt: 'not_sent',
  }
}

function seqs(batches: readonly (readonly Outcome[])[]): number[][] {
  return batches.map((batch) => batch.map(({ callback }) => Number(callback.seq)))
}

function databaseError(code: string): DatabaseError {
  return Object.assign(new DatabaseError('no', 2, 'error'), { code })
}
