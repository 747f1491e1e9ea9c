import type { Lane } from './lane.ts'

export interface LaneRow {
  width: number
  failures: number
  last_failed_seq: bigint | null
  probe_at: Date | null
  probe_every_s: number | null
  why: string | null
}

/** Reads a lane and keeps everybody else from changing it until the transaction ends. */
export const lockLane = `select width, failures, last_failed_seq, probe_at, probe_every_s, why
  from callback_lanes where agent_id = $1 for update`

export function laneFromRow(row: LaneRow): Lane {
  return {
    width: row.width,
    failures: row.failures,
    lastFailedSeq: row.last_failed_seq,
    probeAt: row.probe_at,
    probeEveryS: row.probe_every_s,
    why: row.why,
  }
}
