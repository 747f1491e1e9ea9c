import { createHash } from 'node:crypto'
import { currencyOf } from '../agents/agent-currency.ts'
import type { PaymentClaim, UnmatchedWhy } from '../ledger/book.ts'
import { findOrder } from '../ledger/find-order.ts'
import { findClaim } from '../ledger/payment-claims.ts'
import { parseTxnId } from '../lib/ids.ts'
import { Problem } from '../lib/problem.ts'
import type { Effect } from '../payouts/pay-out.ts'
import type { Provider, ProviderEvent } from '../providers/provider.ts'
import type { Desk } from '../teller/desk.ts'
import { storableId } from './event-text.ts'
import { orderOfPayment } from './payments.ts'
import {
  endUnmatched,
  findContradicting,
  findUnmatched,
  recordUnmatched,
  storedReference,
  type UnmatchedNotice,
} from './unmatched-payments.ts'

type PaymentDesk = Pick<Desk, 'pool' | 'teller' | 'now'>

/** What a column of amounts can hold. */
const largestAmount = 2n ** 63n - 1n

/** What a payment is known by: the provider's name and its own id. */
function paymentIdOf(provider: Provider, paymentId: string): string {
  return `${provider.name}:${paymentId}`
}

/**
 * Credits money that came in to the order that it names. What is not the order's, or was somebody's
 * already, waits for a person.
 */
export async function takePayment(
  desk: PaymentDesk,
  provider: Provider,
  event: ProviderEvent & { type: 'payment' },
  receivedAt: Date,
): Promise<Effect> {
  if (event.amountMinor <= 0n || event.amountMinor > largestAmount) {
    return { result: 'refused', detail: 'This is not an amount.' }
  }
  const { amountMinor, payer, reference, currency } = event
  const payment = {
    paymentId: paymentIdOf(provider, event.paymentId),
    amountMinor,
    paidAt: event.paidAt ?? receivedAt,
    payer,
  }
  const named = parseTxnId(reference)
  const ownCurrency = named && (await currencyOf(desk.pool, named.agentId))
  let why: UnmatchedWhy = 'unmatched'
  if (named && ownCurrency) {
    if (ownCurrency !== currency) why = 'wrong_currency'
    else if (!provider.can.deposits) why = 'wrong_provider'
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

async function receive(
  desk: PaymentDesk,
  provider: Provider,
  named: { agentId: bigint; orderId: string },
  payment: Pick<UnmatchedNotice, 'paymentId' | 'amountMinor' | 'paidAt' | 'payer'>,
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
    const why = done.payment?.why
    return why ? { result: 'waiting', detail: why } : { result: 'applied' }
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'order_not_found') throw error
    return 'unmatched'
  }
}

/**
 * Keeps money that is nobody's for a person to decide on. Where its id is taken it says again what is
 * known, or contradicts it: then it waits under an id of its own, the same whenever it is said again.
 */
async function keep(
  desk: PaymentDesk,
  payment: UnmatchedNotice,
  namesAnOrder: boolean,
): Promise<Effect> {
  const { pool } = desk
  const at = desk.now()
  if (payment.why !== 'claimed_twice' && (await recordUnmatched(pool, payment, at))) {
    return { result: 'waiting', detail: payment.why }
  }
  const claim = await findClaim(pool, payment.paymentId)
  if (!claim) throw tryAgain('Whoever claimed the payment did not; it is looked at again.')
  if (await isKnown(desk, claim, payment, namesAnOrder)) return { result: 'unchanged' }
  const second: UnmatchedNotice = {
    ...payment,
    paymentId: ownId(payment),
    why: 'claimed_twice',
    contradicts: payment.paymentId,
  }
  const isNew = await recordUnmatched(pool, second, at)
  return isNew ? { result: 'waiting', detail: 'claimed_twice' } : { result: 'unchanged' }
}

/**
 * Whether the report adds nothing: as much money for the same order, or for one that nobody knows, or what
 * a person has decided on already, wherever it was credited.
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
  // While it waits, whoever decides on it finds out whose it is.
  if (claim.agentId === 0n) return unmatched?.state === 'waiting'
  return !namesAnOrder || isFor(claim, reference)
}

function isFor(claim: PaymentClaim, reference: string): boolean {
  const named = parseTxnId(reference)
  return named?.agentId === claim.agentId && named.orderId === claim.orderId
}

/** Made of the payment's id and of what is said of it. */
function ownId({ paymentId, reference, amountMinor, currency }: UnmatchedNotice): string {
  const said = createHash('sha256').update(`${amountMinor} ${currency} ${reference}`).digest('hex')
  const [provider = '', ...rest] = paymentId.split(':')
  return `${provider}:${storableId(rest.join(':'), 140)}~${said.slice(0, 16)}`
}

/** The bank took a payment back: whoever has it gives it back. */
export async function takeBack(
  desk: PaymentDesk,
  provider: Provider,
  event: ProviderEvent & { type: 'payment_taken_back' },
): Promise<Effect> {
  const { pool } = desk
  const claim = await claimTakenBack(desk, paymentIdOf(provider, event.paymentId), event.reference)
  if (!claim) throw tryAgain(`Payment ${event.paymentId} is not known yet.`)
  const { paymentId, agentId } = claim
  const at = desk.now()
  if (agentId === 0n) {
    const evidence = 'The bank took it back.'
    if (await endUnmatched(pool, paymentId, 'returned', evidence, at)) return { result: 'applied' }
    const { state } = (await findUnmatched(pool, paymentId)) ?? { state: 'gone' }
    if (state === 'returned' || state === 'dismissed') return { result: 'unchanged' }
    throw tryAgain('The payment is being decided on.')
  }
  const orderId = await orderOfPayment(pool, agentId, paymentId)
  if (orderId === undefined) throw tryAgain('The payment is being decided on.')
  const effect = await effectOf(
    desk.teller.do({ type: 'take_back_payment', agentId, orderId, paymentId, at }),
  )
  // It was credited elsewhere since it was read, or the wallet cannot give it: the money is gone all the same.
  if (effect.result === 'refused') throw tryAgain(effect.detail ?? 'It cannot be taken back yet.')
  return effect
}

/**
 * Of several reports under one id, the one with this reference; the first where the money or the reference
 * is nobody's. What names a deposit that the payment was never for takes nothing from an agent: the report
 * for that one may still come, or a person has to find out.
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

/** What became of a command; a refusal is an answer too. */
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
