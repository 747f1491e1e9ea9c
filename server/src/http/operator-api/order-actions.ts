import { resendCallbacks } from '../../callbacks/resend-callbacks.ts'
import { lastCallbackOf } from '../../callbacks/search-callbacks.ts'
import type { Order } from '../../ledger/book.ts'
import { txnId } from '../../lib/ids.ts'
import { Problem } from '../../lib/problem.ts'
import { audited } from '../../operators/audit.ts'
import type { Operator } from '../../operators/operator.ts'
import { actOnOrder } from '../../orders/act-on-order.ts'
import { type ActionName, actionNames, actionTraits, whyNot } from '../../orders/order-actions.ts'
import { payoutsOfOrder } from '../../payouts/payouts.ts'
import type { Desk } from '../../teller/desk.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { orderDetail, permissionFor } from './order-detail.ts'
import { ActionRequest, EvidenceRequest, OrderDetail, TxnParams } from './schemas/orders.ts'
import { orderNamed } from './scope.ts'

interface Asked {
  reason: string
  evidence?: string
  version?: number
}

/** `POST /orders/{txn_id}/{action}`: one route per action, with its own permission and requirements. */
export function orderActionRoutes(
  api: OperatorApi,
  desk: Desk,
  wake: (agentIds: bigint[]) => void,
): void {
  for (const name of actionNames) {
    const { movesMoney, needsEvidence } = actionTraits[name]
    operatorRoute(api, {
      method: 'POST',
      url: `/orders/:txn_id/${name}`,
      summary: `${name} an order`,
      tag: 'Orders',
      permission: permissionFor(name),
      agents: name === 'resend' ? 'own' : 'none',
      movesMoney,
      schema: {
        params: TxnParams,
        body: needsEvidence ? EvidenceRequest : ActionRequest,
        response: OrderDetail,
      },
      handler: async ({ operator, params, body }) => {
        const { order, agent } = await orderNamed(desk.pool, operator, params.txn_id)
        const after = await act(desk, operator, order, name, body)
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
  order: Order,
  name: ActionName,
  asked: Asked,
): Promise<Order> {
  const { agentId, orderId, status, version } = order
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
      },
      reason: asked.reason,
    },
    async () => {
      if (asked.version !== undefined && asked.version !== version) throw changed(order)
      const [attempts, lastSeq] = await Promise.all([
        order.kind === 'withdraw' ? payoutsOfOrder(desk.pool, agentId, orderId) : [],
        lastCallbackOf(desk.pool, agentId, orderId),
      ])
      const situation = { order, attempt: attempts.at(-1), hasCallback: lastSeq !== undefined }
      const why = whyNot(name, { ...situation, now: desk.now() })
      if (why !== undefined) throw new Problem('invalid_transition', why)
      if (name !== 'resend') {
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

function changed({ status }: Order): Problem {
  return new Problem(
    'changed_meanwhile',
    `The order has changed since you read it: it is ${status} now. Read it again.`,
  )
}
