import { expect, it } from 'vitest'
import { bankAppLink } from './bank-apps.ts'
import { banksOf } from './banks.ts'

it('a link opens the app of a bank that is in the table, and says nothing of the payment', () => {
  const linked = banksOf('VND').filter(({ code }) => bankAppLink('VND', code) !== undefined)
  expect(linked.map(({ code }) => code)).toEqual(['ACB', 'BIDV', 'ICB', 'MB', 'OCB', 'VCB'])
  for (const { code, closed } of linked) {
    expect(closed, code).toBe(false)
    expect(bankAppLink('VND', code)).toMatch(/^https:\/\/dl\.vietqr\.io\/pay\?app=[a-z]+$/)
  }
})

it('no link is guessed: neither for other banks, nor for a bank of another country with the same code', () => {
  expect(bankAppLink('VND', 'SCB')).toBeUndefined()
  expect(bankAppLink('THB', 'SCB')).toBeUndefined()
  expect(bankAppLink('THB', 'MB')).toBeUndefined()
  expect(bankAppLink('VND', 'constructor')).toBeUndefined()
})
