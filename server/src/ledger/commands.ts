import type { ProblemCode } from '../lib/problem.ts'
import type {
  Callback,
  ClosedItem,
  HandedPayout,
  JournalRow,
  OpenItem,
  Order,
  OrderStatus,
  PaidAttempt,
  Payer,
  Payment,
  PaymentClaim,
  Terms,
  UnmatchedWhy,
  Wallet,
} from './book.ts'

/** Everything that can be asked of an agent's book. Each one may be asked again: it happens once. */
export type Command = { agentId: bigint; at: Date } & (
  | { type: 'create'; order: Order }
  /** The provider's instructions for a deposit that had to be announced to it. */
  | {
      type: 'instruct'
      orderId: string
      provider: string
      providerRef: string
      instructions: string
      answer: string
    }
  /** `insteadOf` names the attempt that another provider has surely refused. */
  | {
      type: 'hand_over'
      orderId: string
      provider: string
      /** The provider knows the payout by the first of these that no payout has had before. */
      references: readonly string[]
      insteadOf: string | null
      /** Drawn afresh for every hand-over. */
      token: string
      askAt: Date | number
    }
  | { type: 'cancel'; orderId: string }
  | { type: 'expire'; orderId: string }
  /**
   * `provider` and `providerRef`: the payout that this is said of. `evidence`: by a person's word.
   */
  | {
      type: 'outcome'
      orderId: string
      to: OrderStatus
      provider?: string
      providerRef?: string
      evidence?: string
    }
  /**
   * Without an order it is the agent's money that waits for a decision. `provider` is who reports it;
   * null where a person says whose it is.
   */
  | {
      type: 'receive_payment'
      orderId: string | null
      provider: string | null
      payment: PaymentNotice
    }
  | { type: 'credit_payment'; orderId: string; paymentId: string }
  | { type: 'credit_wallet'; paymentId: string; reason: string }
  | { type: 'return_payment'; paymentId: string; evidence: string }
  /** The bank took it back; `orderId` is the order it was credited to, if any. */
  | { type: 'take_back_payment'; orderId: string | null; paymentId: string }
  | { type: 'adjust'; amountMinor: bigint; reason: string; ref: string }
)

/**
 * Creating a deposit moves no money: its refId's unique key is guard enough, and it need not wait for
 * anything else of its agent.
 */
export function needsWallet(command: Command): boolean {
  return command.type !== 'create' || command.order.kind === 'withdraw'
}

export interface PaymentNotice {
  paymentId: string
  amountMinor: bigint
  paidAt: Date
  payer: Payer | null
}

/** The part of the book that one command looks at. */
export interface BookView {
  wallet: Wallet
  terms: Terms
  /** The order the command names or, for a creation, the one that already has its refId. */
  order: Order | undefined
  payment: Payment | undefined
  /** Whose the payment that is received is already, whichever agent's. */
  claim: PaymentClaim | undefined
  /** The first attempt at the order that was taken for refused, and of which its provider says that it paid. */
  payer: PaidAttempt | undefined
  /** References that payouts of any agent have. */
  takenReferences: ReadonlySet<string>
  /** Whether an adjustment with this reference has been made. */
  adjusted: boolean
  /** Whether the refId, or the payment or adjustment, is one that was archived: it has happened long ago. */
  archived: boolean
}

export type Decision =
  | { type: 'refused'; code: ProblemCode; detail: string }
  /** Nothing to write: it has happened before, or changes nothing. */
  | { type: 'unchanged'; order: Order | undefined }
  /** The money is not the order's that it was reported for: it waits outside of the agent's book. */
  | { type: 'unmatched'; order: undefined; why: UnmatchedWhy }
  | {
      type: 'changed'
      order: Order | undefined
      wallet: Wallet
      row: JournalRow | undefined
      callback: Callback | undefined
      payment: Payment | undefined
      payout: HandedPayout | undefined
      /** Somebody said what cannot be true beside the books: a person has to look into it. */
      item: OpenItem | undefined
      closes: ClosedItem | undefined
    }
