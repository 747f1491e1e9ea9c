import type { Agent } from '../agents/agent.ts'
import type { Pool } from '../db/pool.ts'
import type { OrderKind } from '../ledger/book.ts'
import { firstOrderIdAt } from '../lib/ids.ts'
import { timeOfOrderId, windowEnd } from '../orders/search-orders.ts'

/**
 * A provider's results with the orders of one kind. An order that one provider refused and another paid
 * counts for both.
 */
export interface ProviderFigure {
  provider: string
  kind: OrderKind
  paid: number
  /** Orders that no longer wait, including paid ones but not cancelled withdrawals. */
  ended: number
}

/** The most orders to read, which takes about a fifth of a second. */
const budget = 100_000

/**
 * The results of orders created since a time, by provider. If there are more than one request may read, it
 * covers the newest, and `since` says how far back they go.
 */
export async function providerFigures(
  pool: Pool,
  agents: readonly Pick<Agent, 'agentId' | 'currency'>[],
  from: Date,
  atMost = budget,
): Promise<{ since: Date; isWhole: boolean; figures: ProviderFigure[] }> {
  const window = Math.max(1, Math.floor(atMost / Math.max(1, agents.length)))
  const first = firstOrderIdAt(from)
  const floor = await windowEnd(pool, { agents }, 'f'.repeat(32), first, window)
  const { rows } = await pool.query<{
    provider: string
    kind: OrderKind
    paid: bigint
    ended: bigint
  }>(
    `select x.provider, x.kind, sum(x.paid)::bigint as paid, sum(x.ended)::bigint as ended
     from unnest($1::bigint[]) a(agent_id) cross join lateral (
       select o.provider, 'deposit' as kind, count(*) as ended,
         count(*) filter (where o.status = 'PAID') as paid
       from orders o
       where o.agent_id = a.agent_id and o.order_id >= $2 and o.provider is not null
         and o.kind = 'deposit' and o.status <> 'WAITING'
       group by o.provider
       union all
       select p.provider, 'withdraw', count(*), count(*) filter (where p.state = 'paid')
       from payouts p
       where p.agent_id = a.agent_id and p.order_id >= $2
         and p.state in ('paid', 'rejected', 'returned')
       group by p.provider
     ) x group by x.provider, x.kind`,
    [agents.map(({ agentId }) => agentId), floor ?? first],
  )
  return {
    since: floor === undefined ? from : timeOfOrderId(floor),
    isWhole: floor === undefined,
    figures: rows.map((row) => ({ ...row, paid: Number(row.paid), ended: Number(row.ended) })),
  }
}
