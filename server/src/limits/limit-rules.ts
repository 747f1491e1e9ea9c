import { inTransaction, type Tx } from '../db/in-transaction.ts'
import { type Pool, sqlState } from '../db/pool.ts'
import { countForLimits, stopCounting } from '../ledger/limit-counting.ts'
import { ruleColumns } from '../ledger/limit-rule-columns.ts'
import type { LimitRule } from '../ledger/limits.ts'
import { Problem } from '../lib/problem.ts'

/** A rule with what is on its list, and who set it. */
export interface SetRule extends LimitRule {
  /** What is on the list, as orders are compared with it; empty unless it is one. */
  values: readonly string[]
  updatedAt: Date
  updatedBy: string
}

export async function readLimitRules(db: Pool | Tx): Promise<SetRule[]> {
  const { rows } = await db.query<SetRule>(
    `select ${ruleColumns.select('r')}, r.updated_at as "updatedAt", r.updated_by as "updatedBy",
       coalesce((select array_agg(e.value order by e.value) from limit_entries e
         where e.agent_id = r.agent_id and e.name = r.name), '{}') as values
     from limit_rules r order by r.agent_id, r.name`,
  )
  return rows
}

export async function findLimitRule(
  db: Pool | Tx,
  agentId: bigint,
  name: string,
): Promise<SetRule | undefined> {
  const rules = await readLimitRules(db)
  return rules.find((rule) => rule.agentId === agentId && rule.name === name)
}

const lockTries = 30

/**
 * Changes rules between orders: every transaction that takes an order reads the rules first, and ends before they
 * change or begins afterwards. So the next order after this is measured against the new rules, and nothing is
 * added up wrongly. A wait for the lock is short, because new orders wait behind it.
 */
async function changeRules<T>(pool: Pool, work: (tx: Tx) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await inTransaction(pool, async (tx) => {
        await tx.query(`set local lock_timeout = '150ms'`)
        // Every order waits for this: if the process stops in between, the database ends it.
        await tx.query(`set local idle_in_transaction_session_timeout = '2s'`)
        await tx.query('lock table limit_rules in access exclusive mode')
        const done = await work(tx)
        await stopCounting(tx)
        return done
      })
    } catch (error) {
      if (sqlState(error) !== '55P03') throw error
      if (tries >= lockTries) {
        const detail =
          'A transaction that has read the rules does not end, such as a backup; repeat the request.'
        throw new Problem('overloaded', detail, { retryAfterS: 5, cause: error })
      }
      await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 80))
    }
  }
}

/** How long who sets a rule waits for orders of before to be counted. */
const countsForMs = 2_000

/** Sets a rule, in the place of the one with its name. `also` is written with it. */
export async function saveLimitRule(
  pool: Pool,
  rule: SetRule,
  also: (tx: Tx) => Promise<void>,
): Promise<void> {
  await changeRules(pool, async (tx) => {
    await tx.query('delete from limit_entries where agent_id = $1 and name = $2', [
      rule.agentId,
      rule.name,
    ])
    const given = ruleColumns.values([rule]).map(([value]) => value)
    await tx.query(
      `insert into limit_rules (${ruleColumns.names}, updated_at, updated_by)
       values (${given.map((_, at) => `$${at + 1}`).join(', ')}, $${given.length + 1},
         $${given.length + 2})
       on conflict (agent_id, name) do update set kind = excluded.kind, measure = excluded.measure,
         per = excluded.per, period = excluded.period, most = excluded.most,
         currency = excluded.currency, hours = excluded.hours, field = excluded.field,
         outcome = excluded.outcome, updated_at = excluded.updated_at,
         updated_by = excluded.updated_by`,
      [...given, rule.updatedAt, rule.updatedBy],
    )
    await tx.query(
      'insert into limit_entries (agent_id, name, value) select $1, $2, unnest($3::text[])',
      [rule.agentId, rule.name, rule.values],
    )
    await also(tx)
  })
  // What takes longer, a worker counts.
  const { agentId, updatedAt } = rule
  await countForLimits(pool, updatedAt, { agentId: agentId || null, mostMs: countsForMs })
}

/** Returns false if there is no such rule. */
export async function removeLimitRule(
  pool: Pool,
  { agentId, name }: Pick<LimitRule, 'agentId' | 'name'>,
  also: (tx: Tx) => Promise<void>,
): Promise<boolean> {
  return changeRules(pool, async (tx) => {
    await tx.query('delete from limit_entries where agent_id = $1 and name = $2', [agentId, name])
    const { rowCount } = await tx.query(
      'delete from limit_rules where agent_id = $1 and name = $2',
      [agentId, name],
    )
    if (rowCount !== 1) return false
    await also(tx)
    return true
  })
}
