import { setMaxListeners } from 'node:events'
import { timeToPass } from '../db/database-time.ts'
import type { Order } from '../ledger/book.ts'
import type { Provider } from '../providers/provider.ts'
import {
  ask,
  type CallWatch,
  goingOnMs,
  handOver,
  isStillRouted,
  type PayoutDesk,
  routePayout,
  submit,
} from './pay-out.ts'
import { PayoutLane } from './payout-lane.ts'
import { PayoutSweep } from './payout-sweep.ts'
import { claimPayout, findDuePayouts, findStrandedPayouts, type PayoutAttempt } from './payouts.ts'

type PassedOn = Parameters<NonNullable<CallWatch['passOn']>>

const pageSize = 200
/** How often to look for payouts whose provider is not configured. */
const strandedEveryMs = 60_000

/**
 * Hands withdrawals to providers and asks about their outcomes. Each provider has separate places for both,
 * so a provider that hangs does not hold up the others, and agents take turns. Any number of processes may
 * run a runner: the teller lets only one of them hand over a withdrawal, and only one asks each question.
 */
export class PayoutRunner {
  private readonly desk: PayoutDesk
  private readonly places: number
  private readonly onError: (error: unknown) => void
  /** By order: payouts that wait for a place, are being handed over, or are being asked about. */
  private readonly underway = new Map<string, Promise<void>>()
  private readonly handing = new Map<string, PayoutLane>()
  private readonly asking = new Map<string, PayoutLane>()
  /** How many payouts one provider refused that now wait for another, or are with it. */
  private passedOn = 0
  /** Providers whose due questions are being read. */
  private readonly reading = new Set<string>()
  private readonly stopping = new AbortController()
  private readonly sweep: PayoutSweep
  private strandedAtMs = Number.NEGATIVE_INFINITY

  /** `places` is the number of concurrent calls of each kind per provider. */
  constructor(desk: PayoutDesk, places: number, onError: (error: unknown) => void) {
    this.desk = desk
    this.places = places
    this.onError = onError
    this.sweep = new PayoutSweep(desk, {
      isKnown: (orderId) => this.underway.has(orderId),
      isStopped: () => this.stopping.signal.aborted,
      laneOf: (provider) => laneOf(this.handing, provider, this.placesAt(provider)),
      take: (order, provider) => this.hold(order.orderId, () => this.inLane(order, provider)),
      onError,
    })
    // Every call under way adds a listener.
    setMaxListeners(0, this.stopping.signal)
  }

  /** Accepts a new withdrawal. If there is no room for it now, the sweep finds it later. */
  offer(order: Order): void {
    this.hold(order.orderId, async () => {
      const provider = await routePayout(this.desk, order)
      if (!provider) return
      const lane = laneOf(this.handing, provider.name, this.placesAt(provider.name))
      if (lane.hasRoomFor(order.agentId)) await this.inLane(order, provider)
    })
  }

  /**
   * Accepts a withdrawal that a provider refused in a notice, for the next one. Should this process die while it
   * waits for a place, the provider that refused it is asked soon.
   */
  take(order: Order, provider: Provider, refused: PayoutAttempt): void {
    // A question under way about the same order would keep it, and not know of the refusal for an hour.
    const running = this.underway.get(order.orderId)
    if (running !== undefined) {
      void running.then(() => this.take(order, provider, refused))
      return
    }
    this.hold(order.orderId, async () => {
      const at = timeToPass(this.desk.now)
      const taken = await claimPayout(this.desk.pool, refused, refused, at, goingOnMs)
      if (taken) await this.passOn([order, provider, taken])
    })
  }

  /** Looks for questions that have come due, and for withdrawals that no process has handed over. */
  async poll(): Promise<'done'> {
    const isDue = performance.now() - this.strandedAtMs >= strandedEveryMs
    const steps = [
      ...this.desk.providers.all.map(({ name }) => this.askDue(name)),
      ...(isDue ? [this.askStranded()] : []),
      this.sweep.look(),
    ]
    // One that fails keeps none of the others from running.
    await Promise.all(steps.map((step) => step.catch(this.onError)))
    return 'done'
  }

  /** Aborts calls. Whichever process runs later asks about their outcomes. */
  async stop(): Promise<void> {
    this.stopping.abort(new Error('The service was stopped during the call.'))
    for (const lane of [...this.handing.values(), ...this.asking.values()]) lane.clear()
    await this.sweep.stopped()
    while (this.underway.size > 0) await Promise.allSettled(this.underway.values())
  }

  /** Ensures that an order is in only one place at a time. */
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
   * Waits for a place at the provider and hands the order over. If that provider definitely refuses it and
   * another is eligible, waits for a place at that one next.
   */
  private async inLane(order: Order, provider: Provider, refused?: PayoutAttempt): Promise<void> {
    const lane = laneOf(this.handing, provider.name, this.placesAt(provider.name))
    let next: PassedOn | undefined
    await lane.run(order.agentId, async () => {
      this.sweep.goOn(order.agentId, provider.name)
      // The provider may have been switched off in the meantime; the sweep then routes the order again.
      if (!(await isStillRouted(this.desk, order, provider))) return
      const taken = await handOver(this.desk, order, provider, { insteadOf: refused })
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

  /** Asks a provider as many questions as it has places for, and continues as they end. */
  private async askDue(provider: string): Promise<void> {
    const lane = laneOf(this.asking, provider, this.placesAt(provider))
    const limit = Math.min(pageSize, lane.free)
    if (limit === 0 || this.reading.has(provider) || this.stopping.signal.aborted) return
    this.reading.add(provider)
    try {
      const at = timeToPass(this.desk.now)
      // Payouts that wait for another provider may still be due at this one, so read past them.
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

  /** A connector may want fewer calls at once. */
  private placesAt(provider: string): number {
    return Math.min(this.places, this.desk.providers.find(provider)?.callsAtOnce ?? this.places)
  }

  private watchOn(lane: PayoutLane): CallWatch {
    return { signal: this.stopping.signal, onCall: (isAnswered) => lane.ended(isAnswered) }
  }
}

function laneOf(lanes: Map<string, PayoutLane>, provider: string, places: number): PayoutLane {
  const lane = lanes.get(provider) ?? new PayoutLane(places)
  lane.places = places
  lanes.set(provider, lane)
  return lane
}
