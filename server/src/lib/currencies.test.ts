import { expect, it } from 'vitest'
import { accountNoFault, banksOf, findBank, sampleBankCode } from './banks.ts'
import { currencyRow, mayBeCharged } from './currencies.ts'
import { currencies, decimalText, parseDecimal } from './money.ts'
import { amountText } from './qr/amount-text.ts'

const rows = currencies.map((currency) => ({ currency, ...currencyRow(currency) }))

it('no two currencies share a number or a book of the house', () => {
  expect(new Set(rows.map(({ isoNumber }) => isoNumber)).size).toBe(rows.length)
  expect(rows.map(({ houseBook }) => houseBook)).toEqual(rows.map((_, at) => -1n - BigInt(at)))
  for (const { isoNumber } of rows) expect(isoNumber).toMatch(/^\d{3}$/)
})

it('a surplus stays below one unit, or is in whole units where smaller ones are not paid', () => {
  for (const { currency, decimals, surplusStepMinor, surplusSteps } of rows) {
    const most = surplusStepMinor * BigInt(surplusSteps)
    const perUnit = 10n ** BigInt(decimals)
    expect(most < perUnit || surplusStepMinor === perUnit, currency).toBe(true)
  }
})

it('a bank charges no more than it pays, and no more than any does', () => {
  for (const { currency, mostChargeMinor: most } of rows) {
    expect(mayBeCharged(most, most, currency)).toBe(true)
    expect(mayBeCharged(most, most - 1n, currency)).toBe(false)
    expect(mayBeCharged(most + 1n, most * 100n, currency)).toBe(false)
  }
})

it.each(currencies)('%s: amounts are written and read alike, with its decimals', (currency) => {
  const { decimals } = currencyRow(currency)
  expect(parseDecimal(decimalText(12_345n, currency), currency)).toBe(12_345n)
  expect(amountText(12_300n, currency)).toBe(decimals === 0 ? '12300' : '123.00')
  expect(amountText(5n, currency)).toBe(decimals === 0 ? '5' : '0.05')
  expect(parseDecimal('1.005', currency)).toBeUndefined()
})

it.each(currencies)('%s: the sample code is of a bank', (currency) => {
  const bank = findBank(currency, sampleBankCode(currency).toLowerCase())
  expect(bank).toMatchObject({ code: sampleBankCode(currency), closed: false })
  expect(banksOf(currency).length > 0).toBe(currencyRow(currency).bankCode === 'table')
})

it('a code of another form is no bank', () => {
  for (const code of [
    '',
    'KBANK',
    'DEUTDEF',
    'DEUTDEFF5',
    'DEUTDEFF5000',
    'DEUT1EFF',
    'ÄEUTDEFF',
  ]) {
    expect(findBank('EUR', code), code).toBeUndefined()
  }
  for (const code of ['HDFC1234567', 'HDFC000123', 'HDFC00012345', '1DFC0001234', 'DEUTDEFF']) {
    expect(findBank('INR', code), code).toBeUndefined()
  }
  expect(findBank('THB', 'KASITHBK')).toBeUndefined()
})

it('only what may be an IBAN is checked as one', () => {
  expect(accountNoFault('EUR', 'DE75512108001245126199')).toBeUndefined()
  expect(accountNoFault('EUR', 'DE75512108001245126198')).toContain('check digits')
  expect(accountNoFault('USD', 'US12345678')).toBeUndefined()
  expect(accountNoFault('INR', 'DE12345678')).toBeUndefined()
  expect(accountNoFault('VND', 'DE12345678')).toBeUndefined()
})
