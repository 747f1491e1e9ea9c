import { randomUUID } from 'node:crypto'
import { raiseAlert } from '../alerts/raise-alert.ts'
import { timeToPass } from '../db/database-time.ts'
import type { OpenItem, Order, OrderStatus } from '../ledger/book.ts'
import { findOrder } from '../ledger/find-order.ts'
import { whyNotToSend } from '../ledger/open-items.ts'
import { referencesOf } from '../ledger/payout-references.ts'
import type { PayoutState } from '../ledger/payout-state.ts'
import { callWithin, NoAnswer } from '../lib/call-within.ts'
import { decimalText } from '../lib/money.ts'
import { Problem } from '../lib/problem.ts'
import type { Payout, PayoutOutcome, Provider } from '../providers/provider.ts'
import { isHeld, isStopped } from '../routing/stops.ts'
import type { Desk } from '../teller/desk.ts'
import { itemWords } from './item-words.ts'
import { mayPayOut } from './payout-approval.ts'
import {
  claimPayout,
  findPayout,
  isBeingHanded,
  keepTheirId,
  type PayoutAttempt,
  payoutsOfOrder,
  savePayout,
  whyInDoubt,
} from './payouts.ts'
import { isFromBeforeRestore, openHold } from './restore-hold.ts'
import { whyRestoreHolds } from './restore-lock.ts'

export type PayoutDesk = Pick<Desk, 'pool' | 'teller' | 'now' | 'providers' | 'tracer'>

/** How long a provider may take to answer a call, unless it says otherwise. */
const usualLimitMs = 5_000
/** How long a call may be late in beginning. */
const latestMs = 5_000
/** How long a refused payout is reserved while it is handed to the next provider. */
export const goingOnMs = 60_000
const firstQuestionMs = 2_000
const neverMs = 50 * 365 * 86_400_000
const longestPauseMs = 3_600_000
/** How long to wait at most before sending what could not be sent. */
const longestUnsentMs = 60_000
/** How often to check a provider that is switched off. */
const offPauseMs = 60_000

function callLimitMs(provider: Provider | undefined): number {
  return provider?.callLimitMs ?? usualLimitMs
}

/** How long to wait before asking about a payout whose call has shown no result at all. */
export function silenceMs(provider: Provider | undefined): number {
  return callLimitMs(provider) + latestMs
}

/** The effect of a provider's report. */
export interface Effect {
  result: 'applied' | 'unchanged' | 'refused' | 'waiting'
  detail?: string
}

/** A payout that this process has claimed, and when, by the process's steady clock. */
export interface TakenPayout extends PayoutAttempt {
  takenAtMs: number
}

/** Lets a caller that makes many calls observe each one. */
export interface CallWatch {
  signal?: AbortSignal
  /** Called when a call ends: true for an answer or an error, false if nothing came back. */
  onCall?: (isAnswered: boolean) => void
  /**
   * Hands the withdrawal to another provider after this attempt was definitely refused, within that provider's
   * places. Without it a refusal that leads there throws, and whoever heard it leaves it to a worker.
   */
  passOn?: ((order: Order, provider: Provider, refused: PayoutAttempt) => void) | undefined
}

/** The first eligible provider that has not tried the withdrawal, if there is one. */
export async function routePayout(
  desk: PayoutDesk,
  order: Order,
  options: { tried?: readonly string[]; evenIfNotReady?: boolean } = {},
): Promise<Provider | undefined> {
  const { tried = [], evenIfNotReady = false } = options
  const candidates = await desk.providers.candidates({ ...order, direction: 'withdraw' })
  // What waits for a second person must not take a place from what does not.
  const isNew = order.handedOverAt === null && desk.providers.asksBeforePayouts
  if (isNew && !(await mayPayOut(desk, order))) return undefined
  const payout = moneyOf(order)
  for (const each of ableToPay(candidates, order)) {
    if (tried.includes(each.name)) continue
    // Its first choice: it waits for a file. One that was with another provider cannot wait any more.
    if (each.paysByFile && order.handedOverAt === null) return undefined
    if (!each.paysByFile && (evenIfNotReady || each.isReadyFor?.(payout) !== false)) return each
  }
  return undefined
}

/** What a withdrawal that nobody has waits for: the next file of an account, or that somebody can pay it at all. */
export type WaitsFor = { fileOf: string } | { why: string } | undefined

/** Says so, as the routes are now. It may wait for a person or a time as well. Changes nothing. */
export async function waitsFor(desk: PayoutDesk, order: Order): Promise<WaitsFor> {
  if (order.handedOverAt !== null) return undefined
  const candidates = await desk.providers.candidates({ ...order, direction: 'withdraw' })
  const able = ableToPay(candidates, order)
  const [candidate] = candidates
  if (!candidate) return { why: 'No provider that is on takes it.' }
  if (able.length === 0) return { why: `${candidate.name}: ${whyUnable(candidate, order)}` }
  const first = able.find((each) => each.paysByFile || each.isReadyFor?.(moneyOf(order)) !== false)
  return first?.paysByFile ? { fileOf: first.name } : undefined
}

/** The providers that can pay the order's amount to its payee. */
function ableToPay(candidates: readonly Provider[], order: Order): Provider[] {
  return candidates.filter((each) => whyUnable(each, order) === null)
}

/** Why a provider cannot pay an order, in words. */
function whyUnable(provider: Provider, order: Order): string | null {
  const { payee, currency, amountMinor, extraParams } = moneyOf(order)
  const fault = provider.payeeFault?.(payee, currency, amountMinor, extraParams) ?? null
  if (fault !== null) return fault
  const most = provider.mostPerPayoutMinor ?? amountMinor
  return amountMinor > most
    ? `It pays at most ${decimalText(most, order.currency)} ${order.currency} at once.`
    : null
}

/** Whether a provider that a withdrawal was routed to earlier is still eligible for it, and ready. */
export async function isStillRouted(
  desk: PayoutDesk,
  order: Order,
  provider: Provider,
): Promise<boolean> {
  const candidates = await desk.providers.candidates({ ...order, direction: 'withdraw' })
  return candidates.includes(provider) && provider.isReadyFor?.(moneyOf(order)) !== false
}

/**
 * Hands a withdrawal to a provider, with its reference on disk before the provider is called. Returns
 * undefined if another process, a cancel or an outcome came first. Replaces a refused attempt only if no
 * process has claimed that attempt since, because such a process may be calling its provider again.
 */
export async function handOver(
  desk: PayoutDesk,
  order: Order,
  provider: Provider,
  {
    insteadOf,
    isDebited = false,
    references = referencesOf(order.agentId, order.orderId, order.version),
  }: {
    insteadOf?: PayoutAttempt | undefined
    /** Whether the provider has it already, as after a restore, so that nothing leaves by this. */
    isDebited?: boolean
    /** Those that the provider may know it by, if they are not of this attempt. */
    references?: readonly string[]
  } = {},
): Promise<TakenPayout | undefined> {
  const { agentId, orderId } = order
  // Every hand-over passes here, so none goes out that waits for a second person, after a stop or after a restore.
  if (!isDebited) {
    if (!(await mayPayOut(desk, order)) || (await isStopped(desk.pool, agentId))) return undefined
    if ((await whyRestoreHolds(desk.pool, order)) !== undefined) return undefined
  }
  const refused = insteadOf && (await take(desk, insteadOf, insteadOf, goingOnMs))
  if (insteadOf && !refused) return undefined
  const takenAtMs = performance.now()
  const at = desk.now()
  const fixed = timeToPass(desk.now)
  // There is nobody to ask about a payout by file: the bank says by itself what became of it.
  const askInMs = provider.paysByFile ? neverMs : silenceMs(provider)
  try {
    const handed = await desk.teller.do({
      type: 'hand_over',
      agentId,
      orderId,
      at,
      provider: provider.name,
      version: provider.version,
      use: provider.use,
      references,
      insteadOf: insteadOf?.reference ?? null,
      token: randomUUID(),
      askAt: fixed ? new Date(fixed.getTime() + askInMs) : askInMs,
    })
    if (!handed.changed || !handed.order?.providerRef) return undefined
    const { providerRef: reference } = handed.order
    const ids = { agentId, orderId, attempt: order.version, provider: provider.name, reference }
    const begun = { state: 'handed', handedAt: at, asks: 0, turn: 0, said: null } as const
    const bound = { version: provider.version ?? null, use: provider.use ?? null }
    const known = { theirId: null, unsent: false, askAt: null, evidence: null }
    return { ...ids, ...begun, ...bound, ...known, takenAtMs }
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'invalid_transition') throw error
    // Nobody gets it after its provider has definitely refused it: the teller says what it ends as.
    if (isDebited) return undefined
    const now = refused && (await findOrder(desk.pool, agentId, orderId))
    if (refused && now?.status === 'WAITING' && now.providerRef === refused.reference) {
      await end(desk, refused, 'FAILED', 'rejected', error.message)
    }
    return undefined
  }
}

/** Whether an order refunds a deposit that the bank has taken back: it is sent nowhere any more. */
async function isTakenBack(desk: PayoutDesk, order: Order): Promise<boolean> {
  const { agentId, refundOf } = order
  if (refundOf === null) return false
  if ((await findOrder(desk.pool, agentId, refundOf))?.status !== 'PAID') return true
  return (await whyNotToSend(desk.pool, order)).isTakenBack
}

/**
 * Calls the provider with a payout whose reference is on disk, and acts on the answer. Nothing of the payout may have
 * left for the provider before, unless it `isRepeat`.
 */
export async function submit(
  desk: PayoutDesk,
  taken: TakenPayout,
  order: Order,
  watch: CallWatch = {},
  isRepeat = false,
): Promise<Effect> {
  const payout = payoutOf(taken, order)
  // It may have left in the time that a restore lost, even after its provider was asked about it.
  if (!isRepeat && (await isFromBeforeRestore(desk.pool, order))) {
    const provider = desk.providers.find(taken.provider)
    const known = provider && (await askAbout(provider, taken.reference, order))
    const isUnsure = known?.type === 'unknown' || known?.type === 'not_sent'
    if (!known || isUnsure || !isInTime(taken)) {
      await leaveUnsent(desk, taken, isUnsure ? known.reason : null)
      return { result: 'unchanged' }
    }
    if (known.type !== 'not_found') return settleAnswer(desk, taken, known, watch)
  }
  const outcome: PayoutOutcome = isInTime(taken)
    ? await call(desk, taken, 'pay', watch, (provider, limit) =>
        provider.submitPayout(payout, limit),
      )
    : { type: 'unknown', reason: 'It was too late to call the provider.' }
  // After a repetition an earlier copy may have arrived: then it is unknown whether something was sent.
  if (outcome.type !== 'not_sent' || isRepeat) return settleAnswer(desk, taken, outcome, watch)
  const { reason } = outcome
  if (outcome.isForGood) {
    return settleAnswer(desk, taken, { type: 'rejected', mayTryAnother: true, reason }, watch)
  }
  await leaveUnsent(desk, taken, reason)
  return { result: 'unchanged', detail: reason }
}

/** A process that was frozen must not send a payout that another process may have ended by now. */
function isInTime({ takenAtMs }: TakenPayout): boolean {
  return performance.now() - takenAtMs <= latestMs
}

/** Nothing has left for the provider: whoever claims the payout next may send it. */
function leaveUnsent(desk: PayoutDesk, taken: TakenPayout, said: string | null): Promise<void> {
  const askInMs = Math.min(firstQuestionMs * 2 ** Math.min(taken.asks, 20), longestUnsentMs)
  const what = { state: 'unknown', said, askInMs, unsent: true } as const
  return savePayout(desk.pool, taken, what, timeToPass(desk.now))
}

/** Sends a payout of which nothing has left for its provider, under the same reference. */
async function sendUnsent(
  desk: PayoutDesk,
  taken: TakenPayout,
  order: Order,
  provider: Provider,
  watch: CallWatch,
): Promise<void> {
  // It may have been sent in the time that a restore lost, so it does not fail either.
  if (await isHeld(desk.pool)) return leaveUnsent(desk, taken, null)
  const { paidBy } = await whyNotToSend(desk.pool, order)
  if (paidBy !== undefined) {
    await end(desk, taken, 'FAILED', 'rejected', `Not sent: ${paidBy} says that it paid.`)
  } else if (await isTakenBack(desk, order)) {
    await end(desk, taken, 'FAILED', 'rejected', 'The deposit that it refunds was taken back.')
  } else if (
    provider.isReadyFor?.(moneyOf(order)) === false ||
    (await isStopped(desk.pool, order.agentId))
  ) {
    await leaveUnsent(desk, taken, null)
  } else await submit(desk, taken, order, watch)
}

/**
 * Acts on the answer to a call. A refusal counts only if no other process has claimed the payout since: that
 * process may have called the provider again, and that call may pay.
 */
async function settleAnswer(
  desk: PayoutDesk,
  taken: TakenPayout,
  outcome: PayoutOutcome,
  watch: CallWatch,
): Promise<Effect> {
  const isNo = outcome.type === 'rejected' || outcome.type === 'cancelled'
  const kept = isNo ? await take(desk, taken, taken) : taken
  if (kept) return settle(desk, kept, outcome, watch)
  const now = await findPayout(desk.pool, taken.agentId, taken.provider, taken.reference)
  if (now?.askAt === null) return settle(desk, taken, outcome, watch)
  return {
    result: 'unchanged',
    detail: 'Another process or a person has changed the payout since then.',
  }
}

/** Asks the provider about a payout, unless another process is asking at the moment. */
export async function ask(
  desk: PayoutDesk,
  attempt: PayoutAttempt,
  watch: CallWatch = {},
): Promise<void> {
  // One that was not sent may be sent below: until then it is as one that is being handed over.
  const state = attempt.unsent ? 'handed' : attempt.state
  const asked = await take(desk, attempt, { state, asks: attempt.asks + 1 })
  if (!asked) return
  const order = await findOrder(desk.pool, attempt.agentId, attempt.orderId)
  if (!order) throw new Error(`payout ${attempt.reference} has no order`)
  if (order.status !== 'WAITING' && order.status !== 'PAID') {
    // The order has ended, but the process that ended it died before it updated the payout.
    return save(desk, asked, ended[order.status], null)
  }
  const provider = desk.providers.find(attempt.provider)
  if (!provider || (await desk.providers.stateOf(provider.name)) === 'off') {
    const said = provider ? 'The provider is off.' : 'The provider is not set up.'
    const what = { state: attempt.state, said, askInMs: offPauseMs, unsent: attempt.unsent }
    return savePayout(desk.pool, asked, what, timeToPass(desk.now))
  }
  if (attempt.unsent && order.status === 'WAITING' && order.providerRef === attempt.reference) {
    return sendUnsent(desk, asked, order, provider, watch)
  }
  const payout = payoutOf(attempt, order)
  const outcome = await call(desk, attempt, 'ask', watch, (_provider, limit) =>
    provider.askPayout(payout, limit),
  )
  const isPaidByIt = order.status === 'PAID' && order.providerRef === attempt.reference
  if (isPaidByIt && (outcome.type === 'accepted' || outcome.type === 'not_found')) {
    // A person marked it as paid, and that overrides these two answers. Any other answer may contradict it or
    // add to it, and is handled below.
    await save(desk, asked, 'paid', null)
  } else if (
    outcome.type === 'not_found' &&
    order.status === 'WAITING' &&
    (outcome.mayRepeat ?? provider.can.idempotentByReference) &&
    !(await isTakenBack(desk, order)) &&
    !(await isStopped(desk.pool, order.agentId))
  ) {
    // The call may never have reached the provider. It is repeated only for a provider that guarantees to pay
    // a reference once, and only if the order has not been ended during the question.
    const now = await findOrder(desk.pool, attempt.agentId, attempt.orderId)
    if (now?.status !== 'WAITING' || now.providerRef !== attempt.reference) return
    const again = await take(desk, asked, { state: 'handed', asks: asked.asks })
    if (!again) return
    const { paidBy } = await whyNotToSend(desk.pool, order)
    if (paidBy === undefined) await submit(desk, again, order, watch, true)
    // That it is not known is no refusal: an earlier call may still arrive and pay. It is not sent again, but asked about.
    else await settle(desk, again, outcome, watch)
  } else await settleAnswer(desk, asked, outcome, watch)
}

/**
 * Acts on a report that anybody could have made who has seen one: only on what the provider says when it is asked.
 * Throws a problem while it does not say the same.
 */
export async function confirm(
  desk: PayoutDesk,
  attempt: PayoutAttempt,
  told: PayoutOutcome,
  watch: CallWatch = {},
): Promise<Effect> {
  const { agentId, orderId, provider, reference } = attempt
  if (attempt.state === told.type) return { result: 'unchanged' }
  // A question would take the payout from the process that is calling, and the provider may not know it yet.
  if (await isBeingHanded(desk.pool, attempt, timeToPass(desk.now))) {
    const says = `It is being handed to ${provider}, which is asked afterwards.`
    throw new Problem('overloaded', says, { retryAfterS: 60 })
  }
  if (attempt.askAt !== null) await ask(desk, attempt, watch)
  else {
    const order = await findOrder(desk.pool, agentId, orderId)
    const outcome =
      order &&
      (await call(desk, attempt, 'ask', watch, (each, limit) =>
        each.askPayout(payoutOf(attempt, order), limit),
      ))
    if (outcome?.type === told.type) return settle(desk, attempt, outcome, watch)
  }
  const now = await findPayout(desk.pool, agentId, provider, reference)
  if (now?.state === told.type) return { result: 'applied' }
  const says = `Told with a token that it is ${told.type}, which ${provider} does not confirm when it is asked.`
  throw new Problem('overloaded', says, { retryAfterS: 60 })
}

async function take(
  desk: PayoutDesk,
  attempt: PayoutAttempt,
  next: Pick<PayoutAttempt, 'state' | 'asks'>,
  leaseMs = silenceMs(desk.providers.find(attempt.provider)),
): Promise<TakenPayout | undefined> {
  const takenAtMs = performance.now()
  const taken = await claimPayout(desk.pool, attempt, next, timeToPass(desk.now), leaseMs)
  return taken && { ...taken, takenAtMs }
}

/** Saves a payout's state and, while it is open, when to ask about it next. */
function save(
  desk: PayoutDesk,
  attempt: PayoutAttempt,
  state: PayoutState,
  said: string | null,
  askInMs: number | null = null,
): Promise<void> {
  return savePayout(desk.pool, attempt, { state, said, askInMs }, timeToPass(desk.now))
}

/** Acts on a provider's report about a payout, however it arrived. Repeating a report changes nothing. */
export async function settle(
  desk: PayoutDesk,
  attempt: PayoutAttempt,
  outcome: PayoutOutcome,
  watch: CallWatch = {},
): Promise<Effect> {
  switch (outcome.type) {
    case 'paid':
      return end(desk, attempt, 'PAID', 'paid')
    case 'cancelled':
      return end(desk, attempt, 'CANCEL', 'cancelled')
    case 'returned':
      // The report of the payment itself may be late or lost.
      await move(desk, attempt, 'PAID')
      return end(desk, attempt, 'REVERT', 'returned')
    case 'rejected':
      return (
        (await waitForRelease(desk, attempt, outcome, watch)) ??
        (await goOn(desk, attempt, outcome, watch)) ??
        end(desk, attempt, 'FAILED', 'rejected', outcome.reason)
      )
    default: {
      const pauseMs = Math.min(firstQuestionMs * 2 ** Math.min(attempt.asks, 20), longestPauseMs)
      const state = outcome.type === 'not_sent' ? 'unknown' : outcome.type
      const said =
        'reason' in outcome
          ? outcome.reason
          : outcome.type === 'not_found'
            ? 'The provider does not know it: find out, then run sluice payout resolve.'
            : null
      await save(desk, attempt, state, said, pauseMs)
      return { result: 'unchanged' }
    }
  }
}

/** Ends a payout and its order. If the books disagree, an open item recording that is on disk. */
async function end(
  desk: PayoutDesk,
  attempt: PayoutAttempt,
  to: OrderStatus,
  state: PayoutState,
  reason: string | null = null,
): Promise<Effect> {
  const { item, ...effect } = await move(desk, attempt, to)
  // A payout that was paid stays paid, even if the provider now reports a failure.
  const known = item?.kind === 'failed_after_paid' ? 'paid' : state
  await save(desk, attempt, known, effect.detail ?? reason)
  return effect
}

/**
 * A refusal that another provider may have followed, in the time that a restore lost: nobody gets the money back before
 * it is known whether that one has paid.
 */
async function waitForRelease(
  desk: PayoutDesk,
  attempt: PayoutAttempt,
  outcome: PayoutOutcome & { type: 'rejected' },
  watch: CallWatch,
): Promise<Effect | undefined> {
  if (!outcome.mayTryAnother) return undefined
  const hold = await openHold(desk.pool)
  if (!hold) return undefined
  const order = await findOrder(desk.pool, attempt.agentId, attempt.orderId)
  if (order?.status !== 'WAITING' || order.providerRef !== attempt.reference) return undefined
  if (order.createdAt > hold.markedAt) return undefined
  const detail = 'Refused, but another provider may have it: the database was restored.'
  if (!watch.passOn) throw new Problem('overloaded', detail, { retryAfterS: 60 })
  await save(desk, attempt, 'unknown', detail, offPauseMs)
  return { result: 'unchanged', detail }
}

/**
 * After the provider of a waiting order definitely refused it, hands the order to another provider that has
 * not tried it. If an earlier provider reported that it paid, the order ends as paid by that one instead.
 */
async function goOn(
  desk: PayoutDesk,
  attempt: PayoutAttempt,
  outcome: PayoutOutcome & { type: 'rejected' },
  watch: CallWatch,
): Promise<Effect | undefined> {
  const { agentId, orderId, reference } = attempt
  const order = await findOrder(desk.pool, agentId, orderId)
  if (!outcome.mayTryAnother) return undefined
  if (order?.status !== 'WAITING' || order.providerRef !== reference) return undefined
  if (await isTakenBack(desk, order)) return undefined
  const attempts = await payoutsOfOrder(desk.pool, agentId, orderId)
  if (attempts.some(({ state }) => state === 'paid')) return undefined
  const tried = attempts.map(({ provider }) => provider)
  const provider = await routePayout(desk, order, { tried })
  if (!provider) return undefined
  if (!watch.passOn) {
    throw new Problem('overloaded', `A worker hands it to ${provider.name}.`, { retryAfterS: 1 })
  }
  watch.passOn(order, provider, attempt)
  return { result: 'applied', detail: `${provider.name} gets it.` }
}

/** The payout state that corresponds to the order's final status. */
const ended: Record<OrderStatus, PayoutState> = {
  WAITING: 'unknown',
  PAID: 'paid',
  FAILED: 'rejected',
  CANCEL: 'cancelled',
  REVERT: 'returned',
  EXPIRED: 'rejected',
  VOID: 'rejected',
}

async function move(
  desk: PayoutDesk,
  attempt: PayoutAttempt,
  to: OrderStatus,
): Promise<Effect & { item?: OpenItem | undefined }> {
  const { agentId, orderId, provider, reference } = attempt
  try {
    const { changed, item } = await desk.teller.do({
      type: 'outcome',
      agentId,
      orderId,
      at: desk.now(),
      to,
      provider,
      providerRef: reference,
    })
    if (item) return { result: 'waiting', detail: itemWords(item), item }
    return { result: changed ? 'applied' : 'unchanged' }
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'invalid_transition') throw error
    return { result: 'refused', detail: error.message }
  }
}

/** Every outcome type a provider may return. */
const outcomeTypes: Record<PayoutOutcome['type'], true> = {
  accepted: true,
  paid: true,
  rejected: true,
  cancelled: true,
  returned: true,
  not_found: true,
  not_sent: true,
  unknown: true,
}

/** Whether a provider says that a payout is not, or no longer, paid. */
export function meansUnpaid({ type }: PayoutOutcome): boolean {
  return ['rejected', 'cancelled', 'returned', 'not_found'].includes(type)
}

type Work = (provider: Provider, limit: AbortSignal) => Promise<PayoutOutcome>

async function call(
  desk: PayoutDesk,
  attempt: PayoutAttempt,
  what: 'pay' | 'ask',
  watch: CallWatch,
  work: Work,
): Promise<PayoutOutcome> {
  const { orderId, provider, reference } = attempt
  const span = desk.tracer
    ?.ofOrder(orderId, `provider ${what}`, 'client')
    .set({ 'sluice.provider': provider, 'sluice.reference': reference })
  const outcome = await callOnce(desk, attempt, watch, work)
  span?.set({ 'sluice.outcome': outcome.type }).end(outcome.type === 'unknown')
  return outcome
}

/** Calls a provider. If the call fails in any way, the payout's outcome is unknown. */
async function callOnce(
  desk: PayoutDesk,
  attempt: PayoutAttempt,
  { signal, onCall }: CallWatch,
  work: Work,
): Promise<PayoutOutcome> {
  const provider = desk.providers.find(attempt.provider)
  if (!provider) return { type: 'unknown', reason: 'The provider is not set up.' }
  try {
    const outcome = await callWithin(callLimitMs(provider), signal, (limit) =>
      work(provider, limit),
    )
    onCall?.(true)
    const clash =
      outcome?.theirId === undefined
        ? undefined
        : await keepTheirId(desk.pool, attempt, outcome.theirId)
    if (clash !== undefined) return alarm(desk, attempt, clash)
    if (!Object.hasOwn(outcomeTypes, outcome?.type)) {
      return { type: 'unknown', reason: 'The provider said what cannot be read.' }
    }
    const doubt = meansUnpaid(outcome) ? await whyInDoubt(desk.pool, attempt) : undefined
    return doubt === undefined ? outcome : { type: 'unknown', reason: doubt }
  } catch (error) {
    onCall?.(!(error instanceof NoAnswer))
    return { type: 'unknown', reason: error instanceof Error ? error.message : String(error) }
  }
}

/** What a provider says about a reference that it may have, of whatever attempt. Changes nothing. */
export async function askAbout(
  provider: Provider,
  reference: string,
  order: Order,
): Promise<PayoutOutcome> {
  try {
    const payout = { reference, ...moneyOf(order), use: provider.use ?? null, theirId: null }
    const outcome = await callWithin(callLimitMs(provider), undefined, (limit) =>
      provider.askPayout(payout, limit),
    )
    if (Object.hasOwn(outcomeTypes, outcome?.type)) return outcome
    return { type: 'unknown', reason: 'The provider said what cannot be read.' }
  } catch (error) {
    return { type: 'unknown', reason: error instanceof Error ? error.message : String(error) }
  }
}

/** What a provider says cannot be: people are told, and the outcome is not known. */
async function alarm(
  { pool, now }: PayoutDesk,
  { reference }: PayoutAttempt,
  words: string,
): Promise<PayoutOutcome> {
  const subject = `payout ${reference}`
  const to = { roles: ['admin', 'operator'] as const }
  await raiseAlert(pool, { kind: 'payout_alarm', subject, words, to, at: now() })
  return { type: 'unknown', reason: words }
}

/** A payout as its provider is called about it. */
function payoutOf({ reference, use, theirId }: PayoutAttempt, order: Order): Payout {
  return { reference, use, theirId, ...moneyOf(order) }
}

function moneyOf(order: Order): Omit<Payout, 'reference'> {
  const { amountMinor, currency, accountNo, accountName, bankCode, extraParams } = order
  return {
    amountMinor,
    currency,
    payee: { accountNo, accountName, bankCode },
    extraParams,
  }
}
