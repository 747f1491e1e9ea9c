import type { Order } from '../ledger/book.ts'
import { txnId } from '../lib/ids.ts'
import { jsonMembers } from '../lib/json-members.ts'
import { jsonObject, quoted } from '../lib/json-text.ts'
import type { LocalTime } from '../lib/local-time.ts'
import { decimalText } from '../lib/money.ts'
import { answerOf } from './deposit-answer.ts'

/** An order as its agent reads it: the fields of the creation answer and the current state. */
export function orderView(order: Order, localTime: LocalTime): string {
  const { kind, status, currency, userId, completedAt, paidAmountMinor } = order
  const { status: _asCreated, ...answered } = Object.fromEntries(
    jsonMembers(answerOf(order)).textOf,
  )
  return jsonObject({
    ...answered,
    kind: quoted(kind),
    status: quoted(status),
    user_id: quoted(userId),
    refundOf: order.refundOf === null ? undefined : quoted(txnId(order.agentId, order.refundOf)),
    completed_at: completedAt ? quoted(localTime(completedAt)) : 'null',
    paid_amount: paidAmountMinor === null ? 'null' : decimalText(paidAmountMinor, currency),
  })
}
