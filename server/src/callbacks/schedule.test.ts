import { expect, test } from 'vitest'
import { maxAttempts, nextDelayMs, parseRetryAfter, retryAfterS } from './schedule.ts'

const now = new Date('2026-01-01T00:00:00Z')

test('there are 13 attempts: the first, and one after each delay', () => {
  const delays = [5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 28_800, 43_200, 86_400, 86_400]
  expect(maxAttempts).toBe(13)
  expect(delays.map((_, at) => nextDelayMs(at + 1, undefined, 0.5))).toEqual(
    delays.map((delayS) => delayS * 1000),
  )
  expect(nextDelayMs(13, undefined, 0.5)).toBeUndefined()
  expect(nextDelayMs(13, 10, 0.5)).toBeUndefined()
})

test('every delay is spread over ±20 %', () => {
  for (const [at, stepS] of retryAfterS.entries()) {
    expect(nextDelayMs(at + 1, undefined, 0)).toBe(stepS * 800)
    expect(nextDelayMs(at + 1, undefined, 1)).toBe(stepS * 1200)
  }
})

/** Attempts made, what the receiver asks for, and the delay where chance would give the step. */
test.each([
  ['nothing', 1, undefined, 5],
  ['less than the step', 1, 1, 5],
  ['the step', 1, 5, 5],
  ['between', 1, 7.5, 7.5],
  ['twice the step', 1, 10, 10],
  ['more than that', 1, 11, 10],
  ['without end', 1, Number.POSITIVE_INFINITY, 10],
  ['between, of a long step', 12, 100_000, 100_000],
  ['more than a long step allows', 12, 1e9, 172_800],
])('a receiver that asks for %s', (_what, attempts, askedS, delayS) => {
  expect(nextDelayMs(attempts, askedS, 0.5)).toBe(delayS * 1000)
})

/** A header, and the seconds it asks for. */
test.each([
  [undefined, undefined],
  ['', undefined],
  ['0', 0],
  ['120', 120],
  [' 120 ', 120],
  ['9'.repeat(400), Number.POSITIVE_INFINITY],
  ['-1', undefined],
  ['+1', undefined],
  ['1.5', undefined],
  ['1e3', undefined],
  ['0x10', undefined],
  ['soon', undefined],
  ['120 s', undefined],
  ['Thu, 01 Jan 2026 00:02:00 GMT', 120],
  ['Thursday, 01-Jan-26 00:02:00 GMT', 120],
  ['Wed, 31 Dec 2025 23:59:00 GMT', 0],
  ['Mon, 99 Foo 2099 99:99:99 GMT', undefined],
  ['2026-01-01T00:02:00Z', undefined],
  ['January 1', undefined],
])('retry-after %j is %s s', (header, seconds) => {
  expect(parseRetryAfter(header, now)).toBe(seconds)
})
