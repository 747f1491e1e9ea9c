import { createHash } from 'node:crypto'
import { raiseAlert } from '../alerts/raise-alert.ts'
import { databaseTime, timeToPass } from '../db/database-time.ts'
import { inTransaction, type Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import type { Clock } from '../lib/clock.ts'
import { type AlertRule, operatorsOwn, ruleColumns, ruleFromRow } from './alert-rule.ts'
import { findTrouble, type Looked } from './find-trouble.ts'

/** How often a rule is looked at. Breaks are looked for account by account and day by day, which takes longer. */
const restMs = { breaks: 300_000, ofAgents: 60_000, others: 15_000 }

/**
 * Looks at the rule that is due, if one is, and tells people of what has begun and what is over. Any number of processes
 * may do it: who looks moves the rule's time on, by the database's clock, and what was told is written with the alert.
 * The operator's rules come first: they wait for no agent's.
 */
export async function lookAtRule(pool: Pool, now: Clock): Promise<'done' | 'more'> {
  const { rows } = await pool.query<AlertRule & { at: Date }>(
    `with at as (select ${databaseTime('$1')} as now), due as (
       select owner_id, name from alert_rules where is_on and look_at <= ${databaseTime('$1')}
       order by owner_id <> $5, look_at limit 1 for update skip locked
     )
     update alert_rules set looked_at = (select now from at),
       look_at = (select now from at) + interval '1 millisecond' * case when owner_id <> $5 then $4::int
         when kind = 'breaks' then $2::int else $3::int end
     where (owner_id, name) = (select owner_id, name from due)
     returning ${ruleColumns}, looked_at as at`,
    [timeToPass(now), restMs.breaks, restMs.others, restMs.ofAgents, operatorsOwn],
  )
  const [rule] = rows.map(ruleFromRow)
  if (!rule) return 'done'
  const looked = await findTrouble(pool, rule, rule.at)
  await inTransaction(pool, async (tx) => {
    // Somebody has changed it meanwhile, or a later look was quicker: it is looked at anew.
    const { rowCount } = await tx.query(
      `select 1 from alert_rules where owner_id = $4 and name = $1 and is_on and updated_at = $2
         and date_trunc('milliseconds', looked_at) = date_trunc('milliseconds', $3::timestamptz)
       for update`,
      [rule.name, rule.updatedAt, rule.at, rule.ownerId],
    )
    if (rowCount === 1) await tell(tx, rule, looked, rule.at)
  })
  return 'more'
}

/** Writes what has begun and what is over, and the alerts about it, together. */
async function tell(tx: Tx, rule: AlertRule, { bad, undecided }: Looked, at: Date): Promise<void> {
  const subjects = bad.map(({ subject }) => subject)
  const words = bad.map((each) => each.words.slice(0, 500))
  const { rows: begun } = await tx.query<Told>(
    `insert into alert_rule_states (owner_id, name, subject, since, words)
     select $5, $1, subject, $4, words from unnest($2::text[], $3::text[]) x(subject, words)
     on conflict do nothing returning subject, words`,
    [rule.name, subjects, words, at, rule.ownerId],
  )
  const { rows: over } =
    undecided === 'all'
      ? { rows: [] }
      : await tx.query<Told>(
          `delete from alert_rule_states
           where owner_id = $3 and name = $1 and not (subject = any ($2)) returning subject, words`,
          [rule.name, [...subjects, ...undecided], rule.ownerId],
        )
  const { name, roles, userIds, channels, agentId } = rule
  const to = { roles, userIds, channels, agentId }
  const told = { to, at, count: 1, isUrgent: rule.kind === 'proof_red' }
  if (begun.length > 0) {
    const said = `${name}: ${inOne(begun)}`
    await raiseAlert(tx, { ...told, subject: same(rule, begun), kind: 'rule_fired', words: said })
  }
  if (over.length > 0) {
    const said = `${name} is over. It was: ${inOne(over)}`
    await raiseAlert(tx, { ...told, subject: same(rule, over), kind: 'rule_over', words: said })
  }
}

interface Told {
  subject: string
  words: string
}

/**
 * Alerts are the same only if they tell the same people of the same: what waits to be told is never replaced by words
 * about somebody else, nor told to those whom the rule named before.
 */
function same(rule: AlertRule, told: Told[]): string {
  const { ownerId, name, kind, roles, userIds, channels, agentId } = rule
  const subjects = told.map(({ subject }) => subject).sort()
  const what = [kind, roles, userIds.map(String), channels, `${ownerId} ${agentId}`, subjects]
  return `${name} ${createHash('sha256').update(JSON.stringify(what)).digest('hex').slice(0, 32)}`
}

/** How many are named: the console has all of them. */
const named = 5

function inOne(found: readonly Told[]): string {
  const first = found.slice(0, named).map(({ words }) => words)
  const rest = found.length - first.length
  return [...first, ...(rest > 0 ? [`And ${rest} more.`] : [])].join(' ')
}
