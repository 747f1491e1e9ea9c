import { currencyRow, currencyRows } from './currencies.ts'

/** Money is a whole number of minor units in `bigint`. Decimals exist only as text, on input and output. */

export type Currency = keyof typeof currencyRows

export const currencies = Object.keys(currencyRows) as readonly Currency[]

/** The currency of a new agent if nobody says which. */
export const defaultCurrency = currencies[0] as Currency

/** The upper limit of an agent's balances: a JSON number can always carry it in minor units. */
export const maxBalanceMinor = 2n ** 53n - 1n

/** The upper limit of the other accounts, so that they can always hold what waits beside a full wallet. */
export const maxAccountMinor = 2n ** 59n

/** The largest amount of one order, in whole units. */
export const maxAmount = 10n ** 12n

export function minorPerUnit(currency: Currency): bigint {
  return 10n ** BigInt(currencyRow(currency).decimals)
}

/** Without its sign. */
export function sizeOf(minor: bigint): bigint {
  return minor < 0n ? -minor : minor
}

export function toMinor(units: bigint, currency: Currency): bigint {
  return units * minorPerUnit(currency)
}

/**
 * The exact decimal text of an amount, without trailing zeros, for use as a JSON number. A JavaScript
 * number is not exact enough: near the limit two satang amounts share one double.
 */
export function decimalText(minor: bigint, currency: Currency): string {
  const { decimals } = currencyRow(currency)
  const perUnit = minorPerUnit(currency)
  const sign = minor < 0n ? '-' : ''
  const absolute = sizeOf(minor)
  const fraction = (absolute % perUnit).toString().padStart(decimals, '0')
  const trimmed = perUnit === 1n ? '' : fraction.replace(/0+$/, '')
  return `${sign}${absolute / perUnit}${trimmed === '' ? '' : `.${trimmed}`}`
}

/** An exact decimal with all decimals of its currency: `250.00`, and `250` where there are none. */
export function wholeDecimalText(minor: bigint, currency: Currency): string {
  const { decimals } = currencyRow(currency)
  const [units = '', fraction = ''] = decimalText(minor, currency).split('.')
  return decimals === 0 ? units : `${units}.${fraction.padEnd(decimals, '0')}`
}

const grouped = new Intl.NumberFormat('en')

/** An amount for print: with thousands separators and all decimals of its currency. */
export function printedMoney(minor: bigint, currency: Currency): string {
  const { decimals } = currencyRow(currency)
  const perUnit = minorPerUnit(currency)
  const absolute = sizeOf(minor)
  const fraction = (absolute % perUnit).toString().padStart(decimals, '0')
  const units = grouped.format(absolute / perUnit)
  return `${minor < 0n ? '-' : ''}${units}${perUnit === 1n ? '' : `.${fraction}`}`
}

/**
 * Converts decimal text such as `-12.5` to minor units; undefined if it has more decimals than the
 * currency.
 */
export function parseDecimal(text: string, currency: Currency): bigint | undefined {
  const match = /^(-?)(\d{1,16})(?:\.(\d{1,16}))?$/.exec(text)
  if (!match) return undefined
  const [, sign, whole = '', fraction = ''] = match
  const { decimals } = currencyRow(currency)
  const kept = fraction.replace(/0+$/, '')
  if (kept.length > decimals) return undefined
  const minor = BigInt(whole + kept.padEnd(decimals, '0'))
  return sign === '-' ? -minor : minor
}

/**
 * The value of a JSON number if it is whole, else undefined. Reads the original text, because
 * `JSON.parse` has already rounded: 99.99999999999999999 would come out as 100.
 */
export function wholeNumber(jsonNumber: string): bigint | undefined {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,4}))?$/.exec(jsonNumber)
  if (!match) return undefined
  const [, sign, whole = '', fraction = '', exponent = '0'] = match
  const digits = (whole + fraction).replace(/0+$/, '')
  if (digits.replace(/^0+/, '') === '') return 0n
  const power = Number(exponent) + whole.length - digits.length
  if (power < 0 || power > 30) return undefined
  const value = BigInt(digits) * 10n ** BigInt(power)
  return sign === '-' ? -value : value
}
