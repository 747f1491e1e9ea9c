import type { Order } from '../ledger/book.ts'
import type { LocalTime } from '../lib/local-time.ts'
import { decimalText } from '../lib/money.ts'

/** An order as its agent reads it: the fields of the creation answer and the current state. */
export function orderView(order: Order, localTime: LocalTime): string {
  const { kind, status, currency, userId, completedAt, paidAmountMinor } = order
  return JSON.stringify({
    ...JSON.parse(order.answer),
    kind,
    status,
    user_id: userId,
    completed_at: completedAt && localTime(completedAt),
    paid_amount: paidAmountMinor === null ? null : Number(decimalText(paidAmountMinor, currency)),
  })
}
