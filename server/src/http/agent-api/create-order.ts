import type { FastifyInstance, FastifyReply } from 'fastify'
import { createDeposit, createWithdraw } from '../../orders/create-order.ts'
import { refundOrder } from '../../orders/refund-order.ts'
import type { Created, Desk } from '../../teller/desk.ts'
import type { Door } from './door.ts'
import { operation, sendJson } from './operation.ts'
import { readOrderRequest, readRefundRequest } from './order-request.ts'
import { ownOrderId } from './read-orders.ts'
import { DepositAnswer, OrderRequest, RefundRequest, TxnParams, WithdrawAnswer } from './schemas.ts'

/**
 * `POST /payment/deposit` and `POST /payment/withdraw`, which take the same request and behave alike, and
 * `POST /payment/orders/{txn_id}/refund`, a withdrawal to who paid a deposit.
 */
export function createOrderRoutes(app: FastifyInstance, door: Door, desk: Desk): void {
  const idempotent =
    'Repeating a refId with the same contents answers 200 with the first answer and the header idempotent-replayed.'
  app.post(
    '/payment/deposit',
    {
      schema: operation({
        id: 'createDeposit',
        summary: 'Create a deposit order',
        description: `Asks to collect an amount from a payer. ${idempotent}`,
        tag: 'Orders',
        body: OrderRequest,
        answers: { 201: DepositAnswer, 200: DepositAnswer },
      }),
    },
    door(
      async ({ agent, body, reply }) =>
        sendCreated(reply, await createDeposit(desk, agent, readOrderRequest(body, desk.now()))),
      'deposit',
    ),
  )
  app.post(
    '/payment/withdraw',
    {
      schema: operation({
        id: 'createWithdraw',
        summary: 'Create a withdraw order',
        description: `Holds amount and fee from the wallet and pays out to a bank account. ${idempotent}`,
        tag: 'Orders',
        body: OrderRequest,
        answers: { 201: WithdrawAnswer, 200: WithdrawAnswer },
      }),
    },
    door(
      async ({ agent, body, reply }) =>
        sendCreated(reply, await createWithdraw(desk, agent, readOrderRequest(body, desk.now()))),
      'withdraw',
    ),
  )
  app.post(
    '/payment/orders/:txn_id/refund',
    {
      schema: operation({
        id: 'refundOrder',
        summary: 'Refund a deposit, whole or in part',
        description: `A withdraw order to the account that the deposit was paid from, as far as the bank reported it, or else to the account in the deposit. Refunds that wait or are paid never exceed what was paid. ${idempotent}`,
        tag: 'Orders',
        params: TxnParams,
        body: RefundRequest,
        answers: { 201: WithdrawAnswer, 200: WithdrawAnswer },
      }),
    },
    door(async ({ agent, request, body, reply }) => {
      const refund = readRefundRequest(body, agent.currency, desk.now())
      const depositId = ownOrderId(request.params, agent.agentId)
      return sendCreated(reply, await refundOrder(desk, agent, depositId, refund))
    }, 'withdraw'),
  )
}

function sendCreated(reply: FastifyReply, { isNew, answer }: Created): FastifyReply {
  if (!isNew) reply.header('idempotent-replayed', 'true')
  return sendJson(reply, isNew ? 201 : 200, answer)
}
