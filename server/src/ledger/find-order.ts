import type { Pool } from '../db/pool.ts'
import type { Order } from './book.ts'
import { orderColumns } from './book-columns.ts'

export async function findOrder(
  pool: Pool,
  agentId: bigint,
  orderId: string,
): Promise<Order | undefined> {
  const { rows } = await pool.query<Order>({
    name: 'find-order',
    text: `select ${orderColumns.select('o')} from orders o where agent_id = $1 and order_id = $2`,
    values: [agentId, orderId],
  })
  return rows[0]
}

export async function findOrderByRefId(
  pool: Pool,
  agentId: bigint,
  refId: string,
): Promise<Order | undefined> {
  const { rows } = await pool.query<Order>({
    name: 'find-order-by-ref-id',
    text: `select ${orderColumns.select('o')} from orders o where agent_id = $1 and ref_id = $2`,
    values: [agentId, refId],
  })
  return rows[0]
}
