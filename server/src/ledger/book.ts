import type { Currency } from '../lib/money.ts'
import type { Accounts } from './accounts.ts'

export const orderKinds = ['deposit', 'withdraw'] as const
export type OrderKind = (typeof orderKinds)[number]

export const orderStatuses = [
  'WAITING',
  'PAID',
  'FAILED',
  'EXPIRED',
  'VOID',
  'CANCEL',
  'REVERT',
] as const
export type OrderStatus = (typeof orderStatuses)[number]
export type DepositStatus = Exclude<OrderStatus, 'CANCEL' | 'REVERT'>
export type WithdrawStatus = Exclude<OrderStatus, 'EXPIRED' | 'VOID'>

export interface Order {
  agentId: bigint
  orderId: string
  kind: OrderKind
  refId: string
  /** The deposit that this withdrawal refunds, whole or in part. */
  refundOf: string | null
  userId: string
  /** The agent's currency, which never changes. */
  currency: Currency
  amountMinor: bigint
  /** The amount that pays a deposit, if not its amount: the surplus tells it from others. */
  payableMinor: bigint | null
  feeMinor: bigint
  feeRule: string
  /** A deposit's: what becomes of money that comes late or in another amount. */
  lateMoney: 'review' | 'credit' | null
  /** A deposit's: which share of it is held back, and for how long; null if nothing is. */
  reserveRule: string | null
  /** A withdrawal's: what becomes of its fee if the payout comes back. */
  revertFee: 'return' | 'keep' | null
  accountName: string
  accountNo: string
  bankCode: string
  /** Exactly the text that the agent sent. */
  extraParams: string | null
  status: OrderStatus
  version: number
  /** The body of the response to the order's creation. */
  answer: string
  createdAt: Date
  expiresAt: Date | null
  completedAt: Date | null
  paidAmountMinor: bigint | null
  paidFeeMinor: bigint | null
  /** When what is held back of a paid deposit becomes available; null if nothing is held back. */
  releaseAt: Date | null
  provider: string | null
  providerRef: string | null
  handedOverAt: Date | null
  /** The provider's payment instructions, as JSON, if it had to be called for them. */
  instructions: string | null
}

/** A book's balances: an agent's wallet, or the house's book in a currency. */
export interface Wallet {
  agentId: bigint
  currency: Currency
  seq: bigint
  balances: Accounts
  /** The hash of the last journal row. */
  hash: string
}

export type OrderEvent =
  | 'withdraw_held'
  | 'withdraw_paid'
  | 'withdraw_paid_after_failed'
  | 'withdraw_failed'
  | 'withdraw_cancelled'
  | 'withdraw_reverted'
  | 'deposit_paid'
  | 'deposit_failed'
  | 'deposit_expired'
  | 'deposit_void'
  | 'deposit_taken_back'

/** Events that belong to no order. */
export const bookEvents = [
  'adjustment',
  'payment_received',
  'payment_returned',
  'payment_dismissed',
  'payment_assigned',
  'payment_reclassified',
  'swept',
  'written_off',
  'debit_reported',
  'debit_explained',
] as const

/** Events of an order that are no outcome of it. */
export const sideEvents = ['cost_charged', 'reserve_released'] as const

export type JournalEvent = OrderEvent | (typeof sideEvents)[number] | (typeof bookEvents)[number]

export interface JournalRow {
  agentId: bigint
  seq: bigint
  orderId: string | null
  event: JournalEvent
  at: Date
  currency: Currency
  change: Accounts
  balances: Accounts
  /** The provider that the changed part of clearing is at; null if the row does not change clearing. */
  clearingAt: string | null
  /** The book's clearing at this provider, after the row. */
  clearingThere: bigint | null
  onceKey: string | null
  reason: string | null
  /** Over the hash of the row before and everything above. */
  hash: string
}

export interface Callback {
  agentId: bigint
  seq: bigint
  orderId: string
  kind: OrderKind
  /** Whether the order had an earlier outcome, whose callback must reach the agent first. */
  follows: boolean
  body: string
  createdAt: Date
}

/** The payer, as far as the provider reports it. */
export interface Payer {
  accountNo: string | null
  accountName: string | null
  bankCode: string | null
}

/** An incoming payment that a provider reported for an agent. */
export interface Payment {
  agentId: bigint
  /** The provider's name and the provider's id of the payment. */
  paymentId: string
  /** Null if the payment belongs to none of the agent's orders. */
  orderId: string | null
  amountMinor: bigint
  paidAt: Date
  reportedAt: Date
  payer: Payer | null
  state: 'waiting' | 'credited' | 'returned' | 'taken_back'
  /** Why the payment waits for a decision. */
  why: 'late' | 'wrong_amount' | 'duplicate' | 'fee' | 'bound' | 'unmatched' | null
  creditedTo: 'order' | 'wallet' | null
  evidence: string | null
  /** The journal row that took the payment in; 0 for a payment from before it was in a book. */
  receivedSeq: bigint
  /** The journal row that gave it back; null unless the payment is returned. */
  returnedSeq: bigint | null
}

/** The agent that a provider's payment belongs to, and what the first report said. */
export interface PaymentClaim {
  paymentId: string
  /** 0 if the payment belongs to no agent. */
  agentId: bigint
  orderId: string | null
  amountMinor: bigint
  currency: Currency
  claimedAt: Date
}

/** Why a payment does not belong to the agent it was reported for, and waits for a person. */
/** `ambiguous`: the money names several orders, or could be for several. */
export type UnmatchedWhy =
  | 'unmatched'
  | 'claimed_twice'
  | 'wrong_provider'
  | 'wrong_currency'
  | 'ambiguous'

/** Money that matches no agent, or that was claimed before. It is in the house's book. */
export interface UnmatchedPayment {
  paymentId: string
  reference: string
  amountMinor: bigint
  currency: Currency
  paidAt: Date
  reportedAt: Date
  payer: Payer | null
  why: UnmatchedWhy
  /** The payment that this report contradicts. */
  contradicts: string | null
  state: 'waiting' | 'assigned' | 'returned' | 'dismissed'
  assignedTo: bigint | null
  evidence: string | null
  decidedAt: Date | null
  /** The rows of the house's journal that took it in and ended it; 0 if it was not in a book then. */
  receivedSeq: bigint
  decidedSeq: bigint | null
}

/** A book's clearing at a provider. */
export interface Clearing {
  agentId: bigint
  provider: string
  seq: bigint
  balance: bigint
}

/** A withdrawal as handed to a provider; a later attempt replaces a rejected one. */
export interface HandedPayout {
  agentId: bigint
  orderId: string
  attempt: number
  provider: string
  reference: string
  /** Of the connector's document, by which the provider is called about it; null for any other provider. */
  version: number | null
  /** Of the connector: the version with which secrets. */
  use: number | null
  /** Identifies the hand-over to the process that made it. */
  token: string
  handedAt: Date
  /**
   * When to ask the provider for the state if there is no news. A number means so many milliseconds from
   * the database's time; null means that a later attempt has replaced this one.
   */
  askAt: Date | number | null
}

export const itemKinds = [
  'paid_after_failed',
  'paid_twice',
  'failed_after_paid',
  'refunded_and_taken_back',
] as const

export type ItemKind = (typeof itemKinds)[number]

/** A contradiction between a provider and the books about a payout, until a person has resolved it. */
export interface OpenItem {
  agentId: bigint
  /** Made of the kind and the payout's reference, so that a repeated report is the same item. */
  itemId: string
  kind: ItemKind
  orderId: string
  provider: string
  reference: string
  amountMinor: bigint
  currency: Currency
  /** VOID if the bank took back the deposit that the payout refunds. */
  providerSaid: OrderStatus
  /** The order's status and provider when the item was opened. */
  orderStatus: OrderStatus
  orderProvider: string | null
  openedAt: Date
}

/** How money is booked that left although the order shows no payout, or shows another. */
export const bookings = ['write_off', 'charge_agent', 'received_back'] as const
export type Booking = (typeof bookings)[number]

/** An item as far as it decides how its money may be booked. */
export interface BookableItem extends OpenItem {
  closedAt: Date | null
  closedBy: string | null
  evidence: string | null
  /** How its money was booked last, with the item; null if it was not, or by an earlier release. */
  bookedAs: Booking | null
}

/** Closes an item on a person's decision, together with the rows that book its money. */
export interface BookedItem {
  agentId: bigint
  itemId: string
  /** What its provider said when they decided. */
  providerSaid: OrderStatus
  at: Date
  closedBy: string
  evidence: string
  bookedAs: Booking
}

/** An attempt at a withdrawal that its provider says it has paid. */
export interface PaidAttempt {
  provider: string
  reference: string
}

/** An attempt that counted as refused although its provider now says that it paid. */
export interface SaidPaid extends PaidAttempt {
  /** Whether a person has looked into it, so that the provider's word alone does not count any more. */
  isLookedInto: boolean
  /** Whether they have been asked again since, because no other provider has paid it. */
  isAskedAgain: boolean
}

/** Closes the items about a payout, because the order has become PAID by that payout. */
export interface ClosedItem {
  agentId: bigint
  orderId: string
  reference: string
  at: Date
  evidence: string
}
