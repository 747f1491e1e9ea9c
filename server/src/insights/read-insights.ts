import type { Tx } from '../db/in-transaction.ts'
import type { OrderKind } from '../ledger/book.ts'
import { firstOrderIdAt } from '../lib/ids.ts'
import type { Currency } from '../lib/money.ts'
import type { EndStatus, Facet } from './insight-cells.ts'
import type { Period } from './period.ts'

/** The books that summaries are read of. */
export interface BookName {
  agentId: bigint
  currency: Currency
}

/** Orders that no longer wait, of all agents of a currency together, or of one agent. */
export interface OrderFigure {
  /** Null if this is a step of a plot. */
  when: 'now' | 'before' | null
  agentId: bigint | null
  currency: Currency
  step: Date | null
  kind: OrderKind
  status: EndStatus
  orders: number
  paidMinor: bigint
  called: number
}

const bookParams = (books: readonly BookName[]) => [
  books.map(({ agentId }) => agentId),
  books.map(({ currency }) => currency),
]

const stretchParams = ({ stretches }: Period) => [
  stretches.map(({ when }) => when),
  stretches.map(({ unit }) => unit),
  stretches.map(({ from }) => from),
  stretches.map(({ to }) => to),
]

const stepOf = (time: string) => `date_trunc($7, ${time} at time zone $8) at time zone $8`

const source = (table: string) => `unnest($1::bigint[], $2::text[]) b(agent_id, currency)
  cross join unnest($3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[])
    s(happened, unit, since, until)
  join ${table} i on i.agent_id = b.agent_id and i.unit = s.unit and i.at >= s.since and i.at < s.until`

/** By agent for both periods, and by step for this one. */
export async function orderFigures(
  tx: Tx,
  books: readonly BookName[],
  period: Period,
  timeZone: string,
): Promise<OrderFigure[]> {
  const { rows } = await tx.query<OrderFigure & { orders: bigint; called: bigint }>(
    `select * from (
       select s.happened as when, b.agent_id as "agentId", b.currency, null::timestamptz as step,
         i.kind, i.status, sum(i.orders)::bigint as orders, sum(i.paid)::bigint as "paidMinor",
         sum(i.called)::bigint as called
       from ${source('insight_orders')} and i.facet = 'all'
       group by s.happened, b.agent_id, b.currency, i.kind, i.status
       union all
       select null, null, b.currency, ${stepOf('i.at')}, i.kind, i.status, sum(i.orders)::bigint,
         sum(i.paid)::bigint, sum(i.called)::bigint
       from ${source('insight_orders')} and i.facet = 'all' where s.happened = 'now'
       group by b.currency, 4, i.kind, i.status
     ) figures where orders > 0`,
    [...bookParams(books), ...stretchParams(period), period.step, timeZone],
  )
  return rows.map((row) => ({ ...row, orders: Number(row.orders), called: Number(row.called) }))
}

/** Orders that no longer wait, by what they have in common. */
export interface FacetFigure {
  when: 'now' | 'before'
  currency: Currency
  facet: Facet
  value: string
  kind: OrderKind
  status: EndStatus
  orders: number
  paidMinor: bigint
}

export async function facetFigures(
  tx: Tx,
  books: readonly BookName[],
  period: Period,
): Promise<FacetFigure[]> {
  const { rows } = await tx.query<FacetFigure & { orders: bigint }>(
    `select s.happened as when, b.currency, i.facet, i.value, i.kind, i.status,
       sum(i.orders)::bigint as orders, sum(i.paid)::bigint as "paidMinor"
     from ${source('insight_orders')} and i.facet not in ('all', 'called_within')
     group by s.happened, b.currency, i.facet, i.value, i.kind, i.status having sum(i.orders) > 0`,
    [...bookParams(books), ...stretchParams(period)],
  )
  return rows.map((row) => ({ ...row, orders: Number(row.orders) }))
}

/** How long it took until callbacks were accepted, by agent. */
export async function calledFigures(
  tx: Tx,
  books: readonly BookName[],
  period: Period,
): Promise<{ agentId: bigint; value: string; orders: number }[]> {
  const { rows } = await tx.query<{ agentId: bigint; value: string; orders: bigint }>(
    `select b.agent_id as "agentId", i.value, sum(i.orders)::bigint as orders
     from ${source('insight_orders')} and i.facet = 'called_within'
     where s.happened = 'now' group by b.agent_id, i.value`,
    [...bookParams(books), ...stretchParams(period)],
  )
  return rows.map((row) => ({ ...row, orders: Number(row.orders) }))
}

/** What was earned and what it cost, by book and provider. */
export interface EarnedFigure {
  when: 'now' | 'before'
  agentId: bigint
  currency: Currency
  provider: string
  feesMinor: bigint
  costsMinor: bigint
}

export async function earnedFigures(
  tx: Tx,
  books: readonly BookName[],
  period: Period,
): Promise<EarnedFigure[]> {
  const { rows } = await tx.query<EarnedFigure>(
    `select s.happened as when, b.agent_id as "agentId", b.currency, i.provider,
       sum(i.fees)::bigint as "feesMinor", (-sum(i.costs))::bigint as "costsMinor"
     from ${source('insight_money')}
     group by s.happened, b.agent_id, b.currency, i.provider
     having sum(i.fees) <> 0 or sum(i.costs) <> 0`,
    [...bookParams(books), ...stretchParams(period)],
  )
  return rows
}

/** What agents had at the end of a step. */
export interface BalanceFigure {
  step: Date
  currency: Currency
  available: bigint
  held: bigint
  reserve: bigint
}

/** Balances at the end of each step: what they are now, without what changed since. */
export async function balanceFigures(
  tx: Tx,
  books: readonly BookName[],
  period: Period,
  timeZone: string,
): Promise<BalanceFigure[]> {
  const { rows: changes } = await tx.query<BalanceFigure>(
    `select ${stepOf('i.at')} as step, b.currency, sum(i.available)::bigint as available,
       sum(i.held)::bigint as held, sum(i.reserve)::bigint as reserve
     from ${source('insight_money')} where s.happened = 'now' group by 1, b.currency`,
    [...bookParams(books), ...stretchParams(period), period.step, timeZone],
  )
  const { rows: present } = await tx.query<Omit<BalanceFigure, 'step'>>(
    `select b.currency, coalesce(sum(f.available), 0)::bigint as available,
       coalesce(sum(f.held), 0)::bigint as held, coalesce(sum(f.reserve), 0)::bigint as reserve
     from unnest($1::bigint[], $2::text[]) b(agent_id, currency)
     left join insight_folds f on f.agent_id = b.agent_id group by b.currency order by b.currency`,
    bookParams(books),
  )
  return present.flatMap(({ currency, ...now }) => {
    let { available, held, reserve } = now
    const ends: BalanceFigure[] = []
    for (const step of period.steps.toReversed()) {
      ends.push({ step, currency, available, held, reserve })
      const change = changes.find(
        (each) => each.currency === currency && each.step.getTime() === step.getTime(),
      )
      available -= change?.available ?? 0n
      held -= change?.held ?? 0n
      reserve -= change?.reserve ?? 0n
    }
    return ends.reverse()
  })
}

/** Orders that still wait, by the step in which they were created; null for the period before. */
export async function waitingOrders(
  tx: Tx,
  books: readonly BookName[],
  period: Period,
  timeZone: string,
): Promise<{ currency: Currency; kind: OrderKind; step: Date | null; orders: number }[]> {
  // Each kind has its own index of what waits.
  const waiting = (kind: OrderKind) =>
    `select b.currency, o.kind, o.created_at from orders o
     join unnest($1::bigint[], $2::text[]) b(agent_id, currency) on b.agent_id = o.agent_id
     where o.status = 'WAITING' and o.kind = '${kind}' and o.order_id >= $3 and o.created_at < $6`
  const { rows } = await tx.query<{
    currency: Currency
    kind: OrderKind
    step: Date | null
    orders: bigint
  }>(
    `select currency, kind, case when created_at >= $4 then ${stepOf('created_at')} end as step,
       count(*) as orders
     from (${waiting('deposit')} union all ${waiting('withdraw')}) open
     where created_at >= $4 or created_at < $5 group by 1, 2, 3`,
    [
      ...bookParams(books),
      firstOrderIdAt(period.beforeFrom),
      period.from,
      period.beforeTo,
      period.to,
      period.step,
      timeZone,
    ],
  )
  return rows.map((row) => ({ ...row, orders: Number(row.orders) }))
}

/** How many journal rows are not in the summaries yet. */
export async function rowsBehind(tx: Tx, books: readonly BookName[]): Promise<number> {
  const { rows } = await tx.query<{ behind: bigint }>(
    `select coalesce(sum(w.seq - coalesce(f.seq, 0)), 0)::bigint as behind
     from wallets w left join insight_folds f on f.agent_id = w.agent_id
     where w.agent_id = any($1::bigint[])`,
    [books.map(({ agentId }) => agentId)],
  )
  return Number(rows[0]?.behind ?? 0n)
}
