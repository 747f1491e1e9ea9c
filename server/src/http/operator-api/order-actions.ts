import type { Agent } from '../../agents/agent.ts'
import { resendCallbacks } from '../../callbacks/resend-callbacks.ts'
import { lastCallbackOf } from '../../callbacks/search-callbacks.ts'
import type { Order } from '../../ledger/book.ts'
import { newOrderId, txnId } from '../../lib/ids.ts'
import { decimalText, parseDecimal } from '../../lib/money.ts'
import { Problem } from '../../lib/problem.ts'
import { audited } from '../../operators/audit.ts'
import type { Operator } from '../../operators/operator.ts'
import { actOnOrder } from '../../orders/act-on-order.ts'
import { type ActionName, actionNames, actionTraits, whyNot } from '../../orders/order-actions.ts'
import { refundOrder, refundsOfDeposit } from '../../orders/refund-order.ts'
import { payoutsOfOrder } from '../../payouts/payouts.ts'
import type { Desk } from '../../teller/desk.ts'
import { invalidRequest } from '../check.ts'
import { resendsOnly } from './callbacks.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { orderDetail, permissionFor } from './order-detail.ts'
import {
  ActionRequest,
  EvidenceRequest,
  OrderDetail,
  RefundRequest,
  TxnParams,
} from './schemas/orders.ts'
import { orderNamed } from './scope.ts'

interface Asked {
  reason: string
  evidence?: string
  amount?: string
  version?: number
}

/** `POST /orders/{txn_id}/{action}`: one route per action, with its own permission and requirements. */
export function orderActionRoutes(
  api: OperatorApi,
  desk: Desk,
  wake: (agentIds: bigint[]) => void,
): void {
  for (const name of actionNames) {
    operatorRoute(api, {
      method: 'POST',
      url: `/orders/:txn_id/${name}`,
      summary: `${name} an order`,
      tag: 'Orders',
      permission: permissionFor(name),
      agents: name === 'resend' ? 'own' : 'none',
      ...(name === 'resend' && { withoutCode: resendsOnly }),
      schema: {
        params: TxnParams,
        body: bodyOf(name),
        response: OrderDetail,
      },
      handler: async ({ operator, params, body }) => {
        const { order, agent } = await orderNamed(desk.pool, operator, params.txn_id)
        const after = await act(desk, operator, { order, agent }, name, body)
        if (name === 'resend') wake([order.agentId])
        return orderDetail(desk, operator, after, agent)
      },
    })
  }
}

/** Performs the action. The attempt is audited before it is made, and its result afterwards. */
function act(
  desk: Desk,
  operator: Operator,
  { order, agent }: { order: Order; agent: Agent },
  name: ActionName,
  asked: Asked,
): Promise<Order> {
  const { agentId, orderId, status, version } = order
  const refund = name === 'refund' ? refundAsked(agent, asked, desk.now()) : undefined
  return audited(
    desk.pool,
    desk.now,
    {
      operator,
      action: `${name.replace('-', '_')}_order`,
      subject: { kind: 'order', id: txnId(agentId, orderId) },
      agentId,
      before: {
        status,
        version,
        ...(asked.evidence !== undefined && { evidence: asked.evidence }),
        ...(refund && { amount: asked.amount, ref_id: refund.refId }),
      },
      reason: asked.reason,
    },
    async () => {
      if (asked.version !== undefined && asked.version !== version) throw changed(order)
      const [attempts, lastSeq, refunds] = await Promise.all([
        order.kind === 'withdraw' ? payoutsOfOrder(desk.pool, agentId, orderId) : [],
        lastCallbackOf(desk.pool, agentId, orderId),
        order.kind === 'deposit' ? refundsOfDeposit(desk.pool, order) : [],
      ])
      const situation = { order, attempt: attempts.at(-1), hasCallback: lastSeq !== undefined }
      const isSandbox = desk.bank !== undefined
      const why = whyNot(name, { ...situation, refunds, isSandbox, now: desk.now() })
      if (why !== undefined) throw new Problem('invalid_transition', why)
      if (refund) {
        await refundOrder(desk, agent, orderId, refund)
        return order
      }
      if (name !== 'resend' && name !== 'refund') {
        const done = await actOnOrder(desk, order, attempts, name, asked.evidence ?? asked.reason)
        // The change has already been made, but not by this operator.
        if (!done.changed) throw changed(done.order)
        return done.order
      }
      if (lastSeq !== undefined) {
        await resendCallbacks(desk.pool, { agentId, seq: lastSeq }, desk.now)
      }
      return order
    },
    (after) => ({ status: after.status, version: after.version }),
  )
}

function bodyOf(name: ActionName) {
  if (name === 'refund') return RefundRequest
  return actionTraits[name].needsEvidence ? EvidenceRequest : ActionRequest
}

/** An operator's refund has a refId of its own making, which no agent's request has. */
function refundAsked({ currency }: Agent, { amount = '' }: Asked, now: Date) {
  const amountMinor = parseDecimal(amount, currency)
  if (!amountMinor) {
    const message = `must be a positive multiple of ${decimalText(1n, currency)}`
    throw invalidRequest([{ field: 'amount', message }])
  }
  return { refId: `refund-${newOrderId(now)}`, amountMinor, extraParams: null }
}

function changed({ status }: Order): Problem {
  return new Problem(
    'changed_meanwhile',
    `The order has changed since you read it: it is ${status} now. Read it again.`,
  )
}
