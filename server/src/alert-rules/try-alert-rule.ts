import type { Pool } from '../db/pool.ts'
import { firstOrderIdAt } from '../lib/ids.ts'
import type { AlertRule } from './alert-rule.ts'
import { findTrouble, isBelow, openedAt } from './find-trouble.ts'

const hourMs = 3_600_000
/** What is looked back on. */
export const triedDays = 7
const mostOrders = 100_000

/** What a rule says now, and how often it would have fired in the last days; null where that cannot be told cheaply. */
export async function tryAlertRule(
  pool: Pool,
  rule: AlertRule,
  now: Date,
): Promise<{ now: string[]; fired: number | null }> {
  const { bad } = await findTrouble(pool, rule, now)
  const from = new Date(now.getTime() - triedDays * 24 * hourMs)
  return { now: bad.map(({ words }) => words), fired: await firedSince(pool, rule, from, now) }
}

async function firedSince(
  pool: Pool,
  rule: AlertRule,
  from: Date,
  now: Date,
): Promise<number | null> {
  switch (rule.kind) {
    case 'success_below':
      return timesBelow(pool, rule, from, now)
    case 'balance_below':
      return rule.provider === null ? timesLow(pool, rule, from) : null
    case 'nothing_for':
      return timesSilent(pool, rule, from, now)
    default:
      return null
  }
}

/** By whole hours, from the summaries, which have orders by when they were created. */
async function timesBelow(pool: Pool, rule: AlertRule, from: Date, now: Date): Promise<number> {
  const { rows } = await pool.query<{ at: Date; ended: bigint; paid: bigint }>(
    `select at, sum(orders)::bigint as ended,
       coalesce(sum(orders) filter (where status = 'PAID'), 0)::bigint as paid
     from insight_orders where unit = 'hour' and at >= $1
       and agent_id in (select agent_id from agents where $2::bigint is null or agent_id = $2)
       and ($3::text is null or kind = $3)
       and case when $4::text is null then facet = 'all' else facet = 'provider' and value = $4 end
     group by at`,
    [from, rule.agentId, rule.orderKind, rule.provider],
  )
  const hours = Math.ceil((rule.windowMinutes ?? 60) / 60)
  let [times, isBad] = [0, false]
  for (let end = from.getTime() + hours * hourMs; end <= now.getTime(); end += hourMs) {
    const within = rows.filter(({ at }) => at.getTime() > end - hours * hourMs - 1 && +at < end)
    const ended = within.reduce((sum, row) => sum + Number(row.ended), 0)
    const paid = within.reduce((sum, row) => sum + Number(row.paid), 0)
    if (ended < (rule.minOrders ?? 1)) continue
    const wasBad = isBad
    isBad = isBelow(rule, paid, ended)
    if (isBad && !wasBad) times += 1
  }
  return times
}

/** By balances at the end of each hour: those of now, without what changed since. */
async function timesLow(pool: Pool, rule: AlertRule, from: Date): Promise<number> {
  const { rows } = await pool.query<{ agent_id: bigint; available: bigint; at: Date | null }>(
    `select w.agent_id, w.available, null::timestamptz as at from wallets w
     where w.agent_id > 0 and w.currency = $2 and ($3::bigint is null or w.agent_id = $3)
     union all
     select i.agent_id, sum(i.available)::bigint, i.at from insight_money i
     join wallets w on w.agent_id = i.agent_id
     where i.unit = 'hour' and i.at >= $1 and w.currency = $2 and ($3::bigint is null or i.agent_id = $3)
     group by i.agent_id, i.at order by at desc nulls first`,
    [from, rule.currency, rule.agentId],
  )
  let times = 0
  for (const { agent_id, available } of rows.filter(({ at }) => at === null)) {
    let after = available
    for (const change of rows) {
      if (change.agent_id !== agent_id || change.at === null) continue
      const before = after - change.available
      const limit = rule.threshold ?? 0n
      if (after < limit && before >= limit) times += 1
      after = before
    }
  }
  return times
}

/** By the times of orders, the newest so many. */
async function timesSilent(
  pool: Pool,
  rule: AlertRule,
  from: Date,
  now: Date,
): Promise<number | null> {
  const { rows } = await pool.query<{ created_at: Date }>(
    `select o.created_at from orders o
     where o.agent_id in (select agent_id from agents where $2::bigint is null or agent_id = $2)
       and o.order_id >= $1 and ($3::text is null or o.kind = $3) limit $4`,
    [firstOrderIdAt(from), rule.agentId, rule.orderKind, mostOrders],
  )
  if (rows.length === mostOrders) return null
  const came = rows.map(({ created_at }) => created_at.getTime()).sort((a, b) => a - b)
  const limitMs = Number(rule.threshold ?? 0n) * 60_000
  let times = 0
  // Within each silence, from an order to the next, it fires once, as soon as it has been open for so long.
  for (const [at, start] of [from.getTime(), ...came].entries()) {
    const end = came[at] ?? now.getTime()
    for (let ms = start + limitMs; ms <= end; ms += 300_000) {
      const opened = openedAt(rule, new Date(ms))
      if (opened === undefined || ms - opened.getTime() < limitMs) continue
      times += 1
      break
    }
  }
  return times
}
