import { describe, expect, it, test } from 'vitest'
import { ibanFault, looksLikeIban, mod97 } from './iban.ts'

/** Made up, with check digits computed by hand: 98 less the remainder of the number and the country with 00. */
const good = [
  'DE75512108001245126199',
  'CH5604835012345678009',
  'LI21088100002324013AA',
  'GB33BUKB20201555555555',
  'FR7630006000011234567890189',
  'NO8330001234567',
  'MT31MALT01100000000000000000123',
]

describe('ibanFault', () => {
  it.each(good)('accepts %s, in small letters too', (iban) => {
    expect(ibanFault(iban)).toBeUndefined()
    expect(ibanFault(iban.toLowerCase())).toBeUndefined()
    expect(looksLikeIban(iban)).toBe(true)
  })

  it.each(good)('refuses %s with any one digit or letter changed to another', (iban) => {
    for (let at = 0; at < iban.length; at++) {
      for (const other of /\d/.test(iban[at] ?? '') ? '0123456789' : 'ABCDEFGHIJKLMNOPQRSTUVWXYZ') {
        if (other === iban[at]) continue
        expect(ibanFault(iban.slice(0, at) + other + iban.slice(at + 1))).toBeDefined()
      }
    }
  })

  test('it says whether the shape, the country, the length or the check digits are wrong', () => {
    expect(ibanFault('0801234567')).toContain('it begins with a country')
    expect(ibanFault('US12345678')).toContain('the country US has none')
    expect(ibanFault('DE7551210800124512619')).toContain('has 22 characters, this has 21')
    expect(ibanFault('DE76512108001245126199')).toContain('check digits are wrong')
    expect(ibanFault('DE75 5121 0800 1245 1261 99')).toContain('is not an IBAN')
  })
})

test('an account number that only begins like one does not look like an IBAN', () => {
  expect(looksLikeIban('US12345678')).toBe(false)
  expect(looksLikeIban('1234567890')).toBe(false)
  expect(looksLikeIban('ABCDEF')).toBe(false)
})

test('letters count as 10 to 35', () => {
  expect(mod97('A')).toBe(10)
  expect(mod97('AZ9')).toBe(10_359 % 97)
})
