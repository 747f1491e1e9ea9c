import pg from 'pg'
import { databaseTime, timeToPass } from '../db/database-time.ts'
import { inTransaction } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import type { Clock } from '../lib/clock.ts'
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

export interface Resent {
  resent: number
  /** A later state of their order has gone first, or was accepted: only who names one sends it. */
  leftOut: number
}

/**
 * Sends callbacks again: they are set going in the table that is the queue, so nothing of it is lost
 * in a restart. What is under way goes out once more after that.
 */
export async function resendCallbacks(
  pool: Pool,
  filter: ResendFilter,
  now: Clock,
): Promise<Resent> {
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

/** Which callbacks `x` are named by $2, $3 and $4. */
const named = `($2::bigint is null or x.seq = $2)
  and (not $3::boolean or x.state in ('exhausted', 'superseded'))
  and ($4::timestamptz is null or x.created_at >= $4)`

/** The callback `x` would bring an older state after a newer one. Where all are sent again, they go in order. */
const overtaken = `$2::bigint is null and exists (
  select from journal j join callbacks y on y.agent_id = j.agent_id and y.seq = j.seq
  where j.agent_id = x.agent_id and j.order_id = x.order_id and j.seq > x.seq
    and (x.state = 'superseded' or ($3::boolean and y.delivered_at is not null)))`

async function setGoing(
  pool: Pool,
  { agentId, seq, failed, since }: ResendFilter,
  now: Clock,
): Promise<Resent> {
  return inTransaction(pool, async (tx) => {
    // Replaying a year of outcomes may take longer than a request should.
    await tx.query('set local statement_timeout = 0')
    // While these locks are held nothing of the agent's is claimed or recorded.
    await tx.query('select from callback_lanes where agent_id = $1 for update', [agentId])
    await tx.query('select from callback_claims where agent_id = $1 order by turn for update', [
      agentId,
    ])
    const filter = [agentId, seq ?? null, failed ?? false, since ?? null]
    const { rows } = await tx.query<{ left_out: bigint }>(
      `select count(*) as left_out from callbacks x where x.agent_id = $1 and ${named} and ${overtaken}`,
      filter,
    )
    const { rowCount } = await tx.query(
      `with at as (select ${databaseTime('$5')} as now)
       update callbacks c set
         again = again + case when under_way
           or (state = 'waiting' and delivered_at is not null) then 1 else 0 end,
         attempts = case when under_way then attempts else 0 end,
         due_at = case when under_way then due_at else (select now from at) end,
         state = case when under_way then state else 'waiting' end
       from (
         select x.seq, x.seq = any(${underWayOf('$1')}) as under_way
         from callbacks x where x.agent_id = $1 and ${named} and not (${overtaken})
         order by x.seq for update of x
       ) named
       where c.agent_id = $1 and c.seq = named.seq`,
      [...filter, timeToPass(now)],
    )
    return { resent: rowCount ?? 0, leftOut: Number(rows[0]?.left_out ?? 0n) }
  })
}

function isDeadlock(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '40P01'
}

const hurriedAtOnce = 10_000

/**
 * Tries what waits for a later time now: for an address that was mended or changed. Not all of it where
 * there is very much: what remains comes due by itself.
 */
export async function hurryCallbacks(pool: Pool, agentId: bigint, now: Clock): Promise<void> {
  const at = timeToPass(now)
  await pool.query(
    `with at as (select ${databaseTime('$2')} as now)
     update callbacks set due_at = (select now from at) where agent_id = $1 and seq = any(array(
       select x.seq from callbacks x
       where x.agent_id = $1 and x.state = 'waiting' and x.due_at > (select now from at)
       order by x.due_at limit ${hurriedAtOnce}))`,
    [agentId, at],
  )
  await pool.query(
    `with at as (select ${databaseTime('$2')} as now)
     update callback_lanes set probe_at = (select now from at)
     where agent_id = $1 and probe_at > (select now from at)`,
    [agentId, at],
  )
}

/** Holds an agent's callbacks back, or lets them go. Nothing is lost meanwhile. */
export async function pauseCallbacks(
  pool: Pool,
  agentId: bigint,
  paused: boolean,
  now: Clock,
): Promise<void> {
  await pool.query(
    `insert into callback_lanes (agent_id, paused, width, failed_seqs, turn, resumed_at)
     select $1, $2, $3, '{}', 0, case when not $2 then ${databaseTime('$4')} end
     on conflict (agent_id) do update set paused = excluded.paused,
       resumed_at = case when callback_lanes.paused and not excluded.paused
         then excluded.resumed_at else callback_lanes.resumed_at end`,
    [agentId, paused, newLane.width, timeToPass(now)],
  )
}
