import type { Pool } from '../db/pool.ts'
import { countingFor, readCounting } from '../ledger/limit-counting.ts'
import { countingKey, countsBackTo, type LimitRule, rulesFor, spanOf } from '../ledger/limits.ts'
import type { LocalTime, Span } from '../lib/local-time.ts'
import type { Currency } from '../lib/money.ts'

export interface UsedNow {
  agentId: bigint
  /** The user, or the account with its bank; empty for the agent. */
  subject: string
  /** In minor units, or a number of orders. */
  used: bigint
}

/** How much of a limit is used now: by those who use most of it. Undefined if nothing is added up for it. */
export async function useNow(
  pool: Pool,
  rule: LimitRule,
  now: Date,
  localTime: LocalTime,
): Promise<{ span: Span; most: UsedNow[] } | undefined> {
  const span = spanOf(rule.period, now, localTime)
  if (!span || rule.per === null) return undefined
  const used = rule.measure === 'amount' ? 'amount' : 'orders'
  const { rows } = await pool.query<UsedNow>(
    `select u.agent_id as "agentId", u.subject, sum(u.${used})::bigint as used
     from limit_counting c join limit_uses u
       on u.agent_id = c.agent_id and u.kind = c.kind and u.per = c.per
     where c.kind = $1 and c.per = $2 and ($3 = 0 or c.agent_id = $3)
       and u.starts_at >= $4 and u.starts_at < $5
     group by 1, 2 having sum(u.${used}) > 0 order by 3 desc, 1, 2 limit 5`,
    [rule.kind, rule.per, rule.agentId, span.start, span.end],
  )
  return { span, most: rows }
}

/** Which of the rules wait for orders of before to be counted, for some agent: until then they know only a part. */
export async function rulesBeingCounted(
  pool: Pool,
  rules: readonly LimitRule[],
  now: Date,
  localTime: LocalTime,
): Promise<Set<LimitRule>> {
  const counting = await readCounting(pool, null)
  const { rows: wallets } = await pool.query<{ agentId: bigint; currency: Currency }>(
    'select agent_id as "agentId", currency from wallets where agent_id > 0',
  )
  return new Set(
    wallets.flatMap(({ agentId, currency }) =>
      rulesFor(rules, agentId, currency).filter((rule) => {
        const [needed] = countingFor(agentId, [rule])
        if (!needed) return false
        const from = counting.get(agentId)?.get(countingKey(needed.kind, needed.per))
        const since = spanOf(rule.period, now, localTime)?.start ?? countsBackTo(needed.per, now)
        return from === undefined || from > since
      }),
    ),
  )
}
