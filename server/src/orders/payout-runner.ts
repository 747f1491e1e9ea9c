import { setMaxListeners } from 'node:events'
import type { Order } from '../ledger/book.ts'
import { findDuePayouts, findToHandOver, type PayoutAttempt } from '../ledger/payouts.ts'
import { ask, handOver, type PayoutDesk, submit } from './pay-out.ts'

/** What a new order is given to be offered by whoever took it, before others look for it. */
const headStartMs = 2_000
const pageSize = 200
/** How often everything that nobody has taken is looked at again. */
const sweepEveryMs = 5_000

const start = { agentId: 0n, orderId: '0'.repeat(32) }

/**
 * Takes withdrawals to providers and asks after them. Any number of processes may run one: the teller
 * lets one of them hand a withdrawal over, and one of them asks each question.
 */
export class PayoutRunner {
  private readonly desk: PayoutDesk
  private readonly maxInFlight: number
  private readonly onError: (error: unknown) => void
  /** By order: what is being handed over or asked about. */
  private readonly underway = new Map<string, Promise<void>>()
  private asking = 0
  private readonly stopping = new AbortController()
  private cursor = start
  private sweptAtMs = Number.NEGATIVE_INFINITY

  /** `maxInFlight` calls of each kind: a provider that answers no questions must not stop the others. */
  constructor(desk: PayoutDesk, maxInFlight: number, onError: (error: unknown) => void) {
    this.desk = desk
    this.maxInFlight = maxInFlight
    this.onError = onError
    // Every call under way listens.
    setMaxListeners(2 * maxInFlight, this.stopping.signal)
  }

  /** A withdrawal that is new. Where there is no room for it now, `poll` finds it. */
  offer(order: Order): void {
    if (this.room > 0) this.run(order.orderId, () => this.payOut(order))
  }

  /** Looks for what nobody has taken up, and for questions that have come due. */
  async poll(): Promise<'done' | 'more'> {
    const { pool, now } = this.desk
    for (const payout of await findDuePayouts(pool, now(), pageSize)) {
      if (this.asking < this.maxInFlight) this.run(payout.orderId, () => this.ask(payout))
    }
    if (this.cursor === start && performance.now() - this.sweptAtMs < sweepEveryMs) return 'done'
    // No more than there is room for: the next page begins behind the last one taken up.
    const room = Math.min(pageSize, this.room)
    if (room <= 0) return 'done'
    if (this.cursor === start) this.sweptAtMs = performance.now()
    const before = new Date(now().getTime() - headStartMs)
    const orders = await findToHandOver(pool, this.cursor, before, room)
    for (const order of orders) this.offer(order)
    this.cursor = (orders.length === room && orders.at(-1)) || start
    return this.cursor !== start && this.room > 0 ? 'more' : 'done'
  }

  /** Breaks calls off; what became of them is asked later, by whoever runs then. */
  async stop(): Promise<void> {
    this.stopping.abort(new Error('The service was stopped during the call.'))
    while (this.underway.size > 0) await Promise.allSettled(this.underway.values())
  }

  private run(orderId: string, work: () => Promise<void>): void {
    if (this.underway.has(orderId) || this.stopping.signal.aborted) return
    const running = work()
      .catch(this.onError)
      .finally(() => this.underway.delete(orderId))
    this.underway.set(orderId, running)
  }

  /** How many more can be handed over now. */
  private get room(): number {
    return this.maxInFlight - (this.underway.size - this.asking)
  }

  private async ask(payout: PayoutAttempt): Promise<void> {
    this.asking++
    try {
      await ask(this.desk, payout, this.stopping.signal)
    } finally {
      this.asking--
    }
  }

  private async payOut(order: Order): Promise<void> {
    const attempt = await handOver(this.desk, order)
    if (attempt) await submit(this.desk, attempt, order, this.stopping.signal)
  }
}
