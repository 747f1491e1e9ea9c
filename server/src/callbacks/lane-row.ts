import { databaseTime } from '../db/database-time.ts'
import type { Lane } from './lane.ts'

export interface LaneRow {
  width: number
  failed_seqs: string[]
  probe_at: Date | null
  probe_every_s: number | null
  why: string | null
  /** When the row was read. */
  now: Date
}

/** Reads a lane and locks it until the transaction ends. */
export const lockLane = `select width, failed_seqs, probe_at, probe_every_s, why, ${databaseTime('$2')} as now
  from callback_lanes where agent_id = $1 for update`

export function laneFromRow(row: LaneRow): Lane {
  return {
    width: row.width,
    failedSeqs: row.failed_seqs.map(BigInt),
    probeAt: row.probe_at,
    probeEveryS: row.probe_every_s,
    why: row.why,
  }
}
