import type { Currency } from '../money.ts'

/** What QR codes say about the account that they pay to. */
export interface QrAccount {
  currency: Currency
  /** The bank's code as `findBank` knows it, or a BIC; empty if none was given. */
  bankCode: string
  accountNo: string
  accountName: string
  city: string | null
  /** `street;no;post code;town;country`. */
  address: string | null
}

/** What is to be paid: the exact amount, and the payment code for where a kind has room for it. */
export interface QrPayment {
  amountMinor: bigint
  code: string
  /** Until when, for where a kind can say so. */
  expiresAt?: Date
}

/** Whether the payment code reaches the account's owner with the money. */
export type ComesBack = 'always' | 'sometimes' | 'never'

/** One kind of QR code. */
export interface QrScheme {
  /** What the value of the setting is, in words; null if the kind takes none. */
  takes: string | null
  /** Whether the setting may go without a value all the same. */
  isOptional?: true
  /** Whether the code's text carries the payment code. */
  carriesCode: boolean
  referenceComesBack(value: string): ComesBack
  /** What keeps the account from having such a code and what to do about it. */
  fault(value: string, account: QrAccount): string | undefined
  /** What looks wrong but may be right. */
  warning?(value: string): string | undefined
  /** The text to encode, for a setting without fault; undefined if the amount is too large for the kind. */
  text(value: string, account: QrAccount, payment: QrPayment): string | undefined
}
