/** How many of an agent's callbacks may be under way at once, and why not more. */
export interface Lane {
  width: number
  /** Callbacks that failed since the last one that was accepted, each once, up to as many as count. */
  failedSeqs: readonly bigint[]
  /** While it is probed: when the next single request may go. */
  probeAt: Date | null
  probeEveryS: number | null
  why: string | null
}

/** A lane starts narrow, so that many dead addresses at once cost the others little. */
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
 * The lane after an attempt. Failures of different callbacks in a row make it a lane that is probed
 * with one request at a time; every one that is accepted opens it up to twice the width.
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
  // A few callbacks that always fail say nothing about the address, however often they are tried.
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
