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
  userId: string
  /** Its agent's, which never changes. */
  currency: Currency
  amountMinor: bigint
  feeMinor: bigint
  feeRule: string
  accountName: string
  accountNo: string
  bankCode: string
  /** The very text the agent sent. */
  extraParams: string | null
  status: OrderStatus
  version: number
  /** The body that creating it was answered with. */
  answer: string
  createdAt: Date
  expiresAt: Date | null
  completedAt: Date | null
  paidAmountMinor: bigint | null
  paidFeeMinor: bigint | null
  provider: string | null
  providerRef: string | null
  handedOverAt: Date | null
  /** The provider's, as JSON, where it had to be called for them. */
  instructions: string | null
}

export interface Wallet {
  agentId: bigint
  seq: bigint
  balances: Accounts
}

/** What the agent's contract says that money movements depend on. */
export interface Terms {
  currency: Currency
  revertFee: 'return' | 'keep'
  lateMoney: 'review' | 'credit'
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

export type JournalEvent = OrderEvent | 'adjustment'

export interface JournalRow {
  agentId: bigint
  seq: bigint
  orderId: string | null
  event: JournalEvent
  at: Date
  currency: Currency
  change: Accounts
  balances: Accounts
  onceKey: string | null
  reason: string | null
}

export interface Callback {
  agentId: bigint
  seq: bigint
  orderId: string
  kind: OrderKind
  /** Whether the order had an outcome before this one, which must reach the agent first. */
  follows: boolean
  body: string
  createdAt: Date
}

/** Who paid, as far as the provider tells. */
export interface Payer {
  accountNo: string | null
  accountName: string | null
  bankCode: string | null
}

/** Money that a provider says has come in for an agent. */
export interface Payment {
  agentId: bigint
  /** The provider's name and its own id of the payment. */
  paymentId: string
  /** Null where it is for none of the agent's orders. */
  orderId: string | null
  amountMinor: bigint
  paidAt: Date
  reportedAt: Date
  payer: Payer | null
  state: 'waiting' | 'credited' | 'returned' | 'taken_back'
  /** Why it waits for a decision. */
  why: 'late' | 'wrong_amount' | 'duplicate' | 'fee' | 'bound' | 'unmatched' | null
  creditedTo: 'order' | 'wallet' | null
  evidence: string | null
}

/** Whose a provider's payment is, and what it was first reported for. */
export interface PaymentClaim {
  paymentId: string
  /** 0 where it is nobody's. */
  agentId: bigint
  orderId: string | null
  amountMinor: bigint
  currency: Currency
  claimedAt: Date
}

/** Why a payment is none of the agent's that it was reported for, and waits for a person. */
export type UnmatchedWhy = 'unmatched' | 'claimed_twice' | 'wrong_provider' | 'wrong_currency'

/** A withdrawal as it is handed to a provider; a later attempt takes the place of a rejected one. */
export interface HandedPayout {
  agentId: bigint
  orderId: string
  attempt: number
  provider: string
  reference: string
  /** Whoever handed it over knows its own by it. */
  token: string
  handedAt: Date
  /**
   * When the provider is to be asked, should nothing be heard of it; in so many milliseconds by the
   * database's time where it is a number, null where another has it.
   */
  askAt: Date | number | null
}

export const itemKinds = ['paid_after_failed', 'paid_twice', 'failed_after_paid'] as const

export type ItemKind = (typeof itemKinds)[number]

/** Two sides that contradict each other on a payout, until a person has found out who is right. */
export interface OpenItem {
  agentId: bigint
  /** Of its kind and the payout's reference, so that the same said again is the same item. */
  itemId: string
  kind: ItemKind
  orderId: string
  provider: string
  reference: string
  amountMinor: bigint
  currency: Currency
  providerSaid: OrderStatus
  /** What the order said then, and with which provider it was. */
  orderStatus: OrderStatus
  orderProvider: string | null
  openedAt: Date
}

/** An attempt at a withdrawal of which its provider says that it paid. */
export interface PaidAttempt {
  provider: string
  reference: string
}

/** What settles the items about a payout: its order is PAID by it after all. */
export interface ClosedItem {
  agentId: bigint
  orderId: string
  reference: string
  at: Date
  evidence: string
}
