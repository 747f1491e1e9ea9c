import type { BankRow } from './bank-row.ts'
import { THB_BANKS } from './banks-thb.ts'
import { VND_BANK_APPS, VND_BANKS } from './banks-vnd.ts'
import { currencyRow } from './currencies.ts'
import { ibanFault, looksLikeIban } from './iban.ts'
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

/** The tables of the currencies whose banks go by codes of their own. */
const BANKS: Partial<Record<Currency, readonly Bank[]>> = {
  THB: listBanks(THB_BANKS),
  VND: listBanks(VND_BANKS),
}
const BANK_APPS: Partial<Record<Currency, ReadonlyMap<string, string>>> = { VND: VND_BANK_APPS }
const BY_CODE_OR_ALIAS = new Map(
  currencies.map((currency) => [currency, indexBanks(banksOf(currency))]),
)

/** All banks in a currency's table, closed ones included, sorted by code; none if it has no table. */
export function banksOf(currency: Currency): readonly Bank[] {
  return BANKS[currency] ?? []
}

/**
 * Finds a bank by code or alias, ignoring case; each currency has a different bank called SCB. In a currency
 * without a table every code of the right form is a bank.
 */
export function findBank(currency: Currency, codeOrAlias: string): Bank | undefined {
  const code = codeOrAlias.toUpperCase()
  const kind = currencyRow(currency).bankCode
  if (kind === 'table') return BY_CODE_OR_ALIAS.get(currency)?.get(code)
  if (!patterns[kind].test(code)) return undefined
  const swift = kind === 'bic' ? code : null
  return { code, name: code, numericCode: null, swift, aliases: [], closed: false }
}

/** The address that opens the app of a bank, by its canonical code; undefined if none is known for certain. */
export function bankAppLink(currency: Currency, bankCode: string): string | undefined {
  return BANK_APPS[currency]?.get(bankCode)
}

const patterns = {
  bic: /^[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?$/,
  ifsc: /^[A-Z]{4}0[A-Z0-9]{6}$/,
}

const meanings = {
  table: 'one of the codes that GET /payment/banks lists',
  ifsc: 'an IFSC: four letters, a zero, and six letters or digits',
  bic: 'a BIC of 8 or 11 letters and digits',
}

/** What the code of a bank is in a currency, in words for those who sent another. */
export function bankCodeMeaning(currency: Currency): string {
  return meanings[currencyRow(currency).bankCode]
}

/** A code for orders that try things out: of a bank in the table, or a made-up one of the right form. */
export function sampleBankCode(currency: Currency): string {
  const kind = currencyRow(currency).bankCode
  if (kind !== 'table') return kind === 'ifsc' ? 'TEST0000001' : 'TESTXX22'
  return banksOf(currency).find(({ closed }) => !closed)?.code ?? ''
}

/** Why an account number cannot be one in this currency; only an IBAN can be checked. */
export function accountNoFault(currency: Currency, accountNo: string): string | undefined {
  const mayBeIban = currencyRow(currency).bankCode === 'bic'
  return mayBeIban && looksLikeIban(accountNo) ? ibanFault(accountNo) : undefined
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
