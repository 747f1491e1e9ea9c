import { createHash } from 'node:crypto'
import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { jsonText } from '../lib/json-text.ts'
import { type ActionName, alwaysByTwo, isAlwaysByTwo, needsSecondAdmin } from './actions.ts'

/** When an action needs two people. */
export interface ApprovalRule {
  action: string
  /** 0: every agent. */
  agentId: bigint
  /** Empty: every currency. */
  currency: string
  needsTwo: boolean
  /** Only above this amount; null: any amount. */
  aboveMinor: bigint | null
  /** Only an admin approves. */
  adminOnly: boolean
}

/** What is about to be done. */
export interface AskedAction {
  action: ActionName
  agentId: bigint | null
  amount: { minor: bigint; currency: string } | null
}

/**
 * What the rules say of an action. The most special rules count: of the agent, then of the currency. Of these, each for
 * the amounts above another, the highest that is passed does.
 */
export function judge(
  rules: readonly ApprovalRule[],
  mode: 'sandbox' | 'live',
  { action, agentId, amount }: AskedAction,
): { needsTwo: boolean; adminOnly: boolean } {
  const fitting = rules.filter(
    (each) =>
      each.action === action &&
      (each.agentId === 0n || each.agentId === agentId) &&
      (each.currency === '' || each.currency === amount?.currency),
  )
  const most = Math.max(...fitting.map(rank))
  const tiers = fitting
    .filter((each) => rank(each) === most)
    .sort((a, b) => Number(tierOf(b) - tierOf(a)))
  const size = amount === null ? null : amount.minor < 0n ? -amount.minor : amount.minor
  const passed = tiers.find((each) => size === null || size > tierOf(each))
  const rule = passed ?? tiers.at(-1)
  if (isAlwaysByTwo(action, mode)) return { needsTwo: true, adminOnly: rule?.adminOnly ?? false }
  // No amount is right for everybody, so payouts wait only where a rule says so.
  if (!rule) return { needsTwo: mode === 'live' && action !== 'pay_out', adminOnly: false }
  return { needsTwo: rule.needsTwo && passed !== undefined, adminOnly: rule.adminOnly }
}

/** The amount that a rule begins above; one for any amount is below all others. */
function tierOf({ aboveMinor }: ApprovalRule): bigint {
  return aboveMinor ?? -1n
}

function rank({ agentId, currency }: ApprovalRule): number {
  return (agentId === 0n ? 0 : 2) + (currency === '' ? 0 : 1)
}

/** What tells whether two people have to decide. */
export interface ApprovalFacts {
  rules: readonly ApprovalRule[]
  /** How many users are or will be admins. */
  admins: bigint
  /** Whether the command line asks. */
  isCommand?: boolean
}

/**
 * Whether two people have to decide on an action. The only admin acts on users alone, because nobody else could decide.
 * The command line does not: it asks once somebody has signed in, and then an admin can.
 */
export function needsTwoPeople(
  { rules, admins, isCommand = false }: ApprovalFacts,
  mode: 'sandbox' | 'live',
  asked: AskedAction,
): { needsTwo: boolean; adminOnly: boolean } {
  const judged = judge(rules, mode, asked)
  if (!judged.needsTwo || !needsSecondAdmin.includes(asked.action)) return judged
  return { ...judged, needsTwo: isCommand || admins >= 2n }
}

export async function readApprovalFacts(pool: Pool, now: Date): Promise<ApprovalFacts> {
  // Admins who are locked out count: who locks the other one out does not become the only one. So do those
  // with a good invitation, and who has used it: one person alone invites one.
  const { rows } = await pool.query<{ admins: bigint }>(
    `select count(*) as admins from users u
     where role = 'admin' and (password_hash is not null
       or exists (select 1 from sessions s where s.user_id = u.user_id)
       or exists (select 1 from invitations i
         where i.user_id = u.user_id and ended_at is null and expires_at > $1))`,
    [now],
  )
  return { rules: await readRules(pool), admins: rows[0]?.admins ?? 0n }
}

/** Whether one of these actions always takes two people, or any rule asks for them. */
export async function hasRuleOfTwo(pool: Pool, actions: readonly ActionName[]): Promise<boolean> {
  if (actions.some((action) => alwaysByTwo.includes(action))) return true
  const { rows } = await pool.query(
    'select 1 from approval_rules where action = any ($1) and needs_two limit 1',
    [actions],
  )
  return rows.length > 0
}

export async function readRules(db: Pool | Tx): Promise<ApprovalRule[]> {
  const { rows } = await db.query<ApprovalRule>(
    `select action, agent_id as "agentId", currency, needs_two as "needsTwo",
       above as "aboveMinor", admin_only as "adminOnly" from approval_rules
     order by action, agent_id, currency, tier`,
  )
  return rows
}

async function saveRule(tx: Tx, rule: ApprovalRule, by: string, at: Date): Promise<void> {
  await tx.query(
    `insert into approval_rules
       (action, agent_id, currency, needs_two, above, admin_only, updated_at, updated_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      rule.action,
      rule.agentId,
      rule.currency,
      rule.needsTwo,
      rule.aboveMinor,
      rule.adminOnly,
      at,
      by,
    ],
  )
}

/** Identifies a state of all rules, to tell whether they have changed since they were read. */
export function versionOfRules(rules: readonly ApprovalRule[]): string {
  return createHash('sha256').update(jsonText(rules)).digest('hex').slice(0, 16)
}

/** Replaces all rules with these; returns false if they have changed since they were read. */
export async function replaceRules(
  tx: Tx,
  rules: readonly ApprovalRule[],
  versionRead: string,
  by: { name: string; at: Date },
): Promise<boolean> {
  await tx.query('lock table approval_rules in share row exclusive mode')
  if (versionOfRules(await readRules(tx)) !== versionRead) return false
  await tx.query('delete from approval_rules')
  for (const rule of rules) await saveRule(tx, rule, by.name, by.at)
  return true
}
