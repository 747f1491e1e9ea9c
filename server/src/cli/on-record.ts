import type { Pool } from '../db/pool.ts'
import { type AuditEntry, audited } from '../operators/audit.ts'

/** Who has the database may do everything: the log says that it was done here. */
export const commandLine = { userId: null, email: 'command line', ip: null }

/** Does what a command asks for. The attempt is in the audit log before it is made, its end after. */
export function onRecord<T>(
  pool: Pool,
  entry: Pick<AuditEntry, 'action' | 'subject' | 'agentId' | 'before' | 'reason'>,
  act: () => Promise<T>,
  after?: (done: T) => unknown,
): Promise<T> {
  return audited(pool, () => new Date(), { ...entry, operator: commandLine }, act, after)
}
