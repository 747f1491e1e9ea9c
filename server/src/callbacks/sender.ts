import { randomUUID } from 'node:crypto'
import { type AgentFinder, type AgentWithKeys, callbackSecrets } from '../agents/agent-finder.ts'
import { isContention, type Pool } from '../db/pool.ts'
import { parseTxnId } from '../lib/ids.ts'
import { type Span, type Tracer, traceparentOf } from '../lib/tracing.ts'
import { sendToNewAddresses } from './address-callbacks.ts'
import { callbackHeaders } from './callback-headers.ts'
import { type Claim, claimAtTurns, claimThoroughly, type Wanted } from './claim-callbacks.ts'
import type { ClaimedCallback } from './claimed-callback.ts'
import { findDueAgents, giveBackClaims } from './due-agents.ts'
import { type EventEpochs, epochOf } from './event-epochs.ts'
import { newLane } from './lane.ts'
import { isAccepted, type Outcome } from './outcome.ts'
import { Places } from './places.ts'
import { type Attempt, attemptLimitMs, type CallbackPoster } from './post-callback.ts'
import { recordAttempts } from './record-attempts.ts'
import { ResultRecorder } from './result-recorder.ts'

export interface SenderOptions {
  pool: Pool
  agents: Pick<AgentFinder, 'findById'>
  poster: CallbackPoster
  now: () => Date
  random: () => number
  version: string
  /** The most callbacks of one agent under way at once, over all processes. */
  widest: number
  /** The most callbacks that this process has under way at once, including unrecorded ones. */
  maxInFlight: number
  /** Whether the process is ending: what is under way is finished, and other callbacks are left to others. */
  isClosing?: () => boolean
  onError: (error: unknown) => void
  onAttempt?: (attempt: Attempt, callback: ClaimedCallback, span: Span | undefined) => void
  /** Follows attempts; undefined if nobody collects traces. */
  tracer?: Tracer | undefined
}

/** Leaves one connection for recording. */
const claimsAtOnce = 3
/** How many agents' claims are pipelined on one connection. */
const agentsAtOnce = 50

/** What the last claim showed about a lane. */
interface KnownLane {
  turn: bigint
  healthy: boolean
  /** Set if more is due than there was room for: claim again when only this many are under way. */
  refillAt: number | undefined
}

/**
 * Sends due callbacks: claims, signs, posts and records them. An agent with a dead address costs the others
 * only its few places.
 */
export class CallbackSender {
  private readonly options: SenderOptions
  private readonly name = randomUUID()
  private readonly places: Places
  private readonly recorder: ResultRecorder
  /** Agents to claim for, in the order they were added, and whether to claim thoroughly. */
  private readonly waiting = new Map<bigint, boolean>()
  private readonly lanes = new Map<bigint, KnownLane>()
  /** Agents to claim for once the current batch of results is collected. */
  private readonly toWake = new Set<bigint>()
  private claims = 0
  private readonly underway = new Set<Promise<unknown>>()
  private stopped = false

  constructor(options: SenderOptions) {
    const { pool, now, random, widest, onError } = options
    this.options = options
    this.places = new Places(options)
    const isHealthy = (agentId: bigint) => this.lanes.get(agentId)?.healthy ?? false
    const recording = { sender: this.name, now, random, widest, isHealthy }
    this.recorder = new ResultRecorder({
      write: (results) => recordAttempts(pool, results, recording),
      underWay: () => this.places.underWay,
      onGathered: () => this.wake(takeAll(this.toWake)),
      onRecorded: (results) => this.recorded(results),
      onError,
    })
  }

  get isIdle(): boolean {
    return this.underway.size === 0 && this.recorder.isIdle
  }

  /** Claims for these agents, which have callbacks due now. */
  wake(agentIds: Iterable<bigint>): void {
    for (const agentId of agentIds) {
      if (!this.waiting.has(agentId)) this.waiting.set(agentId, false)
    }
    this.pump()
  }

  /**
   * Finds due callbacks for which no wake-up arrived: claims of dead processes, new addresses, and retries
   * that have come due. A failed step is reported and does not stop the others.
   */
  async poll(): Promise<void> {
    if (this.stopped) return
    const { pool, now, onError } = this.options
    await giveBackClaims(pool, now).catch(onError)
    await sendToNewAddresses(pool, now, onError).catch(onError)
    const due = await findDueAgents(pool, now).catch((error): bigint[] => {
      onError(error)
      return []
    })
    for (const agentId of due) this.waiting.set(agentId, true)
    this.pump()
  }

  /** Finishes and records what is under way, without claiming more. */
  async stop(): Promise<void> {
    this.stopped = true
    this.recorder.hurry()
    while (this.underway.size > 0) await Promise.allSettled([...this.underway])
    await this.recorder.ended()
  }

  private pump(): void {
    while (this.claims < claimsAtOnce) {
      if (this.stopped || this.options.isClosing?.()) return
      const wanted = this.nextWanted()
      if (wanted.length === 0) return
      this.track(this.claimAndSend(wanted))
    }
  }

  /**
   * The agents to claim for together: a group whose lanes are known, or one agent whose lane is not,
   * whichever has waited longest. Reserves their places.
   */
  private nextWanted(): Wanted[] {
    const wanted: Wanted[] = []
    for (const [agentId, thorough] of this.waiting) {
      if (this.places.isFull) break
      if (this.places.isReservedFor(agentId)) continue
      const lane = this.lanes.get(agentId)
      const turn = thorough ? null : (lane?.turn ?? null)
      if (turn === null && wanted.length > 0) continue
      this.waiting.delete(agentId)
      const underWay = this.places.underWayOf(agentId)
      // A claim costs nearly the same for one place as for all of them, so wait until enough are free.
      if (!thorough && lane?.refillAt !== undefined && underWay > lane.refillAt) continue
      const most = this.places.reserve(agentId)
      if (most === 0) {
        // Other agents hold the places, so the agent's next result triggers another try.
        if (lane) lane.refillAt = underWay - 1
        continue
      }
      wanted.push({ agentId, turn, most, underWay })
      if (turn === null || wanted.length === agentsAtOnce) break
    }
    return wanted
  }

  /** Sends each agent's callbacks as its claim arrives, while the other claims are still pending. */
  private async claimAndSend(wanted: readonly Wanted[]): Promise<void> {
    this.claims++
    const open = new Set(wanted)
    const sent: Promise<void>[] = []
    const end = (each: Wanted, claim?: Claim) => {
      const { agentId } = each
      open.delete(each)
      this.places.take(agentId, claim?.callbacks.length ?? 0)
      if (!claim) return
      const { turn, healthy, room, callbacks } = claim
      const half = Math.floor(this.places.underWayOf(agentId) / 2)
      const refillAt = callbacks.length < room ? undefined : half
      this.lanes.set(agentId, { turn, healthy, refillAt })
      sent.push(this.sendAll(agentId, claim))
    }
    await this.claim(wanted, (each, claim) => {
      // Another process has taken a turn or holds the lane's lock.
      if (!claim) this.waiting.set(each.agentId, true)
      end(each, claim)
    }).catch((error) => {
      // Other processes held the lane's lock for too long; the poll tries again.
      if (!isContention(error)) this.options.onError(error)
    })
    for (const each of open) end(each)
    this.claims--
    this.pump()
    await Promise.all(sent)
  }

  private async claim(
    wanted: readonly Wanted[],
    onClaim: (wanted: Wanted, claim: Claim | undefined) => void,
  ): Promise<void> {
    const { pool, now, widest } = this.options
    const options = { sender: this.name, now, widest }
    const [first] = wanted
    if (first?.turn !== null) return claimAtTurns(pool, wanted, options, onClaim)
    const firstWidth = Math.min(widest, newLane.width)
    onClaim(first, await claimThoroughly(pool, { ...first, firstWidth }, options))
  }

  private async sendAll(agentId: bigint, { callbacks, agentStamp, epochs }: Claim): Promise<void> {
    if (callbacks.length === 0) return
    const found = await this.options.agents.findById(agentId, agentStamp).catch((error) => {
      this.options.onError(error)
      return undefined
    })
    await Promise.all(callbacks.map((callback) => this.send(found, callback, epochs)))
  }

  private async send(
    found: AgentWithKeys | undefined,
    callback: ClaimedCallback,
    epochs: EventEpochs,
  ): Promise<void> {
    const { tracer, onAttempt } = this.options
    const span = tracer && spanOfAttempt(tracer, callback)
    const posted = this.post(found, callback, epochs, span)
    if (typeof posted === 'string') return this.finish({ callback, attempt: posted })
    const attempt = await posted
    span?.set({ 'sluice.reason': attempt.reason }).end(attempt.error !== null)
    onAttempt?.(attempt, callback, span)
    this.finish({ callback, attempt })
  }

  private post(
    found: AgentWithKeys | undefined,
    callback: ClaimedCallback,
    epochs: EventEpochs,
    span: Span | undefined,
  ): Promise<Attempt> | 'not_sent' | 'no_address' {
    const { poster, now, version } = this.options
    if (!found) return 'not_sent'
    const { agent } = found
    const url = callback.kind === 'deposit' ? agent.depositCallbackUrl : agent.withdrawCallbackUrl
    if (url === null) return 'no_address'
    const at = now()
    // A process that was frozen must not send what another process may be sending by now.
    if (callback.lease.leftMs() < 2 * attemptLimitMs) return 'not_sent'
    const body = Buffer.from(callback.body)
    const secrets = callbackSecrets(found)
    // Every secret was revoked: nothing leaves unsigned, and it is tried again like any other.
    if (secrets.length === 0) return Promise.resolve(unsigned(url, at))
    const headers = callbackHeaders({
      appId: agent.appId,
      kind: callback.kind,
      secrets,
      body,
      seq: callback.seq,
      epoch: epochOf(epochs, callback.seq),
      attempt: callback.attempts + 1,
      at,
      version,
    })
    return poster.post(
      url,
      span ? { ...headers, traceparent: traceparentOf(span.name) } : headers,
      body,
    )
  }

  private finish(outcome: Outcome): void {
    if (isAccepted(outcome)) {
      const { agentId } = outcome.callback
      this.places.accepted(agentId)
      if (this.lanes.get(agentId)?.refillAt !== undefined) this.toWake.add(agentId)
    }
    this.recorder.add(outcome)
  }

  private recorded(outcomes: readonly Outcome[]): void {
    for (const outcome of outcomes) {
      const { agentId } = outcome.callback
      this.places.recorded(agentId, isAccepted(outcome))
      // Callbacks that had to wait for this result can go now.
      this.toWake.add(agentId)
    }
  }

  private track(promise: Promise<unknown>): void {
    this.underway.add(promise)
    promise.finally(() => this.underway.delete(promise)).catch(() => {})
  }
}

/** The span of an attempt, in the trace of the order that its body is about. */
function spanOfAttempt(tracer: Tracer, { agentId, seq, attempts, body }: ClaimedCallback): Span {
  const orderId = orderOf(body)
  const span =
    orderId === undefined ? tracer.alone('callback') : tracer.ofOrder(orderId, 'callback', 'client')
  return span.set({
    'sluice.agent': String(agentId),
    'sluice.seq': Number(seq),
    'sluice.attempt': attempts + 1,
  })
}

/** Undefined for a body that somebody has changed in the database: it is sent as it is, and its trace is its own. */
function orderOf(body: string): string | undefined {
  try {
    return parseTxnId(JSON.parse(body).transactionId)?.orderId
  } catch {
    return undefined
  }
}

function unsigned(url: string, startedAt: Date): Attempt {
  return {
    startedAt,
    durationMs: 0,
    url,
    address: null,
    status: null,
    responseHeaders: null,
    responseBody: null,
    retryAfter: undefined,
    error: 'not sent: the agent has no secret to sign it with',
    reason: 'no_secret',
  }
}

function takeAll<T>(set: Set<T>): T[] {
  const all = [...set]
  set.clear()
  return all
}
