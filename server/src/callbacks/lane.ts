/** How many of an agent's callbacks may be under way at once, and what limits them. */
export interface Lane {
  width: number
  /** The distinct callbacks that failed since the last accepted one, up to the number that starts probing. */
  failedSeqs: readonly bigint[]
  /** While the lane is probed: when the next single request may be sent. */
  probeAt: Date | null
  probeEveryS: number | null
  why: string | null
}

/** A lane starts narrow, so that many dead addresses at once cost other agents little. */
export const newLane: Lane = {
  width: 4,
  failedSeqs: [],
  probeAt: null,
  probeEveryS: null,
  why: null,
}

const failuresBeforeProbing = 5
const firstProbeS = 5
const longestProbeS = 60

/**
 * Returns the lane after an attempt. When several different callbacks fail in a row, the lane is probed with
 * one request at a time; each accepted callback doubles its width.
 */
export function laneAfter(
  lane: Lane,
  { seq, error }: { seq: bigint; error: string | null },
  widest: number,
  now: Date,
): Lane {
  if (error === null) {
    return { ...newLane, width: Math.min(widest, lane.width * 2) }
  }
  // A few callbacks that always fail prove nothing about the address, however often they are retried.
  const isNew = lane.failedSeqs.length < failuresBeforeProbing && !lane.failedSeqs.includes(seq)
  const failedSeqs = isNew ? [...lane.failedSeqs, seq] : lane.failedSeqs
  const failed = { ...lane, failedSeqs }
  if (failedSeqs.length < failuresBeforeProbing) return failed
  const isProbe = lane.probeAt !== null && lane.probeAt <= now
  if (lane.probeAt !== null && !isProbe) return failed
  const probeEveryS = isProbe
    ? Math.min(longestProbeS, (lane.probeEveryS ?? firstProbeS) * 2)
    : firstProbeS
  return {
    ...failed,
    width: 1,
    probeEveryS,
    probeAt: new Date(now.getTime() + probeEveryS * 1000),
    why: error,
  }
}
