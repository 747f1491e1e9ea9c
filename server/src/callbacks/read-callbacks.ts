import type { Pool } from '../db/pool.ts'
import type { OrderKind } from '../ledger/book.ts'
import { storedBody } from '../ledger/stored-body.ts'

/** An outcome with its callback, as the agent and the operator see it. */
export interface OutcomeEvent {
  agentId: bigint
  appId: string
  seq: bigint
  orderId: string
  refId: string
  kind: OrderKind
  at: Date
  delivery: string
  attempts: number
  dueAt: Date
  body: string
  lastError: string | null
  lastStatus: number | null
}

export interface EventFilter {
  agentId?: bigint
  afterSeq?: bigint
  state?: string
  since?: Date
  limit: number
}

interface EventRow {
  agent_id: bigint
  app_id: string
  seq: bigint
  order_id: string
  ref_id: string
  kind: OrderKind
  created_at: Date
  delivery: string
  attempts: number
  due_at: Date
  body: string
  last_error: string | null
  last_status: number | null
}

/** The delivery state of callback `c`, in the word that agents and operators read; `n` is its lane. */
export const deliveryOfCallback = `case
    when c.state = 'waiting' and exists (
      select from callback_claims k where k.agent_id = c.agent_id and c.seq = any(k.seqs)
    ) then 'sending'
    when c.state = 'waiting' and coalesce(n.paused, false) then 'paused'
    else c.state end`

/** How much earlier than its outcome an attempt may be dated, because processes have different clocks. */
const clocksDifferS = 86_400

/** Joins the latest attempt to deliver callback `c` as `l`, without reading the months before the outcome. */
export const latestAttempt = `left join lateral (
    select t.error, t.status from callback_attempts t
    where t.agent_id = c.agent_id and t.seq = c.seq
      and t.started_at >= c.created_at - interval '${clocksDifferS} s'
    order by t.attempt_id desc limit 1
  ) l on true`

/** Reads outcomes with their callbacks, oldest first. */
export async function readEvents(pool: Pool, filter: EventFilter): Promise<OutcomeEvent[]> {
  const { rows } = await pool.query<EventRow>(
    `select * from (
       select c.agent_id, a.app_id, c.seq, c.order_id, o.ref_id, c.kind, c.created_at, c.attempts,
         c.due_at, ${storedBody} as body, l.error as last_error, l.status as last_status,
         ${deliveryOfCallback} as delivery
       from callbacks c
       join agents a using (agent_id)
       join orders o on o.agent_id = c.agent_id and o.order_id = c.order_id
       left join callback_lanes n on n.agent_id = c.agent_id
       ${latestAttempt}
       where ($1::bigint is null or c.agent_id = $1) and c.seq > $2
         and ($4::timestamptz is null or c.created_at >= $4)
     ) e where $3::text is null or e.delivery = $3
     order by e.agent_id, e.seq limit $5`,
    [
      filter.agentId ?? null,
      filter.afterSeq ?? 0n,
      filter.state ?? null,
      filter.since ?? null,
      filter.limit,
    ],
  )
  return rows.map((row) => ({
    agentId: row.agent_id,
    appId: row.app_id,
    seq: row.seq,
    orderId: row.order_id,
    refId: row.ref_id,
    kind: row.kind,
    at: row.created_at,
    delivery: row.delivery,
    attempts: row.attempts,
    dueAt: row.due_at,
    body: row.body,
    lastError: row.last_error,
    lastStatus: row.last_status,
  }))
}

/** Counts an agent's callbacks that are due or under way. Paused callbacks do not count. */
export async function countOpen(pool: Pool, agentId: bigint): Promise<number> {
  const { rows } = await pool.query<{ open: bigint }>(
    `select count(*) as open from callbacks c
     left join callback_lanes n using (agent_id)
     where c.agent_id = $1 and c.state = 'waiting'
       and ${deliveryOfCallback} in ('waiting', 'sending')`,
    [agentId],
  )
  return Number(rows[0]?.open ?? 0n)
}

export interface Backlog {
  waiting: number
  oldestAgeS: number
}

/** Counts the callbacks that have not reached their agents yet, over all agents. */
export async function readBacklog(pool: Pool, now: Date): Promise<Backlog> {
  const { rows } = await pool.query<{ waiting: bigint; oldest: Date | null }>(
    `select count(*) as waiting, min(created_at) as oldest from callbacks where state = 'waiting'`,
  )
  const oldest = rows[0]?.oldest
  return {
    waiting: Number(rows[0]?.waiting ?? 0n),
    oldestAgeS: oldest ? Math.max(0, (now.getTime() - oldest.getTime()) / 1000) : 0,
  }
}
