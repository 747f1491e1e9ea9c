import type { OpenItem, Order } from '../ledger/book.ts'
import type { FoundItem } from '../ledger/open-items.ts'
import { decimalText } from '../lib/money.ts'

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

const lookAtStatement = "Look at the bank's statement."
const thenClose = 'then close this with what you found.'

/** What can be done about an item, depending on how its order is now. */
export function itemNext(
  item: FoundItem,
  { status, providerRef }: Pick<Order, 'status' | 'providerRef'>,
): string {
  const { kind, provider, providerSaid, orderProvider } = item
  if (item.closedAt !== null) return 'It is closed: nothing more happens.'
  if (kind === 'refunded_and_taken_back') {
    return status === 'WAITING' || status === 'PAID'
      ? 'The payer may get the money twice, and the agent owes what its wallet does not cover. Ask the bank or the payer for the refund; if it comes back, revert the order. Then close this with what you found.'
      : `The refund is ${status} and its amount is in the wallet again: close this with what you found.`
  }
  if (kind === 'failed_after_paid') {
    return `${lookAtStatement} If the money came back, revert the order; ${thenClose}`
  }
  if (providerSaid === 'REVERT' && status === 'PAID' && providerRef === item.reference) {
    return `${lookAtStatement} If the money came back, revert the order; ${thenClose}`
  }
  if (providerSaid === 'REVERT') {
    const waits =
      status === 'WAITING' && item.reopenedAt !== null
        ? ` If ${orderProvider} has refused the order, it waits for you: mark it as failed.`
        : ''
    return `${lookAtStatement} If the money came back, nobody owes anything.${waits} If what left was booked here, book here that it is back: that books ${moneyOf(item)} back at ${item.provider}, and closes this. Otherwise close this with what you found.`
  }
  if (status === 'FAILED') {
    return `${lookAtStatement} If the money went out, mark the order as paid: amount and fee are taken from the wallet, and this is closed. If not, close this with what you found.`
  }
  if (status === 'WAITING') {
    return item.reopenedAt === null
      ? `${lookAtStatement} If ${provider} has not paid, close this with what you found: the order then goes its way with ${orderProvider}. If it has, leave this open: if ${orderProvider} refuses the order, it is PAID by ${provider}.`
      : `${provider} says that it paid, somebody found otherwise, and ${orderProvider} has refused the order, which waits for you. ${lookAtStatement} If the money went out, mark the order as paid; if not, as failed.`
  }
  const whose =
    kind === 'paid_twice'
      ? 'If both providers paid, get one payment back. The agent is charged for one only; until the other is back,'
      : 'If the money went out, get it back. The agent was told that it would not be paid; until the money is back,'
  const orAgent = kind === 'paid_twice' ? '' : ' If the agent agrees to bear it, charge the agent.'
  return `${lookAtStatement} ${whose} the house bears it. Book it here: that writes off ${moneyOf(item)} at ${item.provider}, so that the books say what left there, and closes this.${orAgent} If nothing left, close this with what you found.`
}

function moneyOf({ amountMinor, currency }: FoundItem): string {
  return `${decimalText(amountMinor, currency)} ${currency}`
}
