import type { Order } from '../ledger/book.ts'
import type { PayoutAttempt } from '../payouts/payouts.ts'

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
