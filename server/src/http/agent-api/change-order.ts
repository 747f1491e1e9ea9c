import type { FastifyInstance } from 'fastify'
import { noSuchOrder } from '../../ledger/archived.ts'
import { findOrder } from '../../ledger/find-order.ts'
import { decimalText } from '../../lib/money.ts'
import { Problem } from '../../lib/problem.ts'
import { cancelOrder } from '../../orders/cancel-order.ts'
import { orderView } from '../../orders/order-view.ts'
import { type Trigger, trigger } from '../../orders/trigger.ts'
import type { Desk } from '../../teller/desk.ts'
import { checker, invalidRequest } from '../check.ts'
import { readJsonBody } from '../json-body.ts'
import type { Door } from './door.ts'
import { operation, sendJson } from './operation.ts'
import { minorOf } from './order-request.ts'
import { ownOrderId } from './read-orders.ts'
import { OrderView, TriggerRequest, TriggerShape, TxnParams } from './schemas.ts'

const triggerRequest = checker(TriggerShape)

/** `POST /payment/orders/{txn_id}/cancel`. */
export function cancelOrderRoute(app: FastifyInstance, door: Door, desk: Desk): void {
  app.post(
    '/payment/orders/:txn_id/cancel',
    {
      schema: operation({
        id: 'cancelOrder',
        summary: 'Cancel an order',
        description:
          'A waiting withdrawal that is not with a provider yet becomes CANCEL, a waiting deposit VOID.',
        tag: 'Orders',
        params: TxnParams,
        answers: { 200: OrderView },
      }),
    },
    door(
      async ({ agent, request, reply, checkScope }) => {
        const { agentId } = agent
        const orderId = ownOrderId(request.params, agentId)
        const named = await findOrder(desk.pool, agentId, orderId)
        if (named) checkScope(named.kind)
        const { order } = await cancelOrder(desk, agentId, orderId).catch(async (error) => {
          const isMissing = error instanceof Problem && error.code === 'order_not_found'
          throw isMissing ? await noSuchOrder(desk.pool, agentId, { orderId }) : error
        })
        if (!order) throw new Error('a cancellation was answered without an order')
        return sendJson(reply, 200, orderView(order, desk.localTime))
      },
      'deposit',
      'withdraw',
    ),
  )
}

/** `POST /sandbox/orders/{txn_id}`: makes the sandbox bank report an outcome. */
export function triggerRoute(app: FastifyInstance, door: Door, desk: Desk): void {
  app.post(
    '/sandbox/orders/:txn_id',
    {
      schema: operation({
        id: 'triggerOutcome',
        summary: 'Make an outcome happen',
        description: 'Only in the sandbox. Answers after the outcome is on disk.',
        tag: 'Sandbox',
        params: TxnParams,
        body: TriggerRequest,
        answers: { 200: OrderView },
      }),
    },
    door(
      async ({ agent, request, reply, body }) => {
        const orderId = ownOrderId(request.params, agent.agentId)
        const { value, members } = readJsonBody(body)
        const errors = triggerRequest.errors(value)
        const amountText = members.textOf.get('paidAmount')
        const paidAmountMinor =
          amountText === undefined ? undefined : minorOf(amountText, agent.currency)
        if (errors.length === 0 && amountText !== undefined && !paidAmountMinor) {
          const finest = decimalText(1n, agent.currency)
          errors.push({ field: 'paidAmount', message: `must be a positive multiple of ${finest}` })
        }
        const isPaid = members.textOf.get('outcome') === '"PAID"'
        for (const field of ['paidAmount', 'payerAccountNo']) {
          if (errors.length === 0 && members.textOf.has(field) && !isPaid) {
            errors.push({ field, message: 'goes with the outcome PAID only' })
          }
        }
        if (errors.length > 0) throw invalidRequest(errors)
        const { outcome, payerAccountNo } = value as Pick<Trigger, 'outcome' | 'payerAccountNo'>
        const order = await trigger(desk, agent.agentId, orderId, {
          outcome,
          paidAmountMinor,
          payerAccountNo,
        })
        return sendJson(reply, 200, orderView(order, desk.localTime))
      },
      'deposit',
      'withdraw',
    ),
  )
}
