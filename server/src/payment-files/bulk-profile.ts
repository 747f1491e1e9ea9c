import type { Currency } from '../lib/money.ts'
import type { Charset } from './characters.ts'

/**
 * How a bank wants its bulk files: records of fields. Everything is a choice from a closed list; there are no
 * expressions, so a profile can neither run code nor compute an amount.
 */
export interface BulkProfile {
  name: string
  title: string
  currencies: readonly Currency[]
  /** False until the bank itself has taken a file. */
  checked: boolean
  charset: Charset
  lineEnd: '\r\n' | '\n'
  /** Null for fields of fixed width. */
  delimiter: ',' | ';' | '|' | null
  /** Only with a delimiter: whether every field is in quotes. */
  quoted: boolean
  extension: 'txt' | 'csv'
  /** The banks whose accounts the file may pay to; all of the currency's if it does not say. */
  payeeBanks?: { only: string } | { allBut: string }
  header: BulkRecord[]
  /** For each payment. */
  detail: BulkRecord[]
  trailer: BulkRecord[]
}

export type BulkRecord = readonly BulkField[]

export type BulkField = (
  | { source: 'constant'; text: string }
  | { source: TextSource }
  | { source: 'amount' | 'sum'; decimals: number; point: boolean }
  | { source: 'execution-date' | 'created-at'; format: BulkDateFormat }
) & {
  /** In characters, for fields of fixed width. */
  width?: number
  /** Where the value stands in its width: left if it does not say. */
  side?: 'left' | 'right'
  /** What fills the width: blanks if it does not say. Only digits are filled up with zeros. */
  fill?: ' ' | '0'
  /** A shorter value is refused: filled up with zeros it would be another number. */
  minLength?: number
}

/** A branch is the first three digits of a Thai account number. */
export type TextSource =
  | 'message-id'
  | 'batch-reference'
  /** Six digits that follow from the message's id, where there is no room for it. */
  | 'batch-number'
  | 'count'
  | 'currency'
  | 'debtor-name'
  | 'debtor-account'
  | 'debtor-branch'
  | 'line-number'
  | 'code'
  | 'text'
  | 'payee-name'
  | 'payee-account'
  | 'payee-branch'
  | 'payee-bank-code'
  | 'payee-bank-number'
  | 'payee-bank-name'

export type BulkDateFormat = 'DDMMYYYY' | 'YYYYMMDD' | 'YYYY-MM-DD' | 'HHMMSS'
