import { findOrder } from '../ledger/find-order.ts'
import { Problem } from '../lib/problem.ts'
import { whyRestoreHolds } from '../payouts/restore-lock.ts'
import type { Desk } from '../teller/desk.ts'

/** Cancels an order that nobody pays. After a restore a withdrawal may be paid although nothing says so here. */
export async function cancelOrder(
  desk: Pick<Desk, 'pool' | 'teller' | 'now'>,
  agentId: bigint,
  orderId: string,
): ReturnType<Desk['teller']['do']> {
  const order = await findOrder(desk.pool, agentId, orderId)
  const why = order?.status === 'WAITING' ? await whyRestoreHolds(desk.pool, order) : undefined
  if (why !== undefined) throw new Problem('order_not_cancellable', why)
  return desk.teller.do({ type: 'cancel', agentId, orderId, at: desk.now() })
}
