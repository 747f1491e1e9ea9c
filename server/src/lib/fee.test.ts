import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type FeeRule, feeOf, parseFeeRule } from './fee.ts'
import type { Currency } from './money.ts'

function rule(text: string, currency: Currency = 'THB'): FeeRule {
  const parsed = parseFeeRule(text, currency)
  if (typeof parsed === 'string') throw new Error(parsed)
  return parsed
}

test.each([
  ['0%', 0n, 0n],
  ['1.5%', 15_000n, 0n],
  ['0.0001%', 1n, 0n],
  ['100%', 1_000_000n, 0n],
  ['2', 0n, 200n],
  ['0.25', 0n, 25n],
  ['1.5%+2', 15_000n, 200n],
  ['0.35%+0.5', 3_500n, 50n],
] as const)('the rule %s is %s millionths and %s satang', (text, millionths, fixedMinor) => {
  expect(parseFeeRule(text, 'THB')).toEqual({ millionths, fixedMinor })
})

test.each([
  ['', 'THB', 'is not a fee'],
  ['%', 'THB', 'is not a fee'],
  ['+2', 'THB', 'is not a fee'],
  ['1.5%+', 'THB', 'is not a fee'],
  ['1.5%2', 'THB', 'is not a fee'],
  ['2+1.5%', 'THB', 'is not a fee'],
  ['-1%', 'THB', 'is not a fee'],
  ['-2', 'THB', 'is not a fee'],
  ['1.5 %', 'THB', 'is not a fee'],
  ['1e2', 'THB', 'is not a fee'],
  ['1.23456%', 'THB', 'is not a fee'],
  ['two', 'THB', 'is not a fee'],
  ['100.0001%', 'THB', 'more than the amount'],
  ['0.001', 'THB', 'finer than THB allows'],
  ['1%+0.005', 'THB', 'finer than THB allows'],
  ['0.5', 'VND', 'finer than VND allows'],
  ['9'.repeat(17), 'THB', 'too large'],
] as const)('the rule %j in %s is refused: it %s', (text, currency, why) => {
  expect(parseFeeRule(text, currency)).toContain(why)
})

test.each([
  ['1.5%+2', 'THB', 100_000n, 1_700n],
  ['0%', 'THB', 100_000n, 0n],
  ['5', 'THB', 1n, 500n],
  ['0.5%', 'THB', 100n, 1n],
  ['0.49%', 'THB', 100n, 0n],
  ['1.5%', 'THB', 33n, 0n],
  ['1.5%', 'THB', 34n, 1n],
  ['1.5%', 'THB', 99n, 1n],
  ['1.5%', 'THB', 100n, 2n],
  ['1.5%', 'VND', 100n, 2n],
  ['1.4%', 'VND', 100n, 1n],
  ['0.0001%', 'THB', 100_000_000_000_000n, 100_000_000n],
  ['100%', 'THB', 12_345n, 12_345n],
] as const)(
  'the fee %s in %s of %s minor units is %s: half is rounded up',
  (text, currency, amount, fee) => {
    expect(feeOf(amount, rule(text, currency))).toBe(fee)
  },
)

const anyRule = fc.record({
  millionths: fc.bigInt({ min: 0n, max: 1_000_000n }),
  fixedMinor: fc.bigInt({ min: 0n, max: 10n ** 12n }),
})

test('a fee is never more than half a minor unit off the exact one', () => {
  fc.assert(
    fc.property(anyRule, fc.bigInt({ min: 1n, max: 10n ** 14n }), (each, amount) => {
      const exactMillionths = amount * each.millionths + each.fixedMinor * 1_000_000n
      const off = feeOf(amount, each) * 1_000_000n - exactMillionths
      expect(off > -500_000n && off <= 500_000n).toBe(true)
    }),
  )
})
