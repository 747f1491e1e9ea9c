import type { LocalTime } from '../lib/local-time.ts'
import type { OpenItem, Order, OrderStatus, PaidAttempt } from './book.ts'
import type { BookView, Command, Decision } from './commands.ts'
import { nothingElse, outcome, refused } from './entry.ts'
import { eventOf } from './transitions.ts'

type Told = Command & { type: 'outcome' }

/** What somebody's word on an order does. A provider's that contradicts the books waits for a person. */
export function decideOutcome(
  book: BookView,
  order: Order,
  command: Told,
  localTime: LocalTime,
): Decision {
  const item = contradictionOf(order, command)
  if (item) return { type: 'changed', ...nothingElse, wallet: book.wallet, order, item }
  const { to, at, evidence, providerRef } = command
  if (book.payer && isSureNo(order, command)) {
    const why = `${order.provider} refused it, so this was the only payment.`
    return payBy(book, order, book.payer, command, localTime, why)
  }
  const named = attemptNamed(order, command)
  if (named && order.status === 'FAILED' && to === 'PAID' && evidence !== undefined) {
    return payBy(book, order, named, command, localTime, evidence)
  }
  if (providerRef !== undefined && providerRef !== order.providerRef) {
    return refused('invalid_transition', 'The payout is not with this provider any more.')
  }
  return move(book, order, to, at, localTime, evidence)
}

/** The attempt that something is said of: the one that is named or, where none is, the order's own. */
function attemptNamed(order: Order, command: Told): PaidAttempt | undefined {
  const { provider, providerRef: reference } = command.providerRef === undefined ? order : command
  return provider != null && reference != null ? { provider, reference } : undefined
}

/** Whether the provider that a waiting withdrawal is with says that it has not paid and never will. */
function isSureNo(order: Order, { to, providerRef, evidence }: Told): boolean {
  const saysNo = to === 'FAILED' || to === 'CANCEL'
  const isWithIt = providerRef !== undefined && providerRef === order.providerRef
  return saysNo && isWithIt && order.status === 'WAITING' && evidence === undefined
}

/** The order is PAID by the one attempt that paid, whichever it was with last; what waited for that is closed. */
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

/** The two sides, where a provider says of a payout what cannot be true beside what the order says. */
function contradictionOf(order: Order, command: Told): OpenItem | undefined {
  const { to, at, evidence, provider, providerRef } = command
  if (order.kind !== 'withdraw' || evidence !== undefined) return undefined
  if (provider === undefined || providerRef === undefined) return undefined
  const kind = kindOf(order, to, providerRef)
  if (!kind) return undefined
  return {
    agentId: order.agentId,
    itemId: `${kind}-${providerRef}`,
    kind,
    orderId: order.orderId,
    provider,
    reference: providerRef,
    amountMinor: order.amountMinor,
    currency: order.currency,
    providerSaid: to,
    orderStatus: order.status,
    orderProvider: order.provider,
    openedAt: at,
  }
}

function kindOf(order: Order, to: OrderStatus, reference: string): OpenItem['kind'] | undefined {
  const isWithIt = reference === order.providerRef
  // What came back had been paid.
  if (to === 'PAID' || to === 'REVERT') {
    if (order.status === 'FAILED' || order.status === 'CANCEL') return 'paid_after_failed'
    return isWithIt ? undefined : 'paid_twice'
  }
  const saysNo = to === 'FAILED' || to === 'CANCEL'
  return saysNo && isWithIt && order.status === 'PAID' ? 'failed_after_paid' : undefined
}

/** Takes an order to another state, if there is such a step. Payments have ways of their own. */
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
  // Money that comes in or is taken back is told as a payment, and counts once by the provider's id.
  const isPayment = event === 'deposit_paid' || event === 'deposit_taken_back'
  // What was given back to the agent is taken again by a person's word alone.
  const isPersons = event === 'withdraw_paid_after_failed' && evidence === undefined
  if (!event || isPayment || isPersons) {
    return refused(
      'invalid_transition',
      `A ${order.kind} order that is ${order.status} cannot become ${to}.`,
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
