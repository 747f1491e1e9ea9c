import type { Order } from '../ledger/book.ts'
import { jsonObject, quoted } from '../lib/json-text.ts'
import type { LocalTime } from '../lib/local-time.ts'
import { decimalText } from '../lib/money.ts'

/** An order as its agent reads it: what creating it was answered with, and what has become of it. */
export function orderView(order: Order, localTime: LocalTime): string {
  const since = jsonObject({
    kind: quoted(order.kind),
    status: quoted(order.status),
    user_id: quoted(order.userId),
    completed_at: order.completedAt ? quoted(localTime(order.completedAt)) : 'null',
    paid_amount:
      order.paidAmountMinor === null ? 'null' : decimalText(order.paidAmountMinor, order.currency),
  })
  // Only a withdrawal's answer holds a status. A quote inside a value is escaped, so this text
  // cannot be part of one.
  const created = order.answer.replace('"status":"WAITING",', '')
  return `${created.slice(0, -1)},${since.slice(1)}`
}
