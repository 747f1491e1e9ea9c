import type { Pool } from '../db/pool.ts'
import type { OrderKind } from '../ledger/book.ts'
import { orderIdFromUuid } from '../lib/ids.ts'
import { deliveryOfCallback } from './read-callbacks.ts'

/** A callback as an operator's list shows it. */
export interface FoundCallback {
  agentId: bigint
  seq: bigint
  orderId: string
  refId: string
  kind: OrderKind
  status: string
  at: Date
  delivery: string
  attempts: number
  dueAt: Date
  deliveredAt: Date | null
  lastStatus: number | null
  lastError: string | null
}

/** Where a page begins: after this callback. */
export interface CallbackPlace {
  agentId: bigint
  seq: bigint
  /** For what waits, which is listed in the order in which it is due. */
  dueAt: Date | null
}

export interface CallbackSearch {
  agentIds: readonly bigint[]
  state: string | undefined
  /** Only what happened at or before this. */
  until: Date | undefined
  after: CallbackPlace | undefined
  limit: number
}

interface FoundRow {
  agent_id: bigint
  seq: bigint
  order_id: string
  ref_id: string
  kind: OrderKind
  status: string
  created_at: Date
  delivery: string
  attempts: number
  due_at: Date
  delivered_at: Date | null
  last_status: number | null
  last_error: string | null
}

/** What is added to a callback's row for a list: done for one page only. */
const withLatest = (page: string, order: string) => `
  select c.agent_id, c.seq, c.order_id, o.ref_id, c.kind, c.body::json ->> 'status' as status,
    c.created_at, c.attempts, c.due_at, c.delivered_at, l.error as last_error, l.status as last_status,
    ${deliveryOfCallback} as delivery
  from (${page}) c
  join orders o on o.agent_id = c.agent_id and o.order_id = c.order_id
  left join callback_lanes n on n.agent_id = c.agent_id
  left join lateral (
    select t.error, t.status from callback_attempts t
    where t.agent_id = c.agent_id and t.seq = c.seq order by t.attempt_id desc limit 1
  ) l on true
  order by ${order}`

/**
 * Callbacks by agent; of one agent the newest first, and what waits in the order in which it is due. Each
 * state is read along the index that the sender has for it, so that no list costs sending anything.
 */
export async function searchCallbacks(
  pool: Pool,
  search: CallbackSearch,
): Promise<FoundCallback[]> {
  const { state, agentIds, until, after, limit } = search
  const values: unknown[] = [agentIds, limit, until ?? null, after?.agentId ?? null]
  const place = (value: unknown) => `$${values.push(value)}`
  const isDueOrder = state === 'waiting' || state === 'failing' || state === 'paused'
  // Bounds of the index for the agent where the page before ended, none for those after it.
  const isThere = 'case when a.agent_id = $4::bigint then'
  const seqAfter = place(after?.seq ?? null)
  const beyond = isDueOrder
    ? `(x.due_at, x.seq) > (${isThere} ${place(after?.dueAt ?? null)}::timestamptz else '-infinity' end,
        ${isThere} ${seqAfter}::bigint else 0 end)`
    : `x.seq < ${isThere} ${seqAfter}::bigint else 9223372036854775807 end`
  const order = isDueOrder ? 'due_at, seq' : 'seq desc'
  const branch = (each: string | undefined) => `(select x.* from callbacks x
    where x.agent_id = a.agent_id and ${conditionOf(each)}
      and ($3::timestamptz is null or x.created_at <= $3) and ${beyond}
    order by ${order} limit $2)`
  const branches = state === 'undelivered' ? undelivered.map(branch) : [branch(state)]
  const page = `
    select y.* from unnest($1::bigint[]) a(agent_id)
    cross join lateral (${branches.join(' union all ')}) y
    where $4::bigint is null or a.agent_id >= $4
    order by a.agent_id, ${isDueOrder ? 'y.due_at, y.seq' : 'y.seq desc'} limit $2`
  const { rows } = await pool.query<FoundRow>(
    withLatest(page, `c.agent_id, ${isDueOrder ? 'c.due_at, c.seq' : 'c.seq desc'}`),
    values,
  )
  return rows.map(foundFromRow)
}

/** Each has an index of its own, so each is read by itself. */
const undelivered = ['waiting', 'paused', 'sending', 'exhausted', 'superseded', 'no_address']

/** Written out, so that each fits the condition of an index. */
function conditionOf(state: string | undefined): string {
  const paused = 'select 1 from callback_lanes p where p.agent_id = a.agent_id and p.paused'
  const underWay = 'array(select k.seq from callback_claims k where k.agent_id = a.agent_id)'
  switch (state) {
    case undefined:
      return 'true'
    case 'waiting':
      return `x.state = 'waiting' and not exists (${paused}) and x.seq <> all(${underWay})`
    case 'paused':
      return `x.state = 'waiting' and exists (${paused}) and x.seq <> all(${underWay})`
    case 'failing':
      return `x.state = 'waiting' and x.attempts > 0`
    case 'exhausted':
    case 'superseded':
      return `x.state in ('exhausted', 'superseded') and x.state = '${state}'`
    case 'sending':
      return `x.state = 'waiting' and x.seq = any(${underWay})`
    case 'no_address':
    case 'delivered':
      return `x.state = '${state}'`
    default:
      throw new Error(`${state} is no state of a callback`)
  }
}

/** One callback, or undefined. */
export async function findCallback(
  pool: Pool,
  agentId: bigint,
  seq: bigint,
): Promise<(FoundCallback & { body: string }) | undefined> {
  const page = 'select * from callbacks where agent_id = $1 and seq = $2'
  const { rows } = await pool.query<FoundRow & { body: string }>(
    `select f.*, b.body from (${withLatest(page, 'c.seq')}) f join callbacks b using (agent_id, seq)`,
    [agentId, seq],
  )
  return rows[0] && { ...foundFromRow(rows[0]), body: rows[0].body }
}

/** The callbacks of some journal rows. */
export async function callbacksOfRows(
  pool: Pool,
  agentId: bigint,
  seqs: readonly bigint[],
): Promise<(FoundCallback & { body: string })[]> {
  const page = 'select * from callbacks where agent_id = $1 and seq = any($2::bigint[])'
  const { rows } = await pool.query<FoundRow & { body: string }>(
    `select f.*, b.body from (${withLatest(page, 'c.seq')}) f join callbacks b using (agent_id, seq)
     order by f.seq`,
    [agentId, seqs],
  )
  return rows.map((row) => ({ ...foundFromRow(row), body: row.body }))
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

/** Attempts at delivering some callbacks, the latest first. */
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

function foundFromRow(row: FoundRow): FoundCallback {
  return {
    agentId: row.agent_id,
    seq: row.seq,
    orderId: orderIdFromUuid(row.order_id),
    refId: row.ref_id,
    kind: row.kind,
    status: row.status,
    at: row.created_at,
    delivery: row.delivery,
    attempts: row.attempts,
    dueAt: row.due_at,
    deliveredAt: row.delivered_at,
    lastStatus: row.last_status,
    lastError: row.last_error,
  }
}
