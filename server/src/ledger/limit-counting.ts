import { inTransaction, type Tx } from '../db/in-transaction.ts'
import { type Pool, type PoolClient, sqlState } from '../db/pool.ts'
import { firstOrderIdAt } from '../lib/ids.ts'
import type { Currency } from '../lib/money.ts'
import type { OrderKind } from './book.ts'
import { ruleColumns, rulesOf } from './limit-rule-columns.ts'
import {
  countedBy,
  countingKey,
  countsBackTo,
  type LimitRule,
  type LimitSubject,
  quarterMs,
  quarterOf,
  rulesFor,
} from './limits.ts'

/** What is added up for an agent. */
interface Counting {
  agentId: bigint
  kind: OrderKind
  per: LimitSubject | 'payee'
}

/** By agent, and then by kind and subject: from when on orders are counted. All agents', unless some are named. */
export async function readCounting(
  db: Pool | PoolClient,
  agentIds: bigint[] | null,
): Promise<Map<bigint, Map<string, Date>>> {
  const { rows } = await db.query<Counting & { countsFrom: Date }>({
    name: 'limit-counting',
    text: `select agent_id as "agentId", kind, per, counts_from as "countsFrom" from limit_counting
      where $1::bigint[] is null or agent_id = any($1)`,
    values: [agentIds],
  })
  const counting = new Map<bigint, Map<string, Date>>()
  for (const { agentId, kind, per, countsFrom } of rows) {
    const own = counting.get(agentId) ?? new Map<string, Date>()
    counting.set(agentId, own.set(countingKey(kind, per), countsFrom))
  }
  return counting
}

/** What must be added up for an agent's rules, each once. */
export function countingFor(agentId: bigint, rules: readonly LimitRule[]): Counting[] {
  const needed = rules.flatMap((rule) => {
    const per = countedBy(rule)
    return per === undefined ? [] : { agentId, kind: rule.kind, per }
  })
  return [...new Map(needed.map((each) => [countingKey(each.kind, each.per), each])).values()]
}

/**
 * Begins to count new orders for rules that need it. The caller has locked the wallet, and knows the rules until
 * it commits. Returns from when on each is counted.
 */
export async function startMissing(
  tx: PoolClient,
  agentId: bigint,
  rules: readonly LimitRule[],
  known: ReadonlyMap<string, Date> = new Map(),
  at: Date,
): Promise<Map<string, Date>> {
  const counting = new Map(known)
  for (const each of countingFor(agentId, rules)) {
    const key = countingKey(each.kind, each.per)
    const from = counting.get(key) ?? (await start(tx, each, at))
    if (from) counting.set(key, from)
  }
  return counting
}

const nextQuarter = (at: string) =>
  `date_bin('15 minutes', ${at}, timestamptz 'epoch') + interval '15 minutes'`

/**
 * Counts from the first quarter of an hour that has no order yet; who has no order at all is counted as far back
 * as any limit looks. Not while sums of an earlier time are left over.
 */
async function start(
  tx: PoolClient,
  { agentId, kind, per }: Counting,
  at: Date,
): Promise<Date | undefined> {
  const leftOver =
    per === 'payee'
      ? `select 1 from limit_payees where agent_id = $1`
      : `select 1 from limit_uses where agent_id = $1 and kind = $2 and per = $3`
  const { rows } = await tx.query<{ counts_from: Date }>(
    `insert into limit_counting (agent_id, kind, per, counts_from)
     select $1, $2, $3, coalesce((
         select greatest(${nextQuarter('$4::timestamptz')}, ${nextQuarter('o.created_at')})
         from orders o where o.agent_id = $1 order by o.order_id desc limit 1), $5)
     where not exists (${leftOver})
     on conflict do nothing returning counts_from`,
    [agentId, kind, per, at, countsBackTo(per, at)],
  )
  return rows[0]?.counts_from
}

/** About how many orders are added up while an agent's orders wait. */
const stretchOrders = 5_000
const leftOverPage = 5_000

/**
 * Counts orders of before the rules, until everything is counted or the time is over. Each transaction holds a
 * wallet's lock for a stretch of orders only, the newest first, and moves `counts_from` back over it: the teller
 * counts what is later, so no order is missed or counted twice. Agents take turns.
 */
export async function countForLimits(
  pool: Pool,
  now: Date,
  options: { agentId?: bigint | null; mostMs: number; orders?: number },
): Promise<'done' | 'more'> {
  const { agentId = null, mostMs, orders = stretchOrders } = options
  const began = performance.now()
  const { rows: rules } = await pool.query<LimitRule>(
    `select ${ruleColumns.select('r')} from limit_rules r`,
  )
  if (!rules.some(countedBy)) return 'done'
  const { rows: wallets } = await pool.query<{ agentId: bigint; currency: Currency }>(
    `select agent_id as "agentId", currency from wallets
     where agent_id > 0 and ($1::bigint is null or agent_id = $1) order by agent_id`,
    [agentId],
  )
  const counting = await readCounting(pool, agentId === null ? null : [agentId])
  let open = wallets
    .flatMap(({ agentId, currency }) => countingFor(agentId, rulesFor(rules, agentId, currency)))
    .filter(({ agentId, kind, per }) => {
      const from = counting.get(agentId)?.get(countingKey(kind, per))
      return from === undefined || from > countsBackTo(per, now)
    })
  while (open.length > 0) {
    const unfinished: Counting[] = []
    for (const each of open) {
      const step = await countStep(pool, each, now, orders).catch((error) => {
        // Its turn comes again with the next call.
        if (isTooBusy(error)) return 'done'
        throw error
      })
      if (step === 'more') unfinished.push(each)
      if (performance.now() - began > mostMs) return 'more'
    }
    open = unfinished
  }
  return 'done'
}

/** Whether the database had no time: a lock or a statement took too long. */
function isTooBusy(error: unknown): boolean {
  return ['55P03', '57014', '40001', '40P01', '23505'].includes(sqlState(error) ?? '')
}

async function countStep(
  pool: Pool,
  counting: Counting,
  now: Date,
  orders: number,
): Promise<'done' | 'more'> {
  const { agentId, kind, per } = counting
  const { rows } = await pool.query<{ counts_from: Date }>(
    'select counts_from from limit_counting where agent_id = $1 and kind = $2 and per = $3',
    [agentId, kind, per],
  )
  const to = rows[0]?.counts_from
  if (!to) return startApart(pool, counting, now)
  const goal = countsBackTo(per, now)
  if (to <= goal) return 'done'
  const from = await startOfStretch(pool, agentId, { from: goal, to }, orders)
  await inTransaction(pool, async (tx) => {
    await lockWallet(tx, agentId)
    const { rowCount } = await tx.query(
      `update limit_counting set counts_from = $5
       where agent_id = $1 and kind = $2 and per = $3 and counts_from = $4`,
      [agentId, kind, per, to, from],
    )
    // Otherwise another process was faster, or the rule is gone.
    if (rowCount === 1) await addStretch(tx, counting, from, to)
  })
  return from <= goal ? 'done' : 'more'
}

async function lockWallet(tx: Tx, agentId: bigint): Promise<Currency | undefined> {
  const { rows } = await tx.query<{ currency: Currency }>(
    'select currency from wallets where agent_id = $1 for no key update',
    [agentId],
  )
  return rows[0]?.currency
}

/** Begins to count as the teller would, after what was left over of an earlier time is gone. */
async function startApart(pool: Pool, counting: Counting, now: Date): Promise<'done' | 'more'> {
  const { agentId } = counting
  if (await forgetLeftOver(pool, counting, leftOverPage)) return 'more'
  return inTransaction(pool, async (tx) => {
    const currency = await lockWallet(tx, agentId)
    const { rows } = await tx.query<LimitRule>(rulesOf, [[agentId]])
    const needed = currency ? countingFor(agentId, rulesFor(rows, agentId, currency)) : []
    const isNeeded = needed.some(({ kind, per }) => kind === counting.kind && per === counting.per)
    if (!isNeeded) return 'done'
    await start(tx, counting, now)
    return 'more'
  })
}

/** Where a stretch with about so many orders begins, on a quarter of an hour. */
async function startOfStretch(
  pool: Pool,
  agentId: bigint,
  { from, to }: { from: Date; to: Date },
  orders: number,
): Promise<Date> {
  const { rows } = await pool.query<{ created_at: Date }>(
    `select created_at from orders where agent_id = $1 and order_id < $2 and order_id >= $3
     order by order_id desc offset $4 limit 1`,
    [agentId, firstOrderIdAt(to), firstOrderIdAt(from), orders],
  )
  const [first] = rows
  if (!first) return from
  const quarter = quarterOf(first.created_at).getTime()
  const begins = quarter + quarterMs < to.getTime() ? quarter + quarterMs : quarter
  return new Date(Math.max(begins, from.getTime()))
}

/** An account's bank, as `accountKey` makes it. */
const bankSql = `case when o.bank_code ~ '^[A-Z]{4}0[A-Z0-9]{6}$' then left(o.bank_code, 4)
  when o.bank_code ~ '^[A-Z]{6}[A-Z0-9]{5}$' then left(o.bank_code, 8) else o.bank_code end`
const numberSql = `upper(regexp_replace(o.account_no, '[^A-Za-z0-9]', '', 'g'))`

/** The subject of an order's row, as `subjectOf` makes it. */
const subjectSql: Record<LimitSubject, string> = {
  agent: `''`,
  user: 'o.user_id',
  account: `case when ${numberSql} ~ '^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$' then ${numberSql}
    else ${bankSql} || ':' || ${numberSql} end`,
}

/** Which orders' rows count, as `countsForLimits` says. */
const countsSql = `o.status in ('WAITING', 'PAID', 'REVERT')`

const inStretch = `o.agent_id = $1 and o.order_id >= $2 and o.order_id < $3
  and o.created_at >= $4 and o.created_at < $5`

/** Counts the orders of a stretch. The caller has locked the wallet, so that none of them changes. */
async function addStretch(
  tx: Tx,
  { agentId, kind, per }: Counting,
  from: Date,
  to: Date,
): Promise<void> {
  const stretch = [agentId, firstOrderIdAt(from), firstOrderIdAt(to), from, to]
  if (per === 'payee') {
    await tx.query(
      `insert into limit_payees (agent_id, account, order_id)
       select distinct on (2) o.agent_id, ${subjectSql.account}, o.order_id from orders o
       where ${inStretch} and o.kind = 'withdraw' and o.refund_of is null
         and o.status in ('PAID', 'REVERT')
       on conflict do nothing`,
      stretch,
    )
    return
  }
  await tx.query(
    `insert into limit_uses (agent_id, kind, per, subject, starts_at, amount, orders)
     select o.agent_id, o.kind, $7, ${subjectSql[per]},
       date_bin('15 minutes', o.created_at, timestamptz 'epoch'), sum(o.amount), count(*)
     from orders o where ${inStretch} and o.kind = $6 and ${countsSql}
     group by 1, 2, 3, 4, 5
     on conflict (agent_id, kind, per, subject, starts_at)
       do update set amount = excluded.amount, orders = excluded.orders`,
    [...stretch, kind, per],
  )
}

/**
 * Stops to add up what no rule needs any more. The caller has locked the rules, so that no transaction counts
 * at the moment; the sums are deleted before counting starts again, or by and by.
 */
export async function stopCounting(tx: Tx): Promise<void> {
  await tx.query(
    `delete from limit_counting c where not exists (
       select 1 from limit_rules r
       where r.agent_id in (0, c.agent_id) and r.kind = c.kind
         and case c.per when 'payee' then r.measure = 'new_account'
           else r.per = c.per and r.period <> 'order' end
         and (r.currency is null or r.currency = (
           select w.currency from wallets w where w.agent_id = c.agent_id)))`,
  )
}

/** Deletes a page of sums that are not kept up to date. Returns whether there may be more. */
async function forgetLeftOver(
  pool: Pool,
  { agentId, kind, per }: Counting,
  page: number,
): Promise<boolean> {
  const isCounted = `exists (select 1 from limit_counting c
    where c.agent_id = $1 and c.kind = $2 and c.per = $3)`
  const { rowCount } = await pool.query(
    per === 'payee'
      ? `delete from limit_payees where agent_id = $1 and not ${isCounted} and account in (
           select account from limit_payees where agent_id = $1 limit $4)`
      : `delete from limit_uses where agent_id = $1 and kind = $2 and per = $3 and not ${isCounted}
         and (subject, starts_at) in (select subject, starts_at from limit_uses
           where agent_id = $1 and kind = $2 and per = $3 limit $4)`,
    [agentId, kind, per, page],
  )
  return rowCount === page
}

/** Sums older than this are in no month that a limit looks at. */
const keptMs = 62 * 86_400_000

/**
 * Forgets sums that no limit looks at any more, and those that are not kept up to date: of each agent along a key,
 * a page at a time. Returns whether there may be more.
 */
export async function forgetOldUses(pool: Pool, now: Date, page: number): Promise<'done' | 'more'> {
  const before = quarterOf(new Date(now.getTime() - keptMs))
  const { rows: counted } = await pool.query<Counting>(
    `select agent_id as "agentId", kind, per from limit_counting
     where counts_from < $1 and per <> 'payee'`,
    [before],
  )
  for (const { agentId, kind, per } of counted) {
    await inTransaction(pool, async (tx) => {
      // Orders that are about to change still count from the earlier time.
      await lockWallet(tx, agentId)
      await tx.query(
        `update limit_counting set counts_from = $4
         where agent_id = $1 and kind = $2 and per = $3 and counts_from < $4`,
        [agentId, kind, per, before],
      )
    })
  }
  const { rows: old } = await pool.query<Counting & { countsFrom: Date | null }>(
    `select w.agent_id as "agentId", k.kind, s.per, c.counts_from as "countsFrom"
     from wallets w cross join unnest(array['deposit', 'withdraw']) k(kind)
     cross join unnest(array['agent', 'user', 'account']) s(per)
     left join limit_counting c on c.agent_id = w.agent_id and c.kind = k.kind and c.per = s.per
     where exists (select 1 from limit_uses u
       where u.agent_id = w.agent_id and u.kind = k.kind and u.per = s.per
         and (c.counts_from is null or u.starts_at < c.counts_from))`,
  )
  let isMore = false
  for (const each of old) {
    if (each.countsFrom === null) {
      isMore = (await forgetLeftOver(pool, each, page)) || isMore
      continue
    }
    const { rowCount } = await pool.query(
      `delete from limit_uses where agent_id = $1 and kind = $2 and per = $3 and starts_at < $4
         and (subject, starts_at) in (select subject, starts_at from limit_uses
           where agent_id = $1 and kind = $2 and per = $3 and starts_at < $4 limit $5)`,
      [each.agentId, each.kind, each.per, each.countsFrom, page],
    )
    isMore = rowCount === page || isMore
  }
  return isMore ? 'more' : 'done'
}
