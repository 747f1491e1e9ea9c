import type { Pool } from '../db/pool.ts'
import type { AuditAction } from './audit-actions.ts'
import { askedAt, hasResult } from './fold-audit.ts'

/**
 * What an operator or the command line does that an agent's own users see of. The rest is the operator's own: notes,
 * proposals and decisions, evidence, exports, routes, bank accounts.
 */
const shownToAgents: AuditAction[] = [
  'create_agent',
  'change_agent',
  'suspend_agent',
  'resume_agent',
  'change_addresses',
  'change_settlement',
  'rotate_key',
  'make_secret',
  'revoke_secret',
  'create_user',
  'change_user',
  'reset_user',
  'adjust_wallet',
  'credit_payment',
  'return_payment',
  'dismiss_payment',
  'settle_agent',
  'mark_paid_order',
  'mark_failed_order',
  'void_order',
  'take_back_order',
  'refund_order',
  'cancel_order',
  'revert_order',
  'resend_order',
  'resend_callback',
  'replay_callbacks',
  'pause_callbacks',
  'resume_callbacks',
  'stop',
  'lift_stop',
  'change_limits',
]

/** An audit row as an agent's users see it. */
export interface AgentAuditRow {
  auditId: string
  at: Date
  /** When it was attempted, if it was written down before it was done. */
  askedAt: Date | null
  /** Null if the operator did it. */
  by: { email: string; ip: string | null } | null
  action: string
  subjectKind: string
  subjectId: string
  outcome: 'asked' | 'done' | 'refused'
  before: unknown
  after: unknown
  reason: string | null
}

/**
 * What concerns one agent, newest first. Of what its own users and secrets do, everything is shown. Of what others do
 * only that it was done, when and to what: who it was, why, and what stood there before and after may speak of others.
 */
export async function auditOfAgent(
  pool: Pool,
  agentId: bigint,
  { before, limit }: { before?: string; limit: number },
): Promise<AgentAuditRow[]> {
  const { rows } = await pool.query(
    `select a.*, ${askedAt} as asked_at from (
       select audit_id, at, user_id, email, ip, action, subject_kind, subject_id, outcome, before, after, reason,
         coalesce(role = 'agent', action = 'new_address'
           or (subject_kind = 'user' and subject_id = user_id::text)) as is_own
       from audit_log where agent_id = $1 and ($2::uuid is null or audit_id < $2)
     ) a where (is_own or action = any($3)) and not ${hasResult} order by audit_id desc limit $4`,
    [agentId, before ?? null, shownToAgents, limit],
  )
  return rows.map((row) => ({
    auditId: row.audit_id,
    at: row.at,
    askedAt: row.asked_at,
    by: row.is_own === true ? { email: row.email, ip: row.ip } : null,
    action: row.action,
    subjectKind: row.subject_kind,
    subjectId: row.subject_id,
    outcome: row.outcome,
    before: row.is_own === true ? row.before : null,
    after: row.is_own === true ? row.after : null,
    reason: row.is_own === true ? row.reason : null,
  }))
}
