import { randomUUID } from 'node:crypto'
import type { AgentFinder, AgentWithKeys } from '../agents/agent-finder.ts'
import { isContention, type Pool } from '../db/pool.ts'
import { sendToNewAddresses } from './address-callbacks.ts'
import { callbackHeaders } from './callback-headers.ts'
import {
  type Claim,
  type ClaimedCallback,
  claimAtTurns,
  claimThoroughly,
  type Wanted,
} from './claim-callbacks.ts'
import { findDueAgents, giveBackClaims } from './due-agents.ts'
import { newLane } from './lane.ts'
import { type Attempt, attemptLimitMs, type CallbackPoster } from './post-callback.ts'
import { type Outcome, recordAttempts } from './record-attempts.ts'

/** How long results are gathered for, where more are to come, and how many are enough. */
const gatherMs = 8
const gathered = 128

export interface SenderOptions {
  pool: Pool
  agents: Pick<AgentFinder, 'findById'>
  poster: CallbackPoster
  now: () => Date
  random: () => number
  version: string
  /** How many of one agent's callbacks are under way at once, at most, over all processes. */
  widest: number
  /** How many this process has under way at once, with those that are not recorded yet. */
  maxInFlight: number
  onError: (error: unknown) => void
  onAttempt?: (attempt: Attempt, callback: ClaimedCallback) => void
}

/** Leaves a connection for recording. */
const claimsAtOnce = 3
/** How many agents' claims go out together on one connection. */
const agentsAtOnce = 50

/** What is known of a lane since it was last claimed from. */
interface KnownLane {
  turn: bigint
  healthy: boolean
  /** More is due than it had room for: it is looked at again when so few are under way. */
  refillAt: number | undefined
}

/**
 * Sends what is due: claim, sign, send, record. An agent with a dead address costs
 * the others nothing but its few places under way.
 */
export class CallbackSender {
  private readonly options: SenderOptions
  /** Agents to look at, in the order in which they were named, and whether thoroughly. */
  private readonly waiting = new Map<bigint, boolean>()
  private readonly claiming = new Set<bigint>()
  private readonly lanes = new Map<bigint, KnownLane>()
  private readonly name = randomUUID()
  /** Places taken, in all and by agent. */
  private inFlight = 0
  private readonly inFlightOf = new Map<bigint, number>()
  /** Claims under way, and the places that they may come to need. */
  private claims = 0
  private reserved = 0
  private outcomes: Outcome[] = []
  /** Accepted, with their places given back, and not recorded yet. */
  private unrecorded = 0
  /** Results since the last look at what they set free, and the agents to look at then. */
  private cameIn = 0
  private readonly toWake = new Set<bigint>()
  private gathering: Promise<void> | undefined
  private recording: Promise<void> | undefined
  private stopped = false
  private readonly underway = new Set<Promise<unknown>>()

  constructor(options: SenderOptions) {
    this.options = options
  }

  /** Nothing is being claimed, sent or recorded. */
  get isIdle(): boolean {
    return this.underway.size === 0 && !this.gathering && !this.recording
  }

  /** These agents have something due now. */
  wake(agentIds: Iterable<bigint>): void {
    for (const agentId of agentIds) {
      if (!this.waiting.has(agentId)) this.waiting.set(agentId, false)
    }
    this.pump()
  }

  /**
   * Looks for what nobody was woken for: claims of dead processes, new addresses, retries that have come
   * due. What fails is told of, and keeps nothing else from being done.
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

  /** Ends what is under way and records it; claims nothing more. */
  async stop(): Promise<void> {
    this.stopped = true
    while (this.underway.size > 0) await Promise.allSettled([...this.underway])
    await this.gathering
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
   * The agents to claim for together: those whose lanes are known, or one whose lane is not, whichever has
   * waited longest. Their places are taken from here on.
   */
  private nextWanted(): Wanted[] {
    const wanted: Wanted[] = []
    for (const [agentId, thorough] of this.waiting) {
      if (this.inFlight + this.reserved + this.unrecorded >= this.options.maxInFlight) break
      if (this.claiming.has(agentId)) continue
      const lane = this.lanes.get(agentId)
      const turn = thorough ? null : (lane?.turn ?? null)
      if (turn === null && wanted.length > 0) continue
      this.waiting.delete(agentId)
      const underWay = this.inFlightOf.get(agentId) ?? 0
      // A claim costs nearly the same for one place as for all of them.
      if (!thorough && lane?.refillAt !== undefined && underWay > lane.refillAt) continue
      const most = this.roomFor(agentId)
      if (most === 0) {
        // Others have the places: its own next result is the moment to look again.
        if (lane) lane.refillAt = underWay - 1
        continue
      }
      this.claiming.add(agentId)
      this.reserved += most
      wanted.push({ agentId, turn, most, underWay })
      if (turn === null || wanted.length === agentsAtOnce) break
    }
    return wanted
  }

  /** What is claimed of an agent goes out while the others' claims are still to come. */
  private async claimAndSend(wanted: readonly Wanted[]): Promise<void> {
    this.claims++
    const open = new Set(wanted)
    const sent: Promise<void>[] = []
    const end = (each: Wanted, claim?: Claim) => {
      const { agentId, most } = each
      open.delete(each)
      this.claiming.delete(agentId)
      this.reserved -= most
      if (!claim) return
      const { turn, healthy, room, callbacks } = claim
      this.occupy(callbacks, 1)
      const half = Math.floor((this.inFlightOf.get(agentId) ?? 0) / 2)
      const refillAt = callbacks.length < room ? undefined : half
      this.lanes.set(agentId, { turn, healthy, refillAt })
      sent.push(this.sendAll(agentId, claim))
    }
    await this.claim(wanted, (each, claim) => {
      // Somebody else had a turn, or has one.
      if (!claim) this.waiting.set(each.agentId, true)
      end(each, claim)
    }).catch((error) => {
      // Others had the lane for too long: the poll comes back to it.
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

  private async sendAll(agentId: bigint, { callbacks, agentStamp }: Claim): Promise<void> {
    if (callbacks.length === 0) return
    const found = await this.options.agents.findById(agentId, agentStamp).catch((error) => {
      this.options.onError(error)
      return undefined
    })
    await Promise.all(callbacks.map((callback) => this.send(found, callback)))
  }

  private async send(found: AgentWithKeys | undefined, callback: ClaimedCallback): Promise<void> {
    const posted = this.post(found, callback)
    if (typeof posted === 'string') return this.finish({ callback, attempt: posted })
    const attempt = await posted
    this.options.onAttempt?.(attempt, callback)
    this.finish({ callback, attempt })
  }

  private post(
    found: AgentWithKeys | undefined,
    callback: ClaimedCallback,
  ): Promise<Attempt> | 'not_sent' | 'no_address' {
    const { poster, now, version } = this.options
    if (!found) return 'not_sent'
    const { agent, keys } = found
    const url = callback.kind === 'deposit' ? agent.depositCallbackUrl : agent.withdrawCallbackUrl
    if (url === null) return 'no_address'
    const at = now()
    // A process that was frozen must not send what another one may be sending by now.
    if (callback.lease.leftMs() < 2 * attemptLimitMs) return 'not_sent'
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
    return poster.post(url, headers, body)
  }

  /**
   * A place is free once its callback has been accepted, recorded or not; after a failure only once the
   * lane knows of it, so that nothing more is spent on an address that is down.
   */
  private finish(outcome: Outcome): void {
    this.outcomes.push(outcome)
    this.cameIn++
    if (isAccepted(outcome)) {
      const { agentId } = outcome.callback
      this.occupy([outcome.callback], -1)
      this.unrecorded++
      if (this.lanes.get(agentId)?.refillAt !== undefined) this.toWake.add(agentId)
    }
    // Not only after all the answers that are there to be read: PostgreSQL would have nothing to do meanwhile.
    if (this.cameIn >= Math.max(this.inFlight, gathered)) this.flush()
    else this.gathering ??= this.gather()
  }

  /**
   * While most of what is under way is still to come in, a moment's wait makes a batch of it: each
   * statement, to record and to claim, costs nearly the same for one row as for fifty.
   */
  private async gather(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    if (this.cameIn < this.inFlight && !this.stopped) {
      await new Promise((resolve) => setTimeout(resolve, gatherMs))
    }
    this.gathering = undefined
    this.flush()
  }

  /** Records what came in, and claims for the places that are free. */
  private flush(): void {
    this.cameIn = 0
    this.recording ??= this.record().finally(() => {
      this.recording = undefined
    })
    const agentIds = [...this.toWake]
    this.toWake.clear()
    this.wake(agentIds)
  }

  /** Records results in batches: those that come in during one write share the next. */
  private async record(): Promise<void> {
    while (this.outcomes.length > 0) {
      // Not more: each result is matched with each claim of the batch.
      let batch = this.outcomes.splice(0, 256)
      const { pool, now, random, widest } = this.options
      try {
        await recordAttempts(pool, batch, {
          sender: this.name,
          now,
          random,
          widest,
          isHealthy: (agentId) => this.lanes.get(agentId)?.healthy ?? false,
        })
      } catch (error) {
        this.options.onError(error)
        // While the claim holds there is time to try again. What is not recorded in the end goes out
        // again: better twice than never.
        const open = batch.filter(({ callback }) => callback.lease.leftMs() > 0)
        if (open.length > 0 && !this.stopped) {
          this.outcomes.unshift(...open)
          batch = batch.filter((outcome) => !open.includes(outcome))
          await new Promise((resolve) => setTimeout(resolve, 200))
        }
      }
      for (const outcome of batch) {
        if (isAccepted(outcome)) this.unrecorded--
        else this.occupy([outcome.callback], -1)
        // Also for what was to wait until this is recorded.
        this.toWake.add(outcome.callback.agentId)
      }
      this.gathering ??= this.gather()
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
    return Math.min(widest - own, Math.max(own === 0 ? 1 : 0, share - own))
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

function isAccepted({ attempt }: Outcome): boolean {
  return typeof attempt !== 'string' && attempt.error === null
}
