import { randomUUID } from 'node:crypto'
import type { AgentFinder, AgentWithKeys } from '../agents/agent-finder.ts'
import { isContention, type Pool } from '../db/pool.ts'
import { callbackHeaders } from './callback-headers.ts'
import {
  type Claim,
  type ClaimedCallback,
  claimAtTurns,
  claimThoroughly,
  findDueAgents,
  type Wanted,
} from './claim-callbacks.ts'
import { newLane } from './lane.ts'
import { type Attempt, attemptLimitMs, type CallbackPoster } from './post-callback.ts'
import { type Outcome, recordAttempts } from './record-attempts.ts'

/** How long results are gathered for, where more are to come. */
const gatherMs = 5

export interface SenderOptions {
  pool: Pool
  agents: Pick<AgentFinder, 'findById'>
  poster: CallbackPoster
  now: () => Date
  random: () => number
  version: string
  /** How many of one agent's callbacks are under way at once, at most, over all processes. */
  widest: number
  /** How many this process has under way at once. */
  maxInFlight: number
  onError: (error: unknown) => void
  onAttempt?: (result: { attempt: Attempt; callback: ClaimedCallback; at: Date }) => void
}

/** Leaves a connection for recording. */
const claimsAtOnce = 3

/**
 * Sends what is due: claim, sign, send, record. An agent with a dead address costs
 * the others nothing but its few places under way.
 */
export class CallbackSender {
  private readonly options: SenderOptions
  /** Agents to look at, in the order in which they were named, and whether thoroughly. */
  private readonly waiting = new Map<bigint, boolean>()
  private readonly claiming = new Set<bigint>()
  /** What is known of the lanes since they were last claimed from. */
  private readonly lanes = new Map<bigint, { turn: bigint; healthy: boolean }>()
  private inFlight = 0
  /** Claims under way, and the places that they may come to need. */
  private claims = 0
  private reserved = 0
  private readonly inFlightOf = new Map<bigint, number>()
  private outcomes: Outcome[] = []
  private recording: Promise<void> | undefined
  private stopped = false
  private readonly underway = new Set<Promise<unknown>>()

  constructor(options: SenderOptions) {
    this.options = options
  }

  get callbacksInFlight(): number {
    return this.inFlight
  }

  /** These agents have something due now. */
  wake(agentIds: Iterable<bigint>): void {
    for (const agentId of agentIds) {
      if (!this.waiting.has(agentId)) this.waiting.set(agentId, false)
    }
    this.pump()
  }

  /** Looks for what nobody was woken for: retries that have come due, claims of dead processes. */
  async poll(): Promise<void> {
    if (this.stopped) return
    const due = await findDueAgents(this.options.pool, this.options.now())
    for (const agentId of due) this.waiting.set(agentId, true)
    this.pump()
  }

  /** Ends what is under way and records it; claims nothing more. */
  async stop(): Promise<void> {
    this.stopped = true
    while (this.underway.size > 0) await Promise.allSettled([...this.underway])
    await this.recording
  }

  private pump(): void {
    while (!this.stopped && this.claims < claimsAtOnce) {
      const wanted = this.nextWanted()
      if (wanted.length === 0) return
      this.track(this.claimAndSend(wanted))
    }
  }

  /**
   * The agents that one statement is to claim for: all whose lane is known, or one whose lane is not,
   * whichever has waited longest. Their places are taken from here on.
   */
  private nextWanted(): Wanted[] {
    const wanted: Wanted[] = []
    for (const [agentId, thorough] of this.waiting) {
      if (this.inFlight + this.reserved >= this.options.maxInFlight) break
      if (this.claiming.has(agentId)) continue
      const turn = thorough ? null : (this.lanes.get(agentId)?.turn ?? null)
      if (turn === null && wanted.length > 0) continue
      this.waiting.delete(agentId)
      const most = this.roomFor(agentId)
      if (most === 0) continue
      this.claiming.add(agentId)
      this.reserved += most
      wanted.push({ agentId, turn, most })
      if (turn === null) break
    }
    return wanted
  }

  private async claimAndSend(wanted: readonly Wanted[]): Promise<void> {
    this.claims++
    const claimed = await this.claim(wanted).catch((error) => {
      // Others had the lane for too long: the poll comes back to it.
      if (!isContention(error)) this.options.onError(error)
      return undefined
    })
    this.claims--
    for (const { agentId, most } of wanted) {
      this.claiming.delete(agentId)
      this.reserved -= most
      const claim = claimed?.get(agentId)
      if (claim) {
        this.lanes.set(agentId, { turn: claim.turn, healthy: claim.healthy })
        this.occupy(claim.callbacks, 1)
      } else if (claimed) {
        // Somebody else had a turn.
        this.waiting.set(agentId, true)
      }
    }
    this.pump()
    await Promise.all([...(claimed ?? [])].map(([agentId, claim]) => this.sendAll(agentId, claim)))
  }

  private async claim(wanted: readonly Wanted[]): Promise<Map<bigint, Claim>> {
    const { pool, now, widest } = this.options
    const options = { token: randomUUID(), now: now(), widest }
    const [first] = wanted
    if (first?.turn !== null) return claimAtTurns(pool, wanted, options)
    const firstWidth = Math.min(widest, newLane.width)
    return new Map([
      [first.agentId, await claimThoroughly(pool, { ...first, firstWidth }, options)],
    ])
  }

  private async sendAll(agentId: bigint, { callbacks, agentStamp }: Claim): Promise<void> {
    if (callbacks.length === 0) return
    const found = await this.options.agents.findById(agentId, agentStamp).catch((error) => {
      this.options.onError(error)
      return undefined
    })
    await Promise.all(
      callbacks.map(async (callback) =>
        this.finish({ callback, attempt: await this.send(found, callback) }),
      ),
    )
  }

  private async send(
    found: AgentWithKeys | undefined,
    callback: ClaimedCallback,
  ): Promise<Outcome['attempt']> {
    const { poster, now, version } = this.options
    if (!found) return 'not_sent'
    const { agent, keys } = found
    const url = callback.kind === 'deposit' ? agent.depositCallbackUrl : agent.withdrawCallbackUrl
    if (url === null) return 'no_address'
    const at = now()
    // A process that was frozen must not send what another one may be sending by now.
    if (callback.leaseUntil.getTime() - at.getTime() < 2 * attemptLimitMs) return 'not_sent'
    const body = Buffer.from(callback.body)
    const headers = callbackHeaders({
      appId: agent.appId,
      secrets: keys.map(({ secret }) => secret),
      body,
      seq: callback.seq,
      attempt: callback.attempts + 1,
      at,
      version,
    })
    const attempt = await poster.post(url, headers, body)
    this.options.onAttempt?.({ attempt, callback, at: now() })
    return attempt
  }

  private finish(outcome: Outcome): void {
    this.outcomes.push(outcome)
    this.recording ??= this.record().finally(() => {
      this.recording = undefined
    })
  }

  /** Records results in batches: those that come in during one write share the next. */
  private async record(): Promise<void> {
    while (this.outcomes.length > 0) {
      await this.gatherOutcomes()
      let batch = this.outcomes.splice(0, 500)
      const { pool, now, random, widest } = this.options
      try {
        await recordAttempts(pool, batch, {
          now: now(),
          random,
          widest,
          isHealthy: (agentId) => this.lanes.get(agentId)?.healthy ?? false,
        })
      } catch (error) {
        this.options.onError(error)
        // While the claim holds there is time to try again. What is not recorded in the end goes out
        // again: better twice than never.
        const open = batch.filter(({ callback }) => callback.leaseUntil > now())
        if (open.length > 0 && !this.stopped) {
          this.outcomes.unshift(...open)
          batch = batch.filter((outcome) => !open.includes(outcome))
          await new Promise((resolve) => setTimeout(resolve, 200))
        }
      }
      this.occupy(
        batch.map(({ callback }) => callback),
        -1,
      )
      this.wake(batch.map(({ callback }) => callback.agentId))
    }
  }

  /**
   * While most of what is under way is still to come in, a moment's wait makes a batch of it: each
   * statement, and each claim of the places it frees, costs nearly the same for one row as for fifty.
   */
  private async gatherOutcomes(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    if (this.outcomes.length * 2 < this.inFlight && !this.stopped) {
      await new Promise((resolve) => setTimeout(resolve, gatherMs))
    }
  }

  /**
   * How many more of an agent's callbacks may be under way here. Half of the places are for whoever
   * comes; of the others nobody gets more than a share of what is left, so that however many agents
   * do not answer, there are places for one more.
   */
  private roomFor(agentId: bigint): number {
    const { maxInFlight, widest } = this.options
    const own = this.inFlightOf.get(agentId) ?? 0
    const free = maxInFlight - this.inFlight - this.reserved
    const share = Math.max(Math.floor(free / 16), free - Math.ceil(maxInFlight / 2))
    return Math.min(widest, Math.max(own === 0 ? 1 : 0, share - own))
  }

  private occupy(callbacks: readonly ClaimedCallback[], by: 1 | -1): void {
    for (const { agentId } of callbacks) {
      const own = (this.inFlightOf.get(agentId) ?? 0) + by
      if (own === 0) this.inFlightOf.delete(agentId)
      else this.inFlightOf.set(agentId, own)
      this.inFlight += by
    }
  }

  private track(promise: Promise<unknown>): void {
    this.underway.add(promise)
    promise.finally(() => this.underway.delete(promise)).catch(() => {})
  }
}
