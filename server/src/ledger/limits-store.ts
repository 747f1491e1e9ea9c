import { columns } from '../db/columns.ts'
import { inTransaction, type Tx } from '../db/in-transaction.ts'
import type { Pool, PoolClient } from '../db/pool.ts'
import { firstOrderIdAt } from '../lib/ids.ts'
import type { LocalTime } from '../lib/local-time.ts'
import type { Currency } from '../lib/money.ts'
import type { Order, OrderKind } from './book.ts'
import type { Command } from './commands.ts'
import {
  type AgentLimits,
  accountKey,
  countedBy,
  countingKey,
  entryKey,
  type LimitCheck,
  type LimitPayee,
  type LimitRule,
  type LimitSubject,
  type LimitUse,
  listedValues,
  quarterOf,
  rulesFor,
  spanOf,
  subjectOf,
  type Use,
  useKey,
} from './limits.ts'

export const ruleColumns = columns<LimitRule>({
  agentId: ['agent_id', 'bigint'],
  name: ['name', 'text'],
  kind: ['kind', 'text'],
  measure: ['measure', 'text'],
  per: ['per', 'text', 'null'],
  period: ['period', 'text', 'null'],
  most: ['most', 'bigint', 'null'],
  currency: ['currency', 'text', 'null'],
  hours: ['hours', 'int', 'null'],
  field: ['field', 'text', 'null'],
  outcome: ['outcome', 'text'],
})

/**
 * The rules of some agents, and those of each agent. Reading them keeps them from being changed until the end of
 * the transaction: who changes a rule locks the table, and so waits for every order that does not know it.
 */
export const rulesOf = `select ${ruleColumns.select('r')} from limit_rules r
  where r.agent_id = 0 or r.agent_id = any($1::bigint[]) order by r.agent_id, r.name`

const useColumns = columns<LimitUse>({
  agentId: ['agent_id', 'bigint'],
  kind: ['kind', 'text'],
  per: ['per', 'text'],
  subject: ['subject', 'text'],
  startsAt: ['starts_at', 'timestamptz'],
  amountMinor: ['amount', 'bigint'],
  orders: ['orders', 'bigint'],
})

const useKeys = useColumns.pick('agentId', 'kind', 'per', 'subject', 'startsAt')

const beginUses = `insert into limit_uses (${useKeys.names}, amount, orders)
  select ${useKeys.names}, 0, 0 from ${useKeys.rows('u')} on conflict do nothing`

/** Never below zero: an order that an older process did not count must still end. The proof finds the difference. */
const addUses = `update limit_uses l set amount = greatest(0, l.amount + u.amount),
    orders = greatest(0, l.orders + u.orders)
  from ${useColumns.rows('u')}
  where l.agent_id = u.agent_id and l.kind = u.kind and l.per = u.per and l.subject = u.subject
    and l.starts_at = u.starts_at`

const checkColumns = columns<LimitCheck>({
  agentId: ['agent_id', 'bigint'],
  orderId: ['order_id', 'uuid'],
  outcome: ['outcome', 'text'],
  waitUntil: ['wait_until', 'timestamptz', 'null'],
  words: ['words', 'text'],
  at: ['at', 'timestamptz'],
})

const insertChecks = `insert into limit_checks (${checkColumns.names})
  select * from ${checkColumns.unnest}`

const payeeColumns = columns<LimitPayee>({
  agentId: ['agent_id', 'bigint'],
  account: ['account', 'text'],
  orderId: ['order_id', 'uuid'],
})

const insertPayees = `insert into limit_payees (${payeeColumns.names})
  select * from ${payeeColumns.unnest} on conflict do nothing`

interface AskedUse {
  agentId: bigint
  kind: OrderKind
  per: LimitSubject
  subject: string
  startsAt: Date
  endsAt: Date
}

const askedColumns = columns<AskedUse>({
  agentId: ['agent_id', 'bigint'],
  kind: ['kind', 'text'],
  per: ['per', 'text'],
  subject: ['subject', 'text'],
  startsAt: ['starts_at', 'timestamptz'],
  endsAt: ['ends_at', 'timestamptz'],
})

const usesIn = `select k.agent_id as "agentId", k.kind, k.per, k.subject, k.starts_at as "startsAt",
    k.ends_at as "endsAt", sum(u.amount)::bigint as "amountMinor", sum(u.orders)::bigint as orders
  from ${askedColumns.rows('k')}
  join limit_uses u on u.agent_id = k.agent_id and u.kind = k.kind and u.per = k.per
    and u.subject = k.subject and u.starts_at >= k.starts_at and u.starts_at < k.ends_at
  group by 1, 2, 3, 4, 5, 6`

const listedOf = `select e.agent_id as "agentId", e.name, e.value from limit_entries e
  join unnest($1::bigint[], $2::text[], $3::text[]) k(agent_id, name, value)
    on e.agent_id = k.agent_id and e.name = k.name and e.value = k.value`

const payeesOf = `select p.agent_id as "agentId", p.account from limit_payees p
  join unnest($1::bigint[], $2::text[]) k(agent_id, account)
    on p.agent_id = k.agent_id and p.account = k.account`

/**
 * Reads what the limits of these agents need to know, of agents whose wallets this transaction has locked. What
 * is not added up yet for a rule is added up now, from the orders.
 */
export async function readLimits(
  tx: PoolClient,
  commands: readonly Command[],
  rules: readonly LimitRule[],
  wallets: ReadonlyMap<bigint, { currency: Order['currency'] }>,
  localTime: LocalTime,
): Promise<Map<bigint, AgentLimits>> {
  const limits = new Map<bigint, AgentLimits>()
  const rulesOfAgent = new Map<bigint, LimitRule[]>()
  for (const { agentId } of commands) {
    const wallet = wallets.get(agentId)
    if (!wallet || agentId <= 0n || rulesOfAgent.has(agentId)) continue
    const own = rulesFor(rules, agentId, wallet.currency)
    if (own.length > 0) rulesOfAgent.set(agentId, own)
  }
  if (rulesOfAgent.size === 0) return limits
  const counting = await readCounting(tx, [...rulesOfAgent.keys()])
  for (const [agentId, own] of rulesOfAgent) {
    const at = commands.find((command) => command.agentId === agentId)?.at ?? new Date()
    const known = await startMissing(tx, agentId, own, counting.get(agentId), at)
    counting.set(agentId, known)
  }
  const created = commands.flatMap((command) =>
    command.type === 'create' && rulesOfAgent.has(command.agentId) ? command.order : [],
  )
  const facts = created.flatMap((order) =>
    (rulesOfAgent.get(order.agentId) ?? [])
      .filter(({ kind }) => kind === order.kind)
      .map((rule) => ({ order, rule })),
  )
  const used = await readUses(tx, facts, localTime)
  const listed = await readListed(tx, facts)
  const payees = await readPayees(tx, facts)
  for (const [agentId, own] of rulesOfAgent) {
    limits.set(agentId, {
      rules: own,
      counting: counting.get(agentId) ?? new Map(),
      used: used.get(agentId) ?? new Map(),
      listed,
      payees: payees.get(agentId) ?? new Set(),
    })
  }
  return limits
}

/** Begins to add up what the rules need and what is not added up yet. */
async function startMissing(
  tx: PoolClient,
  agentId: bigint,
  rules: readonly LimitRule[],
  known: ReadonlyMap<string, Date> = new Map(),
  at: Date,
): Promise<Map<string, Date>> {
  const counting = new Map(known)
  for (const rule of rules) {
    const per = countedBy(rule)
    if (per === undefined || counting.has(countingKey(rule.kind, per))) continue
    const from = await startCounting(tx, agentId, rule.kind, per, at)
    counting.set(countingKey(rule.kind, per), from)
  }
  return counting
}

/** Begins to add up an agent's orders for its rules, as the teller would with its next command. */
export async function startCountingFor(tx: Tx, agentId: bigint, at: Date): Promise<void> {
  const { rows: wallets } = await tx.query<{ currency: Currency }>(
    'select currency from wallets where agent_id = $1 for no key update',
    [agentId],
  )
  const [wallet] = wallets
  if (!wallet) return
  const { rows } = await tx.query<LimitRule>(rulesOf, [[agentId]])
  const rules = rulesFor(rows, agentId, wallet.currency)
  if (rules.length === 0) return
  const counting = await readCounting(tx, [agentId])
  await startMissing(tx, agentId, rules, counting.get(agentId), at)
}

interface Fact {
  order: Order
  rule: LimitRule
}

async function readCounting(
  tx: PoolClient,
  agentIds: bigint[],
): Promise<Map<bigint, Map<string, Date>>> {
  const { rows } = await tx.query<{
    agent_id: bigint
    kind: OrderKind
    per: LimitSubject
    counts_from: Date
  }>({
    name: 'limit-counting',
    text: 'select agent_id, kind, per, counts_from from limit_counting where agent_id = any($1)',
    values: [agentIds],
  })
  const counting = new Map<bigint, Map<string, Date>>()
  for (const { agent_id, kind, per, counts_from } of rows) {
    const own = counting.get(agent_id) ?? new Map<string, Date>()
    counting.set(agent_id, own.set(countingKey(kind, per), counts_from))
  }
  return counting
}

async function readUses(
  tx: PoolClient,
  facts: readonly Fact[],
  localTime: LocalTime,
): Promise<Map<bigint, Map<string, Use>>> {
  const asked = new Map<string, AskedUse>()
  for (const { order, rule } of facts) {
    const span = spanOf(rule.period, order.createdAt, localTime)
    if (!span || rule.per === null) continue
    const { agentId, kind } = order
    const subject = subjectOf(order, rule.per)
    asked.set(`${agentId} ${useKey(kind, rule.per, subject, span)}`, {
      agentId,
      kind,
      per: rule.per,
      subject,
      startsAt: span.start,
      endsAt: span.end,
    })
  }
  const used = new Map<bigint, Map<string, Use>>()
  if (asked.size === 0) return used
  const { rows } = await tx.query<AskedUse & Use>({
    name: 'limit-uses-in',
    text: usesIn,
    values: askedColumns.values([...asked.values()]),
  })
  for (const { agentId, kind, per, subject, startsAt, endsAt, amountMinor, orders } of rows) {
    const own = used.get(agentId) ?? new Map<string, Use>()
    const key = useKey(kind, per, subject, { start: startsAt, end: endsAt })
    used.set(agentId, own.set(key, { amountMinor, orders }))
  }
  return used
}

async function readListed(tx: PoolClient, facts: readonly Fact[]): Promise<Set<string>> {
  const asked = facts.flatMap(({ order, rule }) =>
    rule.field === null ? [] : listedValues(rule.field, order).map((value) => ({ rule, value })),
  )
  if (asked.length === 0) return new Set()
  const { rows } = await tx.query<{ agentId: bigint; name: string; value: string }>({
    name: 'limit-listed',
    text: listedOf,
    values: [
      asked.map(({ rule }) => rule.agentId),
      asked.map(({ rule }) => rule.name),
      asked.map(({ value }) => value),
    ],
  })
  return new Set(rows.map((row) => entryKey(row, row.value)))
}

async function readPayees(
  tx: PoolClient,
  facts: readonly Fact[],
): Promise<Map<bigint, Set<string>>> {
  const orders = facts
    .filter(({ rule }) => rule.measure === 'new_account')
    .map(({ order }) => order)
  const payees = new Map<bigint, Set<string>>()
  if (orders.length === 0) return payees
  const { rows } = await tx.query<{ agentId: bigint; account: string }>({
    name: 'limit-payees',
    text: payeesOf,
    values: [orders.map(({ agentId }) => agentId), orders.map(accountKey)],
  })
  for (const { agentId, account } of rows) {
    payees.set(agentId, (payees.get(agentId) ?? new Set()).add(account))
  }
  return payees
}

/** Longer than any month, in any time zone. */
const countedBackMs = 32 * 86_400_000

/** The subject of an order's row, as `subjectOf` makes it. */
const subjectSql: Record<LimitSubject, string> = {
  agent: `''`,
  user: 'o.user_id',
  account: `o.bank_code || ':' || upper(regexp_replace(o.account_no, '[^A-Za-z0-9]', '', 'g'))`,
}

/** Which orders' rows count, as `countsForLimits` says. */
const countsSql = `o.status in ('WAITING', 'PAID', 'REVERT')`

/**
 * Begins to add up an agent's orders, with those of the last month. The caller has locked the wallet, so that
 * no order is counted twice or left out.
 */
async function startCounting(
  tx: PoolClient,
  agentId: bigint,
  kind: OrderKind,
  per: LimitSubject | 'payee',
  at: Date,
): Promise<Date> {
  const from = quarterOf(new Date(at.getTime() - countedBackMs))
  if (per === 'payee') {
    await tx.query('delete from limit_payees where agent_id = $1', [agentId])
    await tx.query(
      `insert into limit_payees (agent_id, account, order_id)
       select distinct on (2) o.agent_id, ${subjectSql.account}, o.order_id from orders o
       where o.agent_id = $1 and o.kind = 'withdraw' and o.refund_of is null
         and o.status in ('PAID', 'REVERT')`,
      [agentId],
    )
  } else {
    await tx.query('delete from limit_uses where agent_id = $1 and kind = $2 and per = $3', [
      agentId,
      kind,
      per,
    ])
    await tx.query(
      `insert into limit_uses (agent_id, kind, per, subject, starts_at, amount, orders)
       select o.agent_id, o.kind, $3, ${subjectSql[per]},
         date_bin('15 minutes', o.created_at, timestamptz 'epoch'), sum(o.amount), count(*)
       from orders o
       where o.agent_id = $1 and o.kind = $2 and o.order_id >= $4 and o.created_at >= $5
         and ${countsSql}
       group by 1, 2, 3, 4, 5`,
      [agentId, kind, per, firstOrderIdAt(from), from],
    )
  }
  await tx.query(
    'insert into limit_counting (agent_id, kind, per, counts_from) values ($1, $2, $3, $4)',
    [agentId, kind, per, from],
  )
  return from
}

/** Writes what a batch changes: each key of a use once. */
export async function writeLimits(
  tx: PoolClient,
  writes: {
    uses: readonly LimitUse[]
    checks: readonly LimitCheck[]
    payees: readonly LimitPayee[]
  },
): Promise<void> {
  const { uses, checks, payees } = writes
  const statements: Promise<unknown>[] = []
  const run = (name: string, text: string, values: unknown[]) =>
    statements.push(tx.query({ name, text, values }))
  if (uses.length > 0) {
    run('begin-limit-uses', beginUses, useKeys.values(uses))
    run('add-limit-uses', addUses, useColumns.values(uses))
  }
  if (checks.length > 0) run('insert-limit-checks', insertChecks, checkColumns.values(checks))
  if (payees.length > 0) run('insert-limit-payees', insertPayees, payeeColumns.values(payees))
  await Promise.allSettled(statements)
  await Promise.all(statements)
}

/** What the limits said about an order when it was taken. */
export async function findCheck(
  pool: Pool,
  { agentId, orderId }: Pick<Order, 'agentId' | 'orderId'>,
): Promise<LimitCheck | undefined> {
  const { rows } = await pool.query<LimitCheck>(
    `select ${checkColumns.select('c')} from limit_checks c where agent_id = $1 and order_id = $2`,
    [agentId, orderId],
  )
  return rows[0]
}

/** Whether limits may have made payouts wait. */
export async function hasChecks(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query(
    `select 1 where exists (select 1 from limit_rules) or exists (select 1 from limit_checks)`,
  )
  return rows.length > 0
}

/**
 * Stops to add up what no rule needs any more. The caller has locked the rules, so that no transaction counts
 * at the moment; the sums are deleted when counting starts again, or when they are old.
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

/** Sums older than this are in no month that a limit looks at. */
const keptMs = 62 * 86_400_000

/**
 * Forgets sums that no limit looks at any more, and those that are not kept up to date. Returns whether there
 * may be more.
 */
export async function forgetOldUses(pool: Pool, now: Date, page: number): Promise<'done' | 'more'> {
  const before = quarterOf(new Date(now.getTime() - keptMs))
  const { rows: agents } = await pool.query<{ agent_id: bigint }>(
    'select distinct agent_id from limit_counting where counts_from < $1',
    [before],
  )
  for (const { agent_id: agentId } of agents) {
    await inTransaction(pool, async (tx) => {
      // Orders that are about to change still count from the earlier time.
      await tx.query('select 1 from wallets where agent_id = $1 for no key update', [agentId])
      await tx.query(
        'update limit_counting set counts_from = $2 where agent_id = $1 and counts_from < $2',
        [agentId, before],
      )
    })
  }
  const { rowCount } = await pool.query(
    `delete from limit_uses where (agent_id, kind, per, subject, starts_at) in (
       select u.agent_id, u.kind, u.per, u.subject, u.starts_at from limit_uses u
       left join limit_counting c on c.agent_id = u.agent_id and c.kind = u.kind and c.per = u.per
       where c.counts_from is null or u.starts_at < c.counts_from limit $1)`,
    [page],
  )
  return rowCount === page ? 'more' : 'done'
}
