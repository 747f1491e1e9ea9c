import type { LocalTime } from '../lib/local-time.ts'
import type { OpenItem, Order, OrderStatus, PaidAttempt } from './book.ts'
import type { BookView, Command, Decision } from './commands.ts'
import { nothingElse, outcome, refused } from './entry.ts'
import { eventOf } from './transitions.ts'

type Told = Command & { type: 'outcome' }

/**
 * Decides what a report about an order does. A provider's report that contradicts the books waits for a
 * person.
 */
export function decideOutcome(
  book: BookView,
  order: Order,
  command: Told,
  localTime: LocalTime,
): Decision {
  const isOver = order.instructions !== null || order.status !== 'WAITING'
  if (command.unlessInstructed && isOver) return { type: 'unchanged', order }
  const item = contradictionOf(order, command)
  if (item) return { type: 'changed', ...nothingElse, wallet: book.wallet, order, item }
  const { to, at, evidence, providerRef } = command
  if (book.payer && isSureNo(order, command)) {
    if (book.payer.isLookedInto) return askAgain(book, order, book.payer, at)
    const why = `${order.provider} refused it, so this was the only payment.`
    return payBy(book, order, book.payer, command, localTime, why)
  }
  const named = attemptNamed(order, command)
  // While another provider may be paying it, a person cannot say that this one has.
  const isAsked = book.payer?.isAskedAgain && book.payer.reference === named?.reference
  const isForPerson = order.status === 'FAILED' || (order.status === 'WAITING' && isAsked)
  if (named && isForPerson && to === 'PAID' && evidence !== undefined) {
    return payBy(book, order, named, command, localTime, evidence)
  }
  if (providerRef !== undefined && providerRef !== order.providerRef) {
    return refused('invalid_transition', 'The payout is not with this provider any more.')
  }
  const isHandedOver = order.kind === 'withdraw' && order.handedOverAt !== null
  // A person who declines it may be late; from then on it ends by what the provider says of its attempt.
  if (isHandedOver && to === 'FAILED' && providerRef === undefined && evidence !== undefined) {
    return refused('invalid_transition', 'A provider has the withdrawal by now.')
  }
  return move(book, order, to, at, localTime, evidence)
}

/** The attempt that a report is about: the one it names or, if it names none, the order's current one. */
function attemptNamed(order: Order, command: Told): PaidAttempt | undefined {
  const { provider, providerRef: reference } = command.providerRef === undefined ? order : command
  return provider != null && reference != null ? { provider, reference } : undefined
}

/** Whether the current provider of a waiting withdrawal says that it has not paid and never will. */
function isSureNo(order: Order, { to, providerRef, evidence }: Told): boolean {
  const saysNo = to === 'FAILED' || to === 'CANCEL'
  const isWithIt = providerRef !== undefined && providerRef === order.providerRef
  return saysNo && isWithIt && order.status === 'WAITING' && evidence === undefined
}

/**
 * Makes the order PAID by the attempt that paid, even if it is not the latest one, and closes its open
 * items.
 */
function payBy(
  book: BookView,
  order: Order,
  { provider, reference }: PaidAttempt,
  { at, evidence }: Told,
  localTime: LocalTime,
  why: string,
): Decision {
  const paid = { ...order, provider, providerRef: reference }
  const decision = move(book, paid, 'PAID', at, localTime, evidence)
  if (decision.type !== 'changed') return decision
  const { agentId, orderId } = order
  return { ...decision, closes: { agentId, orderId, reference, at, evidence: why } }
}

/**
 * One provider says that it paid, a person has found otherwise, and no other provider has paid: only a person can
 * say whether the order is PAID or FAILED. It waits, and the item is open again.
 */
function askAgain(book: BookView, order: Order, payer: PaidAttempt, at: Date): Decision {
  const item = itemOf(order, 'paid_twice', payer, 'PAID', at)
  return { type: 'changed', ...nothingElse, wallet: book.wallet, order, item, reopens: item }
}

/** An open item, if a provider's report about a payout contradicts the order's status. */
function contradictionOf(order: Order, command: Told): OpenItem | undefined {
  const { to, at, evidence, provider, providerRef } = command
  if (order.kind !== 'withdraw' || evidence !== undefined) return undefined
  if (provider === undefined || providerRef === undefined) return undefined
  const kind = kindOf(order, to, providerRef)
  return kind && itemOf(order, kind, { provider, reference: providerRef }, to, at)
}

function itemOf(
  order: Order,
  kind: OpenItem['kind'],
  { provider, reference }: PaidAttempt,
  providerSaid: OrderStatus,
  openedAt: Date,
): OpenItem {
  return {
    agentId: order.agentId,
    itemId: `${kind}-${reference}`,
    kind,
    orderId: order.orderId,
    provider,
    reference,
    amountMinor: order.amountMinor,
    currency: order.currency,
    providerSaid,
    orderStatus: order.status,
    orderProvider: order.provider,
    openedAt,
  }
}

function kindOf(order: Order, to: OrderStatus, reference: string): OpenItem['kind'] | undefined {
  const isWithIt = reference === order.providerRef
  // Money that came back must have been paid before.
  if (to === 'PAID' || to === 'REVERT') {
    if (order.status === 'FAILED' || order.status === 'CANCEL') return 'paid_after_failed'
    return isWithIt ? undefined : 'paid_twice'
  }
  const saysNo = to === 'FAILED' || to === 'CANCEL'
  return saysNo && isWithIt && order.status === 'PAID' ? 'failed_after_paid' : undefined
}

/** Moves an order to another status, if there is such a transition. Payments are handled elsewhere. */
export function move(
  book: BookView,
  order: Order,
  to: OrderStatus,
  at: Date,
  localTime: LocalTime,
  evidence?: string,
): Decision {
  if (order.status === to) return { type: 'unchanged', order }
  const event = eventOf(order, to)
  // Incoming or returned money is reported as a payment, and counts once by the provider's id.
  const isPayment = event === 'deposit_paid' || event === 'deposit_taken_back'
  // Only a person may debit again what was given back to the agent.
  const isPersons = event === 'withdraw_paid_after_failed' && evidence === undefined
  if (!event || isPayment || isPersons) {
    return refused(
      'invalid_transition',
      `A ${order.kind} order that is ${order.status} cannot become ${to}.`,
    )
  }
  if (to === 'PAID' && order.provider === null) {
    return refused(
      'invalid_transition',
      'No provider has the withdrawal, so none can have paid it.',
    )
  }
  const moved: Order = { ...order, status: to, version: order.version + 1, completedAt: at }
  if (event === 'withdraw_paid' || event === 'withdraw_paid_after_failed') {
    moved.paidAmountMinor = order.amountMinor
    moved.paidFeeMinor = order.feeMinor
  }
  return outcome(book, moved, event, at, localTime, {
    ...(evidence !== undefined && { reason: evidence }),
  })
}
