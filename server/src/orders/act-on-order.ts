import { timeToPass } from '../db/database-time.ts'
import type { Order } from '../ledger/book.ts'
import { Problem } from '../lib/problem.ts'
import { type PayoutAttempt, savePayout } from '../payouts/payouts.ts'
import { resolvePayout } from '../payouts/resolve-payout.ts'
import type { Desk } from '../teller/desk.ts'
import { cancelOrder } from './cancel-order.ts'
import type { ActionName } from './order-actions.ts'

type ActionDesk = Pick<Desk, 'pool' | 'teller' | 'now' | 'providers'>

/** Whether the action changed the order, or had already been done. */
export interface ActionDone {
  order: Order
  changed: boolean
}

/**
 * Performs an operator's action on an order; `attempts` are the attempts to pay out a withdrawal. The core
 * refuses transitions that are not valid for the order.
 */
export async function actOnOrder(
  desk: ActionDesk,
  order: Order,
  attempts: readonly PayoutAttempt[],
  action: Exclude<ActionName, 'resend' | 'refund'>,
  evidence: string,
): Promise<ActionDone> {
  const { agentId, orderId } = order
  switch (action) {
    case 'mark-paid':
      return resolvePayout(desk, order, attempts, 'paid', evidence)
    case 'mark-failed':
      return resolvePayout(desk, order, attempts, 'failed', evidence)
    case 'void':
    case 'cancel':
      return done(cancelOrder(desk, agentId, orderId))
    case 'take-back':
      return takeBack(desk, order)
    case 'revert':
      return revert(desk, order, attempts, evidence)
  }
}

/** The bank took back the payment that had paid the order. */
async function takeBack(desk: ActionDesk, { agentId, orderId }: Order): Promise<ActionDone> {
  const { rows } = await desk.pool.query<{ payment_id: string }>(
    `select payment_id from payments
     where agent_id = $1 and order_id = $2 and state = 'credited' and credited_to = 'order'`,
    [agentId, orderId],
  )
  const paymentId = rows[0]?.payment_id
  if (paymentId === undefined) {
    throw new Problem('invalid_transition', 'No payment pays this order any more.')
  }
  const at = desk.now()
  return done(desk.teller.do({ type: 'take_back_payment', agentId, orderId, paymentId, at }))
}

/** The bank returned a payout. */
async function revert(
  desk: ActionDesk,
  order: Order,
  attempts: readonly PayoutAttempt[],
  evidence: string,
): Promise<ActionDone> {
  const { agentId, orderId } = order
  const attempt = attempts.find(({ reference }) => reference === order.providerRef)
  const at = desk.now()
  const after = await done(
    desk.teller.do({ type: 'outcome', agentId, orderId, at, to: 'REVERT', evidence }),
  )
  if (attempt) {
    const known = { state: 'returned', askInMs: null, said: null, evidence } as const
    await savePayout(desk.pool, attempt, known, timeToPass(desk.now))
  }
  return after
}

async function done(doing: ReturnType<ActionDesk['teller']['do']>): Promise<ActionDone> {
  const { order, changed } = await doing
  if (!order) throw new Error('an order was changed without being told')
  return { order, changed }
}
