import { databaseTime, timeToPass } from '../db/database-time.ts'
import type { Pool } from '../db/pool.ts'
import type { Clock } from '../lib/clock.ts'
import { underWayOf } from './claim-callbacks.ts'

/** Releases the claims of processes that died. */
export async function giveBackClaims(pool: Pool, now: Clock): Promise<void> {
  await pool.query(
    `with at as (select ${databaseTime('$1')} as now)
     delete from callback_claims where lease_until <= (select now from at)`,
    [timeToPass(now)],
  )
}

/** Finds the agents that have callbacks due. */
export async function findDueAgents(pool: Pool, now: Clock): Promise<bigint[]> {
  const { rows } = await pool.query<{ agent_id: bigint }>(
    `select a.agent_id from agents a
     left join callback_lanes l using (agent_id),
     lateral (
       select 1 from callbacks c
       where c.agent_id = a.agent_id and c.state = 'waiting' and c.due_at <= ${databaseTime('$1')}
         and c.seq <> all(${underWayOf('a.agent_id')})
       limit 1
     ) due
     where not coalesce(l.paused, false) and (l.probe_at is null or l.probe_at <= ${databaseTime('$1')})`,
    [timeToPass(now)],
  )
  return rows.map(({ agent_id }) => agent_id)
}
