import { expect, test } from 'vitest'
import { parseReserveRule, releaseTime, reserveOf } from './reserve-rule.ts'

const ruleOf = (text: string) => {
  const rule = parseReserveRule(text)
  if (typeof rule === 'string') throw new Error(rule)
  return rule
}

test.each([
  ['10%/180', 100_00n, 0n, 10_00n],
  ['7.55%/90', 100_00n, 2_00n, 7_55n],
  ['0.01%/1', 100_00n, 0n, 1n],
  // Half a satang and more is rounded up.
  ['0.01%/1', 49_00n, 0n, 0n],
  ['0.01%/1', 50_00n, 0n, 1n],
  ['100%/1', 100_00n, 3_00n, 97_00n],
  ['99.99%/1000', 100_00n, 0n, 99_99n],
])('%s holds back, of %s paid with a fee of %s, %s', (text, paidMinor, feeMinor, held) => {
  expect(reserveOf({ paidMinor, feeMinor }, ruleOf(text))).toBe(held)
})

test.each([
  '',
  '10%',
  '10',
  '10/90',
  '10%/0',
  '10%/1001',
  '0%/9',
  '0.00%/9',
  '100.01%/9',
  '1.005%/9',
  '-1%/9',
  ' 1%/9',
  '1%/9 ',
  '1%/1.5',
  'none',
])('"%s" is no rule', (text) => {
  expect(parseReserveRule(text)).toEqual(expect.any(String))
})

test('days have 24 hours, whatever the clocks of a country do', () => {
  expect(releaseTime(new Date('2026-03-28T12:00:00Z'), ruleOf('5%/2')).toISOString()).toBe(
    '2026-03-30T12:00:00.000Z',
  )
})
