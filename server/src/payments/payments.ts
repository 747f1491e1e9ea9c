import { findBankAccount } from '../bank-accounts/bank-account.ts'
import type { Pool } from '../db/pool.ts'
import { houseBook, providerOfPayment } from '../ledger/house.ts'
import { Problem } from '../lib/problem.ts'
import type { Desk } from '../teller/desk.ts'
import { allToDecide, searchPayments } from './search-payments.ts'
import { endUnmatched, findUnmatched } from './unmatched-payments.ts'

type PaymentDesk = Pick<Desk, 'pool' | 'teller' | 'now'>

/** The order that an agent's payment is for now, or null; undefined if there is no such payment. */
export async function orderOfPayment(
  pool: Pool,
  agentId: bigint,
  paymentId: string,
): Promise<string | null | undefined> {
  const { rows } = await pool.query<{ order_id: string | null }>(
    'select order_id from payments where agent_id = $1 and payment_id = $2',
    [agentId, paymentId],
  )
  return rows[0]?.order_id
}

/** Whether the payment was archived together with its order. */
export async function isArchivedPayment(pool: Pool, paymentId: string): Promise<boolean> {
  const { rows } = await pool.query(
    `select 1 from payment_claims c
     join archived_keys a on a.agent_id = c.agent_id and a.once_key = 'payment:' || c.payment_id
     where c.payment_id = $1 and not exists (select 1 from payments p
       where p.agent_id = c.agent_id and p.payment_id = c.payment_id)`,
    [paymentId],
  )
  return rows.length > 0
}

/**
 * Credits a waiting payment: to an order, with the amount actually paid and the fee by the order's own rule,
 * or to the wallet as an adjustment that names the payment.
 */
export async function creditPayment(
  desk: PaymentDesk,
  paymentId: string,
  to: { agentId: bigint; orderId: string | null },
  reason: string,
): Promise<{ changed: boolean }> {
  const { agentId, orderId } = to
  const at = desk.now()
  const unmatched = await findUnmatched(desk.pool, paymentId)
  if (unmatched) {
    const houseId = houseBook(unmatched.currency)
    const given = { agentId, houseId, orderId, paymentId, reason, at }
    const { changed } = await desk.teller.do({ type: 'assign_payment', ...given })
    if (changed) return { changed }
    // It is the agent's already: credited to something else, or waiting since an earlier release assigned it.
  }
  const { changed } = await desk.teller.do(
    orderId === null
      ? { type: 'credit_wallet', agentId, at, paymentId, reason }
      : { type: 'credit_payment', agentId, at, orderId, paymentId },
  )
  return { changed }
}

/** Records that a waiting payment was returned to its payer; `of` is the agent it belongs to, if known. */
export async function returnPayment(
  desk: PaymentDesk,
  paymentId: string,
  evidence: string,
  of: bigint | null = null,
): Promise<{ changed: boolean }> {
  const search = { ...allToDecide, agentId: of, paymentId, limit: 1 }
  const [waiting] = await searchPayments(desk.pool, search)
  if (!waiting) throw new Problem('not_found', `No payment ${paymentId} waits for a decision.`)
  const { agentId, currency } = waiting
  if (agentId === null) {
    if (await endUnmatched(desk, { paymentId, currency }, 'returned', evidence)) {
      return { changed: true }
    }
    throw new Problem('invalid_transition', 'Somebody has already decided on this payment.')
  }
  const at = desk.now()
  const { changed } = await desk.teller.do({
    type: 'return_payment',
    agentId,
    at,
    paymentId,
    evidence,
  })
  return { changed }
}

/** Records that a report was not a payment. Only a payment that belongs to no agent can be dismissed. */
export async function dismissPayment(
  desk: PaymentDesk,
  paymentId: string,
  evidence: string,
): Promise<{ changed: boolean }> {
  const unmatched = await findUnmatched(desk.pool, paymentId)
  if (!unmatched) {
    const detail = `There is no payment ${paymentId} that belongs to no agent. Credit or return a payment that belongs to an agent.`
    throw new Problem('not_found', detail)
  }
  if (unmatched.state === 'dismissed') return { changed: false }
  const account = await findBankAccount(desk.pool, providerOfPayment(paymentId))
  if (account) {
    const detail = `The bank of ${account.name} reported this money: credit or return it, or say what it was with "sluice movement explain".`
    throw new Problem('invalid_transition', detail)
  }
  if (await endUnmatched(desk, unmatched, 'dismissed', evidence)) return { changed: true }
  throw new Problem('invalid_transition', 'Somebody has already decided on this payment.')
}
