import { timeToPass } from '../db/database-time.ts'
import type { Order } from '../ledger/book.ts'
import { firstOrderIdAt } from '../lib/ids.ts'
import type { Provider } from '../providers/provider.ts'
import { type PayoutDesk, routePayout } from './pay-out.ts'
import { payoutsThatWait } from './payout-approval.ts'
import type { PayoutLane } from './payout-lane.ts'
import { findAgentsToHandOver, findToHandOver } from './payouts.ts'

/** How long the process that created an order may offer it before others look for it. */
const headStartMs = 2_000
const pageSize = 256
/** Orders created within this time are read on every look; all others only every so often. */
const recentMs = 60_000
const everythingEveryMs = 5_000
/**
 * Limits the pages read per agent, and the time one look spends on all orders, so that a backlog does not
 * delay other agents.
 */
const pagesAtOnce = 40
const everythingMs = 500
/** A full pass is followed by a pause of at least this many times its duration. */
const share = 10
/** The sweep reads on for an agent when fewer than this many of its orders wait. */
const lowWater = 64

const start = '0'.repeat(32)

interface SweepOptions {
  isKnown: (orderId: string) => boolean
  isStopped: () => boolean
  laneOf: (provider: string) => PayoutLane
  take: (order: Order, provider: Provider) => void
  onError: (error: unknown) => void
}

/**
 * Finds withdrawals that no process has handed over, agent by agent. It skips orders for a provider that has
 * no room, remembers where that began, and resumes there once there is room again.
 */
export class PayoutSweep {
  private readonly desk: PayoutDesk
  private readonly options: SweepOptions
  /** By agent and provider: the order after which there was no more room. */
  private readonly leftAt = new Map<bigint, Map<string, string>>()
  private readonly reading = new Map<bigint, Promise<unknown>>()
  /** The agents still to be read in the current full pass; `aheadFrom` is the position in the first. */
  private ahead: bigint[] = []
  private aheadFrom = start
  private aheadTookMs = 0
  private everythingAtMs = Number.NEGATIVE_INFINITY

  constructor(desk: PayoutDesk, options: SweepOptions) {
    this.desk = desk
    this.options = options
  }

  /** Reads the recent orders and, when it is time, a part of all orders. */
  async look(): Promise<void> {
    const recent = firstOrderIdAt(new Date(this.desk.now().getTime() - recentMs))
    const agentIds = await findAgentsToHandOver(this.desk.pool)
    for (const agentId of agentIds) {
      await this.apart(async () => {
        const left = [...this.leftOf(agentId).keys()]
        for (const provider of left) await this.resume(agentId, provider)
        await this.read(agentId, recent, this.everybody)
      })
    }
    await this.lookAtEverything(agentIds)
  }

  /** Called when a call has left the queue: reads on if few calls wait and orders were skipped. */
  goOn(agentId: bigint, provider: string): void {
    if (this.reading.has(agentId) || this.options.isStopped()) return
    if (this.options.laneOf(provider).waitingOf(agentId) >= lowWater) return
    this.resume(agentId, provider).catch(this.options.onError)
  }

  /** Resolves when no read is under way. */
  async stopped(): Promise<void> {
    await Promise.allSettled(this.reading.values())
  }

  private async lookAtEverything(agentIds: bigint[]): Promise<void> {
    const began = performance.now()
    if (this.ahead.length === 0) {
      if (began < this.everythingAtMs) return
      this.ahead = agentIds
      this.aheadFrom = start
      this.aheadTookMs = 0
    }
    while (!this.options.isStopped() && performance.now() - began < everythingMs) {
      const [agentId] = this.ahead
      if (agentId === undefined) break
      const after = await this.apart(() => this.read(agentId, this.aheadFrom, this.everybody))
      this.aheadFrom = after ?? start
      if (after === undefined) this.ahead = this.ahead.slice(1)
    }
    const ended = performance.now()
    this.aheadTookMs += ended - began
    this.everythingAtMs = ended + Math.max(everythingEveryMs, share * this.aheadTookMs)
  }

  /** Reports an error with one agent's orders, so that the others are still read. */
  private apart<T>(work: () => Promise<T>): Promise<T | undefined> {
    return work().catch((error) => {
      this.options.onError(error)
      return undefined
    })
  }

  private get everybody(): string[] {
    return this.desk.providers.all.map(({ name }) => name)
  }

  private leftOf(agentId: bigint): Map<string, string> {
    const left = this.leftAt.get(agentId) ?? new Map<string, string>()
    this.leftAt.set(agentId, left)
    return left
  }

  private hasRoom(agentId: bigint, provider: string): boolean {
    return this.options.laneOf(provider).hasRoomFor(agentId)
  }

  /**
   * Resumes where a provider ran out of room, until it does so again. Other providers' orders beyond that
   * point have already been read.
   */
  private async resume(agentId: bigint, provider: string): Promise<void> {
    const left = this.leftOf(agentId)
    const after = left.get(provider)
    if (after === undefined || !this.hasRoom(agentId, provider)) return
    left.delete(provider)
    let readTo: string | undefined = after
    try {
      readTo = await this.read(agentId, after, [provider])
    } finally {
      if (readTo !== undefined) leaveAt(left, provider, readTo)
    }
    if (readTo !== undefined) this.goOn(agentId, provider)
  }

  /**
   * Reads some pages of an agent's orders, after any read already under way. Returns where to continue, if
   * there is more.
   */
  private read(
    agentId: bigint,
    after: string,
    wanted: readonly string[],
  ): Promise<string | undefined> {
    const before = this.reading.get(agentId) ?? Promise.resolve()
    const reading = before
      // The caller of the earlier read handles its errors.
      .catch(() => {})
      .then(() => this.readPages(agentId, after, wanted))
      .finally(() => {
        if (this.reading.get(agentId) === reading) this.reading.delete(agentId)
      })
    this.reading.set(agentId, reading)
    // Room may have become free during the read without another trigger. After an error, the next look
    // retries.
    const goOn = () => {
      for (const provider of this.leftOf(agentId).keys()) this.goOn(agentId, provider)
    }
    reading.then(goOn, () => {})
    return reading
  }

  private async readPages(
    agentId: bigint,
    after: string,
    wanted: readonly string[],
  ): Promise<string | undefined> {
    const { desk, options } = this
    const left = this.leftOf(agentId)
    const isFull = (provider: string) => !this.hasRoom(agentId, provider)
    let last = after
    for (let pages = 0; pages < pagesAtOnce && !options.isStopped(); pages++) {
      const at = timeToPass(desk.now)
      const page = await findToHandOver(desk.pool, agentId, last, at, headStartMs, pageSize)
      // Those that wait for a person or a time are passed over together.
      const waiting = desk.providers.asksBeforePayouts
        ? await payoutsThatWait(desk, page)
        : undefined
      for (const order of page) {
        const isLeft = waiting?.has(order.orderId) || options.isKnown(order.orderId)
        const provider = isLeft ? undefined : await this.route(order)
        if (provider && !isFull(provider.name)) options.take(order, provider)
        else if (provider) leaveAt(left, provider.name, last)
        last = order.orderId
      }
      if (page.length < pageSize) return undefined
      // No provider has room for more of this agent's orders; the rest is read once one has.
      if (wanted.every(isFull)) {
        for (const name of wanted) leaveAt(left, name, last)
        return undefined
      }
    }
    return last
  }

  /** An order that cannot be routed does not hold up those behind it. */
  private route(order: Order): Promise<Provider | undefined> {
    return this.apart(() => routePayout(this.desk, order))
  }
}

/** Keeps the earliest position, so that no skipped order is forgotten. */
function leaveAt(left: Map<string, string>, provider: string, after: string): void {
  const before = left.get(provider)
  if (before === undefined || after < before) left.set(provider, after)
}
