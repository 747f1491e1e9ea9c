import pg from 'pg'
import type { Pool } from '../db/pool.ts'
import { underWayOf } from './claim-callbacks.ts'
import { newLane } from './lane.ts'

/** Which callbacks are to be sent again. */
export interface ResendFilter {
  agentId: bigint
  /** One callback. */
  seq?: bigint
  /** Only those that were given up. */
  failed?: boolean
  /** Outcomes of this moment or later. */
  since?: Date
}

/**
 * Sends callbacks again: they are set going in the table that is the queue, so nothing of it is lost
 * in a restart. What is under way goes out once more after that. Returns how many there are.
 */
export async function resendCallbacks(
  pool: Pool,
  filter: ResendFilter,
  now: Date,
): Promise<number> {
  for (let tries = 1; ; tries++) {
    try {
      return await setGoing(pool, filter, now)
    } catch (error) {
      // Results are written down in the order in which they come in, and so may lock the same rows
      // the other way round. Then nothing has changed.
      if (tries >= 10 || !isDeadlock(error)) throw error
    }
  }
}

async function setGoing(
  pool: Pool,
  { agentId, seq, failed, since }: ResendFilter,
  now: Date,
): Promise<number> {
  const client = await pool.connect()
  let broken = true
  try {
    await client.query('begin')
    // Replaying a year of outcomes may take longer than a request should.
    await client.query('set local statement_timeout = 0')
    // While these locks are held nothing of the agent's is claimed or recorded.
    await client.query('select from callback_lanes where agent_id = $1 for update', [agentId])
    await client.query('select from callback_claims where agent_id = $1 order by turn for update', [
      agentId,
    ])
    const { rowCount } = await client.query(
      `update callbacks c set
         again = again + case when under_way
           or (state = 'waiting' and delivered_at is not null) then 1 else 0 end,
         attempts = case when under_way then attempts else 0 end,
         due_at = case when under_way then due_at else $2 end,
         state = case when under_way then state else 'waiting' end
       from (
         select x.seq, x.seq = any(${underWayOf('$1')}) as under_way
         from callbacks x where x.agent_id = $1
           and ($3::bigint is null or x.seq = $3)
           and (not $4::boolean or x.state in ('exhausted', 'superseded'))
           and ($5::timestamptz is null or x.created_at >= $5)
         order by x.seq for update of x
       ) named
       where c.agent_id = $1 and c.seq = named.seq`,
      [agentId, now, seq ?? null, failed ?? false, since ?? null],
    )
    await client.query('commit')
    broken = false
    return rowCount ?? 0
  } finally {
    client.release(broken)
  }
}

function isDeadlock(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '40P01'
}

/** Tries what waits for a later time now: for an address that was mended or changed. */
export async function hurryCallbacks(pool: Pool, agentId: bigint, now: Date): Promise<void> {
  await pool.query(
    `update callbacks set due_at = $2 where agent_id = $1 and state = 'waiting' and due_at > $2`,
    [agentId, now],
  )
  await pool.query(
    `update callback_lanes set probe_at = $2 where agent_id = $1 and probe_at > $2`,
    [agentId, now],
  )
}

/** Holds an agent's callbacks back, or lets them go. Nothing is lost meanwhile. */
export async function pauseCallbacks(
  pool: Pool,
  agentId: bigint,
  paused: boolean,
  now: Date,
): Promise<void> {
  await pool.query(
    `insert into callback_lanes (agent_id, paused, width, failed_seqs, turn)
     values ($1, $2, $3, '{}', 0)
     on conflict (agent_id) do update set paused = excluded.paused,
       resumed_at = case when callback_lanes.paused and not excluded.paused
         then $4::timestamptz else callback_lanes.resumed_at end`,
    [agentId, paused, newLane.width, now],
  )
}
