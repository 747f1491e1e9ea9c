import type { Pool } from '../db/pool.ts'
import { orderIdFromUuid } from '../lib/ids.ts'
import type { Order } from './book.ts'
import { type OrderRow, orderFromRow } from './order-row.ts'

export type PayoutState =
  | 'handed'
  | 'accepted'
  | 'unknown'
  | 'not_found'
  | 'paid'
  | 'rejected'
  | 'cancelled'
  | 'returned'

/** One attempt at paying a withdrawal out. */
export interface PayoutAttempt {
  agentId: bigint
  orderId: string
  attempt: number
  provider: string
  reference: string
  state: PayoutState
  handedAt: Date
  asks: number
  askAt: Date | null
  said: string | null
  evidence: string | null
}

interface PayoutRow {
  agent_id: bigint
  order_id: string
  attempt: number
  provider: string
  reference: string
  state: PayoutState
  handed_at: Date
  asks: number
  ask_at: Date | null
  said: string | null
  evidence: string | null
}

function payoutFromRow(row: PayoutRow): PayoutAttempt {
  return {
    agentId: row.agent_id,
    orderId: orderIdFromUuid(row.order_id),
    attempt: row.attempt,
    provider: row.provider,
    reference: row.reference,
    state: row.state,
    handedAt: row.handed_at,
    asks: row.asks,
    askAt: row.ask_at,
    said: row.said,
    evidence: row.evidence,
  }
}

/** Withdrawals that no provider has, after the given one in the order of agents and ids. */
export async function findToHandOver(
  pool: Pool,
  after: { agentId: bigint; orderId: string },
  createdBefore: Date,
  limit: number,
): Promise<Order[]> {
  const { rows } = await pool.query<OrderRow>(
    `select * from orders
     where status = 'WAITING' and kind = 'withdraw' and handed_over_at is null
       and (agent_id, order_id) > ($1, $2) and created_at <= $3
     order by agent_id, order_id limit $4`,
    [after.agentId, after.orderId, createdBefore, limit],
  )
  return rows.map(orderFromRow)
}

export async function findDuePayouts(
  pool: Pool,
  now: Date,
  limit: number,
): Promise<PayoutAttempt[]> {
  const { rows } = await pool.query<PayoutRow>(
    'select * from payouts where ask_at <= $1 order by ask_at limit $2',
    [now, limit],
  )
  return rows.map(payoutFromRow)
}

/**
 * Takes a payout until `next.askAt`, to ask about it or to hand it over once more; false where anybody else
 * has had it since it was read.
 */
export async function claimPayout(
  pool: Pool,
  payout: PayoutAttempt,
  next: Pick<PayoutAttempt, 'state' | 'asks' | 'askAt'>,
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `update payouts set state = $5, asks = $6, ask_at = $7
     where agent_id = $1 and order_id = $2 and attempt = $3 and ask_at = $4`,
    [
      payout.agentId,
      payout.orderId,
      payout.attempt,
      payout.askAt,
      next.state,
      next.asks,
      next.askAt,
    ],
  )
  return rowCount === 1
}

/**
 * Keeps everybody from handing a payout over until then; who has just asked for it will not. False where
 * the provider is being called with it, and may be paying it.
 */
export async function holdPayout(
  pool: Pool,
  payout: PayoutAttempt,
  now: Date,
  until: Date,
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `update payouts set ask_at = $5
     where agent_id = $1 and order_id = $2 and attempt = $3
       and ask_at is not null and (state <> 'handed' or ask_at <= $4)`,
    [payout.agentId, payout.orderId, payout.attempt, now, until],
  )
  return rowCount === 1
}

/**
 * Writes down what is known of a payout. What has ended stays ended, and what is still open is only
 * written by whoever it was left to.
 */
export async function savePayout(
  pool: Pool,
  payout: Pick<PayoutAttempt, 'agentId' | 'orderId' | 'attempt' | 'askAt'>,
  what: { state: PayoutState; askAt: Date | null; said: string | null; evidence?: string },
): Promise<void> {
  await pool.query(
    `update payouts set state = $4, ask_at = $5, said = coalesce($6, said),
       evidence = coalesce($7, evidence)
     where agent_id = $1 and order_id = $2 and attempt = $3
       and (ask_at is not null or (state = 'paid' and $4 = 'returned'))
       and ($5::timestamptz is null or ask_at = $8)`,
    [
      payout.agentId,
      payout.orderId,
      payout.attempt,
      what.state,
      what.askAt,
      // A provider's words may hold anything, and PostgreSQL takes no NUL.
      what.said?.replaceAll('\0', '').slice(0, 1_000) ?? null,
      what.evidence ?? null,
      payout.askAt,
    ],
  )
}

export async function findPayout(
  pool: Pool,
  agentId: bigint,
  provider: string,
  reference: string,
): Promise<PayoutAttempt | undefined> {
  const { rows } = await pool.query<PayoutRow>(
    'select * from payouts where agent_id = $1 and provider = $2 and reference = $3',
    [agentId, provider, reference],
  )
  return rows[0] && payoutFromRow(rows[0])
}

export async function payoutsOfOrder(
  pool: Pool,
  agentId: bigint,
  orderId: string,
): Promise<PayoutAttempt[]> {
  const { rows } = await pool.query<PayoutRow>(
    'select * from payouts where agent_id = $1 and order_id = $2 order by attempt',
    [agentId, orderId],
  )
  return rows.map(payoutFromRow)
}

/** Payouts whose end is not known, the oldest first. */
export async function listOpenPayouts(
  pool: Pool,
  filter: { agentId: bigint | null; state: PayoutState | null; limit: number },
): Promise<PayoutAttempt[]> {
  const { rows } = await pool.query<PayoutRow>(
    `select * from payouts
     where ask_at is not null and ($1::bigint is null or agent_id = $1)
       and ($2::text is null or state = $2)
     order by handed_at limit $3`,
    [filter.agentId, filter.state, filter.limit],
  )
  return rows.map(payoutFromRow)
}

/** How many payouts are open in each state, and since when the oldest has been. */
export async function countOpenPayouts(
  pool: Pool,
): Promise<{ state: PayoutState; count: number; oldest: Date }[]> {
  const { rows } = await pool.query<{ state: PayoutState; count: bigint; oldest: Date }>(
    `select state, count(*) as count, min(handed_at) as oldest
     from payouts where ask_at is not null group by state`,
  )
  return rows.map(({ state, count, oldest }) => ({ state, count: Number(count), oldest }))
}
