import type { BankRow } from './bank-row.ts'
import { THB_BANKS } from './banks-thb.ts'
import { VND_BANKS } from './banks-vnd.ts'
import { type Currency, currencies } from './money.ts'

export interface Bank {
  /** The one code we store and show. */
  code: string
  name: string
  /** What payment rails route by: the Thai three-digit code or the Vietnamese BIN. */
  numericCode: string | null
  swift: string | null
  /** Whatever else may be sent for this bank, the numeric code included; upper case. */
  aliases: readonly string[]
  /** Takes no more payments; kept so that old records can be read. */
  closed: boolean
}

const BANKS: Record<Currency, readonly Bank[]> = {
  THB: listBanks(THB_BANKS),
  VND: listBanks(VND_BANKS),
}
const BY_CODE_OR_ALIAS = new Map(
  currencies.map((currency) => [currency, indexBanks(BANKS[currency])]),
)

/** All banks of a currency, closed ones included, sorted by code. */
export function banksOf(currency: Currency): readonly Bank[] {
  return BANKS[currency]
}

/** The bank a code or alias stands for, in any case. SCB is another bank in each currency. */
export function findBank(currency: Currency, codeOrAlias: string): Bank | undefined {
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
