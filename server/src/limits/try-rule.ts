import type { Agent } from '../agents/agent.ts'
import { listAgents } from '../agents/find-agent.ts'
import type { Pool } from '../db/pool.ts'
import type { Order } from '../ledger/book.ts'
import { orderColumns } from '../ledger/book-columns.ts'
import {
  accountKey,
  countsForLimits,
  hitsOf,
  type LimitRule,
  rulesFor,
  spanOf,
  subjectOf,
  type Use,
  useKey,
} from '../ledger/limits.ts'
import { firstOrderIdAt, txnId } from '../lib/ids.ts'
import type { LocalTime } from '../lib/local-time.ts'
import { decimalText } from '../lib/money.ts'
import { readLimitRules } from './limit-rules.ts'

const page = 2_000
/** One request reads at most so many orders, of one agent or of all together, which takes a few seconds. */
const mostOrders = 100_000
const mostExamples = 20
const mostAgents = 100
const daysBack = 31

export interface TriedRule {
  agent: Pick<Agent, 'agentId' | 'appId' | 'currency'>
  from: Date
  to: Date
  /** How many orders were looked at, and whether there was more to look at, then or before, than one look may read. */
  orders: number
  isWhole: boolean
  /** What that took: orders of either kind, and those before. */
  read: number
  hits: number
  hitMinor: bigint
  examples: { txnId: string; at: Date; amountMinor: bigint; words: string }[]
}

/**
 * What a rule for each agent by itself would have done: with those that it holds for. They share what one request may read.
 */
export async function tryRuleForAll(
  pool: Pool,
  rule: LimitRule & { values: readonly string[] },
  now: Date,
  localTime: LocalTime,
): Promise<TriedRule[]> {
  const others = await readLimitRules(pool)
  const agents = (await listAgents(pool)).filter(({ agentId, currency }) =>
    rulesFor([...others.filter((each) => each.agentId !== 0n), rule], agentId, currency).includes(
      rule,
    ),
  )
  const all: TriedRule[] = []
  let left = mostOrders
  for (const [at, agent] of agents.entries()) {
    const share = Math.max(1, Math.floor(left / (agents.length - at)))
    const tried = await tryRule(pool, rule, agent, now, localTime, share)
    left -= tried.read
    all.push(tried)
  }
  return all
}

/** Several agents' dry runs as one answer; the amount is null if they are of several currencies. */
export function triedTogether(tried: readonly TriedRule[], now: Date) {
  const currencies = new Set(tried.map(({ agent }) => agent.currency))
  const [currency = null] = currencies.size === 1 ? currencies : []
  const sum = (of: (each: TriedRule) => number) => tried.reduce((all, each) => all + of(each), 0)
  const hitMinor = tried.reduce((all, each) => all + each.hitMinor, 0n)
  const hit = tried.filter(({ hits }) => hits > 0).sort((a, b) => b.hits - a.hits)
  return {
    from: new Date(Math.min(now.getTime(), ...tried.map(({ from }) => from.getTime()))),
    to: now,
    orders: sum(({ orders }) => orders),
    whole: tried.every(({ isWhole }) => isWhole),
    hits: sum(({ hits }) => hits),
    amount: currency && decimalText(hitMinor, currency),
    currency,
    agents: hit.slice(0, mostAgents).map((each) => ({
      app_id: each.agent.appId,
      orders: each.orders,
      hits: each.hits,
      amount: decimalText(each.hitMinor, each.agent.currency),
      currency: each.agent.currency,
    })),
    first: tried
      .flatMap(({ agent, examples }) =>
        examples.map(({ txnId, at, amountMinor, words }) => ({
          txn_id: txnId,
          at,
          amount: decimalText(amountMinor, agent.currency),
          words,
        })),
      )
      .slice(0, mostExamples),
  }
}

/**
 * What a rule would have done with an agent's orders of the last month: newer ones first if there are too many.
 * An order counts as it ended, and one that would have been refused does not count. Only reads, page by page.
 */
export async function tryRule(
  pool: Pool,
  rule: LimitRule & { values: readonly string[] },
  agent: TriedRule['agent'],
  now: Date,
  localTime: LocalTime,
  most = mostOrders,
): Promise<TriedRule> {
  const { agentId } = agent
  const first = firstOrderIdAt(new Date(now.getTime() - daysBack * 86_400_000))
  // To know who is new, half of what may be read is for the time before.
  const needsBefore = rule.measure === 'new_account'
  const half = needsBefore ? Math.ceil(most / 2) : most
  const { start, read } = await startOfLast(pool, agentId, first, half)
  const listed = new Set(rule.values)
  const before = needsBefore ? await paidBefore(pool, agentId, start, half) : nobodyBefore
  const payees = new Set(before.payees)
  const used = new Map<string, Use>()
  const none: Use = { amountMinor: 0n, orders: 0n }
  const tried: TriedRule = {
    agent,
    from: new Date(Number.parseInt(start.slice(0, 12), 16)),
    to: now,
    orders: 0,
    isWhole: start === first && before.read < half,
    read: read + before.read,
    hits: 0,
    hitMinor: 0n,
    examples: [],
  }
  for (let after = start; ; ) {
    const orders = await readPage(pool, agentId, rule.kind, after)
    for (const order of orders) {
      const facts = {
        rules: [rule],
        used: (...[per, subject, span]: Parameters<typeof keyed>) =>
          used.get(keyed(per, subject, span)) ?? none,
        isListed: (_: LimitRule, value: string) => listed.has(value),
        isPayee: (account: string) => order.toPayer || payees.has(account),
      }
      const keyed = (
        per: NonNullable<LimitRule['per']>,
        subject: string,
        span: Parameters<typeof useKey>[3],
      ) => useKey(rule.kind, per, subject, span)
      const [hit] = hitsOf(order, facts, localTime)
      tried.orders++
      if (hit) {
        tried.hits++
        tried.hitMinor += order.amountMinor
        const { orderId, amountMinor, createdAt: at } = order
        const example = { txnId: txnId(agentId, orderId), at, amountMinor, words: hit.words }
        if (tried.examples.length < mostExamples) tried.examples.push(example)
      }
      const wasTaken = !(hit && rule.outcome === 'refuse')
      const isPaid = wasTaken && order.status === 'PAID' && order.refundOf === null
      if (isPaid) payees.add(accountKey(order))
      const span = spanOf(rule.period, order.createdAt, localTime)
      if (!wasTaken || !span || rule.per === null || !countsForLimits(order)) continue
      const key = keyed(rule.per, subjectOf(order, rule.per), span)
      const usedBefore = used.get(key) ?? none
      used.set(key, {
        amountMinor: usedBefore.amountMinor + order.amountMinor,
        orders: usedBefore.orders + 1n,
      })
    }
    if (orders.length < page) return tried
    after = orders.at(-1)?.orderId ?? after
  }
}

/** Where the last orders begin that one look may read, and how many these are. */
async function startOfLast(
  pool: Pool,
  agentId: bigint,
  first: string,
  most: number,
): Promise<{ start: string; read: number }> {
  const { rows } = await pool.query<{ order_id: string; n: bigint }>(
    `select order_id, n from (
       select order_id, row_number() over (order by order_id desc) as n from orders
       where agent_id = $1 and order_id >= $2 order by order_id desc limit $3 + 1) o
     order by n desc limit 1`,
    [agentId, first, most],
  )
  const [oldest] = rows
  const read = Number(oldest?.n ?? 0n)
  return oldest && read > most ? { start: oldest.order_id, read: most } : { start: first, read }
}

async function readPage(
  pool: Pool,
  agentId: bigint,
  kind: LimitRule['kind'],
  after: string,
): Promise<(Order & { toPayer: boolean })[]> {
  const { rows } = await pool.query<Order & { toPayer: boolean }>(
    `select ${orderColumns.select('o')}, o.refund_of is not null and exists (
         select 1 from payments p
         where p.agent_id = o.agent_id and p.order_id = o.refund_of and p.credited_to = 'order'
           and regexp_replace(p.payer_account_no, '[\\s-]', '', 'g') = o.account_no) as "toPayer"
     from orders o
     where agent_id = $1 and kind = $2 and order_id > $3 order by order_id limit $4`,
    [agentId, kind, after, page],
  )
  return rows
}

const nobodyBefore = { payees: [] as string[], read: 0 }

/** The accounts that the orders before were paid to, as far back as one look may read, and how many these orders are. */
async function paidBefore(
  pool: Pool,
  agentId: bigint,
  before: string,
  most: number,
): Promise<typeof nobodyBefore> {
  const { rows } = await pool.query<{
    bankCode: string | null
    accountNo: string | null
    read: bigint
  }>(
    `select case when paid then bank_code end as "bankCode", case when paid then account_no end as "accountNo",
       sum(count(*)) over ()::bigint as read
     from (select bank_code, account_no,
         kind = 'withdraw' and status in ('PAID', 'REVERT') and refund_of is null as paid
       from orders where agent_id = $1 and order_id <= $2 order by order_id desc limit $3) o
     group by 1, 2`,
    [agentId, before, most],
  )
  const payees = rows.flatMap(({ bankCode, accountNo }) =>
    bankCode === null || accountNo === null ? [] : accountKey({ bankCode, accountNo }),
  )
  return { payees, read: Number(rows[0]?.read ?? 0n) }
}
