import type { Currency } from '../lib/money.ts'

/** What a provider is told of a deposit that wants paying. */
export interface DepositToCollect {
  /** The payer's transfer carries it, and so does whatever the provider reports about it. */
  txnId: string
  amountMinor: bigint
  currency: Currency
  expiresAt: Date
  /** The account the payer is expected to pay from. */
  payer: { accountNo: string; accountName: string; bankCode: string }
  /** The very text the agent sent. */
  extraParams: string | null
}

/** How the payer can pay: in at least one of these ways. */
export interface DepositInstructions {
  qrcodeText?: string
  transfer?: { bankCode: string; accountNumber: string; accountName: string }
  /** A page of the provider's own, by https. */
  link?: string
}

/** What a provider is told of money that is to go out. */
export interface Payout {
  /**
   * Thirteen characters, `0-9A-Z`, that no other payout of any agent ever has. Committed before the first call;
   * the provider knows the payout by it ever after.
   */
  reference: string
  amountMinor: bigint
  currency: Currency
  payee: { accountNo: string; accountName: string; bankCode: string }
  /** The very text the agent sent. */
  extraParams: string | null
}

/** What a provider says of a payout. What is not certain is unknown, never rejected. */
export type PayoutOutcome =
  /** It has the payout and will pay it, or has not decided yet. */
  | { type: 'accepted' }
  | { type: 'paid' }
  /** Nothing was paid and nothing will be; `mayTryAnother` where another provider may succeed. */
  | { type: 'rejected'; mayTryAnother: boolean; reason: string }
  /** The provider took it back before it paid. */
  | { type: 'cancelled' }
  /** It was paid, and the money came back. */
  | { type: 'returned' }
  /** The provider has never heard of it. */
  | { type: 'not_found' }
  | { type: 'unknown'; reason: string }

/** What a provider says of a deposit it was asked to expect. */
export type DepositOutcome =
  | { type: 'accepted'; instructions: DepositInstructions }
  | { type: 'rejected'; reason: string }
  | { type: 'unknown'; reason: string }

/** Something a provider reports by itself. `id` is its own, the same whenever it repeats itself. */
export type ProviderEvent = { id: string } & (
  | {
      type: 'payment'
      /** The provider's own id of the money that came in. */
      paymentId: string
      /** What the payer gave as the reference: the deposit's txnId, or anything else. */
      reference: string
      amountMinor: bigint
      currency: Currency
      /** The bank's own time, where it tells it. */
      paidAt: Date | null
      payer: {
        accountNo: string | null
        accountName: string | null
        bankCode: string | null
      } | null
    }
  /** The bank took a payment back. */
  | { type: 'payment_taken_back'; paymentId: string; reference: string }
  /** A deposit that will not be paid any more. */
  | { type: 'deposit_ended'; reference: string; status: 'FAILED' | 'VOID' | 'EXPIRED' }
  | { type: 'payout'; reference: string; outcome: PayoutOutcome }
)

export interface Capabilities {
  currencies: readonly Currency[]
  deposits: boolean
  payouts: boolean
  /** Sending the same reference again never pays twice. */
  idempotentByReference: boolean
}

/** A party that moves real money. It never touches the database: what it says comes back as values. */
export interface Provider {
  readonly name: string
  readonly can: Capabilities
  /** Why the order's extraParams cannot be taken, as a field and a message. */
  faultIn?(
    kind: 'deposit' | 'withdraw',
    extraParams: string | null,
  ): { field: string; message: string } | undefined
  /** The instructions, where they need no call; otherwise `expectDeposit` is asked for them. */
  depositInstructions(deposit: DepositToCollect): DepositInstructions | undefined
  /** Called after the order is committed, before it is answered; again with the same txnId after a fault. */
  expectDeposit?(deposit: DepositToCollect, signal: AbortSignal): Promise<DepositOutcome>
  /** Whether the payout may be handed over now; one that may not waits and can be cancelled. */
  isReadyFor?(payout: Omit<Payout, 'reference'>): boolean
  submitPayout(payout: Payout, signal: AbortSignal): Promise<PayoutOutcome>
  askPayout(payout: Payout, signal: AbortSignal): Promise<PayoutOutcome>
  /** The events of a notice; undefined where it is not the provider's, stale, or not to be read. */
  readNotice(
    body: Buffer,
    headers: Record<string, string | string[] | undefined>,
    now: Date,
  ): ProviderEvent[] | undefined
}
