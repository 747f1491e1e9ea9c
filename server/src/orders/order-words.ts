import type { Order } from '../ledger/book.ts'
import { refundableRest } from '../ledger/refunds.ts'
import type { LocalTime } from '../lib/local-time.ts'
import { decimalText } from '../lib/money.ts'
import type { PayoutAttempt } from '../payouts/payouts.ts'
import type { OrderSituation } from './order-situation.ts'

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

function depositWords({ order, refunds }: OrderSituation, localTime: LocalTime): Words {
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
        next: `${nothingMore}${refundWords(order, refunds)} If the bank takes the money back, take it back here too.`,
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

/** What of a paid deposit is on its way back to the payer, or there. */
function refundWords(order: Order, refunds: readonly Order[]): string {
  const rest = refundableRest(order, refunds)
  if (rest === order.paidAmountMinor) return ''
  return rest === 0n
    ? ' All of it is refunded, or on its way back.'
    : ` A part of it is refunded, or on its way back; ${decimalText(rest, order.currency)} ${order.currency} is left.`
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
        next: `The provider is asked again at ${askAt}. If you can see the bank's statement, mark it as paid or failed.`,
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
