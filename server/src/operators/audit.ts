import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { newOrderId } from '../lib/ids.ts'
import { Problem } from '../lib/problem.ts'
import type { Operator } from './operator.ts'

/** Who acts without being signed in: the command line, or somebody at the sign-in. */
export interface Outsider {
  userId: bigint | null
  email: string
  ip: string | null
}

export interface AuditEntry {
  at: Date
  operator: Operator | Outsider
  /** What was done, in one word such as `void_order`. */
  action: string
  subject: { kind: string; id: string }
  /** The agent it is about, where it is about one. */
  agentId: bigint | null
  /** What can be written as JSON, and holds no secret. */
  before?: unknown
  after?: unknown
  reason?: string | null
  outcome?: 'asked' | 'done' | 'refused'
}

/**
 * Writes who did what, in the transaction that does it. What is written stays: the service's role may
 * only insert here.
 */
export async function writeAudit(tx: Pool | Tx, entry: AuditEntry): Promise<void> {
  const { operator } = entry
  const signedIn = 'sessionId' in operator ? operator : undefined
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
 * For what has a transaction of its own, as the teller's commands have: the attempt is on disk before
 * it is made, and what became of it after. A row that only says asked was cut off in between.
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
    // Anything else than a refusal may have happened all the same: the row says asked, and no more.
    if (error instanceof Problem && error.status < 500) {
      const { code, message: detail } = error
      await writeAudit(pool, { ...entry, at: now(), outcome: 'refused', after: { code, detail } })
    }
    throw error
  }
}

let lastMs = 0

/**
 * Ids of this process go up, so that what became of an attempt stands after the attempt; but not far
 * ahead of the time, as after a clock that was wrong.
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
