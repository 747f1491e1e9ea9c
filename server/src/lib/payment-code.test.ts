import { describe, expect, test } from 'vitest'
import {
  digitsForm,
  findPaymentCodes,
  isCodeForm,
  isPaymentCode,
  paymentCode,
  possibleDigitCodes,
} from './payment-code.ts'

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

describe('codes in texts', () => {
  const [a = '', b = ''] = codes

  test.each([
    ['alone', a],
    ['in small letters', a.toLowerCase()],
    ['with words of the bank around it', `MBVCB.123456.${a} CT tu 0123456789 toi SHOP`],
    ['glued to other letters', `REF${a}XY9`],
    ['broken by lines and spaces', `${a.slice(0, 4)}\n${a.slice(4, 9)} ${a.slice(9)}`],
    ['with dashes', `${a.slice(0, 6)}-${a.slice(6)}`],
    ['in wide letters', [...a].map((c) => String.fromCharCode(c.charCodeAt(0) + 0xfee0)).join('')],
  ])('a code is found %s', (_how, text) => {
    expect(findPaymentCodes([text])).toEqual([a])
  })

  test('letters that look like digits are read as these', () => {
    const code = codes.find((each) => /0/.test(each) && /1/.test(each)) ?? ''
    expect(code).not.toBe('')
    expect(findPaymentCodes([code.replaceAll('0', 'O').replaceAll('1', 'I')])).toEqual([code])
    expect(findPaymentCodes([code.replaceAll('0', 'o').replaceAll('1', 'l')])).toEqual([code])
  })

  test('several codes are found, each once', () => {
    expect(findPaymentCodes([`${a} ${b}`, a])).toEqual([a, b])
    expect(findPaymentCodes([`SXSX${a}`])).toEqual([a])
  })

  test('a code with a wrong character is none, nor one that is cut off or spread over two texts', () => {
    const wrong = a.slice(0, -1) + (a.endsWith('0') ? '1' : '0')
    expect(findPaymentCodes([wrong, a.slice(0, 12), '', 'SX'])).toEqual([])
    expect(findPaymentCodes([a.slice(0, 6), a.slice(6)])).toEqual([])
  })
})

describe('codes of other forms', () => {
  test.each<[string, boolean]>([
    ['SX', true],
    ['K7', true],
    ['digits', true],
    // Some letters would be read as digits, and all digits are another form.
    ...['LX', 'XO', 'IX', 'UU', '12', 'sx', 'SXX', ''].map((form): [string, boolean] => [
      form,
      false,
    ]),
  ])('%j may be one: %s', (form, is) => {
    expect(isCodeForm(form)).toBe(is)
  })

  test('begin with their own characters, and are found beside the usual ones', () => {
    const [usual, own] = [paymentCode('a'), paymentCode('a', 'K7')]
    expect(own).toMatch(/^K7[0-9A-HJKMNP-TV-Z]{11}$/)
    const text = `ref ${own.toLowerCase()} / ${usual}`
    expect(findPaymentCodes([text], ['SX', 'K7'])).toEqual([usual, own])
    expect(findPaymentCodes([text])).toEqual([usual])
    expect([isPaymentCode(own), isPaymentCode(own, ['K7'])]).toEqual([false, true])
  })

  const code = paymentCode('a', digitsForm)

  test('of digits are thirteen of them, of which no one may be wrong', () => {
    expect(code).toBe('6348449622502')
    for (let at = 0; at < 200; at++) {
      expect(paymentCode(`${at}`, digitsForm)).toMatch(/^[1-9]\d{12}$/)
    }
    for (let at = 0; at < code.length; at++) {
      for (const wrong of '0123456789') {
        if (wrong === code[at]) continue
        const mistyped = code.slice(0, at) + wrong + code.slice(at + 1)
        expect(isPaymentCode(mistyped, [digitsForm])).toBe(false)
      }
    }
  })

  test('of digits are among what may be codes, wherever the bank puts them', () => {
    for (const text of [
      code,
      `TRF ${code.slice(0, 6)} ${code.slice(6)} FROM 0812345678`,
      `0812345678 ${code} 16/11/2569 10:01`,
      `X${code}Y`,
    ]) {
      expect(possibleDigitCodes(text)).toContain(code)
    }
    expect(possibleDigitCodes(`${code.slice(0, 6)} and ${code.slice(6)}`)).toEqual([])
    expect(possibleDigitCodes('1'.repeat(4_000)).length).toBeLessThanOrEqual(100)
  })
})
