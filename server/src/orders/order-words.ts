import type { Order } from '../ledger/book.ts'
import type { LocalTime } from '../lib/local-time.ts'
import type { PayoutAttempt } from '../payouts/payouts.ts'

export const actionNames = [
  'mark-paid',
  'mark-failed',
  'void',
  'take-back',
  'cancel',
  'revert',
  'resend',
] as const

export type ActionName = (typeof actionNames)[number]

/** What moves money asks for the code again; a person's word on what a bank did needs evidence. */
export const actionTraits: Record<ActionName, { movesMoney: boolean; needsEvidence: boolean }> = {
  'mark-paid': { movesMoney: true, needsEvidence: true },
  'mark-failed': { movesMoney: true, needsEvidence: true },
  void: { movesMoney: false, needsEvidence: false },
  'take-back': { movesMoney: true, needsEvidence: true },
  cancel: { movesMoney: true, needsEvidence: false },
  revert: { movesMoney: true, needsEvidence: true },
  resend: { movesMoney: false, needsEvidence: false },
}

/** What is ever done to a deposit or a withdrawal, or asked for by those who then learn what to do instead. */
export const actionsOfKind: Record<Order['kind'], readonly ActionName[]> = {
  deposit: ['mark-paid', 'void', 'take-back', 'resend'],
  withdraw: ['mark-paid', 'mark-failed', 'cancel', 'revert', 'resend'],
}

/** What is known around an order when somebody is to be told what can be done. */
export interface OrderSituation {
  order: Order
  /** The latest attempt at paying a withdrawal out. */
  attempt: PayoutAttempt | undefined
  /** Payments that came in for it and wait for a decision. */
  waitingPayments: number
  hasCallback: boolean
  /** What its providers say that cannot be true beside it, and nobody has closed. */
  openItems: number
  now: Date
}

/** A provider that has a payout and says nothing is left alone for so long. */
const providersTimeMs = 10 * 60_000

/** Why an action cannot be taken now, in words; undefined where it can. */
export function whyNot(action: ActionName, situation: OrderSituation): string | undefined {
  const { order, attempt, hasCallback, now } = situation
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
      // The bank paid after all, and the agent has had the money back.
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
    case 'cancel':
      if (isDeposit) return 'Only a withdrawal is cancelled; a deposit is voided.'
      if (order.status !== 'WAITING') return stays
      return order.handedOverAt ? 'A provider has it: it can pay it at any moment.' : undefined
    case 'revert':
      if (isDeposit) return 'Only a withdrawal is reverted; a deposit is taken back.'
      return order.status === 'PAID' ? undefined : `${stays} Only a paid withdrawal is reverted.`
    case 'resend':
      return hasCallback ? undefined : 'Nothing has happened to it yet that its agent is told of.'
  }
}

interface Words {
  why: string
  next: string
}

export const nothingMore = 'Nothing more happens by itself.'

/** Why an order is in its state, and what happens next. */
export function orderWords(situation: OrderSituation, localTime: LocalTime): Words {
  const { order, waitingPayments, openItems } = situation
  const words =
    order.kind === 'deposit'
      ? depositWords(situation, localTime)
      : withdrawWords(situation, localTime)
  if (openItems > 0) {
    return {
      why: `${words.why} A provider says otherwise.`,
      next: 'Find out who is right: it is one of the open items.',
    }
  }
  if (waitingPayments === 0) return words
  const many = waitingPayments === 1 ? 'A payment' : `${waitingPayments} payments`
  const next = `${many} for it did not fit and must be decided on under Payments to decide. ${words.next}`
  return { why: words.why, next: order.status === 'WAITING' ? next : next.trim() }
}

function depositWords({ order }: OrderSituation, localTime: LocalTime): Words {
  switch (order.status) {
    case 'WAITING':
      return {
        why: 'The payer has not paid yet.',
        next: `It is paid when the money comes in, and expires at ${timeText(order.expiresAt, localTime)} otherwise.`,
      }
    case 'PAID':
      return {
        why:
          order.paidAmountMinor === order.amountMinor
            ? 'The money came in and was credited to the wallet.'
            : 'Another amount than was asked for came in, and was credited to the wallet.',
        next: `${nothingMore} If the bank takes the money back, take it back here too.`,
      }
    case 'EXPIRED':
      return {
        why: 'No money came in before it expired.',
        next: `${nothingMore} Money that still comes in waits for a decision, or is credited where the agent's terms say so.`,
      }
    case 'VOID':
      return {
        why:
          order.paidAmountMinor === null
            ? 'It was ended before it was paid.'
            : 'It was paid, and the payment was taken back.',
        next: nothingMore,
      }
    default:
      return { why: 'The provider said that it failed.', next: nothingMore }
  }
}

function withdrawWords({ order, attempt }: OrderSituation, localTime: LocalTime): Words {
  const said = attempt?.said ? ` It was said: ${attempt.said}` : ''
  switch (order.status) {
    case 'WAITING':
      return attempt
        ? waitingPayoutWords(attempt, said, localTime)
        : {
            why: 'Amount and fee are held; no provider has it yet.',
            next: 'It is handed over as soon as a provider takes it. Until then it can be cancelled.',
          }
    case 'PAID':
      return {
        why: attempt?.evidence
          ? `It was marked as paid by a person: ${attempt.evidence}`
          : 'The provider paid it.',
        next: `${nothingMore} If the bank sends the money back, revert it.`,
      }
    case 'FAILED':
      return {
        why: attempt?.evidence
          ? `It was marked as failed by a person: ${attempt.evidence}`
          : `The provider refused it, and what was held was released.${said}`,
        next: `${nothingMore} If the bank paid it after all, mark it as paid: the wallet is debited, below zero if need be.`,
      }
    case 'CANCEL':
      return { why: 'It was cancelled, and what was held was released.', next: nothingMore }
    default:
      return { why: 'It was paid, and the money came back to the wallet.', next: nothingMore }
  }
}

function waitingPayoutWords(attempt: PayoutAttempt, said: string, localTime: LocalTime): Words {
  const askAt = timeText(attempt.askAt, localTime)
  switch (attempt.state) {
    case 'unknown':
      return {
        why: `Nobody knows whether the provider paid it.${said} The money stays held, and it is never sent twice.`,
        next: `The provider is asked again at ${askAt}. Whoever can see the bank's statement may mark it as paid or failed.`,
      }
    case 'not_found':
      return {
        why: 'The provider does not know it, and does not promise to pay a reference only once.',
        next: "Look at the bank's statement, then mark it as paid or failed.",
      }
    default:
      return {
        why: 'A provider has it and has not said what became of it.',
        next: `The provider is asked at ${askAt}, unless it reports before.`,
      }
  }
}

function timeText(at: Date | null, localTime: LocalTime): string {
  return at === null ? 'no time' : localTime(at)
}
