import { type Columns, columns } from '../db/columns.ts'
import type { Currency } from '../lib/money.ts'
import type { Day } from '../statements/statement.ts'

/** A movement of money on a bank account, however often it is reported. Only movements are booked. */
export interface BankMovement {
  account: string
  movementId: string
  /** Positive for money that came in. */
  amountMinor: bigint
  /** What the rail kept of the payment, which is the amount and this. */
  deductedMinor: bigint
  currency: Currency
  bookedOn: Day
  /** Null if the bank only tells the day. */
  bookedAt: Date | null
  text: string
  payerAccountNo: string | null
  payerName: string | null
  payerBank: string | null
  isReturn: boolean
  state: MovementState
  explainedBy: Explanation | null
  /** What was decided before the books changed: the order that it pays, if any, and when it was paid. */
  agentId: bigint | null
  orderId: string | null
  paidAt: Date | null
  /** Why it pays no order. */
  why: 'unmatched' | 'ambiguous' | 'wrong_provider' | null
  /** The movement that it takes back. */
  returns: string | null
  detail: string | null
  reportedAt: Date
  actAt: Date | null
  tries: number
  /** Changes with each claim, and whenever the bank says more of it. */
  version: number
  /** Whether the house's account for what nothing explains has it. */
  held: boolean
}

/**
 * `unconfirmed`: only a person says so. `new`: to be matched. `matched`: to be booked as decided. `booked`: in
 * the books. `unexplained`: a person has to say what it was.
 */
export type MovementState = 'unconfirmed' | 'new' | 'matched' | 'booked' | 'unexplained'

export type Explanation =
  | 'payment'
  | 'payment_taken_back'
  /** A person had returned the payment, and this is the money leaving. */
  | 'payment_returned'
  | 'bank_fee'
  | 'interest'
  | 'own_transfer'
  | 'correction'
  /** The sum of payments that the bank told apart later: not money of its own. */
  | 'batch'
  /** One or all payouts of a file that went out, or one that came back. */
  | 'payout'
  | 'payout_returned'
  /** People recorded it by hand, and the bank never did: it is no money. */
  | 'never_booked'

export const movementColumns: Columns<BankMovement> = columns<BankMovement>({
  account: ['account', 'text'],
  movementId: ['movement_id', 'uuid'],
  amountMinor: ['amount', 'bigint'],
  deductedMinor: ['deducted', 'bigint'],
  currency: ['currency', 'text'],
  bookedOn: ['booked_on', 'date'],
  bookedAt: ['booked_at', 'timestamptz', 'null'],
  text: ['text', 'text'],
  payerAccountNo: ['payer_account_no', 'text', 'null'],
  payerName: ['payer_name', 'text', 'null'],
  payerBank: ['payer_bank', 'text', 'null'],
  isReturn: ['is_return', 'boolean'],
  state: ['state', 'text'],
  explainedBy: ['explained_by', 'text', 'null'],
  agentId: ['agent_id', 'bigint', 'null'],
  orderId: ['order_id', 'uuid', 'null'],
  paidAt: ['paid_at', 'timestamptz', 'null'],
  why: ['why', 'text', 'null'],
  returns: ['returns', 'uuid', 'null'],
  detail: ['detail', 'text', 'null'],
  reportedAt: ['reported_at', 'timestamptz'],
  actAt: ['act_at', 'timestamptz', 'null'],
  tries: ['tries', 'int'],
  version: ['version', 'int'],
  held: ['held', 'boolean'],
})

/** The id of a movement's payment: where its money is follows from it, as for every provider. */
export function paymentIdOf({
  account,
  movementId,
}: Pick<BankMovement, 'account' | 'movementId'>): string {
  return `${account}:${movementId}`
}
