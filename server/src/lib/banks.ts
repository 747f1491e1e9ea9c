import type { BankRow } from './bank-row.ts'
import { THB_BANKS } from './banks-thb.ts'
import { VND_BANKS } from './banks-vnd.ts'
import type { CurrencyCode } from './currencies.ts'
import { type Currency, currencies } from './money.ts'

export interface Bank {
  /** The canonical code, which we store and show. */
  code: string
  name: string
  /** The code that payment rails route by: the Thai three-digit code or the Vietnamese BIN. */
  numericCode: string | null
  swift: string | null
  /** Other codes that agents may send for this bank, in upper case. They include the numeric code. */
  aliases: readonly string[]
  /** The bank takes no more payments; it stays in the list so that old records can be read. */
  closed: boolean
}

const BANKS: Record<Currency, readonly Bank[]> = {
  THB: listBanks(THB_BANKS),
  VND: listBanks(VND_BANKS),
}
const BY_CODE_OR_ALIAS = new Map<CurrencyCode, ReadonlyMap<string, Bank>>(
  currencies.map((currency) => [currency, indexBanks(BANKS[currency])]),
)

/** All banks of a currency, closed ones included, sorted by code. */
export function banksOf(currency: Currency): readonly Bank[] {
  return BANKS[currency]
}

/** Finds a bank by code or alias, ignoring case. Each currency has a different bank called SCB. */
export function findBank(currency: CurrencyCode, codeOrAlias: string): Bank | undefined {
  return BY_CODE_OR_ALIAS.get(currency)?.get(codeOrAlias.toUpperCase())
}

function listBanks(rows: readonly BankRow[]): readonly Bank[] {
  return rows.map(toBank).sort((a, b) => (a.code < b.code ? -1 : 1))
}

function toBank([code, name, numericCode, swift, otherCodes, closed]: BankRow): Bank {
  const aliases = numericCode === null ? otherCodes : [numericCode, ...otherCodes]
  return { code, name, numericCode, swift, aliases, closed: closed === 'closed' }
}

function indexBanks(banks: readonly Bank[]): ReadonlyMap<string, Bank> {
  return new Map(banks.flatMap((bank) => [bank.code, ...bank.aliases].map((key) => [key, bank])))
}
