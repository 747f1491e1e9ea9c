import { inTransaction, type Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import type { JournalEvent, OrderKind } from '../ledger/book.ts'
import type { Clock } from '../lib/clock.ts'
import { localTimeIn } from '../lib/local-time.ts'
import type { Currency } from '../lib/money.ts'
import {
  addOrder,
  calledCells,
  type FoldedRow,
  foldRows,
  type Outcome,
  statusAfter,
} from './fold-rows.ts'
import { type MoneyCell, momentsBy, type OrderCell, type Unit } from './insight-cells.ts'

/** The most journal rows that one transaction folds. */
const pageRows = 2_000

/** Folds what has been written to the journals since, some rows of each agent. Any number of processes may do it. */
export async function foldInsights(
  pool: Pool,
  { timeZone, now, page = pageRows }: { timeZone: string; now: Date; page?: number },
): Promise<'done' | 'more'> {
  const { rows } = await pool.query<{ agent_id: bigint; behind: bigint }>(
    `select w.agent_id, w.seq - coalesce(f.seq, 0) as behind
     from wallets w left join insight_folds f on f.agent_id = w.agent_id
     where w.seq > coalesce(f.seq, 0) order by w.agent_id`,
  )
  for (const { agent_id } of rows) await foldAgent(pool, agent_id, timeZone, now, page)
  return rows.some(({ behind }) => behind > BigInt(page)) ? 'more' : 'done'
}

/**
 * Folds the next rows of an agent's journal. How far it came is written in the same transaction, so that a process that
 * dies in the middle has folded nothing, and no row is folded twice.
 */
async function foldAgent(
  pool: Pool,
  agentId: bigint,
  timeZone: string,
  now: Date,
  page: number,
): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await tx.query(
      `insert into insight_folds (agent_id, seq, time_zone, available, held, reserve)
       values ($1, 0, $2, 0, 0, 0) on conflict do nothing`,
      [agentId, timeZone],
    )
    const fold = await lockFold(tx, agentId)
    if (!fold) return
    if (fold.time_zone !== timeZone) await forgetAgent(tx, agentId)
    const after = fold.time_zone === timeZone ? fold.seq : 0n
    const rows = await readRows(tx, agentId, after, page)
    const last = rows.at(-1)
    if (!last) return
    const folded = foldRows(rows, localTimeIn(timeZone))
    await addOrders(tx, agentId, folded.orders, now)
    await addMoney(tx, agentId, folded.money)
    await tx.query(
      'delete from insight_callbacks where agent_id = $1 and seq = any($2::bigint[])',
      [agentId, folded.closed],
    )
    await tx.query(
      'insert into insight_callbacks (agent_id, seq) select $1, unnest($2::bigint[])',
      [agentId, folded.opened],
    )
    const { available, held, reserve } = last.balances
    await tx.query(
      `update insight_folds set seq = $2, time_zone = $3, available = $4, held = $5, reserve = $6
       where agent_id = $1`,
      [agentId, last.seq, timeZone, available, held, reserve],
    )
  })
}

/** Who holds this row is alone in changing the agent's summaries. Undefined if another process is at it. */
async function lockFold(
  tx: Tx,
  agentId: bigint,
): Promise<{ seq: bigint; time_zone: string } | undefined> {
  const { rows } = await tx.query<{ seq: bigint; time_zone: string }>(
    'select seq, time_zone from insight_folds where agent_id = $1 for update skip locked',
    [agentId],
  )
  return rows[0]
}

/** Days begin at other times now, so that an order would be taken out where it was not counted. */
async function forgetAgent(tx: Tx, agentId: bigint): Promise<void> {
  await tx.query('delete from insight_orders where agent_id = $1', [agentId])
  await tx.query('delete from insight_money where agent_id = $1', [agentId])
  await tx.query('delete from insight_callbacks where agent_id = $1', [agentId])
}

interface Row {
  seq: bigint
  event: JournalEvent
  at: Date
  credited: bigint
  clearing_at: string | null
  available_change: bigint
  held_change: bigint
  reserve_change: bigint
  fees_change: bigint
  costs_change: bigint
  available: bigint
  held: bigint
  reserve: bigint
  order_id: string | null
  kind: OrderKind
  currency: Currency
  order_created_at: Date
  amount: bigint
  bank_code: string
  provider: string | null
  prior_seq: bigint | null
  prior_event: JournalEvent
  prior_at: Date
  prior_credited: bigint
  prior_clearing_at: string | null
  is_prior_open: boolean
  callback_at: Date | null
  delivered_at: Date | null
}

interface ReadRow extends FoldedRow {
  balances: { available: bigint; held: bigint; reserve: bigint }
}

/** Reads the next rows with what they are about. An archived stretch of the journal is passed over. */
async function readRows(tx: Tx, agentId: bigint, after: bigint, page: number): Promise<ReadRow[]> {
  const { rows } = await tx.query<Row>(
    `select j.seq, j.event, j.at, j.available_change + j.reserve_change + j.fees_change as credited,
       j.clearing_at, j.available_change, j.held_change, j.reserve_change, j.fees_change,
       j.costs_change, j.available, j.held, j.reserve, o.order_id, o.kind, o.currency,
       o.created_at as order_created_at, o.amount, o.bank_code,
       case o.kind when 'deposit' then o.provider else (
         select y.provider from payouts y
         where y.agent_id = j.agent_id and y.order_id = j.order_id order by y.attempt desc limit 1
       ) end as provider,
       p.seq as prior_seq, p.event as prior_event, p.at as prior_at,
       p.available_change + p.reserve_change + p.fees_change as prior_credited,
       p.clearing_at as prior_clearing_at,
       exists (
         select 1 from insight_callbacks i where i.agent_id = j.agent_id and i.seq = p.seq
       ) as is_prior_open,
       c.created_at as callback_at,
       case c.state when 'delivered' then c.delivered_at end as delivered_at
     from (
       select * from journal where agent_id = $1 and seq > $2 order by seq limit $3
     ) j
     left join orders o
       on o.agent_id = j.agent_id and o.order_id = j.order_id and j.event = any($4::text[])
     left join callbacks c on c.agent_id = j.agent_id and c.seq = j.seq
     left join lateral (
       select * from journal b
       where b.agent_id = j.agent_id and b.order_id = o.order_id and b.seq < j.seq
         and b.event = any($4::text[])
       order by b.seq desc limit 1
     ) p on true
     order by j.seq`,
    [agentId, after, page, Object.keys(statusAfter)],
  )
  return rows.map((row) => ({
    ...outcomeOf(row.seq, row.event, row.at, row.credited, row.clearing_at),
    change: {
      available: row.available_change,
      held: row.held_change,
      reserve: row.reserve_change,
      fees: row.fees_change,
      costs: row.costs_change,
    },
    balances: row,
    order: row.order_id === null ? null : orderOf(row, row.order_id),
    prior:
      row.prior_seq === null
        ? null
        : outcomeOf(
            row.prior_seq,
            row.prior_event,
            row.prior_at,
            row.prior_credited,
            row.prior_clearing_at,
          ),
    isPriorOpen: row.is_prior_open,
    callback: row.callback_at && { createdAt: row.callback_at, deliveredAt: row.delivered_at },
  }))
}

function outcomeOf(
  seq: bigint,
  event: JournalEvent,
  at: Date,
  creditedMinor: bigint,
  clearingAt: string | null,
): Outcome {
  return { seq, event, at, creditedMinor, clearingAt }
}

function orderOf(row: Row, orderId: string): FoldedRow['order'] {
  return {
    orderId,
    kind: row.kind,
    currency: row.currency,
    createdAt: row.order_created_at,
    amountMinor: row.amount,
    bankCode: row.bank_code,
    provider: row.provider,
  }
}

/** The statement's columns, one array for each. */
function orderParams(agentId: bigint, cells: readonly OrderCell[]): unknown[] {
  return [
    agentId,
    cells.map(({ unit }) => unit),
    cells.map(({ at }) => at),
    cells.map(({ facet }) => facet),
    cells.map(({ kind }) => kind),
    cells.map(({ status }) => status),
    cells.map(({ value }) => value),
    cells.map(({ orders }) => orders),
    cells.map(({ amountMinor }) => amountMinor),
    cells.map(({ paidMinor }) => paidMinor),
    cells.map(({ called }) => called),
  ]
}

/**
 * Adds to the counts of orders. An upsert would check a negative change by itself, so rows that are there are updated
 * and the others inserted; the lock on the agent's fold keeps others from inserting the same.
 */
async function addOrders(
  tx: Tx,
  agentId: bigint,
  changes: readonly OrderCell[],
  now: Date,
): Promise<void> {
  // Nothing can be taken out of what is forgotten, and nobody looks at it any more.
  const cells = changes.filter(({ unit, at }) => at >= keptFrom(unit, now))
  if (cells.length === 0) return
  await tx.query(
    `with d as (
       select * from unnest($2::text[], $3::timestamptz[], $4::text[], $5::text[], $6::text[],
         $7::text[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[])
         d(unit, at, facet, kind, status, value, orders, amount, paid, called)
     ), known as (
       update insight_orders i set orders = i.orders + d.orders, amount = i.amount + d.amount,
         paid = i.paid + d.paid, called = i.called + d.called
       from d where i.agent_id = $1 and i.unit = d.unit and i.at = d.at and i.facet = d.facet
         and i.kind = d.kind and i.status = d.status and i.value = d.value
       returning i.unit, i.at, i.facet, i.kind, i.status, i.value
     )
     insert into insight_orders (agent_id, unit, at, facet, kind, status, value, orders, amount, paid,
       called)
     select $1, d.* from d where (d.unit, d.at, d.facet, d.kind, d.status, d.value) not in (
       select * from known)`,
    orderParams(agentId, cells),
  )
}

async function addMoney(tx: Tx, agentId: bigint, cells: readonly MoneyCell[]): Promise<void> {
  await tx.query(
    `insert into insight_money as m (agent_id, unit, at, provider, available, held, reserve, fees,
       costs)
     select $1, * from unnest($2::text[], $3::timestamptz[], $4::text[], $5::bigint[], $6::bigint[],
       $7::bigint[], $8::bigint[], $9::bigint[])
     on conflict (agent_id, unit, at, provider) do update set
       available = m.available + excluded.available, held = m.held + excluded.held,
       reserve = m.reserve + excluded.reserve, fees = m.fees + excluded.fees,
       costs = m.costs + excluded.costs`,
    [
      agentId,
      cells.map(({ unit }) => unit),
      cells.map(({ at }) => at),
      cells.map(({ provider }) => provider),
      cells.map(({ available }) => available),
      cells.map(({ held }) => held),
      cells.map(({ reserve }) => reserve),
      cells.map(({ fees }) => fees),
      cells.map(({ costs }) => costs),
    ],
  )
}

const callbackPage = 2_000

/**
 * Counts callbacks that have been accepted since their outcome was folded. Looks at some of those that were not, and
 * goes on with the next ones when it is called again: an agent without an address has many that never will be.
 */
export class CallbackCounter {
  private after = { agentId: -(2n ** 63n), seq: 0n }
  private readonly pool: Pool
  private readonly timeZone: string
  private readonly now: Clock

  constructor(pool: Pool, timeZone: string, now: Clock) {
    this.pool = pool
    this.timeZone = timeZone
    this.now = now
  }

  async look(page = callbackPage): Promise<'done' | 'more'> {
    const { rows } = await this.pool.query<{ agent_id: bigint; seq: bigint; is_over: boolean }>(
      `select i.agent_id, i.seq, c.seq is null or c.state = 'delivered' as is_over from (
         select * from insight_callbacks where (agent_id, seq) > ($1, $2)
         order by agent_id, seq limit $3
       ) i left join callbacks c on c.agent_id = i.agent_id and c.seq = i.seq
       order by i.agent_id, i.seq`,
      [this.after.agentId, this.after.seq, page],
    )
    const last = rows.length < page ? undefined : rows.at(-1)
    this.after = last
      ? { agentId: last.agent_id, seq: last.seq }
      : { agentId: -(2n ** 63n), seq: 0n }
    const over = new Map<bigint, bigint[]>()
    for (const { agent_id, seq, is_over } of rows) {
      if (is_over) over.set(agent_id, [...(over.get(agent_id) ?? []), seq])
    }
    for (const [agentId, seqs] of over) await this.count(agentId, seqs)
    return last ? 'more' : 'done'
  }

  private async count(agentId: bigint, seqs: bigint[]): Promise<void> {
    await inTransaction(this.pool, async (tx) => {
      if ((await lockFold(tx, agentId))?.time_zone !== this.timeZone) return
      // A callback that was archived meanwhile is not counted any more; nor is one that is sent again now.
      const { rows } = await tx.query<{
        event: JournalEvent
        kind: OrderKind
        order_created_at: Date
        created_at: Date | null
        delivered_at: Date
      }>(
        `with over as (
           delete from insight_callbacks i where i.agent_id = $1 and i.seq = any($2::bigint[])
             and not exists (select 1 from callbacks c where c.agent_id = i.agent_id
               and c.seq = i.seq and c.state <> 'delivered')
           returning i.seq
         )
         select j.event, o.kind, o.created_at as order_created_at, c.created_at, c.delivered_at
         from over
         join callbacks c on c.agent_id = $1 and c.seq = over.seq
         join journal j on j.agent_id = $1 and j.seq = over.seq
         join orders o on o.agent_id = $1 and o.order_id = j.order_id`,
        [agentId, seqs],
      )
      const moments = momentsBy(localTimeIn(this.timeZone))
      const cells = new Map<string, OrderCell>()
      for (const row of rows) {
        if (row.created_at === null) continue
        const order = { kind: row.kind, createdAt: row.order_created_at }
        const callback = { createdAt: row.created_at, deliveredAt: row.delivered_at }
        for (const cell of calledCells(order, row, callback, moments)) addOrder(cells, cell)
      }
      await addOrders(tx, agentId, [...cells.values()], this.now())
    })
  }
}

/** How long hours and days are kept: as long as a period and the one before it may be looked at. */
const keptDays = { hour: 70, day: 800 }

function keptFrom(unit: Unit, now: Date): Date {
  return new Date(now.getTime() - keptDays[unit] * 86_400_000)
}

/** Forgets some of what is older than any period that can be looked at. */
export async function forgetInsights(
  pool: Pool,
  now: Date,
  limit: number,
): Promise<'done' | 'more'> {
  const old = `(unit = 'hour' and at < $1) or (unit = 'day' and at < $2)`
  const values = [keptFrom('hour', now), keptFrom('day', now), limit]
  const orders = await pool.query(
    `delete from insight_orders where (agent_id, unit, at, facet, kind, status, value) in (
       select agent_id, unit, at, facet, kind, status, value from insight_orders where ${old}
       limit $3)`,
    values,
  )
  const money = await pool.query(
    `delete from insight_money where (agent_id, unit, at, provider) in (
       select agent_id, unit, at, provider from insight_money where ${old} limit $3)`,
    values,
  )
  const most = Math.max(orders.rowCount ?? 0, money.rowCount ?? 0)
  return most >= limit ? 'more' : 'done'
}
