import type { Pool } from '../db/pool.ts'
import { firstOrderIdAt } from '../lib/ids.ts'
import type { AuditAction } from './audit-actions.ts'
import { askedAt, hasResult } from './fold-audit.ts'

export interface AuditFilter {
  userId?: bigint
  /** Only actions from the command line. */
  isCommandLine?: boolean
  subject?: { kind: string; id?: string }
  action?: AuditAction
  /** Leaves out attempts whose result is in the log. */
  isFolded?: boolean
  from?: Date
  to?: Date
  /** The id of the last row of the previous page. */
  before?: string
  limit: number
}

export interface AuditRow {
  auditId: string
  at: Date
  /** When it was attempted, if it was written down before it was done. */
  askedAt: Date | null
  userId: bigint | null
  email: string
  role: string | null
  sessionId: string | null
  ip: string | null
  action: string
  subjectKind: string
  subjectId: string
  agentId: bigint | null
  outcome: string
  before: unknown
  after: unknown
  reason: string | null
}

/** Reads the log, newest first. Ids begin with the time, so a time bounds them. */
export async function readAudit(pool: Pool, filter: AuditFilter): Promise<AuditRow[]> {
  const values: unknown[] = []
  const and = (condition: (at: string) => string, value: unknown) => {
    if (value === undefined) return ''
    values.push(value)
    return ` and ${condition(`$${values.length}`)}`
  }
  const conditions = [
    and((at) => `user_id = ${at}`, filter.userId),
    filter.isCommandLine ? ` and user_id is null and email = 'command line'` : '',
    and((at) => `subject_kind = ${at}`, filter.subject?.kind),
    and((at) => `subject_id = ${at}`, filter.subject?.id),
    and((at) => `action = ${at}`, filter.action),
    and((at) => `audit_id >= ${at}`, filter.from && firstOrderIdAt(filter.from)),
    and((at) => `audit_id < ${at}`, filter.to && firstOrderIdAt(filter.to)),
    and((at) => `audit_id < ${at}`, filter.before),
  ].join('')
  values.push(filter.limit)
  const { rows } = await pool.query(
    `select audit_id, at, ${askedAt} as asked_at, user_id, email, role, session_id::text, ip, action,
       subject_kind, subject_id, agent_id, outcome, before, after, reason
     from audit_log a where true${conditions}${filter.isFolded ? ` and not ${hasResult}` : ''}
     order by audit_id desc limit $${values.length}`,
    values,
  )
  return rows.map((row) => ({
    auditId: row.audit_id,
    at: row.at,
    askedAt: row.asked_at,
    userId: row.user_id,
    email: row.email,
    role: row.role,
    sessionId: row.session_id,
    ip: row.ip,
    action: row.action,
    subjectKind: row.subject_kind,
    subjectId: row.subject_id,
    agentId: row.agent_id,
    outcome: row.outcome,
    before: row.before,
    after: row.after,
    reason: row.reason,
  }))
}
