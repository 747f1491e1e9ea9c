import type { Order } from '../ledger/book.ts'
import { refundableRest } from '../ledger/refunds.ts'
import type { OrderSituation } from './order-situation.ts'

export const actionNames = [
  'mark-paid',
  'mark-failed',
  'void',
  'take-back',
  'refund',
  'cancel',
  'revert',
  'resend',
] as const

export type ActionName = (typeof actionNames)[number]

/** A claim about what a bank did needs evidence. */
export const actionTraits: Record<ActionName, { movesMoney: boolean; needsEvidence: boolean }> = {
  'mark-paid': { movesMoney: true, needsEvidence: true },
  'mark-failed': { movesMoney: true, needsEvidence: true },
  void: { movesMoney: false, needsEvidence: false },
  'take-back': { movesMoney: true, needsEvidence: true },
  refund: { movesMoney: true, needsEvidence: false },
  cancel: { movesMoney: true, needsEvidence: false },
  revert: { movesMoney: true, needsEvidence: true },
  resend: { movesMoney: false, needsEvidence: false },
}

/**
 * The actions that apply to a deposit or a withdrawal, including those that are refused with advice on what
 * to do instead.
 */
export const actionsOfKind: Record<Order['kind'], readonly ActionName[]> = {
  deposit: ['mark-paid', 'void', 'take-back', 'refund', 'resend'],
  withdraw: ['mark-paid', 'mark-failed', 'cancel', 'revert', 'resend'],
}

/** How long operators must leave a payout to a provider that has not reported yet. */
const providersTimeMs = 10 * 60_000

/** Why an action cannot be taken now, or undefined if it can. */
export function whyNot(
  action: ActionName,
  situation: Pick<OrderSituation, 'order' | 'attempt' | 'hasCallback' | 'refunds' | 'now'>,
): string | undefined {
  const { order, attempt, hasCallback, refunds, now } = situation
  const isDeposit = order.kind === 'deposit'
  const stays = `The order is ${order.status}.`
  switch (action) {
    case 'mark-paid':
    case 'mark-failed': {
      if (isDeposit) {
        return action === 'mark-paid'
          ? 'Money that comes in is a payment: credit it to the order under Payments to decide.'
          : 'A deposit ends by itself when it expires; void it to end it now.'
      }
      // The bank paid after all, although the money went back to the agent's wallet.
      if (action === 'mark-paid' && order.status === 'FAILED' && attempt) return undefined
      if (order.status !== 'WAITING') return stays
      if (!attempt) return 'No provider has it, so nothing is unknown about it: cancel it instead.'
      const isDoubtful = attempt.state === 'unknown' || attempt.state === 'not_found'
      const isSilent = now.getTime() - attempt.handedAt.getTime() > providersTimeMs
      if (isDoubtful || isSilent) return undefined
      return 'The provider has it and is within its time: wait for what it says.'
    }
    case 'void':
      if (!isDeposit) return 'Only a deposit is voided; a withdrawal is cancelled.'
      if (order.status === 'PAID')
        return 'It is paid: it ends only if the bank takes the money back.'
      return order.status === 'WAITING' ? undefined : stays
    case 'take-back':
      if (!isDeposit) return 'Only a deposit is taken back; a withdrawal is reverted.'
      return order.status === 'PAID' ? undefined : `${stays} Only a paid deposit is taken back.`
    case 'refund':
      if (!isDeposit) return 'Only a deposit is refunded.'
      if (order.status !== 'PAID') return `${stays} Only a paid deposit is refunded.`
      if (refundableRest(order, refunds) === 0n) return 'Nothing of it is left to refund.'
      return undefined
    case 'cancel':
      if (isDeposit) return 'Only a withdrawal is cancelled; a deposit is voided.'
      if (order.status !== 'WAITING') return stays
      return order.handedOverAt ? 'A provider has it: it can pay it at any moment.' : undefined
    case 'revert':
      if (isDeposit) return 'Only a withdrawal is reverted; a deposit is taken back.'
      return order.status === 'PAID' ? undefined : `${stays} Only a paid withdrawal is reverted.`
    case 'resend':
      return hasCallback
        ? undefined
        : 'Nothing has happened to the order yet that is sent to its agent.'
  }
}
