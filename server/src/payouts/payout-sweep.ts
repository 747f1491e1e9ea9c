import { timeToPass } from '../db/database-time.ts'
import type { Order } from '../ledger/book.ts'
import { firstOrderIdAt } from '../lib/ids.ts'
import type { Provider } from '../providers/provider.ts'
import { type PayoutDesk, routePayout } from './pay-out.ts'
import type { PayoutLane } from './payout-lane.ts'
import { findAgentsToHandOver, findToHandOver } from './payouts.ts'

/** What a new order is given to be offered by whoever took it, before others look for it. */
const headStartMs = 2_000
const pageSize = 256
/** What was created within this time is looked for at every look; everything, now and then. */
const recentMs = 60_000
const everythingEveryMs = 5_000
/** So many pages of an agent's at once, and so long for everything at a look: no backlog keeps others waiting. */
const pagesAtOnce = 40
const everythingMs = 500
/** Looking at everything takes at most about this part of the time. */
const share = 10
/** Where fewer than this wait of an agent, the sweep goes on for it. */
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
 * Finds withdrawals that nobody has taken, agent by agent. Reads past what belongs to a provider with no
 * more room, remembers where that began, and goes on from there when there is room again.
 */
export class PayoutSweep {
  private readonly desk: PayoutDesk
  private readonly options: SweepOptions
  /** By agent and provider: after which order there was no more room. */
  private readonly leftAt = new Map<bigint, Map<string, string>>()
  private readonly reading = new Map<bigint, Promise<unknown>>()
  /** Whose orders are still to be looked at until everything was; of the first, from where on. */
  private ahead: bigint[] = []
  private aheadFrom = start
  private aheadTookMs = 0
  private everythingAtMs = Number.NEGATIVE_INFINITY

  constructor(desk: PayoutDesk, options: SweepOptions) {
    this.desk = desk
    this.options = options
  }

  /** Looks at what is new and, where it is time, at some of everything. */
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

  /** A place was taken at a provider: where little else waits and more was left, it is read now. */
  goOn(agentId: bigint, provider: string): void {
    if (this.reading.has(agentId) || this.options.isStopped()) return
    if (this.options.laneOf(provider).waitingOf(agentId) >= lowWater) return
    this.resume(agentId, provider).catch(this.options.onError)
  }

  /** Resolves when nothing is being read any more. */
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

  /** What goes wrong with one agent's orders is told of, and the others are looked at. */
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

  /** Goes on where a provider had no more room, until it has none again: the others were read past it. */
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

  /** Reads some pages of an agent's orders, after whoever does so now. Returns where there are more. */
  private read(
    agentId: bigint,
    after: string,
    wanted: readonly string[],
  ): Promise<string | undefined> {
    const before = this.reading.get(agentId) ?? Promise.resolve()
    const reading = before
      // Whoever began it hears of its faults.
      .catch(() => {})
      .then(() => this.readPages(agentId, after, wanted))
      .finally(() => {
        if (this.reading.get(agentId) === reading) this.reading.delete(agentId)
      })
    this.reading.set(agentId, reading)
    // There may be room again by then, and nobody who says so. After a fault it is left to the next look.
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
      for (const order of page) {
        const provider = options.isKnown(order.orderId) ? undefined : await this.route(order)
        if (provider && !isFull(provider.name)) options.take(order, provider)
        else if (provider) leaveAt(left, provider.name, last)
        last = order.orderId
      }
      if (page.length < pageSize) return undefined
      // Nobody has room for more of this agent's: what is left is read when somebody has.
      if (wanted.every(isFull)) {
        for (const name of wanted) leaveAt(left, name, last)
        return undefined
      }
    }
    return last
  }

  /** An order that cannot be routed holds up none behind it. */
  private route(order: Order): Promise<Provider | undefined> {
    return this.apart(() => routePayout(this.desk, order))
  }
}

/** Nothing after the first order that there was no room for is forgotten. */
function leaveAt(left: Map<string, string>, provider: string, after: string): void {
  const before = left.get(provider)
  if (before === undefined || after < before) left.set(provider, after)
}
