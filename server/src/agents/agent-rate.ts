import type { SharedBuckets } from '../db/shared-buckets.ts'
import { TokenBuckets } from '../lib/token-bucket.ts'
import type { Agent } from './agent.ts'

/** The part of an agent's allowance that a process has taken and not used yet. */
interface Share {
  left: number
  /** What was left in the shared bucket at that time. */
  tokens: number
  askedAtMs: number
  /** How many tokens to take at a time: more when requests keep coming. */
  ahead: number
  asking: Promise<void> | undefined
  waiting: number
  /** How long after that the bucket stays empty. */
  emptyForMs: number
}

export interface Rate {
  taken: boolean
  remaining: number
  /** Seconds until the next request is allowed, and until the full allowance is back. */
  waitS: number
  resetS: number
}

/** Tokens taken in advance expire after this time. */
const shareLastsMs = 1_000

/**
 * Limits an agent's requests over all processes: a rate per second, with bursts of twice that. Each process
 * takes tokens from the agent's bucket in the database, and when it is busy takes up to a tenth of a second's
 * worth in advance. While the database cannot be reached, each process counts on its own.
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
      // After the clock was set back, the elapsed time is unknown.
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
      // Requests that arrive at the same moment share the answer.
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
