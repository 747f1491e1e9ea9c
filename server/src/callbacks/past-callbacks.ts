import { columns } from '../db/columns.ts'
import type { Callback } from '../ledger/book.ts'
import { callbackColumns } from '../ledger/book-columns.ts'
import type { BatchTx } from '../ledger/books-store.ts'
import { newOrderId } from '../lib/ids.ts'

/** A past attempt to deliver a callback. */
export interface PastAttempt {
  startedAt: Date
  durationMs: number
  url: string
  status: number | null
  error: string | null
}

export interface PastCallback {
  callback: Callback
  state: 'waiting' | 'delivered' | 'exhausted' | 'no_address'
  dueAt: Date | null
  attempts: PastAttempt[]
}

type Stands = Omit<Callback, 'body'> & {
  state: PastCallback['state']
  dueAt: Date
  attempts: number
  again: number
  deliveredAt: Date | null
}

const standing = columns<Stands>({
  ...callbackColumns.pick('agentId', 'seq', 'orderId', 'kind', 'follows', 'createdAt').description,
  state: ['state', 'text'],
  dueAt: ['due_at', 'timestamptz'],
  attempts: ['attempts', 'int'],
  again: ['again', 'int'],
  deliveredAt: ['delivered_at', 'timestamptz', 'null'],
})

const bodies = callbackColumns.pick('agentId', 'seq', 'createdAt', 'body')

/**
 * Writes callbacks together with their delivery history. Only for made-up history: normally the sender
 * attempts them.
 */
export async function writePastCallbacks(
  tx: BatchTx,
  past: readonly PastCallback[],
): Promise<void> {
  if (past.length === 0) return
  await tx.query(
    `insert into callbacks (${standing.names}) select * from ${standing.unnest}`,
    standing.values(
      past.map(({ callback, state, dueAt, attempts }) => ({
        ...callback,
        state,
        dueAt: dueAt ?? callback.createdAt,
        attempts: attempts.length,
        again: 0,
        deliveredAt: state === 'delivered' ? (attempts.at(-1)?.startedAt ?? null) : null,
      })),
    ),
  )
  await tx.query(
    `insert into callback_bodies (${bodies.names}) select * from ${bodies.unnest}`,
    bodies.values(past.map(({ callback }) => callback)),
  )
  await writeAttempts(
    tx,
    past.flatMap(({ callback: { agentId, seq }, attempts }) =>
      attempts.map((attempt) => ({ agentId, seq, ...attempt })),
    ),
  )
}

type Attempted = PastAttempt & {
  agentId: bigint
  seq: bigint
  attemptId: string
  responseHeaders: string | null
}

const attempted = columns<Attempted>({
  ...callbackColumns.pick('agentId', 'seq').description,
  attemptId: ['attempt_id', 'uuid'],
  startedAt: ['started_at', 'timestamptz'],
  durationMs: ['duration_ms', 'int'],
  url: ['url', 'text'],
  status: ['status', 'int', 'null'],
  responseHeaders: ['response_headers', 'text', 'null'],
  error: ['error', 'text', 'null'],
})

async function writeAttempts(
  tx: BatchTx,
  attempts: readonly (PastAttempt & { agentId: bigint; seq: bigint })[],
): Promise<void> {
  await tx.query(
    `insert into callback_attempts (${attempted.names}) select * from ${attempted.unnest}`,
    attempted.values(
      attempts.map((attempt) => ({
        ...attempt,
        attemptId: newOrderId(attempt.startedAt),
        responseHeaders: attempt.status === null ? null : 'content-type: text/plain',
      })),
    ),
  )
}
