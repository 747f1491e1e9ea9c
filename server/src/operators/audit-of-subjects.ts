import type { Pool } from '../db/pool.ts'

/** An audit row, as shown in the history of what it is about. */
export interface AuditRow {
  at: Date
  email: string
  role: string | null
  ip: string | null
  action: string
  outcome: 'asked' | 'done' | 'refused'
  before: unknown
  after: unknown
  reason: string | null
}

/** The operators' latest actions on some subjects of a kind, oldest first. */
export async function auditOfSubjects(
  pool: Pool,
  kind: string,
  ids: readonly string[],
  limit: number,
): Promise<AuditRow[]> {
  const { rows } = await pool.query<AuditRow>(
    `select at, email, role, ip, action, outcome, before, after, reason from audit_log
     where subject_kind = $1 and subject_id = any($2::text[]) order by audit_id desc limit $3`,
    [kind, ids, limit],
  )
  return rows.reverse()
}
