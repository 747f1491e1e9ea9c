import type { Pool } from '../db/pool.ts'
import type { Payment } from '../ledger/book.ts'

/** What a provider reported of an order, as it came. */
export interface OrderNotice {
  provider: string
  eventId: string
  receivedAt: Date
  body: Buffer
  result: string | null
  detail: string | null
}

const most = 100

/** The latest notices of an order, oldest first. */
export async function noticesOfOrder(
  pool: Pool,
  agentId: bigint,
  orderId: string,
): Promise<OrderNotice[]> {
  const { rows } = await pool.query<{
    provider: string
    event_id: string
    received_at: Date
    body: Buffer
    result: string | null
    detail: string | null
  }>(
    `select provider, event_id, received_at, body, result, detail from notices
     where agent_id = $1 and order_id = $2 order by received_at desc limit $3`,
    [agentId, orderId, most],
  )
  return rows.reverse().map((row) => ({
    provider: row.provider,
    eventId: row.event_id,
    receivedAt: row.received_at,
    body: row.body,
    result: row.result,
    detail: row.detail,
  }))
}

export interface OrderPayment {
  paymentId: string
  amountMinor: bigint
  paidAt: Date
  reportedAt: Date
  state: Payment['state']
  why: Payment['why']
  creditedTo: Payment['creditedTo']
  evidence: string | null
}

/** Money that came in for an order: what its journal names, and what was not credited to it. */
export async function paymentsOfOrder(
  pool: Pool,
  agentId: bigint,
  orderId: string,
  inJournal: readonly string[],
): Promise<OrderPayment[]> {
  const columns = `payment_id, amount, paid_at, reported_at, state, why, credited_to, evidence`
  const { rows } = await pool.query<{
    payment_id: string
    amount: bigint
    paid_at: Date
    reported_at: Date
    state: Payment['state']
    why: Payment['why']
    credited_to: Payment['creditedTo']
    evidence: string | null
  }>(
    `select ${columns} from payments where agent_id = $1 and payment_id = any($4::text[])
     union
     select ${columns} from payments where agent_id = $1 and order_id = $2
       and credited_to is distinct from 'order'
     order by reported_at limit $3`,
    [agentId, orderId, most, inJournal],
  )
  return rows.map((row) => ({
    paymentId: row.payment_id,
    amountMinor: row.amount,
    paidAt: row.paid_at,
    reportedAt: row.reported_at,
    state: row.state,
    why: row.why,
    creditedTo: row.credited_to,
    evidence: row.evidence,
  }))
}
