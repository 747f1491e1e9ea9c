import type { FoundCallback } from '../../callbacks/found-callback.ts'
import type { AttemptMade } from '../../callbacks/search-callbacks.ts'
import { accountNames } from '../../ledger/accounts.ts'
import type { JournalEvent, JournalRow, Order } from '../../ledger/book.ts'
import type { LimitCheck } from '../../ledger/limits.ts'
import type { FoundItem } from '../../ledger/open-items.ts'
import type { Currency } from '../../lib/money.ts'
import type { AuditRow } from '../../operators/audit-of-subjects.ts'
import type { PayoutAttempt } from '../../payouts/payouts.ts'
import type { OrderNotice, OrderPayment } from '../../reports/read-order-history.ts'
import { exact } from './order-summary.ts'

/** Everything recorded about one order. */
export interface OrderHistory {
  order: Order
  journal: JournalRow[]
  callbacks: (FoundCallback & { body: string })[]
  attempts: AttemptMade[]
  payouts: PayoutAttempt[]
  notices: OrderNotice[]
  payments: OrderPayment[]
  audit: AuditRow[]
  openItems: FoundItem[]
  refunds: Order[]
  /** What limits said when it was created. */
  check: LimitCheck | undefined
}

interface Entry {
  at: Date
  kind: string
  /** What happened, by a code, so that the console says it in other languages. */
  event: string
  title: string
  raw: unknown
}

export const eventTitles: Record<JournalEvent | 'waiting_credited', string> = {
  waiting_credited: 'Money that waited was credited to the wallet',
  withdraw_held: 'Amount and fee are held',
  withdraw_paid: 'Paid out; the held amount left the wallet',
  withdraw_paid_after_failed: 'Paid after all; amount and fee were taken from the wallet',
  withdraw_failed: 'Failed; the held amount is available again',
  withdraw_cancelled: 'Cancelled; the held amount is available again',
  withdraw_reverted: 'Returned; the wallet is credited again',
  deposit_paid: 'Paid; the wallet is credited',
  deposit_failed: 'Failed',
  deposit_expired: 'Expired',
  deposit_void: 'Voided',
  deposit_taken_back: 'The bank took the payment back; the wallet is debited',
  cost_charged: 'The provider charged a cost',
  reserve_released: 'The reserve of this deposit was released',
  adjustment: 'Adjustment',
  payment_received: 'Money came in and waits for a decision',
  payment_returned: 'Money that waited was returned',
  payment_dismissed: 'An operator dismissed a report that was no payment',
  payment_assigned: 'Money that waited was assigned to an agent',
  payment_reclassified: 'Money credited earlier was counted at its provider',
  swept: 'Fees and costs moved to the house',
  written_off: 'A difference was written off',
  debit_reported: 'Money left a bank account, and nobody can say yet for what',
  debit_explained: 'A debit that nothing explained is in the books as what it was',
}

/**
 * The events of an order, oldest first, each with what was known then: what became of it later is an event of its
 * own, and what holds now is told beside the timeline.
 */
export function timelineOf(history: OrderHistory, currency: Currency): Entry[] {
  const { order, journal, callbacks, attempts, payouts, notices, payments, audit } = history
  const entries: Entry[] = [
    {
      at: order.createdAt,
      kind: 'request',
      event: 'created',
      title: 'The agent created the order',
      raw: requestOf(order, currency),
    },
    ...payouts.map((payout) => payoutEntry(payout)),
    ...notices.map((notice) => ({
      at: notice.receivedAt,
      kind: 'notice',
      event: 'reported',
      title: `${notice.provider} reports`,
      raw: {
        provider: notice.provider,
        event_id: notice.eventId,
        body: jsonOrText(notice.body),
      },
    })),
    ...payments.map((payment) => paymentEntry(payment, currency)),
    ...journal.map((row) => journalEntry(row, currency)),
    ...callbacks.map((callback) => ({
      at: callback.at,
      kind: 'callback',
      event: 'callback_written',
      title: `Callback ${callback.status} written`,
      raw: { seq: callback.seq, status: callback.status, body: jsonOrText(callback.body) },
    })),
    ...attempts.map((attempt) => attemptEntry(attempt)),
    ...audit.map((row) => ({
      at: row.at,
      kind: 'operator',
      event: 'acted',
      title: `${row.email}: ${row.action.replaceAll('_', ' ')}, ${row.outcome}`,
      raw: row,
    })),
  ]
  // Entries with equal times keep the order above: a request comes before its result.
  return entries.sort((a, b) => a.at.getTime() - b.at.getTime())
}

function requestOf(order: Order, currency: Currency) {
  return {
    refId: order.refId,
    userId: order.userId,
    amount: exact(order.amountMinor, currency),
    accountName: order.accountName,
    accountNo: order.accountNo,
    bankCode: order.bankCode,
    extraParams: order.extraParams === null ? null : jsonOrText(order.extraParams),
    answer: jsonOrText(order.answer),
  }
}

function payoutEntry({ handedAt, provider, reference }: PayoutAttempt): Entry {
  return {
    at: handedAt,
    kind: 'provider',
    event: 'handed_over',
    title: `Handed to ${provider}`,
    raw: { provider, reference },
  }
}

function paymentEntry(payment: OrderPayment, currency: Currency): Entry {
  return {
    at: payment.reportedAt,
    kind: 'payment',
    event: 'money_came_in',
    title: 'Money came in',
    raw: {
      payment_id: payment.paymentId,
      amount: exact(payment.amountMinor, currency),
      paid_at: payment.paidAt,
    },
  }
}

function journalEntry(row: JournalRow, currency: Currency): Entry {
  const event = isWaitingMoneyCredited(row) ? 'waiting_credited' : row.event
  return {
    at: row.at,
    kind: 'journal',
    event,
    title: eventTitles[event],
    raw: {
      seq: row.seq,
      event: row.event,
      ...Object.fromEntries(
        accountNames.map((name) => [`${name}_change`, exact(row.change[name], currency)]),
      ),
      ...Object.fromEntries(
        accountNames.map((name) => [name, exact(row.balances[name], currency)]),
      ),
      reason: row.reason,
    },
  }
}

function isWaitingMoneyCredited({ event, onceKey }: JournalRow): boolean {
  return event === 'adjustment' && onceKey?.startsWith('payment:') === true
}

function attemptEntry(attempt: AttemptMade): Entry {
  const answer =
    attempt.status === null ? (attempt.error ?? 'no answer') : `answered ${attempt.status}`
  return {
    at: attempt.startedAt,
    kind: 'attempt',
    event: 'callback_sent',
    title: `Callback sent: ${answer}`,
    raw: {
      seq: attempt.seq,
      url: attempt.url,
      address: attempt.address,
      duration_ms: attempt.durationMs,
      status: attempt.status,
      response_headers: attempt.responseHeaders,
      response_body: attempt.responseBody?.toString('utf8') ?? null,
      error: attempt.error,
    },
  }
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
