import type { Pool } from '../db/pool.ts'
import { storedBody } from '../ledger/stored-body.ts'
import { type CallbackSearch, conditionOf, goesByDue } from './callback-search.ts'
import { type FoundCallback, type FoundRow, foundFromRow, withLatest } from './found-callback.ts'
import { newestCallbacks } from './newest-callbacks.ts'

/**
 * Finds callbacks of these agents, newest first, or by due time for waiting ones. Each state is read along
 * the index that the sender uses, so that lists add no cost to sending.
 */
export function searchCallbacks(pool: Pool, search: CallbackSearch): Promise<FoundCallback[]> {
  return goesByDue(search.state) ? dueCallbacks(pool, search) : newestCallbacks(pool, search)
}

async function dueCallbacks(pool: Pool, search: CallbackSearch): Promise<FoundCallback[]> {
  const { state, agentIds, until, after, limit } = search
  const page = `
    select y.* from unnest($1::bigint[]) a(agent_id)
    cross join lateral (
      select x.* from callbacks x
      where x.agent_id = a.agent_id and ${conditionOf(state)}
        and ($3::timestamptz is null or x.created_at <= $3)
        and ($4::timestamptz is null
          or x.due_at >= $4 and (x.due_at, x.agent_id, x.seq) > ($4, $5::bigint, $6::bigint))
      order by x.due_at, x.seq limit $2
    ) y order by y.due_at, y.agent_id, y.seq limit $2`
  const { rows } = await pool.query<FoundRow>(withLatest(page, 'c.due_at, c.agent_id, c.seq'), [
    agentIds,
    limit,
    until ?? null,
    after?.time ?? null,
    after?.agentId ?? null,
    after?.seq ?? null,
  ])
  return rows.map(foundFromRow)
}

export async function findCallback(
  pool: Pool,
  agentId: bigint,
  seq: bigint,
): Promise<(FoundCallback & { body: string }) | undefined> {
  const page = 'select * from callbacks where agent_id = $1 and seq = $2'
  const { rows } = await pool.query<FoundRow & { body: string }>(
    `select f.*, ${storedBody} as body from (${withLatest(page, 'c.seq')}) f
     join callbacks c using (agent_id, seq)`,
    [agentId, seq],
  )
  return rows[0] && { ...foundFromRow(rows[0]), body: rows[0].body }
}

/** Reads the callbacks of some journal rows. */
export async function callbacksOfRows(
  pool: Pool,
  agentId: bigint,
  seqs: readonly bigint[],
): Promise<(FoundCallback & { body: string })[]> {
  const page = 'select * from callbacks where agent_id = $1 and seq = any($2::bigint[])'
  const { rows } = await pool.query<FoundRow & { body: string }>(
    `select f.*, ${storedBody} as body from (${withLatest(page, 'c.seq')}) f
     join callbacks c using (agent_id, seq)
     order by f.seq`,
    [agentId, seqs],
  )
  return rows.map((row) => ({ ...foundFromRow(row), body: row.body }))
}

/** The sequence number of the latest callback about an order. */
export async function lastCallbackOf(
  pool: Pool,
  agentId: bigint,
  orderId: string,
): Promise<bigint | undefined> {
  const { rows } = await pool.query<{ seq: bigint }>(
    `select c.seq from journal j join callbacks c using (agent_id, seq)
     where j.agent_id = $1 and j.order_id = $2 order by c.seq desc limit 1`,
    [agentId, orderId],
  )
  return rows[0]?.seq
}

export interface AttemptMade {
  seq: bigint
  startedAt: Date
  durationMs: number
  url: string
  address: string | null
  status: number | null
  responseHeaders: string | null
  responseBody: Buffer | null
  error: string | null
}

/** Reads the attempts to deliver some callbacks, latest first. */
export async function attemptsAt(
  pool: Pool,
  agentId: bigint,
  seqs: readonly bigint[],
  limit: number,
): Promise<AttemptMade[]> {
  const { rows } = await pool.query<{
    seq: bigint
    started_at: Date
    duration_ms: number
    url: string
    address: string | null
    status: number | null
    response_headers: string | null
    response_body: Buffer | null
    error: string | null
  }>(
    `select seq, started_at, duration_ms, url, address, status, response_headers, response_body, error
     from callback_attempts where agent_id = $1 and seq = any($2::bigint[])
     order by attempt_id desc limit $3`,
    [agentId, seqs, limit],
  )
  return rows.map((row) => ({
    seq: row.seq,
    startedAt: row.started_at,
    durationMs: row.duration_ms,
    url: row.url,
    address: row.address,
    status: row.status,
    responseHeaders: row.response_headers,
    responseBody: row.response_body,
    error: row.error,
  }))
}
