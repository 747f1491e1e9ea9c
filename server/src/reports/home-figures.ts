import type { Agent } from '../agents/agent.ts'
import { countAged } from '../db/aged.ts'
import type { Pool } from '../db/pool.ts'
import type { OrderKind, OrderStatus } from '../ledger/book.ts'
import { firstOrderIdAt } from '../lib/ids.ts'
import type { Currency } from '../lib/money.ts'

/** Orders of one hour, grouped by their properties. */
export interface HourFigure {
  currency: Currency
  /** Counted from the start of the requested period. */
  hour: number
  kind: OrderKind
  status: OrderStatus
  provider: string | null
  /** Created before the cut, which is one day ago. */
  beforeCut: boolean
  count: number
  paidMinor: bigint
}

/**
 * Counts the orders created in a period, by hour. Reads only those orders, along their key, agent by agent
 * and hour by hour: such small groups need no sorting on disk. docs/decisions/0013-operator-reads.md gives
 * the cost.
 */
export async function hourFigures(
  pool: Pool,
  agents: readonly Pick<Agent, 'agentId' | 'currency'>[],
  { from, cut, to }: { from: Date; cut: Date; to: Date },
): Promise<HourFigure[]> {
  const starts = stretchesOf(from, cut, to)
  const ids = [...starts.map((ms) => firstOrderIdAt(new Date(ms))), 'f'.repeat(32)]
  const { rows } = await pool.query<{
    currency: Currency
    stretch: number
    kind: OrderKind
    status: OrderStatus
    provider: string | null
    count: bigint
    paid: bigint
  }>(
    `select a.currency, s.stretch, x.* from unnest($1::bigint[], $2::text[]) a(agent_id, currency)
     cross join unnest($3::int[], $4::uuid[], $5::uuid[]) s(stretch, low, high)
     cross join lateral (
       select o.kind, o.status, o.provider, count(*) as count,
         coalesce(sum(o.paid_amount) filter (where o.status = 'PAID'), 0)::bigint as paid
       from orders o
       where o.agent_id = a.agent_id and o.order_id >= s.low and o.order_id < s.high
       group by o.kind, o.status, o.provider
     ) x`,
    [
      agents.map(({ agentId }) => agentId),
      agents.map(({ currency }) => currency),
      starts.map((_, at) => at),
      ids.slice(0, -1),
      ids.slice(1),
    ],
  )
  return rows.map((row) => {
    const startMs = starts[row.stretch] ?? from.getTime()
    return {
      currency: row.currency,
      hour: Math.floor((startMs - from.getTime()) / hourMs),
      kind: row.kind,
      status: row.status,
      provider: row.provider,
      beforeCut: startMs < cut.getTime(),
      count: Number(row.count),
      paidMinor: row.paid,
    }
  })
}

const hourMs = 3_600_000

/** The start of each hour; the hour that contains the cut is split there. */
function stretchesOf(from: Date, cut: Date, to: Date): number[] {
  const starts = [cut.getTime()]
  for (let ms = from.getTime(); ms <= to.getTime(); ms += hourMs) starts.push(ms)
  return [...new Set(starts)].sort((a, b) => a - b)
}

/** Payouts whose outcome is unknown. */
export function unknownPayouts(pool: Pool, agentIds: readonly bigint[]) {
  return countAged(
    pool,
    `select handed_at as at from payouts
     where agent_id = any($1::bigint[]) and ask_at is not null and state in ('unknown', 'not_found')`,
    [agentIds],
  )
}

/** Withdrawals that no provider has yet. */
export function withdrawalsToHandOver(pool: Pool, agentIds: readonly bigint[]) {
  return countAged(
    pool,
    `select created_at as at from orders where agent_id = any($1::bigint[])
       and status = 'WAITING' and kind = 'withdraw' and handed_over_at is null`,
    [agentIds],
  )
}

/** How many payouts each provider has under way, and how many of those have an unknown outcome. */
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
