import type { Payer } from './book.ts'

/** The columns in which every table of payments keeps who paid. */
export interface PayerRow {
  payer_account_no: string | null
  payer_account_name: string | null
  payer_bank_code: string | null
}

/** Who paid, or null where the provider said nothing of it. */
export function payerFromRow(row: PayerRow): Payer | null {
  const payer = {
    accountNo: row.payer_account_no,
    accountName: row.payer_account_name,
    bankCode: row.payer_bank_code,
  }
  return Object.values(payer).some((value) => value !== null) ? payer : null
}
