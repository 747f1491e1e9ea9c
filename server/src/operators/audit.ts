import { randomInt } from 'node:crypto'
import { auditColumns } from '../db/audit-columns.ts'
import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { hashedText } from '../lib/chain-hash.ts'
import { newOrderId } from '../lib/ids.ts'
import { Problem } from '../lib/problem.ts'
import { lookerId, type Operator } from './operator.ts'

/** An actor that is not signed in: the command line, or a person at the sign-in page. */
export interface Outsider {
  userId: bigint | null
  email: string
  ip: string | null
}

export interface AuditEntry {
  at: Date
  operator: Operator | Outsider
  /** One of `auditActions`. */
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
 * only insert here. Each goes on the chain of a lane that nobody else is writing to.
 */
export async function writeAudit(tx: Pool | Tx, entry: AuditEntry): Promise<void> {
  const { operator } = entry
  const signedIn = 'role' in operator ? operator : undefined
  const row: Record<(typeof auditColumns)[number], string | null> = {
    action: entry.action,
    after: jsonOrNull(entry.after),
    agent_id: textOrNull(entry.agentId),
    at: entry.at.toISOString(),
    audit_id: nextAuditId(entry.at),
    before: jsonOrNull(entry.before),
    email: operator.email,
    ip: operator.ip,
    outcome: entry.outcome ?? 'done',
    reason: entry.reason ?? null,
    // Who looks as an agent's user is none of them.
    role: (signedIn?.view ?? signedIn)?.role ?? null,
    session_id: signedIn?.sessionId?.replaceAll('-', '') || null,
    subject_id: entry.subject.id,
    subject_kind: entry.subject.kind,
    user_id: textOrNull(operator.userId === lookerId ? null : operator.userId),
  }
  const fields = auditColumns.map((name) => [name, row[name]] as const)
  // Chosen here: a statement on several nodes may hold no function whose result changes.
  const lane = randomInt(16)
  const values = [hashedText('audit', fields), lane, ...fields.map(([, value]) => value)]
  for (const ifLocked of ['skip locked', '']) {
    if ((await tx.query(insertInLane(ifLocked), values)).rowCount === 1) return
  }
  throw new Error('there is no lane for the audit log')
}

/** Moves a lane's end and writes the row, in one statement. Only if all lanes are taken does it wait for one. */
function insertInLane(ifLocked: string): string {
  const values = auditColumns.map((name, at) => `$${at + 3}::${typeOf(name)}`)
  return `with lane as (
      update audit_lanes l set seq = l.seq + 1,
        hash = encode(sha256(convert_to(l.hash || $1, 'UTF8')), 'hex')
      where l.lane = (
        select lane from audit_lanes where lane > 0 order by (lane + $2::int) % 16 limit 1
        for update ${ifLocked}
      )
      returning l.lane, l.seq, l.hash
    )
    insert into audit_log (lane, lane_seq, hash, ${auditColumns.join(', ')})
    select lane, seq, hash, ${values.join(', ')} from lane`
}

function typeOf(column: (typeof auditColumns)[number]): string {
  switch (column) {
    case 'agent_id':
    case 'user_id':
      return 'bigint'
    case 'audit_id':
    case 'session_id':
      return 'uuid'
    case 'after':
    case 'before':
      return 'json'
    case 'at':
      return 'timestamptz'
    default:
      return 'text'
  }
}

function textOrNull(value: bigint | null): string | null {
  return value === null ? null : String(value)
}

/** The id of a subject that does not exist yet, in the row of the attempt to make it. */
export const notMadeYet = 'new'

/**
 * Audits an action that runs in its own transaction, as the teller's commands do. The attempt is on disk
 * before it is made, and its result afterwards; a row that says only "asked" was interrupted in between. The
 * result of making something names what was made.
 */
export async function audited<T>(
  pool: Pool,
  now: () => Date,
  entry: Omit<AuditEntry, 'at' | 'outcome' | 'after'>,
  act: () => Promise<T>,
  after: (done: T) => unknown = () => undefined,
  made: (done: T) => Partial<Pick<AuditEntry, 'subject' | 'agentId'>> = () => ({}),
): Promise<T> {
  await writeAudit(pool, { ...entry, at: now(), outcome: 'asked' })
  try {
    const done = await act()
    const result = { ...entry, ...made(done), at: now(), outcome: 'done' as const }
    await writeAudit(pool, { ...result, after: after(done) })
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
