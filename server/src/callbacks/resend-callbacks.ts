import pg from 'pg'
import { databaseTime, timeToPass } from '../db/database-time.ts'
import { inTransaction, withPatience } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import type { Clock } from '../lib/clock.ts'
import { underWayOf } from './claim-callbacks.ts'
import { newLane } from './lane.ts'

/** Selects the callbacks to send again. */
export interface ResendFilter {
  agentId: bigint
  /** Only this callback. */
  seq?: bigint
  /** Only callbacks that were given up. */
  failed?: boolean
  /** Only outcomes at or after this time. */
  since?: Date
}

export interface Resent {
  resent: number
  /**
   * Skipped because a later state of their order went first, was accepted or is being sent. Such a callback is sent again
   * only if the request names it.
   */
  leftOut: number
}

/**
 * Sends callbacks again by making them due in the table that serves as the queue, so a restart loses none. A
 * callback that is under way is sent once more afterwards.
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
      // The recorder locks rows in the order in which results arrive, so the two can deadlock. The rollback
      // leaves nothing changed.
      if (tries >= 10 || !isDeadlock(error)) throw error
    }
  }
}

/** Matches the callbacks `x` that $2, $3 and $4 select. */
const named = `($2::bigint is null or x.seq = $2)
  and (not $3::boolean or x.state in ('exhausted', 'superseded'))
  and ($4::timestamptz is null or x.created_at >= $4)`

/**
 * Sending callback `x` would deliver an older state after a newer one. When all are sent again, they go in
 * order.
 */
const overtaken = `$2::bigint is null and exists (
  select from journal j join callbacks y on y.agent_id = j.agent_id and y.seq = j.seq
  where j.agent_id = x.agent_id and j.order_id = x.order_id and j.seq > x.seq
    and (x.state = 'superseded' or ($3::boolean
      and (y.delivered_at is not null or y.seq = any(${underWayOf('$1')})))))`

async function setGoing(
  pool: Pool,
  { agentId, seq, failed, since }: ResendFilter,
  now: Clock,
): Promise<Resent> {
  return inTransaction(pool, (tx) =>
    // Replaying a year of outcomes may take longer than the usual statement timeout.
    withPatience(tx, 3_600, async () => {
      // While these locks are held, no process claims or records the agent's callbacks.
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
    }),
  )
}

function isDeadlock(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '40P01'
}

const hurriedAtOnce = 10_000

/**
 * Makes waiting callbacks due now, after an address was repaired or changed. If there are very many, the rest
 * come due at their own times.
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

/** Pauses or resumes an agent's callbacks. Paused callbacks stay queued. */
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
