import type { Pool } from '../db/pool.ts'
import type { LiveKey } from './agent-finder.ts'

const writeEveryMs = 30_000

/** Records when each secret was last used, writing at most twice a minute. */
export class KeyUse {
  private readonly written = new Map<string, number>()
  private readonly pool: Pool
  private readonly now: () => Date
  private readonly onError: (error: unknown) => void

  constructor(pool: Pool, now: () => Date, onError: (error: unknown) => void) {
    this.pool = pool
    this.now = now
    this.onError = onError
  }

  note(agentId: bigint, { slot, secret }: LiveKey): void {
    // A later secret reuses the slot, and its first use must be recorded.
    const key = `${agentId} ${slot} ${secret}`
    const at = this.now()
    if (at.getTime() - (this.written.get(key) ?? Number.NEGATIVE_INFINITY) < writeEveryMs) return
    this.written.set(key, at.getTime())
    this.pool
      .query('update agent_keys set last_used_at = $3 where agent_id = $1 and slot = $2', [
        agentId,
        slot,
        at,
      ])
      .catch(this.onError)
  }
}
