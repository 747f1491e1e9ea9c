import type { OpenItem, OrderStatus } from '../ledger/book.ts'
import type { FoundItem } from '../ledger/open-items.ts'

type Sides = Pick<OpenItem, 'kind' | 'provider' | 'providerSaid' | 'orderStatus' | 'orderProvider'>

/** Explains to the caller how a report contradicts the books: both sides, and what happens next. */
export function itemWords(item: OpenItem): string {
  return `${sidesOf(item)} A person has to find out who is right: open item ${item.itemId}.`
}

/** What the provider reported and what the order's status was at that time. */
export function sidesOf({
  kind,
  provider,
  providerSaid,
  orderStatus,
  orderProvider,
}: Sides): string {
  if (kind === 'refunded_and_taken_back') {
    return `The bank took a deposit back that this payout refunds. The refund was ${orderStatus}, with ${provider}.`
  }
  const paid = { PAID: 'it paid', REVERT: 'it paid and got the money back' }[providerSaid as 'PAID']
  const isElsewhere = orderProvider !== null && orderProvider !== provider
  const where = isElsewhere ? `, with ${orderProvider}` : ''
  return `${provider} says that ${paid ?? 'it did not pay'}. The order was ${orderStatus}${where}.`
}

/** What can be done about an item, depending on the order's current status. */
export function itemNext(item: FoundItem, status: OrderStatus): string {
  if (item.closedAt !== null) return 'It is closed: nothing more happens.'
  if (item.kind === 'refunded_and_taken_back') {
    return status === 'WAITING' || status === 'PAID'
      ? 'The payer may get the money twice, and the agent owes what its wallet does not cover. Ask the bank or the payer for the refund; if it comes back, revert the order. Then close this with what you found.'
      : `The refund is ${status} and its amount is in the wallet again: close this with what you found.`
  }
  if (item.kind === 'failed_after_paid') {
    return "Look at the bank's statement. If the money came back, revert the order; then close this with what you found."
  }
  if (item.kind === 'paid_after_failed' && item.providerSaid === 'REVERT') {
    return status === 'PAID'
      ? "Look at the bank's statement. If the money came back, revert the order; then close this with what you found."
      : "Look at the bank's statement. If the money came back, nobody owes anything: close this with what you found."
  }
  if (status === 'FAILED') {
    return "Look at the bank's statement. If the money went out, mark the order as paid: amount and fee are taken from the wallet, and this is closed. If not, close this with what you found."
  }
  if (item.kind === 'paid_twice') {
    return 'Find out whether both providers paid, and get one payment back. Nobody has been charged for the second; close this with what you found.'
  }
  return "Look at the bank's statement. If the money went out, agree with the agent and adjust its wallet; then close this with what you found."
}
