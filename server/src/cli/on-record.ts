import type { Pool } from '../db/pool.ts'
import { type AuditEntry, audited } from '../operators/audit.ts'

/**
 * A user of the command line has the database and may do everything; the audit log shows that it was done
 * here.
 */
export const commandLine = { userId: null, email: 'command line', ip: null }

/** Runs a command's action. The audit log records the attempt before it and the result after it. */
export function onRecord<T>(
  pool: Pool,
  entry: Pick<AuditEntry, 'action' | 'subject' | 'agentId' | 'before' | 'reason'>,
  act: () => Promise<T>,
  after?: (done: T) => unknown,
  made?: (done: T) => Pick<AuditEntry, 'subject' | 'agentId'>,
): Promise<T> {
  return audited(pool, () => new Date(), { ...entry, operator: commandLine }, act, after, made)
}
