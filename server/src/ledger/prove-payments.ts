import { orderIdFromUuid } from '../lib/ids.ts'
import type { JournalRow } from './book.ts'
import { demand, type ProofTx } from './lie.ts'

/** Every payment that was credited is recorded as such, with the amount that was credited. */
export async function provePayments(
  tx: ProofTx,
  agentId: bigint,
  rows: JournalRow[],
): Promise<void> {
  const credits = rows.filter(({ event }) => event === 'deposit_paid')
  if (credits.length === 0) return
  const { rows: payments } = await tx.query<{
    payment_id: string
    order_id: string | null
    amount: bigint
    state: string
  }>(
    `select payment_id, order_id, amount, state from payments
     where agent_id = $1 and payment_id = any($2)`,
    [agentId, credits.map(({ onceKey }) => onceKey?.replace(/^payment:/, ''))],
  )
  const known = new Map(payments.map((payment) => [`payment:${payment.payment_id}`, payment]))
  for (const { seq, orderId, onceKey, change } of credits) {
    const payment = known.get(onceKey ?? '')
    demand(
      (payment?.state === 'credited' || payment?.state === 'taken_back') &&
        payment.amount === -change.clearing &&
        orderIdFromUuid(payment.order_id ?? '') === orderId,
      () => `journal row ${seq} credits ${onceKey}, which is not recorded so`,
    )
  }
}

/**
 * No payment counts as credited without the journal row that credited it. Of all payments, or of those
 * of some orders.
 */
export async function proveCredits(
  tx: ProofTx,
  agentId: bigint,
  orderIds: string[] | null = null,
): Promise<void> {
  const { rows } = await tx.query<{ payment_id: string }>(
    `select p.payment_id from payments p
     where p.agent_id = $1 and p.credited_to is not null and ${
       // What pays an order has an index of its own.
       orderIds
         ? `p.state = 'credited' and p.credited_to = 'order' and p.order_id = any($2)`
         : '$2::uuid[] is null'
     } and not exists (
       select 1 from journal j
       where j.agent_id = p.agent_id and j.once_key = 'payment:' || p.payment_id
     ) limit 1`,
    [agentId, orderIds],
  )
  const lost = rows[0]?.payment_id
  demand(lost === undefined, () => `payment ${lost} counts as credited, but no journal row does so`)
}
