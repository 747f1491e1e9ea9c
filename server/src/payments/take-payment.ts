import { createHash } from 'node:crypto'
import { currencyOf } from '../agents/agent-currency.ts'
import type { PaymentClaim, UnmatchedWhy } from '../ledger/book.ts'
import type { PaymentNotice, UnmatchedNotice } from '../ledger/commands.ts'
import { findOrder } from '../ledger/find-order.ts'
import { findClaim } from '../ledger/payment-claims.ts'
import type { TakenNotice } from '../ledger/taken-notices.ts'
import { parseTxnId } from '../lib/ids.ts'
import { maxBalanceMinor } from '../lib/money.ts'
import { Problem } from '../lib/problem.ts'
import type { Effect } from '../payouts/pay-out.ts'
import type { Provider, ProviderEvent } from '../providers/provider.ts'
import type { Desk } from '../teller/desk.ts'
import type { Done } from '../teller/teller.ts'
import { storableId } from './event-text.ts'
import { orderOfPayment } from './payments.ts'
import { rightsFault } from './provider-rights.ts'
import {
  endUnmatched,
  findContradicting,
  findUnmatched,
  recordUnmatched,
  storedReference,
} from './unmatched-payments.ts'

type PaymentDesk = Pick<Desk, 'pool' | 'teller' | 'now'>

/** A payment's key: the provider's name and the provider's id for it. */
function paymentIdOf(provider: Pick<Provider, 'name'>, paymentId: string): string {
  return `${provider.name}:${paymentId}`
}

/**
 * Books a payment and records the notice that reported it, in one transaction. Undefined if the payment was not booked:
 * nothing is recorded then, and the notice has to be recorded before anything is done about it.
 */
export async function bookAtOnce(
  desk: PaymentDesk,
  provider: Provider,
  event: ProviderEvent & { type: 'payment' },
  notice: Pick<TakenNotice, 'noticeId' | 'receivedAt' | 'event' | 'body'>,
): Promise<Effect | undefined> {
  const named = parseTxnId(event.reference)
  if (!named || !isAmount(event) || rightsFault(provider, event) !== undefined) return undefined
  if ((await currencyOf(desk.pool, named.agentId)) !== event.currency) return undefined
  const done = await desk.teller.do({
    type: 'receive_payment',
    ...named,
    provider: provider.name,
    at: desk.now(),
    payment: paymentIn(provider, event, notice.receivedAt),
    notice: { ...named, provider: provider.name, eventId: event.id, ...notice },
  })
  return done.changed ? effectOfPayment(done) : undefined
}

/**
 * Credits incoming money to the order that it names. Money that does not fit the order, or was claimed
 * before, waits for a person.
 */
export async function takePayment(
  desk: PaymentDesk,
  provider: Provider,
  event: ProviderEvent & { type: 'payment' },
  receivedAt: Date,
): Promise<Effect> {
  if (!isAmount(event)) return { result: 'refused', detail: 'This is not an amount.' }
  const { reference, currency } = event
  const payment = paymentIn(provider, event, receivedAt)
  const named = parseTxnId(reference)
  const ownCurrency = named && (await currencyOf(desk.pool, named.agentId))
  let why: UnmatchedWhy = 'unmatched'
  if (named && ownCurrency) {
    if (ownCurrency !== currency) why = 'wrong_currency'
    else if (rightsFault(provider, event) !== undefined) why = 'wrong_provider'
    else {
      const received = await receive(desk, provider, named, payment)
      if (typeof received !== 'string') return received
      why = received
    }
  }
  return keep(
    desk,
    { ...payment, reference, currency, why, contradicts: null },
    why !== 'unmatched',
  )
}

function isAmount({ amountMinor }: ProviderEvent & { type: 'payment' }): boolean {
  return amountMinor > 0n && amountMinor <= maxBalanceMinor
}

function paymentIn(
  provider: Provider,
  { paymentId, amountMinor, paidAt, payer }: ProviderEvent & { type: 'payment' },
  receivedAt: Date,
): PaymentNotice {
  return {
    paymentId: paymentIdOf(provider, paymentId),
    amountMinor,
    paidAt: paidAt ?? receivedAt,
    payer,
  }
}

/** What became of a payment that was booked. */
function effectOfPayment({ payment }: Done): Effect {
  return payment?.why ? { result: 'waiting', detail: payment.why } : { result: 'applied' }
}

async function receive(
  desk: PaymentDesk,
  provider: Provider,
  named: { agentId: bigint; orderId: string },
  payment: PaymentNotice,
): Promise<Effect | UnmatchedWhy> {
  try {
    const done = await desk.teller.do({
      type: 'receive_payment',
      ...named,
      provider: provider.name,
      at: desk.now(),
      payment,
    })
    if (done.unmatched) return done.unmatched
    if (!done.changed) return { result: 'unchanged' }
    return effectOfPayment(done)
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'order_not_found') throw error
    return 'unmatched'
  }
}

/**
 * Keeps unmatched money for a person to decide on. If its id is taken, the report either repeats what is
 * known or contradicts it. A contradicting report waits under a separate id that is the same for every
 * repetition.
 */
async function keep(
  desk: PaymentDesk,
  payment: UnmatchedNotice,
  namesAnOrder: boolean,
): Promise<Effect> {
  const { pool } = desk
  if (payment.why !== 'claimed_twice' && (await recordUnmatched(desk, payment))) {
    return { result: 'waiting', detail: payment.why }
  }
  const claim = await findClaim(pool, payment.paymentId)
  if (!claim)
    throw tryAgain(
      'Another process claimed this payment and did not keep it. The service processes it again.',
    )
  if (await isKnown(desk, claim, payment, namesAnOrder)) return { result: 'unchanged' }
  const second: UnmatchedNotice = {
    ...payment,
    paymentId: ownId(payment),
    why: 'claimed_twice',
    contradicts: payment.paymentId,
  }
  const isNew = await recordUnmatched(desk, second)
  return isNew ? { result: 'waiting', detail: 'claimed_twice' } : { result: 'unchanged' }
}

/**
 * Whether the report adds nothing new: the same amount for the same order or for an unknown one, or a report
 * that a person has already decided on, wherever it was credited.
 */
async function isKnown(
  { pool }: PaymentDesk,
  claim: PaymentClaim,
  { paymentId, amountMinor, currency, reference }: UnmatchedNotice,
  namesAnOrder: boolean,
): Promise<boolean> {
  if (claim.amountMinor !== amountMinor || claim.currency !== currency) return false
  const unmatched = await findUnmatched(pool, paymentId)
  if (unmatched?.reference === storedReference(reference)) return true
  // While it waits, the person who decides on it finds out whose it is.
  if (claim.agentId === 0n) return unmatched?.state === 'waiting'
  return !namesAnOrder || isFor(claim, reference)
}

function isFor(claim: PaymentClaim, reference: string): boolean {
  const named = parseTxnId(reference)
  return named?.agentId === claim.agentId && named.orderId === claim.orderId
}

/** Derived from the payment's id and the contents of the report. */
function ownId({ paymentId, reference, amountMinor, currency }: UnmatchedNotice): string {
  const said = createHash('sha256').update(`${amountMinor} ${currency} ${reference}`).digest('hex')
  const [provider = '', ...rest] = paymentId.split(':')
  return `${provider}:${storableId(rest.join(':'), 140)}~${said.slice(0, 16)}`
}

/** Handles a payment that the bank took back, by debiting whichever agent it was credited to. */
export async function takeBack(
  desk: PaymentDesk,
  provider: Pick<Provider, 'name'>,
  event: ProviderEvent & { type: 'payment_taken_back' },
): Promise<Effect> {
  const { pool } = desk
  const claim = await claimTakenBack(desk, paymentIdOf(provider, event.paymentId), event.reference)
  if (!claim) throw tryAgain(`Payment ${event.paymentId} is not known yet.`)
  const { paymentId, agentId } = claim
  if (agentId === 0n) {
    const evidence = 'The bank took it back.'
    if (await endUnmatched(desk, claim, 'returned', evidence)) return { result: 'applied' }
    const { state } = (await findUnmatched(pool, paymentId)) ?? { state: 'gone' }
    if (state === 'returned' || state === 'dismissed') return { result: 'unchanged' }
    throw tryAgain('The payment is being decided on.')
  }
  const orderId = await orderOfPayment(pool, agentId, paymentId)
  if (orderId === undefined) throw tryAgain('The payment is being decided on.')
  const at = desk.now()
  const effect = await effectOf(
    desk.teller.do({ type: 'take_back_payment', agentId, orderId, paymentId, at }),
  )
  // It was credited elsewhere since it was read, or the wallet cannot cover it. The money is gone either way,
  // so try again.
  if (effect.result === 'refused') throw tryAgain(effect.detail ?? 'It cannot be taken back yet.')
  return effect
}

/**
 * Of several reports under one id, finds the one with this reference, or the first if the payment or the
 * reference matches no agent. A report that names a deposit the payment was never for debits no agent: the
 * report for that deposit may still come, or a person has to find out.
 */
async function claimTakenBack({ pool }: PaymentDesk, paymentId: string, reference: string) {
  const claim = await findClaim(pool, paymentId)
  if (!claim || isFor(claim, reference)) return claim
  const [second, third] = await findContradicting(pool, paymentId, reference)
  if (third !== undefined) throw tryAgain('Which of several reports was taken back is not clear.')
  if (second !== undefined) return findClaim(pool, second)
  const { agentId } = claim
  const named = parseTxnId(reference)
  const order = named && (await findOrder(pool, named.agentId, named.orderId))
  if (agentId === 0n || order?.kind !== 'deposit') return claim
  const isForIt =
    agentId === order.agentId && (await orderOfPayment(pool, agentId, paymentId)) === order.orderId
  const unmatched = isForIt ? undefined : await findUnmatched(pool, paymentId)
  if (isForIt || unmatched?.reference === storedReference(reference)) return claim
  throw tryAgain('It names a deposit that the payment was never reported for.')
}

/** The effect of a command; a refusal is an effect too. */
export async function effectOf(doing: Promise<{ changed: boolean }>): Promise<Effect> {
  try {
    return { result: (await doing).changed ? 'applied' : 'unchanged' }
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error
    return { result: 'refused', detail: error.message }
  }
}

function tryAgain(detail: string): Problem {
  return new Problem('overloaded', detail, { retryAfterS: 1 })
}
