import type { Pool } from '../db/pool.ts'
import type { Order, OrderKind, OrderStatus } from '../ledger/book.ts'
import { type OrderRow, orderFromRow } from '../ledger/order-row.ts'
import { firstOrderIdAt } from '../lib/ids.ts'

export async function findOrder(
  pool: Pool,
  agentId: bigint,
  orderId: string,
): Promise<Order | undefined> {
  const { rows } = await pool.query<OrderRow>({
    text: 'select * from orders where agent_id = $1 and order_id = $2',
    values: [agentId, orderId],
  })
  return rows[0] && orderFromRow(rows[0])
}

export async function findOrderByRefId(
  pool: Pool,
  agentId: bigint,
  refId: string,
): Promise<Order | undefined> {
  const { rows } = await pool.query<OrderRow>({
    text: 'select * from orders where agent_id = $1 and ref_id = $2',
    values: [agentId, refId],
  })
  return rows[0] && orderFromRow(rows[0])
}

export interface OrderFilter {
  limit: number
  /** The last order of the page before. */
  after: string | undefined
  status: OrderStatus | undefined
  kind: OrderKind | undefined
  from: Date | undefined
  to: Date | undefined
}

/** An agent's orders, newest first. Ids sort by time, so the primary key serves times and pages. */
export async function listOrders(
  pool: Pool,
  agentId: bigint,
  filter: OrderFilter,
): Promise<{ orders: Order[]; next: string | null }> {
  const values: unknown[] = [agentId, filter.limit + 1]
  const conditions = ['agent_id = $1']
  const where = (condition: (parameter: string) => string, value: unknown) => {
    values.push(value)
    conditions.push(condition(`$${values.length}`))
  }
  if (filter.after !== undefined) where((p) => `order_id < ${p}`, filter.after)
  if (filter.from) where((p) => `order_id >= ${p}`, firstOrderIdAt(filter.from))
  if (filter.to) where((p) => `order_id < ${p}`, firstOrderIdAt(filter.to))
  if (filter.status !== undefined) where((p) => `status = ${p}`, filter.status)
  if (filter.kind !== undefined) where((p) => `kind = ${p}`, filter.kind)
  const { rows } = await pool.query<OrderRow>(
    `select * from orders where ${conditions.join(' and ')} order by order_id desc limit $2`,
    values,
  )
  const orders = rows.slice(0, filter.limit).map(orderFromRow)
  const next = rows.length > filter.limit ? (orders.at(-1)?.orderId ?? null) : null
  return { orders, next }
}
