import type { Callback } from '../ledger/book.ts'
import type { BatchTx } from '../ledger/books-store.ts'
import { newOrderId } from '../lib/ids.ts'

/** An attempt of the past at delivering a callback. */
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

/** Writes callbacks with what has become of them since. For made-up history: a sender attempts them. */
export async function writePastCallbacks(
  tx: BatchTx,
  past: readonly PastCallback[],
): Promise<void> {
  if (past.length === 0) return
  const column = (of: (each: PastCallback) => unknown) => past.map(of)
  await tx.query(
    `insert into callbacks (agent_id, seq, order_id, kind, follows, state, created_at, due_at,
       attempts, again, delivered_at)
     select a, s, o, k, f, st, c, coalesce(d, c), n, 0, v
     from unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::text[], $5::boolean[], $6::text[],
       $7::timestamptz[], $8::timestamptz[], $9::int[], $10::timestamptz[])
       p(a, s, o, k, f, st, c, d, n, v)`,
    [
      column(({ callback }) => callback.agentId),
      column(({ callback }) => callback.seq),
      column(({ callback }) => callback.orderId),
      column(({ callback }) => callback.kind),
      column(({ callback }) => callback.follows),
      column(({ state }) => state),
      column(({ callback }) => callback.createdAt.toISOString()),
      column(({ dueAt }) => dueAt?.toISOString() ?? null),
      column(({ attempts }) => attempts.length),
      column(({ state, attempts }) =>
        state === 'delivered' ? (attempts.at(-1)?.startedAt.toISOString() ?? null) : null,
      ),
    ],
  )
  await tx.query(
    `insert into callback_bodies (agent_id, seq, created_at, body)
     select * from unnest($1::bigint[], $2::bigint[], $3::timestamptz[], $4::text[])`,
    [
      column(({ callback }) => callback.agentId),
      column(({ callback }) => callback.seq),
      column(({ callback }) => callback.createdAt.toISOString()),
      column(({ callback }) => callback.body),
    ],
  )
  await writeAttempts(
    tx,
    past.flatMap(({ callback: { agentId, seq }, attempts }) =>
      attempts.map((attempt) => ({ agentId, seq, ...attempt })),
    ),
  )
}

async function writeAttempts(
  tx: BatchTx,
  attempts: readonly (PastAttempt & { agentId: bigint; seq: bigint })[],
): Promise<void> {
  await tx.query(
    `insert into callback_attempts (agent_id, seq, attempt_id, started_at, duration_ms, url, address,
       status, response_headers, response_body, error)
     select a, s, i, t, d, u, null, st, case when st is not null then 'content-type: text/plain' end,
       null, e
     from unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::timestamptz[], $5::int[], $6::text[],
       $7::int[], $8::text[]) x(a, s, i, t, d, u, st, e)`,
    [
      attempts.map(({ agentId }) => agentId),
      attempts.map(({ seq }) => seq),
      attempts.map(({ startedAt }) => newOrderId(startedAt)),
      attempts.map(({ startedAt }) => startedAt.toISOString()),
      attempts.map(({ durationMs }) => durationMs),
      attempts.map(({ url }) => url),
      attempts.map(({ status }) => status),
      attempts.map(({ error }) => error),
    ],
  )
}
