import { txnId } from '../lib/ids.ts'
import { decimalText } from '../lib/money.ts'
import type { FoundMovement } from './read-movements.ts'

/** A movement as the command line and the console show it. A payment's state is that of its payment. */
export function movementView(movement: FoundMovement) {
  const { agentId, orderId, amountMinor, currency } = movement
  return {
    id: movement.movementId,
    account: movement.account,
    day: movement.bookedOn,
    booked_at: movement.bookedAt?.toISOString() ?? null,
    amount: decimalText(amountMinor, currency),
    currency,
    deducted: decimalText(movement.deductedMinor, currency),
    state: (movement.state === 'booked' && movement.paymentState) || movement.state,
    explained_by: movement.explainedBy,
    txn_id: agentId !== null && orderId !== null ? txnId(agentId, orderId) : null,
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
  }
}
