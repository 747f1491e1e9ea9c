import type { Order } from '../ledger/book.ts'
import type { PayoutAttempt } from '../payouts/payouts.ts'

/** What needs to be known about an order to say what can be done. */
export interface OrderSituation {
  order: Order
  /** The latest attempt to pay out a withdrawal. */
  attempt: PayoutAttempt | undefined
  /** Payments for the order that await a decision. */
  waitingPayments: number
  hasCallback: boolean
  /** The refunds of a deposit, however they ended. */
  refunds: readonly Order[]
  /** Open items: reports of its providers that contradict the order. */
  openItems: number
  now: Date
}
