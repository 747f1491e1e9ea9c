import type { LimitNamed, ProblemCode } from '../lib/problem.ts'
import type {
  BookableItem,
  BookedItem,
  Booking,
  Callback,
  ClosedItem,
  HandedPayout,
  JournalRow,
  OpenItem,
  Order,
  OrderStatus,
  Payer,
  Payment,
  PaymentClaim,
  SaidPaid,
  UnmatchedPayment,
  UnmatchedWhy,
  Wallet,
} from './book.ts'
import type { LimitCheck, LimitFacts } from './limits.ts'
import type { TakenNotice } from './taken-notices.ts'

/**
 * Every change that can be requested of an agent's book. Each may be repeated but takes effect only once.
 */
export type Command = {
  agentId: bigint
  at: Date
} & (
  | {
      type: 'create'
      order: Order
      /** Of the deposit that it refunds, when the refund's destination was read. */
      depositVersion?: number
      /** A refund that goes to the account that the bank reported as the payer's. */
      toPayer?: true
      /** What a settlement leaves in the wallet; other withdrawals may take all of it. */
      leaveMinor?: bigint
      /** The agent has limits on deposits, so they are counted under the wallet's lock. */
      isLimited?: true
      /** Only an order that is there already is answered: a new one would be refused. */
      onlyRepeat?: true
    }
  /** The provider's instructions for a deposit that had to be announced to it. */
  | {
      type: 'instruct'
      orderId: string
      provider: string
      providerRef: string
      instructions: string
      answer: string
    }
  /** `insteadOf` names an earlier attempt that its provider has definitely refused. */
  | {
      type: 'hand_over'
      orderId: string
      provider: string
      /** Of the connector's document; left out for any other provider. */
      version?: number | undefined
      use?: number | undefined
      /** The payout gets the first of these that no other payout has used. */
      references: readonly string[]
      insteadOf: string | null
      /** Generated anew for every hand-over. */
      token: string
      askAt: Date | number
    }
  | { type: 'cancel'; orderId: string }
  | { type: 'expire'; orderId: string }
  /**
   * `provider` and `providerRef` name the payout that the report is about. `evidence` is set if a person
   * decided.
   */
  | {
      type: 'outcome'
      orderId: string
      to: OrderStatus
      provider?: string
      providerRef?: string
      evidence?: string
      /** Only if nobody was told how to pay it: of two requests with one refId, the other may have been. */
      unlessInstructed?: true
    }
  /**
   * Without an order, the money is the agent's and waits for a decision. `provider` reported the payment;
   * it is null if a person assigned it to the agent.
   */
  | {
      type: 'receive_payment'
      orderId: string | null
      provider: string | null
      payment: PaymentNotice
      /** Whether it is nobody's if its order is paid already, and not a second payment of the order. */
      unlessPaid?: boolean
      /** What reported it; recorded with it, unless its event is recorded: then nothing is done. */
      notice?: TakenNotice
    }
  | { type: 'credit_payment'; orderId: string; paymentId: string }
  | { type: 'credit_wallet'; paymentId: string; reason: string }
  | { type: 'return_payment'; paymentId: string; evidence: string }
  /** The bank took the payment back; `orderId` is the order that it was credited to, if any. */
  | { type: 'take_back_payment'; orderId: string | null; paymentId: string }
  | { type: 'adjust'; amountMinor: bigint; reason: string; ref: string }
  /** A provider charges for an order; `costId` is the provider's own id of the charge. */
  | {
      type: 'charge_cost'
      orderId: string
      provider: string
      costId: string
      amountMinor: bigint
    }
  /** Makes available what was held back of a deposit, if its time has come. */
  | { type: 'release_reserve'; orderId: string }
  /** The following are about a book of the house, whose id is the `agentId`. */
  | { type: 'receive_unmatched'; unmatched: UnmatchedNotice }
  | {
      type: 'end_unmatched'
      paymentId: string
      state: 'returned' | 'dismissed'
      evidence: string
      /** What it was instead of a payment: it is in the books all the time. */
      explained?: Difference
    }
  | ({ type: 'write_off' } & Difference)
  /**
   * Money left a bank account, and nobody can say yet what it was; or it is said now, and is in the books as that. The
   * amount is positive.
   */
  | {
      type: 'report_debit' | 'explain_debit'
      provider: string
      movementId: string
      amountMinor: bigint
    }
  /** The following change two books, the agent's and the house's. */
  | {
      type: 'assign_payment'
      houseId: bigint
      orderId: string | null
      paymentId: string
      /** Why a person credits it; null: nobody did, so that it is credited only if it pays its order by itself. */
      reason: string | null
    }
  /**
   * A person books the money that an open item is about, and closes it: the house bears it, the agent does, or it is
   * back. `providerSaid` is what they have seen.
   */
  | {
      type: 'book_item'
      houseId: bigint
      orderId: string
      itemId: string
      provider: string
      as: Booking
      providerSaid: OrderStatus
      by: string
      reason: string
      /** It may have been booked before, by a run that was interrupted. */
      again?: true
    }
  /** Moves the agent's fees and costs up to a day to the house. */
  | { type: 'sweep'; houseId: bigint; day: string }
)

/** What the house takes on itself, at a provider; or what the provider charges for no order. */
export interface Difference {
  provider: string
  amountMinor: bigint
  reason: string
  ref: string
  asCost?: boolean
}

/** The books that a command changes, or only reads under their lock. */
export function booksOf(command: Command): bigint[] {
  if (!needsWallet(command)) return []
  return 'houseId' in command ? [command.agentId, command.houseId] : [command.agentId]
}

/**
 * Creating a deposit moves no money: the unique key on its refId is protection enough, so it need not
 * wait for the agent's other commands. It does if the agent has limits on deposits.
 */
export function needsWallet(command: Command): boolean {
  return (
    command.type !== 'create' || command.order.kind === 'withdraw' || command.isLimited === true
  )
}

/** What is reported of money that belongs to no agent. */
export type UnmatchedNotice = Pick<
  UnmatchedPayment,
  | 'paymentId'
  | 'reference'
  | 'amountMinor'
  | 'currency'
  | 'paidAt'
  | 'payer'
  | 'why'
  | 'contradicts'
>

export interface PaymentNotice {
  paymentId: string
  amountMinor: bigint
  paidAt: Date
  payer: Payer | null
}

/** The part of the book that one command needs. */
export interface BookView {
  wallet: Wallet
  /** The house's book, if the command is about two books. */
  house: Wallet | undefined
  /** The order that the command names or, for a creation, the order that already has its refId. */
  order: Order | undefined
  payment: Payment | undefined
  /** The payment, if it came in for no agent. */
  unmatched: UnmatchedPayment | undefined
  /** The existing claim to the received payment, of any agent. */
  claim: PaymentClaim | undefined
  /**
   * The deposit that the created order refunds, or that the handed-over one does after a provider's
   * refusal.
   */
  refunded: Order | undefined
  /** The refunds that count, of the deposit that the command refunds or takes back. */
  refunds: readonly Order[]
  /** The first attempt that counted as refused although its provider now says that it paid. */
  payer: SaidPaid | undefined
  /** Whether the order is a refund whose deposit was taken back while a provider had it. */
  isTakenBack: boolean
  /** References in use by payouts of any agent. */
  takenReferences: ReadonlySet<string>
  /** The open item that the command books, in any state. */
  item: BookableItem | undefined
  /** By book and key: the rows that have booked it before; null for one that was archived. */
  itemRows: ReadonlyMap<string, JournalRow | null>
  /** Whether a journal row with the command's key exists. */
  isDone: boolean
  /** Whether the house's account `unexplained` has the debit that the command is about. */
  isHeld: boolean
  /** Whether the refId, payment or adjustment is in the archive, so that it has already taken effect. */
  archived: boolean
  /** What the agent's limits need to know; undefined if it has none. */
  limits: LimitFacts | undefined
}

/** What a command changes about one order or payment. */
export interface Change {
  order: Order | undefined
  wallet: Wallet
  row: JournalRow | undefined
  callback: Callback | undefined
  payment: Payment | undefined
  payout: HandedPayout | undefined
  /** The report contradicts the books: a person has to look into it. */
  item: OpenItem | undefined
  /** An item that a person had closed, and that the order needs their word about again. */
  reopens: OpenItem | undefined
  closes: ClosedItem | undefined
  booked: BookedItem | undefined
  /** What the command changes in the house's book, if it is about two books. */
  house: { wallet: Wallet; row: JournalRow } | undefined
  /** The payment that came in for no agent, in its new state. */
  unmatched: UnmatchedPayment | undefined
  /** The claim to a payment that a person has assigned to the agent. */
  claim: PaymentClaim | undefined
  /** What the limits said about a new order, if they said anything. */
  check: LimitCheck | undefined
}

export type Decision =
  | {
      type: 'refused'
      code: ProblemCode | 'changed_meanwhile'
      detail: string
      limit?: LimitNamed
    }
  /** Nothing to write: the command is a repeat or changes nothing. */
  | { type: 'unchanged'; order: Order | undefined }
  /** The event that the command was made of is recorded: what becomes of it is decided from the record. */
  | { type: 'recorded'; order: undefined }
  /** The money does not belong to the order it was reported for: it waits outside the agent's book. */
  | { type: 'unmatched'; order: undefined; why: UnmatchedWhy }
  | ({
      type: 'changed'
      /** What else the command changes, in this order: the refunds of a deposit that was taken back, or the credit of
       * a payment that was assigned. */
      also?: readonly Change[]
    } & Change)
