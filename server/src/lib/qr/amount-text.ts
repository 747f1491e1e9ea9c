import { currencyRow } from '../currencies.ts'
import type { Currency } from '../money.ts'

/** An amount with all decimals of its currency, a dot and no grouping: `100.07`, `180000`. */
export function amountText(minor: bigint, currency: Currency): string {
  const { decimals } = currencyRow(currency)
  const digits = minor.toString().padStart(decimals + 1, '0')
  return decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}
