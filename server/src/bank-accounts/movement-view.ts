import { txnId } from '../lib/ids.ts'
import { wholeDecimalText } from '../lib/money.ts'
import type { FoundMovement } from './read-movements.ts'

/** A movement as the command line and the console show it. A payment's state is that of its payment. */
export function movementView(movement: FoundMovement) {
  const { agentId, orderId, amountMinor, currency, paidOrder } = movement
  const decided = agentId !== null && orderId !== null ? { agentId, orderId } : null
  const order = paidOrder ?? decided
  return {
    id: movement.movementId,
    account: movement.account,
    day: movement.bookedOn,
    booked_at: movement.bookedAt?.toISOString() ?? null,
    amount: wholeDecimalText(amountMinor, currency),
    currency,
    deducted: wholeDecimalText(movement.deductedMinor, currency),
    state: (movement.state === 'booked' && movement.paymentState) || movement.state,
    explained_by: movement.explainedBy,
    txn_id: order && txnId(order.agentId, order.orderId),
    why: movement.why,
    detail: movement.detail,
    text: movement.text,
    payer: {
      account_no: movement.payerAccountNo,
      name: movement.payerName,
      bank: movement.payerBank,
    },
    reported_by: movement.sources,
    brought_by: movement.broughtBy,
    recorded: movement.hand && {
      by: movement.hand.recordedBy,
      approved_by: movement.hand.approvedBy,
      at: movement.hand.recordedAt.toISOString(),
      slip: movement.hand.slip,
      reference: movement.hand.reference,
    },
    files: movement.files.map(({ fileId, name, via, broughtBy }) => ({
      file_id: fileId,
      name,
      via,
      brought_by: broughtBy,
    })),
  }
}
