import { type Columns, columns } from '../db/columns.ts'
import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import type { Currency } from '../lib/money.ts'
import type { CodeForm } from '../lib/payment-code.ts'
import type { QrKind } from '../lib/qr/qr-kinds.ts'
import type { Signature } from '../operators/credentials.ts'
import type { Characters } from '../payment-files/payment-file.ts'

/** A bank account of the operator. It is a provider: orders are routed to it by its name. */
export interface BankAccount {
  name: string
  currency: Currency
  /** Empty if the currency needs none. */
  bankCode: string
  accountNo: string
  /** Numbers that it had before, by commas: payers of older orders still pay to these. */
  formerNumbers: string
  /** In live, the bank and the number, which no other account may have. */
  onlyOne: string | null
  accountName: string
  city: string | null
  /** `street;no;post code;town;country`. */
  address: string | null
  qrKind: QrKind
  qrValue: string | null
  match: 'code' | 'amount' | 'code+amount'
  /** What the payment codes of new orders look like, and what those of older ones did, by commas. */
  codeForm: CodeForm
  formerCodeForms: string
  surplusSteps: number
  holdS: number
  dayLimitMinor: bigint | null
  feed: 'signed' | 'token' | 'none'
  /** Sealed, in base64. */
  feedSecret: string | null
  zone: string
  /** How the bank's CSV files are read, as JSON. */
  csvProfile: string | null
  /** In which its MT940 and OFX files are written; null for the usual one. */
  encoding: string | null
  /** The operator's other account numbers, by commas: transfers from these are nobody's deposits. */
  ownAccounts: string
  /** It takes deposits from then on. */
  confirmedAt: Date | null
  confirmedBy: string | null
  createdAt: Date
  createdBy: string
  /**
   * Who last changed what deposits and reports depend on, when, and what that was, by commas. Null if nobody has
   * since it was made.
   */
  changedBy: string | null
  changedAt: Date | null
  changed: string | null
  /** The users who made it what it is and who confirmed it; null: the sandbox, the command line, or not known. */
  maker: Signature | null
  confirmer: Signature | null
  /** The payment that a person made to try the bank's own QR code. */
  testPaidBy: string | null
  testPaidAt: Date | null
  testPaidMinor: bigint | null
  /** How much of what files brought by people report in a day is believed without a second person. */
  fileLimitMinor: bigint
  /** The largest payment, and how much in a day, that pushes with a token are believed. */
  tokenLimitMinor: bigint
  tokenDayLimitMinor: bigint
  /** How what its feed's sender writes is read, as JSON; null: as the documentation says. */
  feedProfile: string | null
  /** How it pays withdrawals: not at all, or by files that people bring to the bank. */
  payout: 'none' | 'file'
  payoutFormat: string | null
  /** Which characters names have in its files. */
  payoutCharacters: Characters
  /** Times of the bank's day such as `14:30`, by commas: after the last one a file is for the next banking day. */
  payoutCutoffs: string
  /** Days on which the bank does not work, beside Saturdays and Sundays, by commas. */
  payoutHolidays: string
  /** How many minutes before each cut-off a draft is made by itself; null: people make them. */
  payoutDraftBefore: number | null
  /** The most in one file, and in the files that are approved in a day; null for any amount. */
  payoutFileLimitMinor: bigint | null
  payoutDayLimitMinor: bigint | null
  /** Whether the bank's answer to a file that it paid counts as paid, or only the debit on its statement. */
  payoutTrustsPaid: boolean
  /** Where its bank takes and gives files by SFTP; null: nowhere. */
  sftpHost: string | null
  sftpPort: number | null
  sftpUser: string | null
  /** The server's keys that are believed, by commas. */
  sftpHostKey: string | null
  sftpPutFolder: string | null
  sftpGetFolder: string | null
  /** The private key, sealed, in base64. */
  sftpKey: string | null
  /** How much the rail takes out of each payment before it arrives. */
  expectedDeductionMinor: bigint
  version: number
}

export const bankAccountColumns: Columns<BankAccount> = columns<BankAccount>({
  name: ['name', 'text'],
  currency: ['currency', 'text'],
  bankCode: ['bank_code', 'text'],
  accountNo: ['account_no', 'text'],
  formerNumbers: ['former_numbers', 'text'],
  onlyOne: ['only_one', 'text', 'null'],
  accountName: ['account_name', 'text'],
  city: ['city', 'text', 'null'],
  address: ['address', 'text', 'null'],
  qrKind: ['qr_kind', 'text'],
  qrValue: ['qr_value', 'text', 'null'],
  match: ['match', 'text'],
  codeForm: ['code_form', 'text'],
  formerCodeForms: ['former_code_forms', 'text'],
  surplusSteps: ['surplus_steps', 'int'],
  holdS: ['hold_s', 'int'],
  dayLimitMinor: ['day_limit', 'bigint', 'null'],
  feed: ['feed', 'text'],
  feedSecret: ['feed_secret', 'text', 'null'],
  zone: ['zone', 'text'],
  csvProfile: ['csv_profile', 'text', 'null'],
  encoding: ['encoding', 'text', 'null'],
  ownAccounts: ['own_accounts', 'text'],
  confirmedAt: ['confirmed_at', 'timestamptz', 'null'],
  confirmedBy: ['confirmed_by', 'text', 'null'],
  createdAt: ['created_at', 'timestamptz'],
  createdBy: ['created_by', 'text'],
  changedBy: ['changed_by', 'text', 'null'],
  changedAt: ['changed_at', 'timestamptz', 'null'],
  changed: ['changed', 'text', 'null'],
  maker: {
    userId: ['maker_user_id', 'bigint'],
    credential: ['maker_credential', 'int'],
    resetBy: ['maker_reset_by', 'bigint'],
  },
  confirmer: {
    userId: ['confirmer_user_id', 'bigint'],
    credential: ['confirmer_credential', 'int'],
    resetBy: ['confirmer_reset_by', 'bigint'],
  },
  testPaidBy: ['test_paid_by', 'text', 'null'],
  testPaidAt: ['test_paid_at', 'timestamptz', 'null'],
  testPaidMinor: ['test_paid', 'bigint', 'null'],
  fileLimitMinor: ['file_limit', 'bigint'],
  tokenLimitMinor: ['token_limit', 'bigint'],
  tokenDayLimitMinor: ['token_day_limit', 'bigint'],
  feedProfile: ['feed_profile', 'text', 'null'],
  payout: ['payout', 'text'],
  payoutFormat: ['payout_format', 'text', 'null'],
  payoutCharacters: ['payout_characters', 'text'],
  payoutCutoffs: ['payout_cutoffs', 'text'],
  payoutHolidays: ['payout_holidays', 'text'],
  payoutDraftBefore: ['payout_draft_before', 'int', 'null'],
  payoutFileLimitMinor: ['payout_file_limit', 'bigint', 'null'],
  payoutDayLimitMinor: ['payout_day_limit', 'bigint', 'null'],
  payoutTrustsPaid: ['payout_trusts_paid', 'boolean'],
  sftpHost: ['sftp_host', 'text', 'null'],
  sftpPort: ['sftp_port', 'int', 'null'],
  sftpUser: ['sftp_user', 'text', 'null'],
  sftpHostKey: ['sftp_host_key', 'text', 'null'],
  sftpPutFolder: ['sftp_put_folder', 'text', 'null'],
  sftpGetFolder: ['sftp_get_folder', 'text', 'null'],
  sftpKey: ['sftp_key', 'text', 'null'],
  expectedDeductionMinor: ['expected_deduction', 'bigint'],
  version: ['version', 'int'],
})

/** All accounts, by name. */
export async function readBankAccounts(pool: Pool | Tx): Promise<BankAccount[]> {
  const { rows } = await pool.query<object>(
    `select ${bankAccountColumns.select('b')} from bank_accounts b order by name`,
  )
  return rows.map(bankAccountColumns.fromRow)
}

export async function findBankAccount(
  pool: Pool | Tx,
  name: string,
): Promise<BankAccount | undefined> {
  const { rows } = await pool.query<object>(
    `select ${bankAccountColumns.select('b')} from bank_accounts b where name = $1`,
    [name],
  )
  return rows[0] && bankAccountColumns.fromRow(rows[0])
}
