import type { SharedBuckets } from '../db/shared-buckets.ts'
import { TokenBuckets } from '../lib/token-bucket.ts'
import type { Agent } from './agent.ts'

/** What a process has taken of an agent's allowance and not used yet. */
interface Share {
  left: number
  /** What was left for everybody then. */
  tokens: number
  askedAtMs: number
  /** How much is taken at a time: more for whoever comes back soon. */
  ahead: number
  asking: Promise<void> | undefined
  waiting: number
  /** For so long after that there is nothing to be had. */
  emptyForMs: number
}

export interface Rate {
  taken: boolean
  remaining: number
  /** When the next request is let in, and when the whole allowance is there again. */
  waitS: number
  resetS: number
}

/** What was taken ahead and is not used for so long is void. */
const shareLastsMs = 1_000

/**
 * How often an agent may ask, over all processes together: so many requests a second, twice that at
 * once. Each process takes what it needs from the agent's bucket in the database, ahead where it is
 * busy, a tenth of a second's worth at most. While the database cannot be asked, each counts by itself.
 */
export class AgentRate {
  private readonly buckets: SharedBuckets
  private readonly now: () => Date
  private readonly shares = new Map<bigint, Share>()
  private readonly own = new TokenBuckets()

  constructor(buckets: SharedBuckets, now: () => Date) {
    this.buckets = buckets
    this.now = now
  }

  async take({ agentId, rateLimit }: Pick<Agent, 'agentId' | 'rateLimit'>): Promise<Rate> {
    const share = this.shareOf(agentId)
    for (;;) {
      const nowMs = this.now().getTime()
      // A clock that was set back says nothing of how long ago that was.
      const isOfLate = (ms: number) => nowMs >= share.askedAtMs && nowMs - share.askedAtMs < ms
      if (share.left > 0 && isOfLate(shareLastsMs)) {
        share.left--
        return rateOf(share, rateLimit, nowMs, true)
      }
      if (isOfLate(share.emptyForMs)) return rateOf(share, rateLimit, nowMs, false)
      share.waiting++
      share.asking ??= this.ask(share, agentId, rateLimit)
      try {
        await share.asking
      } catch {
        return this.own.take(String(agentId), rateLimit, rateLimit * 2, nowMs)
      } finally {
        share.waiting--
      }
    }
  }

  private async ask(share: Share, agentId: bigint, rateLimit: number): Promise<void> {
    try {
      // Whoever asks in the same moment shares the answer.
      await new Promise((resolve) => setImmediate(resolve))
      const isBusy = this.now().getTime() - share.askedAtMs < shareLastsMs
      const most = Math.max(1, Math.floor(rateLimit / 10))
      share.ahead = isBusy ? Math.min(most, share.ahead * 2) : 1
      const want = Math.max(share.ahead, share.waiting)
      const size = { perS: rateLimit, burst: rateLimit * 2 }
      const { granted, tokens } = await this.buckets.take(`agent ${agentId}`, want, size)
      share.left = granted
      share.tokens = tokens
      share.askedAtMs = this.now().getTime()
      share.emptyForMs = granted > 0 ? 0 : Math.ceil(((1 - tokens) * 1_000) / rateLimit)
    } finally {
      share.asking = undefined
    }
  }

  private shareOf(agentId: bigint): Share {
    const known = this.shares.get(agentId)
    if (known) return known
    if (this.shares.size > 10_000) this.shares.clear()
    const share: Share = {
      left: 0,
      tokens: 0,
      askedAtMs: 0,
      ahead: 1,
      asking: undefined,
      waiting: 0,
      emptyForMs: 0,
    }
    this.shares.set(agentId, share)
    return share
  }
}

function rateOf(share: Share, perS: number, nowMs: number, taken: boolean): Rate {
  const burst = perS * 2
  const refilled = (Math.max(0, nowMs - share.askedAtMs) / 1_000) * perS
  const left = Math.min(burst, share.tokens + share.left + refilled)
  return {
    taken,
    remaining: Math.floor(left),
    waitS: Math.max(1, Math.ceil((1 - left) / perS)),
    resetS: Math.ceil((burst - left) / perS),
  }
}
