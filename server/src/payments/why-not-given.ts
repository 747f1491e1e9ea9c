import { type BankMovement, paymentIdOf } from '../bank-accounts/bank-movement.ts'
import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import type { MovementMatch } from './match-movements.ts'
import { findUnmatched } from './unmatched-payments.ts'

/**
 * Why money that was nobody's does not go to the order that it pays by all that the bank has said by now, as a sentence;
 * undefined if it does.
 */
export async function whyNotGiven(
  db: Pool | Tx,
  movement: BankMovement,
  { agentId, orderId, deductedMinor, paidAt }: MovementMatch & { type: 'order' },
): Promise<string | undefined> {
  const waiting = await findUnmatched(db, paymentIdOf(movement))
  if (waiting?.state !== 'waiting') return 'Somebody has already decided on the payment.'
  const { rows } = await db.query<{ provider: string | null; expires_at: Date | null }>(
    'select provider, expires_at from orders where agent_id = $1 and order_id = $2',
    [agentId, orderId],
  )
  const [order] = rows
  if (order?.provider !== movement.account) {
    return 'It was paid to another account than the one of its order, so a person decides.'
  }
  // The house has it as it arrived. If the order would have got more, or in time what it gets late now, a person says
  // what is credited: it must not depend on which report came first.
  const isLate = (at: Date) => order.expires_at !== null && at > order.expires_at
  return deductedMinor > 0n || isLate(paidAt) !== isLate(waiting.paidAt)
    ? 'How much of it is credited, or whether it was in time, depends on which report counts, so a person decides.'
    : undefined
}
