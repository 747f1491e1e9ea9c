import { createHash } from 'node:crypto'
import { txnId } from '../lib/ids.ts'
import { type Currency, decimalText } from '../lib/money.ts'
import { Problem } from '../lib/problem.ts'
import type { Desk } from '../teller/desk.ts'
import { creditPayment, dismissPayment, returnPayment } from './payments.ts'
import type { FoundPayment } from './search-payments.ts'

/** How many payments one code confirms at most. */
export const mostTogether = 100

/** What is to become of one payment. */
export type PaymentDecision =
  | { do: 'credit'; to: { agentId: bigint; orderId: string | null } }
  | { do: 'return' }
  | { do: 'dismiss' }

export interface PaymentToDecide {
  payment: FoundPayment
  decision: PaymentDecision
}

/** The amounts of payments together, and what names the list as it was shown. */
export interface Together {
  currency: Currency
  sumMinor: bigint
  digest: string
}

/** Adds up payments that are to be decided together. Those of several currencies have no sum. */
export function together(list: readonly PaymentToDecide[]): Together {
  const [first] = list
  if (!first) throw new Problem('invalid_request', 'Choose a payment.')
  const { currency } = first.payment
  if (list.some(({ payment }) => payment.currency !== currency)) {
    throw new Problem('invalid_transition', 'Decide on payments of one currency at a time.')
  }
  const sumMinor = list.reduce((sum, { payment }) => sum + payment.amountMinor, 0n)
  const shown = list.map(({ payment, decision }) => [
    payment.paymentId,
    payment.state,
    payment.why,
    String(payment.amountMinor),
    payment.currency,
    decision.do,
    decision.do === 'credit' ? targetOf(decision.to) : null,
  ])
  const whole = JSON.stringify([shown, decimalText(sumMinor, currency), currency])
  return { currency, sumMinor, digest: createHash('sha256').update(whole).digest('hex') }
}

/** Where a payment is credited to, as the digest has it. */
export function targetOf({
  agentId,
  orderId,
}: {
  agentId: bigint
  orderId: string | null
}): string {
  return orderId === null ? `wallet ${agentId}` : txnId(agentId, orderId)
}

/** Does what was decided on one payment. Throws a problem if somebody else has decided otherwise. */
export async function decideOn(
  desk: Pick<Desk, 'pool' | 'teller' | 'now'>,
  { payment, decision }: PaymentToDecide,
  reason: string,
): Promise<void> {
  const { paymentId, agentId } = payment
  const { changed } = await (decision.do === 'credit'
    ? creditPayment(desk, paymentId, decision.to, `Payment ${paymentId}: ${reason}`)
    : decision.do === 'return'
      ? returnPayment(desk, paymentId, reason, agentId)
      : dismissPayment(desk, paymentId, reason))
  if (changed) return
  const detail = 'Somebody has already decided on this payment. Read it again.'
  throw new Problem('changed_meanwhile', detail)
}
