import { expect, test } from 'vitest'
import { isPaymentCode, paymentCode } from './payment-code.ts'

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const codes = Array.from({ length: 200 }, (_, at) => paymentCode(`1-order${at}-1`))

test('a code has 13 characters that no bank changes and nobody misreads', () => {
  for (const code of codes) {
    expect(code).toMatch(/^SX[0-9A-HJKMNP-TV-Z]{11}$/)
    expect(isPaymentCode(code)).toBe(true)
  }
  expect(new Set(codes).size).toBe(codes.length)
})

test('a seed always makes the same code', () => {
  // Payouts that were handed over are known by it: another algorithm would make others.
  expect(paymentCode('1-0192f0c1a2b37c4d8e5f60718293a4b5-1')).toBe('SX2B7PRG5H4HR')
  expect(paymentCode('a')).toBe(paymentCode('a'))
})

test('a code with one wrong character is not a code', () => {
  for (const code of codes) {
    for (let at = 2; at < code.length; at++) {
      for (const wrong of alphabet) {
        if (wrong === code[at]) continue
        expect(isPaymentCode(code.slice(0, at) + wrong + code.slice(at + 1))).toBe(false)
      }
    }
  }
})

test.each(['', 'SX', 'sx1234567890a', 'SX00000000000000', 'SY0000000000', 'SXI0000000000'])(
  '%j is not a code',
  (text) => {
    expect(isPaymentCode(text)).toBe(false)
  },
)
