import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type FeeRule, feeOf, mostWithFee, parseFeeRule } from './fee.ts'
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

test.each([
  ['0%', 10_050n, 100n, 10_000n],
  ['10', 10_050n, 100n, 9_000n],
  ['1.5%+2', 100_000n, 100n, 98_300n],
  ['1%', 101n, 1n, 100n],
  ['100%', 101n, 1n, 50n],
  ['10', 1_000n, 100n, 0n],
  ['10', 999n, 100n, 0n],
  ['0%', -5n, 1n, 0n],
])('of a total with a fee of %s, %s covers steps of %s up to %s', (text, total, step, most) => {
  expect(mostWithFee(total, rule(text), step)).toBe(most)
})

test('no more would be covered, whatever the rule', () => {
  for (const text of ['0%', '0.01%', '1.5%+2', '33.33%+0.01', '99.99%', '100%']) {
    const fee = rule(text)
    for (let total = 0n; total < 3_000n; total += 7n) {
      for (const step of [1n, 3n, 100n]) {
        const most = mostWithFee(total, fee, step)
        const cost = (amount: bigint) => amount + feeOf(amount, fee)
        expect(most === 0n || cost(most) <= total).toBe(true)
        expect(cost(most + step) > total).toBe(true)
        expect(most % step).toBe(0n)
      }
    }
  }
})
