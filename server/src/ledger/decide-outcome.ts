import type { LocalTime } from '../lib/local-time.ts'
import type { OpenItem, Order, OrderStatus } from './book.ts'
import type { Command, Decision, Page } from './decide.ts'
import { nothingElse, outcome, refused } from './entry.ts'
import { eventOf } from './transitions.ts'

type Told = Command & { type: 'outcome' }

/** What somebody's word on an order does. A provider's that contradicts the books waits for a person. */
export function decideOutcome(
  page: Page,
  order: Order,
  command: Told,
  localTime: LocalTime,
): Decision {
  const item = contradictionOf(page, order, command)
  if (item) return { type: 'changed', ...nothingElse, wallet: page.wallet, order, item }
  const { to, at, evidence, provider, providerRef, insteadOf } = command
  const isElsewhere = providerRef !== undefined && providerRef !== order.providerRef
  const paidAfterAll = order.status === 'FAILED' && to === 'PAID' && evidence !== undefined
  if (!isElsewhere && !paidAfterAll) return move(page, order, to, at, localTime, evidence)
  // The attempt that paid is not the one the order was with last: it was the only one that did.
  const isOnlyPayer = paidAfterAll || (to === 'PAID' && insteadOf === order.providerRef)
  if (isElsewhere && (!isOnlyPayer || provider === undefined)) {
    return refused('invalid_transition', 'The payout is not with this provider any more.')
  }
  const payer = {
    provider: provider ?? order.provider,
    providerRef: providerRef ?? order.providerRef,
  }
  const decision = move(page, { ...order, ...payer }, to, at, localTime, evidence)
  if (decision.type !== 'changed' || payer.providerRef === null) return decision
  const { agentId, orderId } = order
  const why = evidence ?? `${order.provider} refused it, so this was the only payment.`
  const closes = { agentId, orderId, reference: payer.providerRef, at, evidence: why }
  return { ...decision, closes }
}

/** The two sides, where a provider says of a payout what cannot be true beside what the order says. */
function contradictionOf(page: Page, order: Order, command: Told): OpenItem | undefined {
  const { to, at, evidence, provider, providerRef, insteadOf } = command
  if (order.kind !== 'withdraw' || evidence !== undefined || insteadOf !== undefined)
    return undefined
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
    currency: page.terms.currency,
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
  page: Page,
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
  return outcome(page, moved, event, at, localTime, {
    ...(evidence !== undefined && { reason: evidence }),
  })
}
