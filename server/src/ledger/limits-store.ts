import { columns } from '../db/columns.ts'
import type { Pool, PoolClient } from '../db/pool.ts'
import type { LocalTime } from '../lib/local-time.ts'
import type { Order, OrderKind } from './book.ts'
import type { Command } from './commands.ts'
import { readCounting, startMissing } from './limit-counting.ts'
import {
  type AgentLimits,
  accountKey,
  entryKey,
  type LimitCheck,
  type LimitPayee,
  type LimitRule,
  type LimitSubject,
  type LimitUse,
  listedValues,
  rulesFor,
  spanOf,
  subjectOf,
  type Use,
  useKey,
} from './limits.ts'

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
 * Reads what the limits of these agents need to know, of agents whose wallets this transaction has locked. It adds
 * up nothing: orders of before a rule are counted apart from the teller.
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
    counting.set(agentId, await startMissing(tx, agentId, own, counting.get(agentId), at))
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

interface Fact {
  order: Order
  rule: LimitRule
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
