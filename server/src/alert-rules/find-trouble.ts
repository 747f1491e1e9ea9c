import type { Pool } from '../db/pool.ts'
import type { OrderEvent } from '../ledger/book.ts'
import { seqsAsOf } from '../ledger/wallet-as-of.ts'
import { hoursAround } from '../lib/daily-hours.ts'
import { firstOrderIdAt } from '../lib/ids.ts'
import { printedMoney } from '../lib/money.ts'
import { redBooks } from '../proof/red-books.ts'
import { redDays } from '../reconcile/red-days.ts'
import type { AlertRule, RuleKind } from './alert-rule.ts'

/** What a look found. */
export interface Looked {
  /** What is wrong, each with what it is about: an agent, a provider, or all. */
  bad: { subject: string; words: string }[]
  /** Of these nothing can be said at the moment, so that they stay as they were; all: of everything. */
  undecided: readonly string[] | 'all'
}

/** What a rule is about that is about no one agent or provider. */
const whole = 'all'
const most = 200
const minuteMs = 60_000

type Find = (pool: Pool, rule: AlertRule, now: Date) => Promise<Looked>

/** Looks for what a rule describes. */
export function findTrouble(pool: Pool, rule: AlertRule, now: Date): Promise<Looked> {
  return finds[rule.kind](pool, rule, now)
}

const finds: Record<RuleKind, Find> = {
  payout_unknown: async (pool, rule, now) => {
    const { rows } = await pool.query<{ provider: string; count: bigint }>(
      `select provider, count(*) as count from payouts
       where ask_at is not null and state in ('unknown', 'not_found') and handed_at < $1
         and ($2::bigint is null or agent_id = $2) and ($3::text is null or provider = $3)
       group by provider order by provider limit ${most}`,
      [ago(now, rule.threshold), rule.agentId, rule.provider],
    )
    // Which company pays out is not for an agent's people to know.
    const isForAgents = rule.agentId !== null && (rule.roles.includes('agent') || rule.userIds[0])
    return decided(
      rows.map(({ provider, count }) => ({
        subject: provider,
        words: `${counted(count, 'payout')}${isForAgents ? '' : ` at ${provider}`} without a known outcome for more than ${rule.threshold} minutes.`,
      })),
    )
  },

  lane_probing: async (pool, rule) => {
    const { rows } = await pool.query<{ agent_id: bigint; name: string }>(
      `select l.agent_id, a.name from callback_lanes l join agents a using (agent_id)
       where l.probe_at is not null and not l.paused and ($1::bigint is null or l.agent_id = $1)
       order by l.agent_id limit ${most}`,
      [rule.agentId],
    )
    return decided(
      rows.map(({ agent_id, name }) => ({
        subject: String(agent_id),
        words: `Callbacks to ${name} fail one after the other; only single ones are tried.`,
      })),
    )
  },

  callbacks_failing: async (pool, rule) => {
    const { rows } = await pool.query<{ agent_id: bigint; name: string; count: bigint }>(
      `select w.agent_id, a.name, c.count from wallets w join agents a on a.agent_id = w.agent_id
       cross join lateral (
         select count(*) as count from (select 1 from callbacks c
           where c.agent_id = w.agent_id and c.state = 'waiting' and c.attempts > 0 limit 10000) x) c
       where ($1::bigint is null or w.agent_id = $1) and c.count >= $2
       order by w.agent_id limit ${most}`,
      [rule.agentId, rule.threshold],
    )
    return decided(
      rows.map(({ agent_id, name, count }) => ({
        subject: String(agent_id),
        words: `${counted(count, 'callback')} to ${name} were refused and wait to be tried again.`,
      })),
    )
  },

  success_below: async (pool, rule, now) => {
    const { ended, paid } = await endedBetween(pool, rule, {
      from: ago(now, BigInt(rule.windowMinutes ?? 0)),
      to: now,
    })
    if (ended < (rule.minOrders ?? 1)) return { bad: [], undecided: 'all' }
    if (!isBelow(rule, paid, ended)) return decided([])
    const share = Math.floor((paid * 1000) / ended) / 10
    const words = `${share} % of the last ${rule.windowMinutes} minutes: ${paid} of ${ended} orders that ended were paid.`
    return decided([{ subject: whole, words }])
  },

  balance_below: async (pool, rule) => {
    const { currency, threshold } = rule
    if (currency === null || threshold === null) return decided([])
    const limit = `${printedMoney(threshold, currency)} ${currency}`
    if (rule.provider !== null) {
      // In the books, money at a provider is what it owes: below zero.
      const { rows } = await pool.query<{ balance: bigint }>(
        `select coalesce(-sum(c.balance), 0)::bigint as balance from clearings c
         join wallets w on w.agent_id = c.agent_id where c.provider = $1 and w.currency = $2`,
        [rule.provider, currency],
      )
      const balance = rows[0]?.balance ?? 0n
      if (balance >= threshold) return decided([])
      const words = `${printedMoney(balance, currency)} ${currency} at ${rule.provider}, below ${limit}.`
      return decided([{ subject: rule.provider, words }])
    }
    const { rows } = await pool.query<{ agent_id: bigint; name: string; available: bigint }>(
      `select a.agent_id, a.name, w.available from wallets w join agents a on a.agent_id = w.agent_id
       where w.currency = $1 and w.available < $2 and ($3::bigint is null or w.agent_id = $3)
       order by a.agent_id limit ${most}`,
      [currency, threshold, rule.agentId],
    )
    return decided(
      rows.map(({ agent_id, name, available }) => ({
        subject: String(agent_id),
        words: `${name} has ${printedMoney(available, currency)} ${currency} available, below ${limit}.`,
      })),
    )
  },

  proof_red: async (pool) =>
    decided(
      (await redBooks(pool)).slice(0, most).map(({ subject, words }) => ({ subject, words })),
    ),

  breaks: async (pool, rule, now) => {
    const days = (await redDays(pool, now)).filter(
      ({ topic }) => rule.provider === null || topic === rule.provider,
    )
    if (BigInt(days.length) < (rule.threshold ?? 1n)) return decided([])
    const accounts = [...new Set(days.map(({ topic }) => topic))].slice(0, 10).join(', ')
    const words = `On ${counted(BigInt(days.length), 'day')} the books and the bank differ: ${accounts}.`
    return decided([{ subject: whole, words }])
  },

  nothing_for: async (pool, rule, now) => {
    const since = ago(now, rule.threshold)
    const opened = openedAt(rule, now)
    if (opened === undefined) return { bad: [], undecided: 'all' }
    // Before it has been open for so long, only an order can say anything.
    const from = new Date(Math.max(opened.getTime(), since.getTime()))
    const { rows } = await pool.query<{ came: boolean }>(
      `select exists (select 1 from wallets w cross join lateral (
         select 1 from orders o where o.agent_id = w.agent_id and o.order_id >= $1
           and ($3::text is null or o.kind = $3) limit 1) x
       where $2::bigint is null or w.agent_id = $2) as came`,
      [firstOrderIdAt(from), rule.agentId, rule.orderKind],
    )
    if (rows[0]?.came) return decided([])
    if (opened > since) return { bad: [], undecided: 'all' }
    const what = { deposit: 'deposit', withdraw: 'withdrawal', any: 'order' }[
      rule.orderKind ?? 'any'
    ]
    return decided([{ subject: whole, words: `No new ${what} for ${rule.threshold} minutes.` }])
  },
}

/** Where more are wrong than are read, nobody knows whether one that is not among them is over. */
function decided(bad: Looked['bad']): Looked {
  return { bad, undecided: bad.length >= most ? 'all' : [] }
}

function ago(now: Date, minutes: bigint | null): Date {
  return new Date(now.getTime() - Number(minutes ?? 0n) * minuteMs)
}

function counted(count: bigint, what: string): string {
  return count === 1n ? `One ${what}` : `${count} ${what}s`
}

export function isBelow({ threshold }: AlertRule, paid: number, ended: number): boolean {
  return BigInt(paid) * 100n < (threshold ?? 0n) * BigInt(ended)
}

const endings: Record<'deposit' | 'withdraw', OrderEvent[]> = {
  deposit: ['deposit_paid', 'deposit_failed', 'deposit_expired', 'deposit_void'],
  withdraw: ['withdraw_paid', 'withdraw_failed', 'withdraw_cancelled'],
}

/** Orders that ended in a stretch of time, from the journal: it has a row for each ending, in order of time. */
export async function endedBetween(
  pool: Pool,
  { agentId, orderKind, provider }: Pick<AlertRule, 'agentId' | 'orderKind' | 'provider'>,
  { from, to }: { from: Date; to: Date },
): Promise<{ ended: number; paid: number }> {
  const { rows: agents } = await pool.query<{ agent_id: bigint }>(
    'select agent_id from agents where $1::bigint is null or agent_id = $1',
    [agentId],
  )
  const ids = agents.map(({ agent_id }) => agent_id)
  const after = await seqsAsOf(pool, ids, new Date(from.getTime() - 1))
  const last = await seqsAsOf(pool, ids, new Date(to.getTime() - 1))
  const events = orderKind ? endings[orderKind] : Object.values(endings).flat()
  const { rows } = await pool.query<{ ended: bigint; paid: bigint }>(
    `select count(*) as ended, count(*) filter (where j.event like '%_paid') as paid
     from unnest($1::bigint[], $2::bigint[], $3::bigint[]) a(agent_id, after, last)
     join journal j on j.agent_id = a.agent_id and j.seq > a.after and j.seq <= a.last
     where j.event = any ($4) and ($5::text is null or exists (select 1 from orders o
       where o.agent_id = j.agent_id and o.order_id = j.order_id and o.provider = $5))`,
    [
      ids,
      ids.map((id) => after.get(id) ?? 0n),
      ids.map((id) => last.get(id) ?? 0n),
      events,
      provider,
    ],
  )
  return { ended: Number(rows[0]?.ended ?? 0n), paid: Number(rows[0]?.paid ?? 0n) }
}

/** When the hours of a rule began, if it is within them. */
export function openedAt(
  { hoursFrom: from, hoursTo: to, zone }: Pick<AlertRule, 'hoursFrom' | 'hoursTo' | 'zone'>,
  now: Date,
): Date | undefined {
  if (from === null || to === null || zone === null) return undefined
  return hoursAround({ from, to, zone }, now)?.start
}
