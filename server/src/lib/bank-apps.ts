import type { Currency } from './money.ts'

/**
 * Apps of banks that a link opens on the payer's phone, by the bank's code. VietQR.io publishes these links; they name
 * the app alone, so that nobody learns from them who pays what. Where no link is published by the bank or for it, as in
 * Thailand, there is none here: docs/decisions/0075-apps-of-banks.md.
 */
const apps: Partial<Record<Currency, Readonly<Record<string, string>>>> = {
  VND: { ACB: 'acb', BIDV: 'bidv', ICB: 'icb', MB: 'mb', OCB: 'ocb', VCB: 'vcb' },
}

/** The address that opens the app of this bank, by its canonical code; undefined if none is known for certain. */
export function bankAppLink(currency: Currency, bankCode: string): string | undefined {
  const known = apps[currency]
  if (!known || !Object.hasOwn(known, bankCode)) return undefined
  return `https://dl.vietqr.io/pay?app=${known[bankCode]}`
}
