/** Rate limits per key: `perSecond` on average, `burst` at once. Counts within this process only. */
export class TokenBuckets {
  private readonly buckets = new Map<string, { tokens: number; atMs: number }>()
  private readonly maxKeys: number

  constructor(maxKeys = 100_000) {
    this.maxKeys = maxKeys
  }

  /** Takes one token if there is one. `waitS` is the time until the next one. */
  take(key: string, perSecond: number, burst: number, nowMs: number) {
    const bucket = this.buckets.get(key) ?? { tokens: burst, atMs: nowMs }
    const elapsedS = Math.max(0, nowMs - bucket.atMs) / 1000
    const tokens = Math.min(burst, bucket.tokens + elapsedS * perSecond)
    const taken = tokens >= 1
    const left = taken ? tokens - 1 : tokens
    // Reinserting keeps the map in order of last use, so the first key is the one to evict.
    this.buckets.delete(key)
    this.buckets.set(key, { tokens: left, atMs: nowMs })
    if (this.buckets.size > this.maxKeys) {
      for (const oldest of this.buckets.keys()) {
        this.buckets.delete(oldest)
        break
      }
    }
    return {
      taken,
      remaining: Math.floor(left),
      waitS: Math.max(1, Math.ceil((1 - left) / perSecond)),
      resetS: Math.ceil((burst - left) / perSecond),
    }
  }
}
