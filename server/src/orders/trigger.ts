import type { Order, OrderStatus } from '../ledger/book.ts'
import type { Command } from '../ledger/decide.ts'
import { Problem } from '../lib/problem.ts'
import type { Desk } from './desk.ts'
import { findOrder } from './find-order.ts'

export const triggerOutcomes = ['PAID', 'FAILED', 'EXPIRED', 'VOID', 'REVERT', 'CANCEL'] as const

export interface Trigger {
  outcome: (typeof triggerOutcomes)[number]
  /** What came in, where it is not what was asked for. */
  paidAmountMinor: bigint | undefined
  payerAccountNo: string | undefined
}

/** Makes the sandbox's bank say that something happened to an order, now. Returns the order after it. */
export async function trigger(
  desk: Pick<Desk, 'pool' | 'teller' | 'now'>,
  agentId: bigint,
  orderId: string,
  what: Trigger,
): Promise<Order> {
  const order = await findOrder(desk.pool, agentId, orderId)
  if (!order) throw new Problem('order_not_found', 'The agent has no such order.')
  // Said again without more, it is the same payment.
  const isRepeat = order.status === what.outcome && what.paidAmountMinor === undefined
  if (isRepeat && what.payerAccountNo === undefined) return order
  const { order: after, changed } = await desk.teller.do(commandOf(order, what, desk.now()))
  if (!after) throw new Error('a trigger was answered without an order')
  if (!changed && after.status !== what.outcome) {
    const detail = `The order is ${after.status}, and the bank has said ${what.outcome} before.`
    throw new Problem('invalid_transition', detail)
  }
  return after
}

function commandOf(order: Order, what: Trigger, at: Date): Command {
  const { agentId, orderId } = order
  if (order.kind === 'withdraw' || what.outcome !== 'PAID') {
    const to: OrderStatus = what.outcome
    return { type: 'outcome', agentId, orderId, at, to }
  }
  const amountMinor = what.paidAmountMinor ?? order.amountMinor
  const from = what.payerAccountNo
  return {
    type: 'receive_payment',
    agentId,
    orderId,
    at,
    payment: {
      // One payment for each state of the order, amount and payer: asking twice at once pays once.
      paymentId: `sandbox:${orderId}:${order.version}:${amountMinor}:${from ?? ''}`,
      amountMinor,
      paidAt: at,
      payer: from === undefined ? null : { accountNo: from, accountName: null, bankCode: null },
    },
  }
}
