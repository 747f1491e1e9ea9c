import type { Pool } from '../db/pool.ts'

/** The state of an agent's callback deliveries. */
export interface LaneView {
  agentId: bigint
  paused: boolean
  width: number
  why: string | null
  probeAt: Date | null
  resumedAt: Date | null
  waiting: number
  /** Those of the waiting ones that were sent and not accepted. */
  failing: number
  oldestAt: Date | null
  givenUp: number
  /** A later state of their order was sent instead. */
  superseded: number
  noAddress: number
}

/** Counts stop here: an operator does not need a larger number exactly. */
export const countedUpTo = 1_000

/** Reads the lanes of some agents, with how many callbacks wait in each. */
export async function readLanes(
  pool: Pool,
  agentIds: readonly bigint[],
  newWidth: number,
): Promise<LaneView[]> {
  const { rows } = await pool.query<{
    agent_id: bigint
    paused: boolean | null
    width: number | null
    why: string | null
    probe_at: Date | null
    resumed_at: Date | null
    waiting: bigint
    failing: bigint
    oldest_at: Date | null
    given_up: bigint
    superseded: bigint
    no_address: bigint
  }>(
    `select a.agent_id, l.paused, l.width, l.why, l.probe_at, l.resumed_at, w.waiting, w.failing,
       w.oldest_at, g.given_up, g.superseded, n.no_address
     from unnest($1::bigint[]) a(agent_id)
     left join callback_lanes l using (agent_id)
     cross join lateral (
       select count(*) as waiting, count(*) filter (where attempts > 0) as failing,
         min(created_at) as oldest_at
       from (
         select created_at, attempts from callbacks c
         where c.agent_id = a.agent_id and c.state = 'waiting' order by c.due_at limit $2) x
     ) w
     cross join lateral (
       select count(*) filter (where state = 'exhausted') as given_up,
         count(*) filter (where state = 'superseded') as superseded
       from (
         select state from callbacks c where c.agent_id = a.agent_id
           and c.state in ('exhausted', 'superseded') limit $2) x
     ) g
     cross join lateral (
       select count(*) as no_address from (
         select 1 from callbacks c where c.agent_id = a.agent_id
           and c.state = 'no_address' limit $2) x
     ) n
     order by a.agent_id`,
    [agentIds, countedUpTo],
  )
  return rows.map((row) => ({
    agentId: row.agent_id,
    paused: row.paused ?? false,
    width: row.width ?? newWidth,
    why: row.why,
    probeAt: row.probe_at,
    resumedAt: row.resumed_at,
    waiting: Number(row.waiting),
    failing: Number(row.failing),
    oldestAt: row.oldest_at,
    givenUp: Number(row.given_up),
    superseded: Number(row.superseded),
    noAddress: Number(row.no_address),
  }))
}
