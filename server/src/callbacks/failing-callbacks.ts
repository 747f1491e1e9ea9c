import type { Pool } from '../db/pool.ts'
import { countedUpTo } from './read-lanes.ts'

export interface CallbackTrouble {
  failing: { count: number; oldestAt: Date | null }
  givenUp: { count: number; oldestAt: Date | null }
  probing: number
  paused: number
}

/** Counts the callbacks that do not reach their agents, up to a limit. */
export async function readCallbackTrouble(
  pool: Pool,
  agentIds: readonly bigint[],
): Promise<CallbackTrouble> {
  const count = async (condition: string) => {
    const { rows } = await pool.query<{ count: bigint; oldest_at: Date | null }>(
      `select count(*) as count, min(created_at) as oldest_at from (
         select created_at from callbacks
         where agent_id = any($1::bigint[]) and ${condition} limit $2) x`,
      [agentIds, countedUpTo],
    )
    return { count: Number(rows[0]?.count ?? 0n), oldestAt: rows[0]?.oldest_at ?? null }
  }
  const { rows } = await pool.query<{ probing: bigint; paused: bigint }>(
    `select count(*) filter (where probe_at is not null and not paused) as probing,
       count(*) filter (where paused) as paused
     from callback_lanes where agent_id = any($1::bigint[])`,
    [agentIds],
  )
  return {
    failing: await count(`state = 'waiting' and attempts > 0`),
    // Both names, so that the planner can match the partial index.
    givenUp: await count(`state in ('exhausted', 'superseded') and state = 'exhausted'`),
    probing: Number(rows[0]?.probing ?? 0n),
    paused: Number(rows[0]?.paused ?? 0n),
  }
}
