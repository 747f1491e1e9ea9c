import type { Payment } from '../ledger/book.ts'
import { type PayerRow, payerFromRow } from '../ledger/payer-from-row.ts'
import { ensureSame, ensureSameUnshown, type ProofTx, type ProvedAgent } from './proof-failure.ts'

/**
 * Proves that an agent's payments which came in unmatched are unchanged since, and assigned to no other
 * agent.
 */
export async function proveUnmatched(
  tx: ProofTx,
  { agentId, currency }: ProvedAgent,
  payments: readonly Pick<Payment, 'paymentId' | 'amountMinor' | 'paidAt' | 'payer'>[],
): Promise<void> {
  const { rows } = await tx.query<
    PayerRow & {
      payment_id: string
      amount: bigint
      currency: string
      paid_at: Date
      state: string
      assigned_to: bigint | null
    }
  >('select * from unmatched_payments where payment_id = any($1)', [
    payments.map(({ paymentId }) => paymentId),
  ])
  const own = new Map(payments.map((payment) => [payment.paymentId, payment]))
  for (const row of rows) {
    const payment = own.get(row.payment_id)
    const where = `unmatched payment ${row.payment_id}`
    ensureSame(where, 'state', row.state, 'assigned')
    ensureSame(where, 'assigned to', row.assigned_to, agentId)
    ensureSame(where, 'amount', row.amount, payment?.amountMinor)
    ensureSame(where, 'currency', row.currency, currency)
    ensureSame(where, 'paid_at', row.paid_at, payment?.paidAt)
    const payer = JSON.stringify(payerFromRow(row))
    ensureSameUnshown(where, 'payer', payer, JSON.stringify(payment?.payer ?? null))
  }
}
