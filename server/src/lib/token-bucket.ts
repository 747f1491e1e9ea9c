/**
 * Rate limits per key: `perSecond` on average, `burst` at once. Counts within this process only. A bucket that is not
 * full is never forgotten: otherwise a flood of other keys would refill it. Where there are too many of them, the keys
 * that come next share one.
 */
export class TokenBuckets {
  private readonly buckets = new Map<string, { tokens: number; atMs: number; fullAtMs: number }>()
  private prunedAtMs = Number.NEGATIVE_INFINITY
  private readonly maxKeys: number

  constructor(maxKeys = 100_000) {
    this.maxKeys = maxKeys
  }

  /** Takes one token, or so many, if they are there. `waitS` is the time until they are. */
  take(named: string, perSecond: number, burst: number, nowMs: number, count = 1) {
    const key = this.hasRoomFor(named, nowMs) ? named : everybodyElse
    const bucket = this.buckets.get(key) ?? { tokens: burst, atMs: nowMs }
    const elapsedS = Math.max(0, nowMs - bucket.atMs) / 1000
    const tokens = Math.min(burst, bucket.tokens + elapsedS * perSecond)
    const taken = tokens >= count
    const left = taken ? tokens - count : tokens
    const fullAtMs = nowMs + ((burst - left) / perSecond) * 1000
    this.buckets.set(key, { tokens: left, atMs: nowMs, fullAtMs })
    return {
      taken,
      remaining: Math.floor(left),
      waitS: Math.max(1, Math.ceil((count - left) / perSecond)),
      resetS: Math.ceil((burst - left) / perSecond),
    }
  }

  /** Makes room by forgetting full buckets, which is looked for at most once a second. */
  private hasRoomFor(key: string, nowMs: number): boolean {
    if (this.buckets.size < this.maxKeys || this.buckets.has(key)) return true
    if (Math.abs(nowMs - this.prunedAtMs) >= 1_000) {
      this.prunedAtMs = nowMs
      for (const [each, { fullAtMs }] of this.buckets) {
        if (fullAtMs <= nowMs) this.buckets.delete(each)
      }
    }
    return this.buckets.size < this.maxKeys
  }
}

/** No address and no user is named so. */
const everybodyElse = ''
