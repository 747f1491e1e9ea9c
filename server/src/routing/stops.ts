import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'

/** A stop of payouts, and maybe of deposits, for one agent or for everything. */
export interface Stop {
  /** 0: everything. */
  agentId: bigint
  stopId: string
  /** Whether deposits are stopped as well. */
  deposits: boolean
  at: Date
  by: string
  reason: string
}

export async function readStops(db: Pool | Tx): Promise<Stop[]> {
  const { rows } = await db.query<Stop>(
    `select agent_id as "agentId", stop_id as "stopId", deposits, stopped_at as at,
       stopped_by as by, reason from stops order by agent_id`,
  )
  return rows
}

/** Whether no payout of an agent is handed over at the moment: somebody stopped it, or a restore holds everything. */
export async function isStopped(pool: Pool, agentId: bigint): Promise<boolean> {
  const { rows } = await pool.query({
    name: 'is-stopped',
    text: `select 1 from stops where agent_id in (0, $1) union all (${openHolds}) limit 1`,
    values: [agentId],
  })
  return rows.length > 0
}

const openHolds = `select 1 from restore_holds h
  left join restore_releases l on l.restore_id = h.restore_id where l.restore_id is null`

/** Whether a restore holds back everything that would pay out. */
export async function isHeld(db: Pool | Tx): Promise<boolean> {
  const { rows } = await db.query(`${openHolds} limit 1`)
  return rows.length > 0
}

/**
 * Stops an agent or everything, and returns whether deposits are stopped now. A second stop frees nothing that the
 * first has stopped, and keeps its words unless it stops more. It has an id of its own: who proposed to lift the first
 * did not know of it.
 */
export async function saveStop(tx: Tx, stop: Stop): Promise<boolean> {
  const stopsMore = 'excluded.deposits and not first.deposits'
  const { rows } = await tx.query<{ deposits: boolean }>(
    `insert into stops as first (agent_id, stop_id, deposits, stopped_at, stopped_by, reason)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (agent_id) do update set stop_id = excluded.stop_id,
       deposits = first.deposits or excluded.deposits,
       stopped_at = case when ${stopsMore} then excluded.stopped_at else first.stopped_at end,
       stopped_by = case when ${stopsMore} then excluded.stopped_by else first.stopped_by end,
       reason = case when ${stopsMore} then excluded.reason else first.reason end
     returning deposits`,
    [stop.agentId, stop.stopId, stop.deposits, stop.at, stop.by, stop.reason],
  )
  return rows[0]?.deposits ?? stop.deposits
}

/** Lifts this very stop, not one that came after it. Returns false if it is not there any more. */
export async function liftStop(
  tx: Tx,
  { agentId, stopId }: Pick<Stop, 'agentId' | 'stopId'>,
): Promise<boolean> {
  const { rowCount } = await tx.query('delete from stops where agent_id = $1 and stop_id = $2', [
    agentId,
    stopId,
  ])
  return rowCount === 1
}
