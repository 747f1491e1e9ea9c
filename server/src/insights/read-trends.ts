import type { Tx } from '../db/in-transaction.ts'
import type { Period } from './period.ts'

/** Small series of the last days, for the little plots in lists: one value a day, zero where nothing happened. */
export type Trends<Key> = Map<Key, bigint[]>

/** What agents had available at the end of each day: what it is now, without what changed since. */
export async function balanceTrends(
  tx: Tx,
  agentIds: readonly bigint[],
  { steps, from }: Period,
): Promise<Trends<bigint>> {
  const { rows: now } = await tx.query<{ agentId: bigint; available: bigint }>(
    'select agent_id as "agentId", available from insight_folds where agent_id = any($1::bigint[])',
    [agentIds],
  )
  const { rows: changes } = await tx.query<{ key: bigint; at: Date; value: bigint }>(
    `select agent_id as key, at, sum(available)::bigint as value from insight_money
     where agent_id = any($1::bigint[]) and unit = 'day' and at >= $2 group by agent_id, at`,
    [agentIds, from],
  )
  const changed = daysOf(steps, changes)
  return new Map(
    now.map(({ agentId, available }) => {
      let balance = available
      const ends = steps.map(() => 0n)
      for (let day = steps.length - 1; day >= 0; day--) {
        ends[day] = balance
        balance -= changed.get(agentId)?.[day] ?? 0n
      }
      return [agentId, ends]
    }),
  )
}

/** What was paid of each agent's orders, or how many callbacks about its orders were accepted; by the orders' days. */
export async function orderTrends(
  tx: Tx,
  agentIds: readonly bigint[],
  { steps, from }: Period,
  what: 'paid' | 'called',
): Promise<Trends<bigint>> {
  const { rows } = await tx.query<{ key: bigint; at: Date; value: bigint }>(
    `select agent_id as key, at, sum(${what})::bigint as value from insight_orders
     where agent_id = any($1::bigint[]) and unit = 'day' and at >= $2 and facet = 'all'
       ${what === 'paid' ? "and status = 'PAID'" : ''}
     group by agent_id, at`,
    [agentIds, from],
  )
  return daysOf(steps, rows, agentIds)
}

/** How many orders were paid at each provider, by their days. */
export async function providerTrends(
  tx: Tx,
  agentIds: readonly bigint[],
  { steps, from }: Period,
): Promise<Trends<string>> {
  const { rows } = await tx.query<{ key: string; at: Date; value: bigint }>(
    `select value as key, at, sum(orders)::bigint as value from insight_orders
     where agent_id = any($1::bigint[]) and unit = 'day' and at >= $2 and facet = 'provider'
       and status = 'PAID'
     group by value, at`,
    [agentIds, from],
  )
  return daysOf(steps, rows)
}

function daysOf<Key>(
  steps: readonly Date[],
  rows: readonly { key: Key; at: Date; value: bigint }[],
  keys: readonly Key[] = [],
): Trends<Key> {
  const dayAt = new Map(steps.map((step, day) => [step.getTime(), day]))
  const trends: Trends<Key> = new Map(keys.map((key) => [key, steps.map(() => 0n)]))
  for (const { key, at, value } of rows) {
    const day = dayAt.get(at.getTime())
    if (day === undefined) continue
    const values = trends.get(key) ?? steps.map(() => 0n)
    values[day] = (values[day] ?? 0n) + value
    trends.set(key, values)
  }
  return trends
}
