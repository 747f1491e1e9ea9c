import type { Payer } from './book.ts'

/** The columns for the payer in every table of payments. */
export interface PayerRow {
  payer_account_no: string | null
  payer_account_name: string | null
  payer_bank_code: string | null
}

/** The payer, or null if the provider reported nothing about the payer. */
export function payerFromRow(row: PayerRow): Payer | null {
  const payer = {
    accountNo: row.payer_account_no,
    accountName: row.payer_account_name,
    bankCode: row.payer_bank_code,
  }
  return Object.values(payer).some((value) => value !== null) ? payer : null
}
