import type { Pool } from '../db/pool.ts'
import type { Order, OrderKind, OrderStatus } from '../ledger/book.ts'
import { orderColumns } from '../ledger/book-columns.ts'
import { firstOrderIdAt } from '../lib/ids.ts'

export interface OrderFilter {
  limit: number
  /** Where the previous page ended. */
  after: string | undefined
  status: OrderStatus | undefined
  kind: OrderKind | undefined
  from: Date | undefined
  to: Date | undefined
}

/** The most orders one request reads, which takes some hundredths of a second. */
export const ordersLookedAt = 20_000

/**
 * Lists an agent's orders, newest first. Ids sort by time, so the primary key serves both times and pages.
 * Matches may be rare or absent, so a request reads a bounded number of orders and returns what it found
 * among them and where to continue.
 */
export async function listOrders(
  pool: Pool,
  agentId: bigint,
  filter: OrderFilter,
): Promise<{ orders: Order[]; next: string | null }> {
  const values: unknown[] = [agentId]
  const place = (value: unknown) => `$${values.push(value)}`
  let window = `from orders where agent_id = $1 ${ownIndexOf(filter)}`
  if (filter.after !== undefined) window += ` and order_id < ${place(filter.after)}`
  if (filter.from) window += ` and order_id >= ${place(firstOrderIdAt(filter.from))}`
  if (filter.to) window += ` and order_id < ${place(firstOrderIdAt(filter.to))}`
  window += ' order by order_id desc'
  const windowValues = [...values]
  const [status, kind] = [place(filter.status ?? null), place(filter.kind ?? null)]
  const { rows } = await pool.query<Order>(
    `select ${orderColumns.select('o')} from (select * ${window} limit ${ordersLookedAt}) o
     where (${status}::text is null or status = ${status})
       and (${kind}::text is null or kind = ${kind})
     order by order_id desc limit ${place(filter.limit + 1)}`,
    values,
  )
  const orders = rows.slice(0, filter.limit)
  if (rows.length > filter.limit) return { orders, next: orders.at(-1)?.orderId ?? null }
  const { rows: ends } = await pool.query<{ order_id: string }>(
    `select order_id ${window} offset ${ordersLookedAt - 1} limit 1`,
    windowValues,
  )
  const end = ends[0]?.order_id
  if (end === undefined) return { orders, next: null }
  // Orders created in between have moved the end of the window up; those behind it are on the next page.
  return { orders: orders.filter(({ orderId }) => orderId >= end), next: end }
}

/** Rare and open orders have their own indexes, so that a search for them reads nothing else. */
function ownIndexOf({ status, kind }: OrderFilter): string {
  if (status === 'WAITING' && kind === 'withdraw') {
    return "and status = 'WAITING' and kind = 'withdraw'"
  }
  const isRare = status !== undefined && ['FAILED', 'VOID', 'CANCEL', 'REVERT'].includes(status)
  return isRare ? "and status in ('FAILED', 'VOID', 'CANCEL', 'REVERT')" : ''
}
