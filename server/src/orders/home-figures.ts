import type { Agent } from '../agents/agent.ts'
import type { Pool } from '../db/pool.ts'
import type { OrderKind, OrderStatus } from '../ledger/book.ts'
import { firstOrderIdAt } from '../lib/ids.ts'
import type { Currency } from '../lib/money.ts'

/** Orders of one hour that are alike. */
export interface HourFigure {
  currency: Currency
  /** Counted from the beginning of the time asked for. */
  hour: number
  kind: OrderKind
  status: OrderStatus
  provider: string | null
  /** Created before the cut, which is a day before now. */
  beforeCut: boolean
  count: number
  paidMinor: bigint
}

/**
 * What was created since a time, by hour. Reads the orders of two days along their key, agent by agent,
 * and no others; see docs/decisions/0011-operator-reads.md for what that costs.
 */
export async function hourFigures(
  pool: Pool,
  agents: readonly Pick<Agent, 'agentId' | 'currency'>[],
  from: Date,
  cut: Date,
): Promise<HourFigure[]> {
  const { rows } = await pool.query<{
    currency: Currency
    hour: Date
    kind: OrderKind
    status: OrderStatus
    provider: string | null
    before_cut: boolean
    count: bigint
    paid: bigint
  }>(
    `select a.currency, date_bin('1 hour', o.created_at, $3) as hour, o.kind,
       o.status, o.provider, o.created_at < $4 as before_cut, count(*) as count,
       coalesce(sum(o.paid_amount) filter (where o.status = 'PAID'), 0)::bigint as paid
     from unnest($1::bigint[], $2::text[]) a(agent_id, currency)
     join orders o on o.agent_id = a.agent_id and o.order_id >= $5
     where o.created_at >= $3
     group by 1, 2, 3, 4, 5, 6`,
    [
      agents.map(({ agentId }) => agentId),
      agents.map(({ currency }) => currency),
      from,
      cut,
      firstOrderIdAt(from),
    ],
  )
  return rows.map((row) => ({
    currency: row.currency,
    hour: Math.round((row.hour.getTime() - from.getTime()) / 3_600_000),
    kind: row.kind,
    status: row.status,
    provider: row.provider,
    beforeCut: row.before_cut,
    count: Number(row.count),
    paidMinor: row.paid,
  }))
}

/** A number that is not counted further than is worth it, and the oldest of what was counted. */
export interface Aged {
  count: number
  oldestAt: Date | null
}

const countedUpTo = 1_000

/** Payments that wait for a decision; those that are nobody's only where all agents are asked for. */
export function paymentsToDecide(pool: Pool, agentIds: readonly bigint[], all: boolean) {
  return aged(
    pool,
    `select reported_at as at from payments where agent_id = any($1::bigint[]) and state = 'waiting'
     union all
     select reported_at from unmatched_payments where $3::boolean and state = 'waiting'`,
    [agentIds, countedUpTo, all],
  )
}

/** Payouts of which nobody knows what became of them. */
export function unknownPayouts(pool: Pool, agentIds: readonly bigint[]) {
  return aged(
    pool,
    `select handed_at as at from payouts
     where agent_id = any($1::bigint[]) and ask_at is not null and state in ('unknown', 'not_found')`,
    [agentIds, countedUpTo],
  )
}

/** Withdrawals that no provider has. */
export function withdrawalsToHandOver(pool: Pool, agentIds: readonly bigint[]) {
  return aged(
    pool,
    `select created_at as at from orders where agent_id = any($1::bigint[])
       and status = 'WAITING' and kind = 'withdraw' and handed_over_at is null`,
    [agentIds, countedUpTo],
  )
}

async function aged(pool: Pool, what: string, values: unknown[]): Promise<Aged> {
  const { rows } = await pool.query<{ count: bigint; oldest_at: Date | null }>(
    `select count(*) as count, min(at) as oldest_at from (select at from (${what}) w limit $2) x`,
    values,
  )
  return { count: Number(rows[0]?.count ?? 0n), oldestAt: rows[0]?.oldest_at ?? null }
}

/** How many payouts each provider has under way, and how many of those nobody knows of. */
export async function openPayoutsByProvider(
  pool: Pool,
): Promise<Map<string, { open: number; unknown: number }>> {
  const { rows } = await pool.query<{ provider: string; open: bigint; unknown: bigint }>(
    `select provider, count(*) as open,
       count(*) filter (where state in ('unknown', 'not_found')) as unknown
     from payouts where ask_at is not null group by provider`,
  )
  return new Map(
    rows.map(({ provider, open, unknown }) => [
      provider,
      { open: Number(open), unknown: Number(unknown) },
    ]),
  )
}
