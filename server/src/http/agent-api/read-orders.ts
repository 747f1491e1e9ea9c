import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { noSuchOrder } from '../../ledger/archived.ts'
import type { OrderKind, OrderStatus } from '../../ledger/book.ts'
import { findOrder, findOrderByRefId } from '../../ledger/find-order.ts'
import { parseTxnId } from '../../lib/ids.ts'
import { quoted } from '../../lib/json-text.ts'
import { parseIsoTime } from '../../lib/local-time.ts'
import { Problem } from '../../lib/problem.ts'
import { listOrders } from '../../orders/list-orders.ts'
import { orderView } from '../../orders/order-view.ts'
import type { Desk } from '../../teller/desk.ts'
import { checker, readQuery } from '../check.ts'
import type { Door } from './door.ts'
import { operation, refuseQuery, sendJson } from './operation.ts'
import type { ReadList } from './read-list.ts'
import { OrderPage, OrderQuery, OrderView, TxnParams } from './schemas.ts'

const orderQuery = checker(OrderQuery)

/** `GET /payment/orders/{txn_id}`, `GET /payment/orders?refId=` and the list. */
export function readOrderRoutes(
  app: FastifyInstance,
  door: Door,
  desk: Desk,
  readList: ReadList,
): void {
  app.get<{ Params: { txn_id: string } }>(
    '/payment/orders/:txn_id',
    {
      schema: operation({
        id: 'getOrder',
        summary: 'Read one order',
        description: 'What creating it was answered with, and what has become of it since.',
        tag: 'Orders',
        params: TxnParams,
        answers: { 200: OrderView },
      }),
    },
    door(async ({ agent, request, reply }) => {
      refuseQuery(request.query)
      const orderId = ownOrderId(request.params, agent.agentId)
      const order = await findOrder(desk.pool, agent.agentId, orderId)
      if (!order) throw await noSuchOrder(desk.pool, agent.agentId, { orderId })
      return sendJson(reply, 200, orderView(order, desk.localTime))
    }),
  )

  app.get(
    '/payment/orders',
    {
      schema: operation({
        id: 'listOrders',
        summary: 'List orders, newest first, or find one by refId',
        description:
          'A page looks at a bounded number of orders: with a filter it can be short, or empty, and still have a next. The list ends where next is null.',
        tag: 'Orders',
        query: OrderQuery,
        answers: { 200: Type.Union([OrderPage, OrderView]) },
      }),
    },
    door(async ({ agent, request, reply }) => {
      const query = readQuery(request.query, orderQuery, isBadTime)
      const view = (order: Parameters<typeof orderView>[0]) => orderView(order, desk.localTime)
      const refId = query.get('refId')
      if (typeof refId === 'string') {
        const order = await findOrderByRefId(desk.pool, agent.agentId, refId)
        if (!order) throw await noSuchOrder(desk.pool, agent.agentId, { refId })
        return sendJson(reply, 200, view(order))
      }
      const filter = {
        limit: Number(query.get('limit') ?? 50),
        after: query.get('after') as string | undefined,
        status: query.get('status') as OrderStatus | undefined,
        kind: query.get('kind') as OrderKind | undefined,
        from: timeOf(query, 'from'),
        to: timeOf(query, 'to'),
      }
      const { orders, next } = await readList(agent.agentId, (pool) =>
        listOrders(pool, agent.agentId, filter),
      )
      return sendJson(reply, 200, `{"data":[${orders.map(view).join(',')}],"next":${quoted(next)}}`)
    }),
  )
}

/** The order id in a path, if it can be this agent's at all; other agents' orders do not exist for it. */
export function ownOrderId(params: unknown, agentId: bigint): string {
  const { txn_id } = params as { txn_id: string }
  const named = parseTxnId(txn_id)
  if (named?.agentId !== agentId) throw orderNotFound()
  return named.orderId
}

export function orderNotFound(): Problem {
  return new Problem('order_not_found', 'The agent has no such order.')
}

function isBadTime(name: string, value: unknown): boolean {
  return (name === 'from' || name === 'to') && !parseIsoTime(String(value))
}

function timeOf(query: Map<string, unknown>, field: 'from' | 'to'): Date | undefined {
  const text = query.get(field)
  return typeof text === 'string' ? parseIsoTime(text) : undefined
}
