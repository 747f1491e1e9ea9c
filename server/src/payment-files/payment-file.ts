import type { Currency } from '../lib/money.ts'

/**
 * Which characters names are written in. `latin`: letters lose their marks, as in SEPA, and what has no such form is
 * refused; `kept`: as they are, as far as the format has them; `format`: `latin` where SEPA pays, `kept` elsewhere.
 */
export const characterRules = ['format', 'latin', 'kept'] as const
export type Characters = (typeof characterRules)[number]

/** What one file asks a bank to pay. The same values always make the same bytes. */
export interface PaymentFile {
  /** At most 35 characters; the bank refuses a second file with the same one. */
  messageId: string
  createdAt: Date
  /** `YYYY-MM-DD`, a day in the bank's zone. */
  executionDate: string
  debtor: {
    name: string
    accountNo: string
    /** As `lib/banks.ts` has it for the currency. Null if it is not known. */
    bankCode: string | null
    currency: Currency
  }
  characters: Characters
  /** By whose clock a layout says when the file was made, as IANA names it; UTC if null. */
  zone: string | null
  serviceLevel: 'SEPA' | 'NURG' | 'URGP' | null
  instant: boolean
  /** What a batch debit on the statement is named by: at most 35 characters. */
  batchReference: string
  items: PaymentItem[]
}

export interface PaymentItem {
  /** The payment code: unique in the file, and what the bank names the payment by afterwards. */
  code: string
  amountMinor: bigint
  payee: Payee
  /** Words for the payee. What the format cannot carry is left out, and what is too long is cut off. */
  text: string | null
}

export interface Payee {
  name: string
  accountNo: string
  /** As `lib/banks.ts` has it for the currency: a code of its table, an IFSC or a BIC. */
  bankCode: string
}

/** A file as the bank gets it. */
export interface RenderedFile {
  name: string
  bytes: Buffer
  contentType: string
}

/** A format of payment files. */
export interface PaymentFormat {
  name: string
  /** For people who choose one. */
  title: string
  /** Whether the layout is a published standard, or the bank itself has taken a file of it. */
  checked: boolean
  currencies: readonly Currency[]
  /** Whether the bytes carry the message id, by which the bank knows a copy for what it is. */
  hasMessageId: boolean
  /**
   * Why a name could be read as more than a name in a file of this format, as a sentence; null if it cannot. It is
   * refused with the order, whoever else could pay it.
   */
  breakOut: (name: string) => string | null
  /** Why a payee cannot be written in this format, as a sentence; null if it can. */
  payeeProblem: (payee: Payee, currency: Currency, characters: Characters) => string | null
  render: (file: PaymentFile) => RenderedFile
}

/** Why a file cannot be written, in a sentence for people. */
export class PaymentFileFault extends Error {
  override readonly name = 'PaymentFileFault'
}
