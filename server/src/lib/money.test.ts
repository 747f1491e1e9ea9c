import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  currencies,
  decimalText,
  maxAmount,
  maxBalanceMinor,
  parseDecimal,
  printedMoney,
  toMinor,
  wholeDecimalText,
  wholeNumber,
} from './money.ts'

const anyCurrency = fc.constantFrom(...currencies)
const anyMinor = fc.bigInt({ min: -maxBalanceMinor, max: maxBalanceMinor })

test.each([
  [0n, 'THB', '0'],
  [1n, 'THB', '0.01'],
  [10n, 'THB', '0.1'],
  [100n, 'THB', '1'],
  [12_345n, 'THB', '123.45'],
  [-1n, 'THB', '-0.01'],
  [-250n, 'THB', '-2.5'],
  [maxBalanceMinor, 'THB', '90071992547409.91'],
  [maxBalanceMinor - 1n, 'THB', '90071992547409.9'],
  [100n, 'VND', '100'],
  [-100n, 'VND', '-100'],
  [maxBalanceMinor, 'VND', '9007199254740991'],
] as const)('%s minor units of %s are written %s', (minor, currency, text) => {
  expect(decimalText(minor, currency)).toBe(text)
})

test.each([
  [0n, 'THB', '0.00'],
  [-5n, 'THB', '-0.05'],
  [100_050n, 'THB', '1,000.50'],
  [-maxBalanceMinor, 'THB', '-90,071,992,547,409.91'],
  [0n, 'VND', '0'],
  [maxBalanceMinor, 'VND', '9,007,199,254,740,991'],
] as const)('%s minor units of %s are printed %s', (minor, currency, text) => {
  expect(printedMoney(minor, currency)).toBe(text)
})

test('the decimal text of every balance is a JSON number that reads back to the satang', () => {
  fc.assert(
    fc.property(anyMinor, anyCurrency, (minor, currency) => {
      const text = decimalText(minor, currency)
      expect(text).toMatch(/^-?(0|[1-9]\d*)(\.\d*[1-9])?$/)
      expect(parseDecimal(text, currency)).toBe(minor)
      expect(() => JSON.parse(text)).not.toThrow()
    }),
  )
})

test.each([
  ['0', 'THB', 0n],
  ['12.5', 'THB', 1250n],
  ['12.50', 'THB', 1250n],
  ['12.500000', 'THB', 1250n],
  ['-12.5', 'THB', -1250n],
  ['007', 'THB', 700n],
  ['12.505', 'THB', undefined],
  ['0.001', 'THB', undefined],
  ['12.0', 'VND', 12n],
  ['12.5', 'VND', undefined],
  ['', 'THB', undefined],
  ['.5', 'THB', undefined],
  ['5.', 'THB', undefined],
  ['+5', 'THB', undefined],
  ['1e2', 'THB', undefined],
  [' 5', 'THB', undefined],
  ['5\n', 'THB', undefined],
  ['1,000', 'THB', undefined],
  ['๕', 'THB', undefined],
  ['9'.repeat(17), 'THB', undefined],
] as const)('the decimal %j in %s is read as %s', (text, currency, minor) => {
  expect(parseDecimal(text, currency)).toBe(minor)
})

test.each([
  ['0', 0n],
  ['-0', 0n],
  ['0.000', 0n],
  ['0e9999', 0n],
  ['1', 1n],
  ['-1', -1n],
  ['100.0', 100n],
  ['1e2', 100n],
  ['1E+2', 100n],
  ['10000e-2', 100n],
  ['1.5e1', 15n],
  ['1000000000000', maxAmount],
  ['1e12', maxAmount],
  ['1000000000001', maxAmount + 1n],
  ['9007199254740993', 9_007_199_254_740_993n],
  ['99.99999999999999999', undefined],
  ['0.1', undefined],
  ['1.5', undefined],
  ['1e-1', undefined],
  ['15e-1', undefined],
  ['1000000000000.00000000001', undefined],
  ['1e400', undefined],
  ['1e99999', undefined],
  ['"100"', undefined],
  ['null', undefined],
  ['true', undefined],
  ['[1]', undefined],
  ['{}', undefined],
  ['', undefined],
] as const)('the JSON text %j is the whole number %s', (text, value) => {
  expect(wholeNumber(text)).toBe(value)
})

test('a whole number is read the same however JSON spells it', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n, max: maxAmount }),
      fc.nat(12),
      fc.nat(12),
      (value, zeros, shift) => {
        expect(wholeNumber(`${value}${zeros > 0 ? `.${'0'.repeat(zeros)}` : ''}`)).toBe(value)
        expect(wholeNumber(`${value}${'0'.repeat(shift)}e-${shift}`)).toBe(value)
        expect(wholeNumber(`${value}e${shift}`)).toBe(value * 10n ** BigInt(shift))
      },
    ),
  )
})

test('a number with a fraction is never whole, however small the fraction', () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(40), fc.integer({ min: 1, max: 9 }), (whole, zeros, digit) => {
      expect(wholeNumber(`${whole}.${'0'.repeat(zeros)}${digit}`)).toBeUndefined()
    }),
  )
})

test('whole units become minor units by the decimals of the currency', () => {
  expect(toMinor(7n, 'THB')).toBe(700n)
  expect(toMinor(7n, 'VND')).toBe(7n)
})

test('a whole decimal has all decimals of its currency', () => {
  expect(wholeDecimalText(250_00n, 'THB')).toBe('250.00')
  expect(wholeDecimalText(-100_10n, 'THB')).toBe('-100.10')
  expect(wholeDecimalText(100_07n, 'THB')).toBe('100.07')
  expect(wholeDecimalText(0n, 'THB')).toBe('0.00')
  expect(wholeDecimalText(180_000n, 'VND')).toBe('180000')
})
