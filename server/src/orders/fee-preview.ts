import type { Pool } from '../db/pool.ts'
import type { OrderKind } from '../ledger/book.ts'
import { type FeeRule, feeOf } from '../lib/fee.ts'
import { firstOrderIdAt } from '../lib/ids.ts'

export interface FeesOf {
  orders: number
  amount: bigint
  /** The fees that were charged, and those that would have been. */
  feesNow: bigint
  feesThen: bigint
}

export interface FeePreview {
  complete: boolean
  deposit: FeesOf
  withdraw: FeesOf
}

const mostOrders = 20_000

/**
 * What different fees would have come to on the orders since then, or on the newest ones if there are many.
 */
export async function previewFees(
  pool: Pool,
  agentId: bigint,
  rules: Record<OrderKind, FeeRule>,
  since: Date,
): Promise<FeePreview> {
  const { rows } = await pool.query<{
    kind: OrderKind
    paid_amount: bigint | null
    paid_fee: bigint | null
  }>(
    `select kind, paid_amount, paid_fee from orders
     where agent_id = $1 and order_id >= $2 order by order_id desc limit $3`,
    [agentId, firstOrderIdAt(since), mostOrders],
  )
  const totals = { deposit: none(), withdraw: none() }
  for (const { kind, paid_amount, paid_fee } of rows) {
    if (paid_amount === null) continue
    const of = totals[kind]
    of.orders++
    of.amount += paid_amount
    of.feesNow += paid_fee ?? 0n
    of.feesThen += feeOf(paid_amount, rules[kind])
  }
  return { complete: rows.length < mostOrders, ...totals }
}

function none(): FeesOf {
  return { orders: 0, amount: 0n, feesNow: 0n, feesThen: 0n }
}
