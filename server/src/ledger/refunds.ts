import type { LocalTime } from '../lib/local-time.ts'
import { decimalText } from '../lib/money.ts'
import type { OpenItem, Order } from './book.ts'
import type { BookView, Change, Decision } from './commands.ts'
import { move } from './decide-outcome.ts'
import { nothingElse, refused } from './entry.ts'

/** Whether a refund counts against what was paid: it may still be paid out, or was. */
function counts({ status }: Order): boolean {
  return status === 'WAITING' || status === 'PAID'
}

/** What of a deposit can still be refunded. Refunds that came to nothing do not count. */
export function refundableRest(deposit: Order, refunds: readonly Order[]): bigint {
  if (deposit.status !== 'PAID') return 0n
  const refunded = refunds.filter(counts).reduce((sum, { amountMinor }) => sum + amountMinor, 0n)
  const rest = (deposit.paidAmountMinor ?? 0n) - refunded
  return rest > 0n ? rest : 0n
}

export const notRefundable = 'Only a deposit that is PAID can be refunded.'

/**
 * Why a refund cannot be made, if it cannot. `version` is the deposit's when the refund's destination was
 * read: if another payment has paid the deposit since, the money would go to the wrong payer.
 */
export function refundRefusal(
  { refunded: deposit, refunds }: BookView,
  refund: Order,
  version: number | undefined,
): Decision | undefined {
  if (!deposit) return refused('order_not_found', 'The agent has no such deposit order.')
  if (deposit.kind !== 'deposit' || deposit.status !== 'PAID') {
    return refused('order_not_refundable', notRefundable)
  }
  if (deposit.version !== version) {
    return refused('order_not_refundable', 'The deposit has changed meanwhile; repeat the request.')
  }
  const rest = refundableRest(deposit, refunds)
  if (refund.amountMinor <= rest) return undefined
  const left = decimalText(rest, deposit.currency)
  return refused(
    'refund_exceeds_payment',
    rest === 0n
      ? 'Nothing of the deposit is left to refund.'
      : `Of the deposit, ${left} ${deposit.currency} is left to refund.`,
  )
}

/** What the journal keeps of a refund, so that the order cannot lose its deposit unseen; nothing otherwise. */
export function refundKey({ orderId, refundOf }: Pick<Order, 'orderId' | 'refundOf'>): {
  onceKey?: string
} {
  return refundOf === null ? {} : { onceKey: `refund:${refundOf}:${orderId}` }
}

/**
 * What becomes of a deposit's refunds when the bank takes the deposit back. One that no provider has is
 * cancelled. One that was handed over goes on, or was paid: the money has left twice, and a person looks
 * into it.
 */
export function stopRefunds(
  book: BookView,
  at: Date,
  localTime: LocalTime,
): readonly Change[] | Decision {
  const also: Change[] = []
  let { wallet } = book
  // In the order in which they were made.
  const refunds = book.refunds.filter(counts).toSorted((a, b) => (a.orderId < b.orderId ? -1 : 1))
  for (const refund of refunds) {
    if (refund.status === 'PAID' || refund.handedOverAt) {
      const item = takenBackItem(refund, at)
      also.push({ ...nothingElse, wallet, order: refund, item })
      continue
    }
    const cancelled = move({ ...book, wallet, order: refund }, refund, 'CANCEL', at, localTime)
    if (cancelled.type !== 'changed') return cancelled
    wallet = cancelled.wallet
    also.push(cancelled)
  }
  return also
}

function takenBackItem(refund: Order, at: Date): OpenItem {
  const kind = 'refunded_and_taken_back'
  // A refund that was marked as paid without a provider is known by its own id.
  const reference = refund.providerRef ?? refund.orderId
  return {
    agentId: refund.agentId,
    itemId: `${kind}-${reference}`,
    kind,
    orderId: refund.orderId,
    provider: refund.provider ?? 'nobody',
    reference,
    amountMinor: refund.amountMinor,
    currency: refund.currency,
    providerSaid: 'VOID',
    orderStatus: refund.status,
    orderProvider: refund.provider,
    openedAt: at,
  }
}
