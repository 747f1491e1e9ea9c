import fc from 'fast-check'
import { expect, test } from 'vitest'
import { TokenBuckets } from './token-bucket.ts'

const taken = (buckets: TokenBuckets, key: string, atMs: number, times: number) =>
  Array.from({ length: times }, () => buckets.take(key, 2, 4, atMs).taken)

test('a burst goes through at once, and then nothing', () => {
  expect(taken(new TokenBuckets(), 'a', 0, 6)).toEqual([true, true, true, true, false, false])
})

test('tokens come back with time, never more than the burst', () => {
  const buckets = new TokenBuckets()
  taken(buckets, 'a', 0, 4)
  expect(taken(buckets, 'a', 499, 1)).toEqual([false])
  expect(taken(buckets, 'a', 500, 2)).toEqual([true, false])
  expect(taken(buckets, 'a', 3_600_000, 5)).toEqual([true, true, true, true, false])
})

test('being refused costs nothing', () => {
  const buckets = new TokenBuckets()
  taken(buckets, 'a', 0, 100)
  expect(taken(buckets, 'a', 500, 1)).toEqual([true])
})

test('one key does not touch another', () => {
  const buckets = new TokenBuckets()
  taken(buckets, 'a', 0, 5)
  expect(taken(buckets, 'b', 0, 4)).toEqual([true, true, true, true])
})

test('a clock that goes back gives no tokens', () => {
  const buckets = new TokenBuckets()
  taken(buckets, 'a', 10_000, 4)
  expect(taken(buckets, 'a', 0, 1)).toEqual([false])
})

test('it tells what is left, when the next token comes and when all have', () => {
  const buckets = new TokenBuckets()
  expect(buckets.take('a', 2, 4, 0)).toEqual({ taken: true, remaining: 3, waitS: 1, resetS: 1 })
  taken(buckets, 'a', 0, 3)
  expect(buckets.take('a', 2, 4, 0)).toEqual({ taken: false, remaining: 0, waitS: 1, resetS: 2 })
  const slow = new TokenBuckets()
  slow.take('a', 0.1, 1, 0)
  expect(slow.take('a', 0.1, 1, 0)).toMatchObject({ taken: false, waitS: 10, resetS: 10 })
  expect(slow.take('a', 0.1, 1, 9_999).taken).toBe(false)
  expect(slow.take('a', 0.1, 1, 10_000).taken).toBe(true)
})

test('a flood of other keys refills no bucket, and is limited itself', () => {
  const buckets = new TokenBuckets(10)
  taken(buckets, 'a', 0, 5)
  const flood = Array.from({ length: 100 }, (_, at) => taken(buckets, `flood ${at}`, 0, 1)[0])
  // Nine keys find room; all others share four tokens.
  expect(flood.filter(Boolean)).toHaveLength(13)
  expect(taken(buckets, 'a', 0, 1)).toEqual([false])
  expect(taken(buckets, 'z', 0, 1)).toEqual([false])
})

test('buckets that are full again make room', () => {
  const buckets = new TokenBuckets(3)
  for (const key of ['a', 'b', 'c']) taken(buckets, key, 0, 4)
  expect(taken(buckets, 'd', 1_999, 4)).toEqual([true, true, true, true])
  expect(taken(buckets, 'e', 2_000, 1)).toEqual([false])
  expect(taken(buckets, 'e', 3_000, 4)).toEqual([true, true, true, true])
})

test('over any stretch no more go through than the burst and the rate allow', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(300), { maxLength: 200 }), (stepsMs) => {
      const buckets = new TokenBuckets()
      let atMs = 0
      let count = 0
      for (const stepMs of stepsMs) {
        atMs += stepMs
        if (buckets.take('a', 2, 4, atMs).taken) count++
      }
      expect(count).toBeLessThanOrEqual(4 + Math.floor((atMs / 1000) * 2 + 1e-6))
    }),
  )
})
