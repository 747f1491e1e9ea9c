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
  private readonly reading = new Map<bigint, Promise<void>>()
  private everythingAtMs = Number.NEGATIVE_INFINITY

  constructor(desk: PayoutDesk, options: SweepOptions) {
    this.desk = desk
    this.options = options
  }

  /** Looks at what is new and, where it is time, at everything. */
  async look(): Promise<void> {
    const began = performance.now()
    const isTime = began >= this.everythingAtMs
    const from = isTime ? start : firstOrderIdAt(new Date(this.desk.now().getTime() - recentMs))
    for (const agentId of await findAgentsToHandOver(this.desk.pool)) {
      await this.reading.get(agentId)
      const left = this.leftAt.get(agentId) ?? []
      const roomy = [...left].filter(([provider]) => this.hasRoom(agentId, provider))
      await this.read(agentId, [from, ...roomy.map(([, after]) => after)].sort()[0] ?? from)
    }
    if (!isTime) return
    const tookMs = performance.now() - began
    this.everythingAtMs = performance.now() + Math.max(everythingEveryMs, share * tookMs)
  }

  /** A place was taken at a provider: where little else waits and more was left, it is read now. */
  goOn(agentId: bigint, provider: string): void {
    const leftAt = this.leftAt.get(agentId)?.get(provider)
    if (leftAt === undefined || this.reading.has(agentId) || this.options.isStopped()) return
    if (!this.hasRoom(agentId, provider)) return
    if (this.options.laneOf(provider).waitingOf(agentId) >= lowWater) return
    this.read(agentId, leftAt).catch(this.options.onError)
  }

  private hasRoom(agentId: bigint, provider: string): boolean {
    return this.options.laneOf(provider).hasRoomFor(agentId)
  }

  /** Resolves when nothing is being read any more. */
  async stopped(): Promise<void> {
    await Promise.allSettled(this.reading.values())
  }

  private read(agentId: bigint, after: string): Promise<void> {
    const reading = this.readPages(agentId, after).finally(() => {
      this.reading.delete(agentId)
      // There may be room again by now, and nobody who says so.
      for (const provider of this.leftAt.get(agentId)?.keys() ?? []) this.goOn(agentId, provider)
    })
    this.reading.set(agentId, reading)
    return reading
  }

  private async readPages(agentId: bigint, after: string): Promise<void> {
    const { desk, options } = this
    const left = this.leftAt.get(agentId) ?? new Map<string, string>()
    this.leftAt.set(agentId, left)
    const isFull = (provider: string) => !this.hasRoom(agentId, provider)
    for (const provider of left.keys()) if (!isFull(provider)) left.delete(provider)
    for (let last = after; !options.isStopped(); ) {
      const at = timeToPass(desk.now)
      const page = await findToHandOver(desk.pool, agentId, last, at, headStartMs, pageSize)
      for (const order of page) {
        const provider = options.isKnown(order.orderId) ? undefined : await routePayout(desk, order)
        if (provider && !isFull(provider.name)) options.take(order, provider)
        else if (provider && !left.has(provider.name)) left.set(provider.name, last)
        last = order.orderId
      }
      if (page.length < pageSize) return
      // Nobody has room for more of this agent's: what is left is read when somebody has.
      if (desk.providers.all.every(({ name }) => isFull(name))) {
        for (const { name } of desk.providers.all) if (!left.has(name)) left.set(name, last)
        return
      }
    }
  }
}
