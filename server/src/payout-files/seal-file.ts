import { createHash } from 'node:crypto'
import type { BankAccount } from '../bank-accounts/bank-account.ts'
import { currencyRow } from '../lib/currencies.ts'
import type { PaymentFile, RenderedFile } from '../payment-files/payment-file.ts'
import { renderPaymentFile } from '../payment-files/render-payment-file.ts'
import { executionDay } from './banking-day.ts'
import type { PayoutFile, PayoutLine } from './payout-file.ts'

/**
 * The id by which a bank tells files apart: it refuses a second one. Another in each round, so that nobody takes bytes
 * of an earlier one for these. Of 27 characters and the round, since some formats have no room for more than 32.
 */
export function messageIdOf({ fileId, round }: Pick<PayoutFile, 'fileId' | 'round'>): string {
  const id = `PF${BigInt(`0x${fileId}`).toString(36).toUpperCase().padStart(25, '0')}`
  return round === 1 ? id : `${id}${round.toString(36).toUpperCase()}`
}

/** What the file asks the bank to pay. The same values always make the same bytes. */
export function paymentFileOf(
  file: PayoutFile,
  account: Pick<BankAccount, 'zone' | 'payoutCutoffs' | 'payoutHolidays'>,
  lines: readonly (PayoutLine & { reference: string })[],
  at: Date,
): PaymentFile {
  return {
    messageId: messageIdOf(file),
    batchReference: messageIdOf(file),
    createdAt: at,
    executionDate: executionDay(account, at),
    debtor: {
      name: file.debtorName,
      accountNo: file.debtorAccountNo,
      bankCode: file.debtorBank === '' ? null : file.debtorBank,
      currency: file.currency,
    },
    characters: file.characters,
    zone: file.zone,
    serviceLevel: currencyRow(file.currency).isSepa ? 'SEPA' : null,
    instant: false,
    items: lines.map((line) => ({
      code: line.reference,
      amountMinor: line.amountMinor,
      payee: {
        name: line.payeeName,
        accountNo: line.payeeAccountNo,
        bankCode: line.payeeBank,
      },
      text: null,
    })),
  }
}

export function rendered(
  { format }: PayoutFile,
  file: PaymentFile,
): RenderedFile & { sha256: string } {
  const made = renderPaymentFile(format, file)
  return { ...made, sha256: createHash('sha256').update(made.bytes).digest('hex') }
}
