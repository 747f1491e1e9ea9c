import type { Order } from '../ledger/book.ts'
import { refundableRest } from '../ledger/refunds.ts'
import type { LocalTime } from '../lib/local-time.ts'
import { decimalText } from '../lib/money.ts'
import type { PayoutAttempt } from '../payouts/payouts.ts'
import type { OrderSituation } from './order-situation.ts'

/** All that is said of orders, by a code, so that the console says the same in other languages. */
export const sayings = {
  payer_has_not_paid: 'The payer has not paid yet.',
  came_in: 'The money came in and was credited to the wallet.',
  other_amount_came_in:
    'Another amount than was asked for came in, and was credited to the wallet.',
  nothing_came_in: 'No money came in before it expired.',
  ended_unpaid: 'It was ended before it was paid.',
  taken_back: 'It was paid, and the payment was taken back.',
  said_failed: 'The provider said that it failed.',
  nobody_has_it: 'Amount and fee are held; no provider has it yet.',
  nobody_knows: 'Nobody knows whether the provider paid it.',
  it_was_said: (given: string) => `It was said: ${given}`,
  stays_held: 'The money stays held, and it is never sent twice.',
  not_known_there:
    'The provider does not know it, and does not promise to pay a reference only once.',
  under_way: 'A provider has it and has not said what became of it.',
  provider_paid: 'The provider paid it.',
  paid_by_a_person: (given: string) => `It was marked as paid by a person: ${given}`,
  provider_refused: 'The provider refused it, and what was held was released.',
  failed_by_a_person: (given: string) => `It was marked as failed by a person: ${given}`,
  cancelled: 'It was cancelled, and what was held was released.',
  came_back: 'It was paid, and the money came back to the wallet.',
  provider_contradicts: 'A provider says otherwise.',
  expires_at: (given: string) =>
    `It is paid when the money comes in, and expires at ${given} otherwise.`,
  nothing_more: 'Nothing more happens by itself.',
  all_refunded: 'All of it is refunded, or on its way back.',
  part_refunded: (given: string) =>
    `A part of it is refunded, or on its way back; ${given} is left.`,
  take_back_too: 'If the bank takes the money back, take it back here too.',
  late_money:
    "Money that still comes in waits for a decision, or is credited where the agent's terms say so.",
  find_out_who_is_right: 'Find out who is right: it is one of the open items.',
  a_payment_to_decide:
    'A payment for it did not fit and must be decided on under Payments to decide.',
  payments_to_decide: (given: string) =>
    `${given} payments for it did not fit and must be decided on under Payments to decide.`,
  handed_over_soon:
    'It is handed over as soon as a provider takes it. Until then it can be cancelled.',
  revert_if_sent_back: 'If the bank sends the money back, revert it.',
  mark_paid_if_paid:
    'If the bank paid it after all, mark it as paid: the wallet is debited, below zero if need be.',
  asked_again_at: (given: string) =>
    `The provider is asked again at ${given}. If you can see the bank's statement, mark it as paid or failed.`,
  look_at_statement: "Look at the bank's statement, then mark it as paid or failed.",
  asked_at: (given: string) => `The provider is asked at ${given}, unless it reports before.`,
} as const

/** One sentence, with the text, the time or the number that is in it. */
export interface Said {
  code: keyof typeof sayings
  given: string | Date | null
}

/** Why an order is in its state, and what happens next. */
export interface Explained {
  why: Said[]
  next: Said[]
}

/** What was said, in English. */
export function inEnglish(said: readonly Said[], localTime: LocalTime): string {
  const sentences = said.map(({ code, given }) => {
    const text = sayings[code]
    if (typeof text === 'string') return text
    return text(given instanceof Date ? localTime(given) : (given ?? 'no time'))
  })
  return sentences.join(' ')
}

function say(code: Said['code'], given: Said['given'] = null): Said {
  return { code, given }
}

export const nothingMore = say('nothing_more')

export function explain(situation: OrderSituation): Explained {
  const { order, waitingPayments, openItems } = situation
  const { why, next } =
    order.kind === 'deposit' ? explainDeposit(situation) : explainWithdrawal(situation)
  if (openItems > 0) {
    return { why: [...why, say('provider_contradicts')], next: [say('find_out_who_is_right')] }
  }
  if (waitingPayments === 0) return { why, next }
  const payments =
    waitingPayments === 1
      ? say('a_payment_to_decide')
      : say('payments_to_decide', String(waitingPayments))
  return { why, next: [payments, ...next] }
}

function explainDeposit({ order, refunds }: OrderSituation): Explained {
  switch (order.status) {
    case 'WAITING':
      return { why: [say('payer_has_not_paid')], next: [say('expires_at', order.expiresAt)] }
    case 'PAID': {
      const isAsAsked = order.paidAmountMinor === order.amountMinor
      return {
        why: [say(isAsAsked ? 'came_in' : 'other_amount_came_in')],
        next: [nothingMore, ...refunded(order, refunds), say('take_back_too')],
      }
    }
    case 'EXPIRED':
      return { why: [say('nothing_came_in')], next: [nothingMore, say('late_money')] }
    case 'VOID':
      return {
        why: [say(order.paidAmountMinor === null ? 'ended_unpaid' : 'taken_back')],
        next: [nothingMore],
      }
    default:
      return { why: [say('said_failed')], next: [nothingMore] }
  }
}

/** What of a paid deposit is on its way back to the payer, or there. */
function refunded(order: Order, refunds: readonly Order[]): Said[] {
  const rest = refundableRest(order, refunds)
  if (rest === order.paidAmountMinor) return []
  return rest === 0n
    ? [say('all_refunded')]
    : [say('part_refunded', `${decimalText(rest, order.currency)} ${order.currency}`)]
}

function explainWithdrawal({ order, attempt }: OrderSituation): Explained {
  const evidence = attempt?.evidence
  switch (order.status) {
    case 'WAITING':
      return attempt
        ? explainWaitingPayout(attempt)
        : { why: [say('nobody_has_it')], next: [say('handed_over_soon')] }
    case 'PAID':
      return {
        why: [evidence ? say('paid_by_a_person', evidence) : say('provider_paid')],
        next: [nothingMore, say('revert_if_sent_back')],
      }
    case 'FAILED':
      return {
        why: evidence
          ? [say('failed_by_a_person', evidence)]
          : [say('provider_refused'), ...whatWasSaid(attempt)],
        next: [nothingMore, say('mark_paid_if_paid')],
      }
    case 'CANCEL':
      return { why: [say('cancelled')], next: [nothingMore] }
    default:
      return { why: [say('came_back')], next: [nothingMore] }
  }
}

function explainWaitingPayout(attempt: PayoutAttempt): Explained {
  switch (attempt.state) {
    case 'unknown':
      return {
        why: [say('nobody_knows'), ...whatWasSaid(attempt), say('stays_held')],
        next: [say('asked_again_at', attempt.askAt)],
      }
    case 'not_found':
      return { why: [say('not_known_there')], next: [say('look_at_statement')] }
    default:
      return { why: [say('under_way')], next: [say('asked_at', attempt.askAt)] }
  }
}

function whatWasSaid(attempt: PayoutAttempt | undefined): Said[] {
  return attempt?.said ? [say('it_was_said', attempt.said)] : []
}
