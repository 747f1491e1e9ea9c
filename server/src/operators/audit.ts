import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { newOrderId } from '../lib/ids.ts'
import { Problem } from '../lib/problem.ts'
import type { Operator } from './operator.ts'

/** An actor that is not signed in: the command line, or a person at the sign-in page. */
export interface Outsider {
  userId: bigint | null
  email: string
  ip: string | null
}

export interface AuditEntry {
  at: Date
  operator: Operator | Outsider
  /** The action in one word, such as `void_order`. */
  action: string
  subject: { kind: string; id: string }
  /** The agent concerned, if there is one. */
  agentId: bigint | null
  /** Must be serialisable as JSON and contain no secret. */
  before?: unknown
  after?: unknown
  reason?: string | null
  outcome?: 'asked' | 'done' | 'refused'
}

/**
 * Writes an audit row in the transaction of the action itself. Rows are permanent: the service's role may
 * only insert here.
 */
export async function writeAudit(tx: Pool | Tx, entry: AuditEntry): Promise<void> {
  const { operator } = entry
  const signedIn = 'role' in operator ? operator : undefined
  await tx.query(
    `insert into audit_log (audit_id, at, user_id, email, role, session_id, ip, action, subject_kind,
       subject_id, agent_id, outcome, before, after, reason)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
    [
      nextAuditId(entry.at),
      entry.at,
      operator.userId,
      operator.email,
      signedIn?.role ?? null,
      signedIn?.sessionId ?? null,
      operator.ip,
      entry.action,
      entry.subject.kind,
      entry.subject.id,
      entry.agentId,
      entry.outcome ?? 'done',
      jsonOrNull(entry.before),
      jsonOrNull(entry.after),
      entry.reason ?? null,
    ],
  )
}

/**
 * Audits an action that runs in its own transaction, as the teller's commands do. The attempt is on disk
 * before it is made, and its result afterwards; a row that says only "asked" was interrupted in between.
 */
export async function audited<T>(
  pool: Pool,
  now: () => Date,
  entry: Omit<AuditEntry, 'at' | 'outcome' | 'after'>,
  act: () => Promise<T>,
  after: (done: T) => unknown = () => undefined,
): Promise<T> {
  await writeAudit(pool, { ...entry, at: now(), outcome: 'asked' })
  try {
    const done = await act()
    await writeAudit(pool, { ...entry, at: now(), outcome: 'done', after: after(done) })
    return done
  } catch (error) {
    // After any error other than a refusal, the action may still have happened, so the row stays "asked".
    if (error instanceof Problem && error.status < 500) {
      const { code, message: detail } = error
      await writeAudit(pool, { ...entry, at: now(), outcome: 'refused', after: { code, detail } })
    }
    throw error
  }
}

let lastMs = 0

/**
 * Ids of this process always increase, so that a result sorts after its attempt. They do not run far ahead of
 * the time after a wrong clock was corrected.
 */
function nextAuditId(at: Date): string {
  const ms = at.getTime()
  lastMs = lastMs - ms < 1_000 ? Math.max(ms, lastMs + 1) : ms
  return newOrderId(new Date(lastMs))
}

function jsonOrNull(value: unknown): string | null {
  if (value === undefined || value === null) return null
  return JSON.stringify(value, (_key, each) => (typeof each === 'bigint' ? String(each) : each))
}
