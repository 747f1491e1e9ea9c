import type { Clock } from '../lib/clock.ts'
import { databaseTime, timeToPass } from './database-time.ts'
import type { Pool } from './pool.ts'

export interface BucketSize {
  perS: number
  burst: number
}

export interface Taken {
  /** How many of the requested tokens were granted. */
  granted: number
  /** How many tokens are left. */
  tokens: number
}

/** A bucket that has not been used for this long is full and can be deleted. */
const keptFor = '1 hour'
const pruneEveryMs = 600_000

/** Token buckets in the database: these limits apply across all processes, by the database's clock. */
export class SharedBuckets {
  private readonly pool: Pool
  private readonly clock: Clock
  private readonly onError: (error: unknown) => void
  private prunedAtMs = performance.now()

  constructor(pool: Pool, clock: Clock, onError: (error: unknown) => void) {
    this.pool = pool
    this.clock = clock
    this.onError = onError
  }

  /** Takes as many tokens as there are, up to `want`. */
  async take(bucket: string, want: number, { perS, burst }: BucketSize): Promise<Taken> {
    this.pruneNowAndThen()
    const now = databaseTime('$5')
    const filled = `least($3::float8, b.tokens
      + greatest(0, extract(epoch from ${now} - b.refilled_at))::float8 * $4::float8)`
    // Refilling in small steps may leave a token short by a rounding error.
    const granted = `least($2::integer, floor(${filled} + 1e-9)::integer)`
    const { rows } = await this.pool.query<Taken>({
      name: 'take-from-bucket',
      text: `insert into limit_buckets as b (bucket, tokens, granted, refilled_at)
             values ($1, $3::float8 - $2::integer, $2, ${now})
             on conflict (bucket) do update set
               tokens = greatest(0, ${filled} - ${granted}), granted = ${granted},
               refilled_at = greatest(b.refilled_at, ${now})
             returning granted, tokens`,
      values: [bucket, Math.min(want, burst), burst, perS, timeToPass(this.clock)],
    })
    return rows[0] ?? { granted: 0, tokens: 0 }
  }

  /** Takes one token if there is one. `waitS` is the time until the next one. */
  async takeOne(bucket: string, size: BucketSize): Promise<{ taken: boolean; waitS: number }> {
    const { granted, tokens } = await this.take(bucket, 1, size)
    return { taken: granted === 1, waitS: Math.max(1, Math.ceil((1 - tokens) / size.perS)) }
  }

  /** Deletes a bucket, so that it starts full again. */
  async forget(bucket: string): Promise<void> {
    await this.pool.query('delete from limit_buckets where bucket = $1', [bucket])
  }

  private pruneNowAndThen(): void {
    const nowMs = performance.now()
    if (nowMs - this.prunedAtMs < pruneEveryMs) return
    this.prunedAtMs = nowMs
    this.pool
      .query(`delete from limit_buckets where refilled_at < now() - interval '${keptFor}'`)
      .catch(this.onError)
  }
}
