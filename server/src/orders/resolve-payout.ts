import type { Order } from '../ledger/book.ts'
import { payoutsOfOrder, savePayout } from '../ledger/payouts.ts'
import { Problem } from '../lib/problem.ts'
import { findOrder } from './find-order.ts'
import type { PayoutDesk } from './pay-out.ts'

/**
 * Ends a payout by a person's word. The evidence stays in the journal: if the provider says otherwise
 * later, it is the person who has to answer for it. `reference` is the attempt that the person knows
 * of, where another may have followed it.
 */
export async function resolvePayout(
  desk: PayoutDesk,
  agentId: bigint,
  orderId: string,
  to: 'paid' | 'failed',
  evidence: string,
  reference?: string | null,
): Promise<{ order: Order; changed: boolean }> {
  const order = await findOrder(desk.pool, agentId, orderId)
  const attempts = await payoutsOfOrder(desk.pool, agentId, orderId)
  const attempt =
    reference === undefined
      ? attempts.at(-1)
      : attempts.find((each) => each.reference === reference)
  if (!order) throw new Problem('order_not_found', 'There is no such order.')
  if (!attempt) {
    throw new Problem('invalid_transition', 'No provider has it: nothing is unknown about it.')
  }
  const { order: after, changed } = await desk.teller.do({
    type: 'outcome',
    agentId,
    orderId,
    at: desk.now(),
    to: to === 'paid' ? 'PAID' : 'FAILED',
    providerRef: attempt.reference,
    evidence,
  })
  const state = to === 'paid' ? 'paid' : 'rejected'
  await savePayout(desk.pool, attempt, { state, askAt: null, said: null, evidence })
  if (!after) throw new Error('a payout was resolved without an order')
  return { order: after, changed }
}
