import { type Columns, columns } from '../db/columns.ts'
import type { Accounts } from './accounts.ts'
import type {
  Callback,
  Clearing,
  HandedPayout,
  JournalRow,
  OpenItem,
  Order,
  Payment,
  PaymentClaim,
  UnmatchedPayment,
  Wallet,
} from './book.ts'

export const orderColumns: Columns<Order> = columns<Order>({
  agentId: ['agent_id', 'bigint'],
  orderId: ['order_id', 'uuid'],
  kind: ['kind', 'text'],
  refId: ['ref_id', 'text'],
  refundOf: ['refund_of', 'uuid', 'null'],
  userId: ['user_id', 'text'],
  currency: ['currency', 'text'],
  amountMinor: ['amount', 'bigint'],
  payableMinor: ['payable', 'bigint', 'null'],
  feeMinor: ['fee', 'bigint'],
  feeRule: ['fee_rule', 'text'],
  lateMoney: ['late_money', 'text', 'null'],
  reserveRule: ['reserve_rule', 'text', 'null'],
  revertFee: ['revert_fee', 'text', 'null'],
  accountName: ['account_name', 'text'],
  accountNo: ['account_no', 'text'],
  bankCode: ['bank_code', 'text'],
  extraParams: ['extra_params', 'text', 'null'],
  status: ['status', 'text'],
  version: ['version', 'int'],
  answer: ['answer', 'text'],
  createdAt: ['created_at', 'timestamptz'],
  expiresAt: ['expires_at', 'timestamptz', 'null'],
  completedAt: ['completed_at', 'timestamptz', 'null'],
  paidAmountMinor: ['paid_amount', 'bigint', 'null'],
  paidFeeMinor: ['paid_fee', 'bigint', 'null'],
  releaseAt: ['release_at', 'timestamptz', 'null'],
  provider: ['provider', 'text', 'null'],
  providerRef: ['provider_ref', 'text', 'null'],
  handedOverAt: ['handed_over_at', 'timestamptz', 'null'],
  instructions: ['instructions', 'text', 'null'],
})

const balances = {
  available: ['available', 'bigint'],
  held: ['held', 'bigint'],
  reserve: ['reserve', 'bigint'],
  suspense: ['suspense', 'bigint'],
  unexplained: ['unexplained', 'bigint'],
  clearing: ['clearing', 'bigint'],
  fees: ['fees', 'bigint'],
  costs: ['costs', 'bigint'],
  adjustments: ['adjustments', 'bigint'],
  differences: ['differences', 'bigint'],
  transfers: ['transfers', 'bigint'],
} as const

export const journalColumns: Columns<JournalRow> = columns<JournalRow>({
  agentId: ['agent_id', 'bigint'],
  seq: ['seq', 'bigint'],
  orderId: ['order_id', 'uuid', 'null'],
  event: ['event', 'text'],
  at: ['at', 'timestamptz'],
  currency: ['currency', 'text'],
  change: {
    available: ['available_change', 'bigint'],
    held: ['held_change', 'bigint'],
    reserve: ['reserve_change', 'bigint'],
    suspense: ['suspense_change', 'bigint'],
    unexplained: ['unexplained_change', 'bigint'],
    clearing: ['clearing_change', 'bigint'],
    fees: ['fees_change', 'bigint'],
    costs: ['costs_change', 'bigint'],
    adjustments: ['adjustments_change', 'bigint'],
    differences: ['differences_change', 'bigint'],
    transfers: ['transfers_change', 'bigint'],
  },
  balances,
  clearingAt: ['clearing_at', 'text', 'null'],
  clearingThere: ['clearing_there', 'bigint', 'null'],
  onceKey: ['once_key', 'text', 'null'],
  reason: ['reason', 'text', 'null'],
  hash: ['hash', 'text'],
})

export const accountColumns: Columns<Accounts> = columns<Accounts>(balances)

export const walletColumns: Columns<Wallet> = columns<Wallet>({
  agentId: ['agent_id', 'bigint'],
  currency: ['currency', 'text'],
  seq: ['seq', 'bigint'],
  balances,
  hash: ['hash', 'text'],
})

/** The columns for the payer in every table of payments. */
export const payerColumns = {
  accountNo: ['payer_account_no', 'text', 'null'],
  accountName: ['payer_account_name', 'text', 'null'],
  bankCode: ['payer_bank_code', 'text', 'null'],
} as const

export const paymentColumns: Columns<Payment> = columns<Payment>({
  agentId: ['agent_id', 'bigint'],
  paymentId: ['payment_id', 'text'],
  orderId: ['order_id', 'uuid', 'null'],
  amountMinor: ['amount', 'bigint'],
  paidAt: ['paid_at', 'timestamptz'],
  reportedAt: ['reported_at', 'timestamptz'],
  payer: payerColumns,
  state: ['state', 'text'],
  why: ['why', 'text', 'null'],
  creditedTo: ['credited_to', 'text', 'null'],
  evidence: ['evidence', 'text', 'null'],
  receivedSeq: ['received_seq', 'bigint'],
  returnedSeq: ['returned_seq', 'bigint', 'null'],
})

export const unmatchedColumns: Columns<UnmatchedPayment> = columns<UnmatchedPayment>({
  paymentId: ['payment_id', 'text'],
  reference: ['reference', 'text'],
  amountMinor: ['amount', 'bigint'],
  currency: ['currency', 'text'],
  paidAt: ['paid_at', 'timestamptz'],
  reportedAt: ['reported_at', 'timestamptz'],
  payer: payerColumns,
  why: ['why', 'text'],
  contradicts: ['contradicts', 'text', 'null'],
  state: ['state', 'text'],
  assignedTo: ['assigned_to', 'bigint', 'null'],
  evidence: ['evidence', 'text', 'null'],
  decidedAt: ['decided_at', 'timestamptz', 'null'],
  receivedSeq: ['received_seq', 'bigint'],
  decidedSeq: ['decided_seq', 'bigint', 'null'],
})

export const clearingColumns: Columns<Clearing> = columns<Clearing>({
  agentId: ['agent_id', 'bigint'],
  provider: ['provider', 'text'],
  seq: ['seq', 'bigint'],
  balance: ['balance', 'bigint'],
})

export const claimColumns: Columns<PaymentClaim> = columns<PaymentClaim>({
  paymentId: ['payment_id', 'text'],
  agentId: ['agent_id', 'bigint'],
  orderId: ['order_id', 'uuid', 'null'],
  amountMinor: ['amount', 'bigint'],
  currency: ['currency', 'text'],
  claimedAt: ['claimed_at', 'timestamptz'],
})

/** The body is stored in callback_bodies, everything else in callbacks. */
export const callbackColumns: Columns<Callback> = columns<Callback>({
  agentId: ['agent_id', 'bigint'],
  seq: ['seq', 'bigint'],
  orderId: ['order_id', 'uuid'],
  kind: ['kind', 'text'],
  follows: ['follows', 'boolean'],
  createdAt: ['created_at', 'timestamptz'],
  body: ['body', 'text'],
})

export const itemColumns: Columns<OpenItem> = columns<OpenItem>({
  agentId: ['agent_id', 'bigint'],
  itemId: ['item_id', 'text'],
  kind: ['kind', 'text'],
  orderId: ['order_id', 'uuid'],
  provider: ['provider', 'text'],
  reference: ['reference', 'text'],
  amountMinor: ['amount', 'bigint'],
  currency: ['currency', 'text'],
  providerSaid: ['provider_said', 'text'],
  orderStatus: ['order_status', 'text'],
  orderProvider: ['order_provider', 'text', 'null'],
  openedAt: ['opened_at', 'timestamptz'],
})

type Handed = Omit<HandedPayout, 'askAt'>

/** What is written when a payout is handed over; payouts/ writes its later progress. */
export const handedColumns: Columns<Handed> = columns<Handed>({
  agentId: ['agent_id', 'bigint'],
  orderId: ['order_id', 'uuid'],
  attempt: ['attempt', 'int'],
  provider: ['provider', 'text'],
  reference: ['reference', 'text'],
  version: ['version', 'int', 'null'],
  use: ['use', 'int', 'null'],
  token: ['token', 'uuid'],
  handedAt: ['handed_at', 'timestamptz'],
})
