import type { Pool } from '../db/pool.ts'
import type { JournalRow, Payment } from '../ledger/book.ts'
import { journalColumns } from '../ledger/book-columns.ts'

/** A provider's report about an order. */
export interface OrderNotice {
  provider: string
  eventId: string
  receivedAt: Date
  /** The original notice or, once that has been deleted, the event as it was understood. */
  body: string
  result: string | null
  detail: string | null
}

const most = 100

/** The latest notices about an order, oldest first. */
export async function noticesOfOrder(
  pool: Pool,
  agentId: bigint,
  orderId: string,
): Promise<OrderNotice[]> {
  const { rows } = await pool.query<{
    provider: string
    event_id: string
    received_at: Date
    notice_id: string | null
    event: string | null
    body: Buffer | null
    result: string | null
    detail: string | null
  }>(
    `select provider, event_id, received_at, notice_id, event, body, result, detail
     from notice_events
     where agent_id = $1 and order_id = $2 order by received_at desc limit $3`,
    [agentId, orderId, most],
  )
  const bodies = await noticeBodies(
    pool,
    rows.flatMap(({ notice_id, received_at }) => (notice_id ? [{ notice_id, received_at }] : [])),
  )
  return rows.reverse().map((row) => ({
    provider: row.provider,
    eventId: row.event_id,
    receivedAt: row.received_at,
    body: (bodies.get(row.notice_id ?? '') ?? row.body)?.toString('utf8') ?? row.event ?? '',
    result: row.result,
    detail: row.detail,
  }))
}

/** Also selects by time, so that only the partitions of those months are read. */
async function noticeBodies(
  pool: Pool,
  notices: { notice_id: string; received_at: Date }[],
): Promise<Map<string, Buffer>> {
  if (notices.length === 0) return new Map()
  const { rows } = await pool.query<{ notice_id: string; body: Buffer }>(
    `select notice_id, body from notices
     where notice_id = any($1::uuid[]) and received_at = any($2::timestamptz[])`,
    [
      notices.map(({ notice_id }) => notice_id),
      notices.map(({ received_at }) => received_at.toISOString()),
    ],
  )
  return new Map(rows.map(({ notice_id, body }) => [notice_id, body]))
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

/** Incoming money for an order: the payments in its journal, and those not credited to it. */
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

/** What became of payments, in the agent's journal: they came in and waited, were credited, returned or taken back. */
export async function journalOfPayments(
  pool: Pool,
  agentId: bigint,
  paymentIds: readonly string[],
): Promise<JournalRow[]> {
  const keys = paymentIds.flatMap((id) =>
    ['payment_received', 'payment', 'payment_returned', 'payment-taken-back'].map(
      (what) => `${what}:${id}`,
    ),
  )
  const { rows } = await pool.query(
    `select ${journalColumns.select('j')} from journal j
     where agent_id = $1 and once_key = any($2::text[]) order by seq`,
    [agentId, keys],
  )
  return rows.map(journalColumns.fromRow)
}
