import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { findByCode } from '../connectors/deposit-codes.ts'
import { timeToPass } from '../db/database-time.ts'
import { isArchivedOrder } from '../ledger/archived.ts'
import { costKey } from '../ledger/decide-house.ts'
import { findOrder } from '../ledger/find-order.ts'
import { findNamedPayouts } from '../ledger/payout-references.ts'
import { readJournalByKey } from '../ledger/read-journal.ts'
import { gather } from '../lib/gather.ts'
import { parseTxnId } from '../lib/ids.ts'
import { maxBalanceMinor, sizeOf } from '../lib/money.ts'
import { Problem } from '../lib/problem.ts'
import { type CallWatch, confirm, type Effect, meansUnpaid, settle } from '../payouts/pay-out.ts'
import { findPayout, whyInDoubt } from '../payouts/payouts.ts'
import type { Provider, ProviderEvent } from '../providers/provider.ts'
import type { Desk } from '../teller/desk.ts'
import { confirmedEvent, isWithinTokenLimits } from './by-token.ts'
import { eventFromText, eventText, ownEventId, storable } from './event-text.ts'
import {
  claimDueEvents,
  type EventKey,
  eventsPerAgent,
  finishEvents,
  laneOfEvent,
  type NoticeEvent,
  type NoticeRecord,
  postponeEvent,
  type RecordedEvent,
  recordNotices,
} from './notice-events.ts'
import { isItsOrder, providerRights, rightsFault } from './provider-rights.ts'
import { bookAtOnce, effectOf, takeBack, takePayment } from './take-payment.ts'

type NoticeDesk = Pick<Desk, 'pool' | 'teller' | 'now' | 'providers' | 'tracer'>

/** The result of an event; an open one is processed automatically later. */
export type Told = Effect | { result: 'open'; detail: string }

/** After this time a notice is answered, since it is on disk; unprocessed events are left over. */
const actedOnForMs = 15_000

/** A notice that is not booked within this time, because its wallet is locked, is recorded meanwhile. */
const atOnceMs = 5_000

/** How long a round waits for its leftover events; those that take longer keep only their own agent's places. */
const roundMs = 500

/**
 * Takes providers' notices: stores all events before it processes any of them, each separately. Only a notice of one
 * payment is stored together with what it leads to.
 */
export class NoticeTaker {
  private readonly desk: NoticeDesk
  private readonly onError: (error: unknown) => void
  /** By provider: the notices of one never wait for those of another. */
  private readonly records = new Map<string, (notice: NoticeRecord) => Promise<RecordedEvent[]>>()
  private readonly finishes = new Map<
    string,
    (done: { key: EventKey; effect: Effect }) => Promise<undefined>
  >()
  private readonly passOn: CallWatch['passOn']
  /** By agent and provider: leftover events in progress. */
  private readonly underWay = new Map<string, Set<Promise<unknown>>>()

  /**
   * `passOn` hands a refused payout to the next provider, within that provider's places. A process without it
   * leaves such an event to one that has it.
   */
  constructor(desk: NoticeDesk, onError: (error: unknown) => void, passOn?: CallWatch['passOn']) {
    this.desk = desk
    this.onError = onError
    this.passOn = passOn
  }

  private record(notice: NoticeRecord): Promise<RecordedEvent[]> {
    const record =
      this.records.get(notice.provider) ??
      gather((notices: NoticeRecord[]) =>
        recordNotices(this.desk.pool, notices, timeToPass(this.desk.now)),
      )
    this.records.set(notice.provider, record)
    return record(notice)
  }

  private finish(done: { key: EventKey; effect: Effect }): Promise<undefined> {
    const { provider } = done.key
    const finish =
      this.finishes.get(provider) ??
      gather((done: { key: EventKey; effect: Effect }[]) => finishEvents(this.desk.pool, done))
    this.finishes.set(provider, finish)
    return finish(done)
  }

  /**
   * Returns the result of each event. Throws if they could not be stored; the provider must then send them
   * again.
   */
  async take(
    provider: Provider,
    told: ProviderEvent[],
    body: Buffer,
  ): Promise<({ id: string } & Told)[]> {
    // A notice may be of no interest.
    if (told.length === 0) return []
    const events = await withIds(this.desk, told)
    // A payment without a time of its own is judged by this, however long the rest takes.
    const receivedAt = this.desk.now()
    const booked = await this.takeAtOnce(provider, events, body, receivedAt)
    if (booked) return [booked]
    const effects: ({ id: string } & Told)[] = []
    let lost: string | undefined
    const started = performance.now()
    // In the order in which the provider reports them.
    const kept = await this.keep(provider, events.map(storable), body, receivedAt)
    for (const [at, recorded] of kept.entries()) {
      const { event, before, receivedAt } = recorded
      const isOver = recorded.kept !== 'nothing' && performance.now() - started > actedOnForMs
      const effect =
        before ??
        (isOver
          ? await this.leave(recorded, 'The events before it took long; it is acted on by itself.')
          : await this.actOn(provider, recorded, () => event, receivedAt))
      if (effect.result === 'open' && recorded.kept === 'nothing') lost = effect.detail
      // The provider knows the event by the id that it sent, which may not be storable.
      effects.push({ id: events[at]?.id ?? event.id, ...effect })
    }
    // Nothing is on disk, so no process could act on it later.
    if (lost !== undefined) throw new Problem('overloaded', lost, later)
    return effects
  }

  /**
   * Books a notice of one payment and records it, in one transaction instead of three. Undefined if that cannot be, is
   * refused, fails or takes long: the notice then goes the way of all others, which finds out if it was booked after all.
   */
  private async takeAtOnce(
    provider: Provider,
    [first, ...others]: ProviderEvent[],
    body: Buffer,
    receivedAt: Date,
  ): Promise<({ id: string } & Told) | undefined> {
    if (first?.type !== 'payment' || first.byToken || others.length > 0) return undefined
    const event = storable(first)
    if (event.type !== 'payment') return undefined
    const notice = {
      noticeId: randomUUID(),
      receivedAt,
      event: eventText(event),
      body: body.toString('base64'),
    }
    let timer: NodeJS.Timeout | undefined
    const effect = await Promise.race([
      bookAtOnce(this.desk, provider, event, notice).catch((error) => {
        if (!(error instanceof Problem)) this.onError(error)
        return undefined
      }),
      new Promise<undefined>((resolve) => {
        timer = setTimeout(() => resolve(undefined), atOnceMs)
      }),
    ])
    clearTimeout(timer)
    return effect && { id: first.id, ...effect }
  }

  /** Stores all events. One that differs from the stored event with its id gets a separate id. */
  private async keep(
    provider: Provider,
    events: ProviderEvent[],
    body: Buffer,
    receivedAt: Date,
  ): Promise<RecordedEvent[]> {
    const record = (events: NoticeEvent[]) => {
      const notice = { noticeId: randomUUID(), provider: provider.name, body, events }
      return this.record({ ...notice, receivedAt })
    }
    const payouts = await findNamedPayouts(
      this.desk.pool,
      events.flatMap((event) => (event.type === 'payout' ? event.reference : [])),
    )
    const recorded = await record(
      events.map((event) => {
        const named =
          event.type === 'payout' ? payouts.get(event.reference) : parseTxnId(event.reference)
        const key = { agentId: named?.agentId ?? 0n, provider: provider.name, eventId: event.id }
        return { ...key, orderId: named?.orderId ?? null, event }
      }),
    )
    if (recorded.every(({ kept }) => kept !== 'another')) return recorded
    return record(
      recorded.map((each) =>
        each.kept === 'another' ? { ...each, eventId: ownEventId(each.event) } : each,
      ),
    )
  }

  /**
   * Processes events that were left unfinished, a few of each agent and provider at a time. Does not wait for
   * those that take long. Returns how many it began.
   */
  async finishLeftOvers(): Promise<number> {
    const { pool, now, providers } = this.desk
    const at = timeToPass(now)
    const names = providers.all.map(({ name }) => name)
    const due = await claimDueEvents(
      pool,
      at,
      names,
      (key) => eventsPerAgent - (this.underWay.get(laneOfEvent(key))?.size ?? 0),
    )
    const begun = due.map(({ key, text, receivedAt }) => {
      const provider = providers.find(key.provider)
      if (!provider) return undefined
      return this.inLane(
        key,
        this.actOn(provider, key, () => eventFromText(text), receivedAt),
      )
    })
    const timer = new AbortController()
    await Promise.race([
      Promise.all(begun),
      pause(roundMs, undefined, { signal: timer.signal }).catch(() => {}),
    ])
    timer.abort()
    return due.length
  }

  /** Resolves when no leftover event is in progress. */
  async stopped(): Promise<void> {
    await Promise.all([...this.underWay.values()].flatMap((lane) => [...lane]))
  }

  private inLane(key: EventKey, work: Promise<unknown>): Promise<unknown> {
    const name = laneOfEvent(key)
    const lane = this.underWay.get(name) ?? new Set()
    this.underWay.set(name, lane)
    const running = work.finally(() => {
      lane.delete(running)
      if (lane.size === 0) this.underWay.delete(name)
    })
    lane.add(running)
    return running
  }

  /** Processes one event and records the result. A failed event is left for later. */
  private async actOn(
    provider: Provider,
    key: EventKey,
    event: () => ProviderEvent,
    receivedAt: Date,
  ): Promise<Told> {
    let isForPerson = false
    try {
      const told = event()
      isForPerson = told.type === 'unread'
      const effect = await this.act(provider, told, receivedAt)
      // The change has been made; processing the event again will find that.
      await this.finish({ key, effect }).catch(this.onError)
      return effect
    } catch (error) {
      if (!(error instanceof Problem)) this.onError(error)
      const isWord = error instanceof Problem
      return this.leave(key, isWord ? error.message : 'It could not be acted on yet.', isForPerson)
    }
  }

  private async leave(key: EventKey, detail: string, isForPerson = false): Promise<Told> {
    const at = timeToPass(this.desk.now)
    await postponeEvent(this.desk.pool, key, detail, at, isForPerson).catch(this.onError)
    return { result: 'open', detail }
  }

  private async act(provider: Provider, told: ProviderEvent, receivedAt: Date): Promise<Effect> {
    const { desk } = this
    const event = told.byToken ? await confirmedEvent(desk, provider, told) : told
    const fault = rightsFault(provider, event)
    if (fault !== undefined && providerRights[event.type].otherwise === 'refused') {
      return { result: 'refused', detail: fault }
    }
    switch (event.type) {
      case 'payment':
        return takePayment(desk, provider, event, receivedAt)
      case 'payment_taken_back':
        return takeBack(desk, provider, event)
      case 'deposit_ended':
        return endDeposit(desk, provider, event)
      case 'cost':
        return takeCost(desk, provider, event)
      case 'unread':
        // It stays open until a person has found out what it means and closes it.
        throw new Problem('overloaded', `A person has to look into it: ${event.fault}.`, later)
      case 'payout': {
        const { reference } = event
        const named = (await findNamedPayouts(desk.pool, [reference])).get(reference)
        const payout =
          named && (await findPayout(desk.pool, named.agentId, provider.name, reference))
        // It stays open until a person has found out what it means and closes it.
        if (!payout) throw new Problem('overloaded', await noPayoutInWords(desk, named), later)
        if (await isOfAnotherAmount(desk, payout, event)) {
          const says =
            'The provider tells another amount of this payout; a person has to look into it.'
          throw new Problem('overloaded', says, later)
        }
        const { outcome } = event
        const doubt = meansUnpaid(outcome) ? await whyInDoubt(desk.pool, payout) : undefined
        if (doubt !== undefined) throw new Problem('overloaded', doubt, later)
        const isBelieved =
          !event.byToken ||
          outcome.type === 'accepted' ||
          (outcome.type === 'paid' && (await isWithinTokenLimits(desk, provider, payout)))
        const watch = { passOn: this.passOn }
        return isBelieved
          ? settle(desk, payout, outcome, watch)
          : confirm(desk, payout, outcome, watch)
      }
    }
  }
}

const later = { retryAfterS: 60 }

/** The events, with our ids in the place of codes that a provider knows deposits by. */
async function withIds({ pool }: NoticeDesk, events: ProviderEvent[]): Promise<ProviderEvent[]> {
  const ids = await findByCode(
    pool,
    events.map(({ reference }) => reference),
  )
  if (ids.size === 0) return events
  return events.map((event) => ({
    ...event,
    reference: ids.get(event.reference) ?? event.reference,
  }))
}

/** Whether a report of a payout says that it is of another amount than the order's. */
async function isOfAnotherAmount(
  { pool }: NoticeDesk,
  { agentId, orderId }: { agentId: bigint; orderId: string },
  { amountMinor, currency }: ProviderEvent & { type: 'payout' },
): Promise<boolean> {
  if (amountMinor === undefined) return false
  const order = await findOrder(pool, agentId, orderId)
  return order?.amountMinor !== amountMinor || order.currency !== currency
}

async function noPayoutInWords(
  { pool }: NoticeDesk,
  named: { agentId: bigint; orderId: string } | undefined,
): Promise<string> {
  const isArchived = named && (await isArchivedOrder(pool, named.agentId, named.orderId))
  return isArchived
    ? 'The order of this payout was archived; a person has to look into it.'
    : 'The provider has no payout with this reference; a person has to look into it.'
}

/**
 * Books what a provider charges for one of its own orders or, if negative, gives back of earlier charges. What cannot be booked, though the provider may have kept
 * it, stays open until a person has found out what it means and closes it.
 */
async function takeCost(
  desk: NoticeDesk,
  provider: Provider,
  event: ProviderEvent & { type: 'cost' },
): Promise<Effect> {
  const { reference, costId, amountMinor } = event
  if (amountMinor === 0n || sizeOf(amountMinor) > maxBalanceMinor) {
    return { result: 'refused', detail: 'This is not an amount.' }
  }
  const payout = (await findNamedPayouts(desk.pool, [reference])).get(reference)
  const isItsPayout =
    payout && (await findPayout(desk.pool, payout.agentId, provider.name, reference)) !== undefined
  const named = isItsPayout ? payout : parseTxnId(reference)
  const order = named && (await findOrder(desk.pool, named.agentId, named.orderId))
  const known = payout ?? named
  if (!order && known && (await isArchivedOrder(desk.pool, known.agentId, known.orderId))) {
    throw new Problem('overloaded', 'The order was archived; a person has to look into it.', later)
  }
  if (!order && !payout) {
    const says = 'It is charged for an order that is not here; a person has to look into it.'
    throw new Problem('overloaded', says, later)
  }
  if (!order || !(isItsPayout || isItsOrder(provider, event, order))) {
    return { result: 'refused', detail: 'The provider has no such order.' }
  }
  if (order.currency !== event.currency) {
    const says = `The order is in ${order.currency}, the charge is not; a person has to look into it.`
    throw new Problem('overloaded', says, later)
  }
  const { agentId, orderId } = order
  const cost = { orderId, provider: provider.name, costId, amountMinor }
  const effect = await effectOf(
    desk.teller.do({ type: 'charge_cost', agentId, at: desk.now(), ...cost }),
  )
  if (effect.result !== 'unchanged') return effect
  const first = await readJournalByKey(desk.pool, agentId, costKey(cost))
  // None if it was archived.
  if (first && (first.orderId !== orderId || first.change.clearing !== amountMinor)) {
    const says = `The charge ${costId} was booked otherwise before; a person has to look into it.`
    throw new Problem('overloaded', says, later)
  }
  return effect
}

async function endDeposit(
  desk: NoticeDesk,
  provider: Provider,
  event: ProviderEvent & { type: 'deposit_ended' },
): Promise<Effect> {
  const named = parseTxnId(event.reference)
  const order = named && (await findOrder(desk.pool, named.agentId, named.orderId))
  if (!order || !isItsOrder(provider, event, order)) {
    return { result: 'refused', detail: 'The provider has no such deposit.' }
  }
  const { agentId, orderId } = order
  return effectOf(
    desk.teller.do({ type: 'outcome', agentId, orderId, at: desk.now(), to: event.status }),
  )
}
