import type { FastifyInstance, FastifyReply } from 'fastify'
import { createDeposit, createWithdraw } from '../../orders/create-order.ts'
import type { Created, Desk } from '../../teller/desk.ts'
import type { Door } from './door.ts'
import { operation, sendJson } from './operation.ts'
import { readOrderRequest } from './order-request.ts'
import { DepositAnswer, OrderRequest, WithdrawAnswer } from './schemas.ts'

/** `POST /payment/deposit` and `POST /payment/withdraw`, which take the same request and behave alike. */
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
    door(async ({ agent, body, reply }) =>
      sendCreated(reply, await createDeposit(desk, agent, readOrderRequest(body, desk.now()))),
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
    door(async ({ agent, body, reply }) =>
      sendCreated(reply, await createWithdraw(desk, agent, readOrderRequest(body, desk.now()))),
    ),
  )
}

function sendCreated(reply: FastifyReply, { isNew, answer }: Created): FastifyReply {
  if (!isNew) reply.header('idempotent-replayed', 'true')
  return sendJson(reply, isNew ? 201 : 200, answer)
}
