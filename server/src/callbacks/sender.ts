import { randomUUID } from 'node:crypto'
import type { AgentFinder, AgentWithKeys } from '../agents/agent-finder.ts'
import { isContention, type Pool } from '../db/pool.ts'
import { signCallback } from '../lib/signature.ts'
import { type ClaimedCallback, claimCallbacks, findDueAgents } from './claim-callbacks.ts'
import { type Lane, newLane } from './lane.ts'
import { type Attempt, attemptLimitMs, type CallbackPoster } from './post-callback.ts'
import { type Outcome, recordAttempts } from './record-attempts.ts'

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

/**
 * Sends what is due, agent by agent: claim, sign, send, record. An agent with a dead address costs
 * the others nothing but its few places under way.
 */
export class CallbackSender {
  private readonly options: SenderOptions
  /** Agents to look at, in the order in which they were named. */
  private readonly waiting = new Set<bigint>()
  private readonly claiming = new Set<bigint>()
  private readonly lanes = new Map<bigint, Lane>()
  private inFlight = 0
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
    for (const agentId of agentIds) this.waiting.add(agentId)
    this.pump()
  }

  /** Looks for what nobody was woken for: retries that have come due, claims of dead processes. */
  async poll(): Promise<void> {
    if (this.stopped) return
    this.wake(await findDueAgents(this.options.pool, this.options.now()))
  }

  /** Ends what is under way and records it; claims nothing more. */
  async stop(): Promise<void> {
    this.stopped = true
    while (this.underway.size > 0) await Promise.allSettled([...this.underway])
    await this.recording
  }

  private pump(): void {
    for (const agentId of this.waiting) {
      if (this.stopped || this.inFlight >= this.options.maxInFlight || this.claiming.size >= 4)
        return
      if (this.claiming.has(agentId)) continue
      this.waiting.delete(agentId)
      this.claiming.add(agentId)
      this.track(
        this.claimAndSend(agentId)
          .catch((error) => {
            // Others had the lane for too long: the poll comes back to it.
            if (!isContention(error)) this.options.onError(error)
          })
          .finally(() => {
            this.claiming.delete(agentId)
            this.pump()
          }),
      )
    }
  }

  private async claimAndSend(agentId: bigint): Promise<void> {
    const { pool, agents, now, widest } = this.options
    const most = this.roomFor(agentId)
    if (most === 0) return
    const { callbacks, lane } = await claimCallbacks(pool, agentId, {
      token: randomUUID(),
      now: now(),
      most,
      widest,
      firstWidth: Math.min(widest, newLane.width),
    })
    this.lanes.set(agentId, lane)
    if (callbacks.length === 0) return
    this.occupy(callbacks, 1)
    const found = await agents.findById(agentId).catch((error) => {
      this.options.onError(error)
      return undefined
    })
    for (const callback of callbacks) {
      this.track(this.send(found, callback).then((attempt) => this.finish({ callback, attempt })))
    }
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
    const t = String(Math.floor(at.getTime() / 1000))
    const signatures = keys.map(({ secret }) => `v1=${signCallback(secret, t, callback.body)}`)
    const attempt = await poster.post(
      url,
      {
        'content-type': 'application/json',
        'x-appid': agent.appId,
        'x-signature': [`t=${t}`, ...signatures].join(','),
        'x-event-seq': String(callback.seq),
        'x-attempt': String(callback.attempts + 1),
        'user-agent': `Sluice/${version}`,
      },
      callback.body,
    )
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
      await new Promise((resolve) => setImmediate(resolve))
      let batch = this.outcomes.splice(0, 500)
      const { pool, now, random, widest } = this.options
      try {
        await recordAttempts(pool, batch, {
          now: now(),
          random,
          widest,
          laneOf: (agentId) => this.lanes.get(agentId),
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
   * How many more of an agent's callbacks may be under way here. Half of the places are for whoever
   * comes; of the others nobody gets more than a share of what is left, so that however many agents
   * do not answer, there are places for one more.
   */
  private roomFor(agentId: bigint): number {
    const { maxInFlight } = this.options
    const own = this.inFlightOf.get(agentId) ?? 0
    const free = maxInFlight - this.inFlight
    const share = Math.max(Math.floor(free / 16), free - Math.ceil(maxInFlight / 2))
    return Math.max(own === 0 ? 1 : 0, share - own)
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
