import { setMaxListeners } from 'node:events'
import { timeToPass } from '../db/database-time.ts'
import type { Order } from '../ledger/book.ts'
import { findDuePayouts, findStrandedPayouts, type PayoutAttempt } from '../ledger/payouts.ts'
import type { Provider } from '../providers/provider.ts'
import {
  ask,
  type CallWatch,
  handOver,
  isStillRouted,
  type PayoutDesk,
  routePayout,
  submit,
} from './pay-out.ts'
import { PayoutLane } from './payout-lane.ts'
import { PayoutSweep } from './payout-sweep.ts'

type PassedOn = Parameters<NonNullable<CallWatch['passOn']>>

const pageSize = 200
/** How often payouts are looked for whose provider is not set up here. */
const strandedEveryMs = 60_000

/**
 * Takes withdrawals to providers and asks after them. Each provider has places of its own for either, so
 * that one which hangs holds up nobody else, and its agents take turns. Any number of processes may run
 * one: the teller lets one of them hand a withdrawal over, and one of them asks each question.
 */
export class PayoutRunner {
  private readonly desk: PayoutDesk
  private readonly places: number
  private readonly onError: (error: unknown) => void
  /** By order: what waits for a place, is being handed over or asked about. */
  private readonly underway = new Map<string, Promise<void>>()
  private readonly handing = new Map<string, PayoutLane>()
  private readonly asking = new Map<string, PayoutLane>()
  /** How many were refused by one provider and wait for another, or are with it now. */
  private passedOn = 0
  /** Providers whose questions are being looked for. */
  private readonly reading = new Set<string>()
  private readonly stopping = new AbortController()
  private readonly sweep: PayoutSweep
  private strandedAtMs = Number.NEGATIVE_INFINITY

  /** `places`: calls of each kind under way at each provider. */
  constructor(desk: PayoutDesk, places: number, onError: (error: unknown) => void) {
    this.desk = desk
    this.places = places
    this.onError = onError
    this.sweep = new PayoutSweep(desk, {
      isKnown: (orderId) => this.underway.has(orderId),
      isStopped: () => this.stopping.signal.aborted,
      laneOf: (provider) => laneOf(this.handing, provider, places),
      take: (order, provider) => this.hold(order.orderId, () => this.inLane(order, provider)),
      onError,
    })
    // Every call under way listens.
    setMaxListeners(0, this.stopping.signal)
  }

  /** A withdrawal that is new. Where there is no room for it now, the sweep finds it. */
  offer(order: Order): void {
    this.hold(order.orderId, async () => {
      const provider = await routePayout(this.desk, order)
      if (!provider) return
      const lane = laneOf(this.handing, provider.name, this.places)
      if (lane.hasRoomFor(order.agentId)) await this.inLane(order, provider)
    })
  }

  /** Looks for questions that have come due, and for what nobody has taken up. */
  async poll(): Promise<'done'> {
    await Promise.all(this.desk.providers.all.map(({ name }) => this.askDue(name)))
    if (performance.now() - this.strandedAtMs >= strandedEveryMs) await this.askStranded()
    await this.sweep.look()
    return 'done'
  }

  /** Breaks calls off; what became of them is asked later, by whoever runs then. */
  async stop(): Promise<void> {
    this.stopping.abort(new Error('The service was stopped during the call.'))
    for (const lane of [...this.handing.values(), ...this.asking.values()]) lane.clear()
    await this.sweep.stopped()
    while (this.underway.size > 0) await Promise.allSettled(this.underway.values())
  }

  /** An order is in one place at a time. */
  private hold(orderId: string, work: () => Promise<void>, then?: () => void): void {
    if (this.underway.has(orderId) || this.stopping.signal.aborted) return
    const running = work()
      .catch(this.onError)
      .finally(() => {
        this.underway.delete(orderId)
        then?.()
      })
    this.underway.set(orderId, running)
  }

  /**
   * Waits for a place at the provider, and there hands the order over. Where it says no for sure and
   * another may have it, that one's place is waited for next.
   */
  private async inLane(order: Order, provider: Provider, refused?: PayoutAttempt): Promise<void> {
    const lane = laneOf(this.handing, provider.name, this.places)
    let next: PassedOn | undefined
    await lane.run(order.agentId, async () => {
      this.sweep.goOn(order.agentId, provider.name)
      // It may have been switched off meanwhile: then it is routed anew when it is looked for again.
      if (!(await isStillRouted(this.desk, order, provider))) return
      const taken = await handOver(this.desk, order, provider, refused)
      const passOn: CallWatch['passOn'] = (...given) => {
        next = given
      }
      if (taken) await submit(this.desk, taken, order, { ...this.watchOn(lane), passOn })
    })
    await this.passOn(next)
  }

  private async passOn(given: PassedOn | undefined): Promise<void> {
    if (!given || this.stopping.signal.aborted) return
    this.passedOn++
    await this.inLane(...given).finally(() => this.passedOn--)
  }

  /** Asks as many questions of a provider as it has places for, and goes on as they end. */
  private async askDue(provider: string): Promise<void> {
    const lane = laneOf(this.asking, provider, this.places)
    const limit = Math.min(pageSize, lane.free)
    if (limit === 0 || this.reading.has(provider) || this.stopping.signal.aborted) return
    this.reading.add(provider)
    try {
      const at = timeToPass(this.desk.now)
      // What waits for another provider may be due at this one all the while: others come behind it.
      const found = await findDuePayouts(this.desk.pool, provider, at, limit + this.passedOn)
      const due = found.filter(({ orderId }) => !this.underway.has(orderId)).slice(0, limit)
      const goOn = () => {
        if (due.length < limit || lane.free < this.places / 2) return
        this.askDue(provider).catch(this.onError)
      }
      for (const payout of due) this.hold(payout.orderId, () => this.ask(payout, lane), goOn)
    } finally {
      this.reading.delete(provider)
    }
  }

  private async ask(payout: PayoutAttempt, lane: PayoutLane): Promise<void> {
    let next: PassedOn | undefined
    const passOn: CallWatch['passOn'] = (...given) => {
      next = given
    }
    await lane.run(payout.agentId, () => ask(this.desk, payout, { ...this.watchOn(lane), passOn }))
    await this.passOn(next)
  }

  private async askStranded(): Promise<void> {
    this.strandedAtMs = performance.now()
    const setUp = this.desk.providers.all.map(({ name }) => name)
    const at = timeToPass(this.desk.now)
    const lane = laneOf(this.asking, '', this.places)
    for (const payout of await findStrandedPayouts(this.desk.pool, setUp, at, pageSize)) {
      this.hold(payout.orderId, () => this.ask(payout, lane))
    }
  }

  private watchOn(lane: PayoutLane): CallWatch {
    return { signal: this.stopping.signal, onCall: (isAnswered) => lane.ended(isAnswered) }
  }
}

function laneOf(lanes: Map<string, PayoutLane>, provider: string, places: number): PayoutLane {
  const lane = lanes.get(provider) ?? new PayoutLane(places)
  lanes.set(provider, lane)
  return lane
}
