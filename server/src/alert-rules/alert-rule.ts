import { lockAgent } from '../agents/save-agent.ts'
import type { Channel } from '../alerts/alert.ts'
import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import type { OrderKind } from '../ledger/book.ts'
import { type Currency, decimalText } from '../lib/money.ts'
import { fieldProblem } from '../lib/problem.ts'
import type { Role } from '../operators/operator.ts'

/** What a rule can watch for. */
export const ruleKinds = [
  'payout_unknown',
  'lane_probing',
  'callbacks_failing',
  'success_below',
  'balance_below',
  'proof_red',
  'breaks',
  'nothing_for',
] as const

export type RuleKind = (typeof ruleKinds)[number]

/** What an agent's users may watch for themselves: their orders, balance and callbacks. */
export const ownKinds: readonly RuleKind[] = [
  'lane_probing',
  'callbacks_failing',
  'success_below',
  'balance_below',
  'nothing_for',
]

/** Who has rules that are not an agent's. */
export const operatorsOwn = 0n

/** How many rules an agent's users may have. */
export const mostOwnRules = 10

export interface AlertRule {
  /** The agent whose users made it, and who alone are told; `operatorsOwn`: it is the operator's. */
  ownerId: bigint
  name: string
  kind: RuleKind
  /** Minutes, a number, per cent, or minor units, as the kind has it. */
  threshold: bigint | null
  windowMinutes: number | null
  minOrders: number | null
  orderKind: OrderKind | null
  agentId: bigint | null
  /** A provider, or a bank account. */
  provider: string | null
  currency: Currency | null
  /** The time of day in which something is expected to happen. */
  hoursFrom: string | null
  hoursTo: string | null
  zone: string | null
  roles: Role[]
  userIds: bigint[]
  /** None: wherever each person wants to be told. */
  channels: Channel[]
  isOn: boolean
  updatedAt: Date
  updatedBy: string
}

/** What a rule found wrong and has told of. */
export interface RuleState {
  name: string
  subject: string
  since: Date
  words: string
}

export const ruleColumns = `owner_id as "ownerId", name, kind, threshold, window_minutes as "windowMinutes", min_orders as "minOrders",
  order_kind as "orderKind", agent_id as "agentId", provider, currency, hours_from as "hoursFrom",
  hours_to as "hoursTo", zone, roles, user_ids as "userIds", channels, is_on as "isOn",
  updated_at as "updatedAt", updated_by as "updatedBy"`

/** A row of `ruleColumns`; PostgreSQL's driver leaves numbers in an array as text. */
export function ruleFromRow<Row extends AlertRule>(row: Row): Row {
  return { ...row, userIds: row.userIds.map(BigInt) }
}

export async function readAlertRules(
  db: Pool | Tx,
  ownerId: bigint,
): Promise<(AlertRule & { lookedAt: Date | null })[]> {
  const { rows } = await db.query<AlertRule & { lookedAt: Date | null }>(
    `select ${ruleColumns}, looked_at as "lookedAt" from alert_rules where owner_id = $1 order by name`,
    [ownerId],
  )
  return rows.map(ruleFromRow)
}

export async function findAlertRule(
  db: Pool | Tx,
  ownerId: bigint,
  name: string,
): Promise<AlertRule | undefined> {
  const { rows } = await db.query<AlertRule>(
    `select ${ruleColumns} from alert_rules where owner_id = $1 and name = $2 for update`,
    [ownerId, name],
  )
  return rows.map(ruleFromRow)[0]
}

export async function readRuleStates(db: Pool | Tx, ownerId: bigint): Promise<RuleState[]> {
  const { rows } = await db.query<RuleState>(
    `select name, subject, since, words from alert_rule_states where owner_id = $1
     order by name, since, subject`,
    [ownerId],
  )
  return rows
}

/** Sets a rule, in the place of its owner's with its name: what that had found is forgotten, and looked for anew. */
export async function saveAlertRule(tx: Tx, rule: AlertRule): Promise<void> {
  if (rule.ownerId !== operatorsOwn) await refuseOwnRule(tx, rule)
  await tx.query('delete from alert_rule_states where owner_id = $1 and name = $2', [
    rule.ownerId,
    rule.name,
  ])
  await tx.query(
    `insert into alert_rules (owner_id, name, kind, threshold, window_minutes, min_orders, order_kind, agent_id, provider,
       currency, hours_from, hours_to, zone, roles, user_ids, channels, is_on, updated_at, updated_by, look_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
       least($18::timestamptz, now()))
     on conflict (owner_id, name) do update set kind = excluded.kind, threshold = excluded.threshold,
       window_minutes = excluded.window_minutes, min_orders = excluded.min_orders,
       order_kind = excluded.order_kind, agent_id = excluded.agent_id, provider = excluded.provider,
       currency = excluded.currency, hours_from = excluded.hours_from, hours_to = excluded.hours_to,
       zone = excluded.zone, roles = excluded.roles, user_ids = excluded.user_ids,
       channels = excluded.channels, is_on = excluded.is_on, updated_at = excluded.updated_at,
       updated_by = excluded.updated_by, look_at = excluded.look_at, looked_at = null`,
    [
      ...[rule.ownerId, rule.name, rule.kind, rule.threshold, rule.windowMinutes, rule.minOrders],
      ...[rule.orderKind, rule.agentId, rule.provider, rule.currency, rule.hoursFrom, rule.hoursTo],
      ...[rule.zone, rule.roles, rule.userIds, rule.channels, rule.isOn, rule.updatedAt],
      rule.updatedBy,
    ],
  )
}

/**
 * Each is looked at again and again: no agent's users keep the service busy with theirs. And none is new by the name of
 * an operator's: a process of an earlier release, which knows rules by their names alone, would take one for the other.
 */
async function refuseOwnRule(tx: Tx, { ownerId, name }: AlertRule): Promise<void> {
  await lockAgent(tx, ownerId)
  const { rows } = await tx.query<{ owner_id: bigint; name: string }>(
    `select owner_id, name from alert_rules
     where owner_id = $1 or (owner_id = ${operatorsOwn} and name = $2)`,
    [ownerId, name],
  )
  const own = rows.filter((row) => row.owner_id === ownerId).map((row) => row.name)
  if (own.includes(name)) return
  if (rows.length > own.length) throw fieldProblem('name', 'is taken: choose another one')
  if (own.length < mostOwnRules) return
  throw fieldProblem('name', `would be one more than ${mostOwnRules} rules: remove another first`)
}

/** Returns false if there is no such rule. */
export async function removeAlertRule(tx: Tx, ownerId: bigint, name: string): Promise<boolean> {
  await tx.query('delete from alert_rule_states where owner_id = $1 and name = $2', [ownerId, name])
  const { rowCount } = await tx.query('delete from alert_rules where owner_id = $1 and name = $2', [
    ownerId,
    name,
  ])
  return rowCount === 1
}

/** The threshold as people write it. */
export function thresholdText({ threshold, currency }: AlertRule): string | null {
  if (threshold === null) return null
  return currency === null ? threshold.toString() : decimalText(threshold, currency)
}

/** What a rule watches for, in a sentence. */
export function ruleInWords(rule: AlertRule): string {
  const { kind, windowMinutes, minOrders, orderKind, provider, currency } = rule
  const most = thresholdText(rule)
  const at = provider === null ? '' : ` at ${provider}`
  const orders = { deposit: 'deposits', withdraw: 'withdrawals', any: 'orders' }[orderKind ?? 'any']
  switch (kind) {
    case 'payout_unknown':
      return `A payout${at} without a known outcome for more than ${most} minutes`
    case 'lane_probing':
      return 'Callbacks to an agent fail one after the other, so that only single ones are tried'
    case 'callbacks_failing':
      return `${most} or more callbacks to an agent that were refused and wait to be tried again`
    case 'success_below':
      return `Less than ${most} % of ${orders}${at} that ended in ${windowMinutes} minutes were paid, of at least ${minOrders}`
    case 'balance_below':
      return provider === null
        ? `An available balance below ${most} ${currency}`
        : `Less than ${most} ${currency} at ${provider}`
    case 'proof_red':
      return 'The books do not prove'
    case 'breaks':
      return `${most} or more days on which the books and the bank differ${at}, not signed off`
    case 'nothing_for':
      return `No new ${orders} for ${most} minutes between ${rule.hoursFrom} and ${rule.hoursTo} (${rule.zone})`
  }
}
