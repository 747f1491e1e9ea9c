import { txnId } from '../lib/ids.ts'
import { jsonObject, quoted } from '../lib/json-text.ts'
import type { LocalTime } from '../lib/local-time.ts'
import { decimalText } from '../lib/money.ts'
import type { Order } from './book.ts'

/** The response to the creation of a withdrawal; its balance is the one right after the hold. */
export function withdrawAnswer(order: Order, availableMinor: bigint, localTime: LocalTime): string {
  const money = (minor: bigint) => decimalText(minor, order.currency)
  return jsonObject({
    txn_id: quoted(txnId(order.agentId, order.orderId)),
    ref_id: quoted(order.refId),
    amount: money(order.amountMinor),
    fee: money(order.feeMinor),
    status: quoted('WAITING'),
    wallet: jsonObject({ balance: money(availableMinor) }),
    created_at: quoted(localTime(order.createdAt)),
  })
}
