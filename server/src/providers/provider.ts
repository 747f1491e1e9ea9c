import type { Currency } from '../lib/money.ts'
import type { CodeForm } from '../lib/payment-code.ts'
import type { QrKind } from '../lib/qr/qr-kinds.ts'

/** The details of a deposit that a provider needs to collect it. */
export interface DepositToCollect {
  /** The payer's transfer and all of the provider's reports about the deposit carry this id. */
  txnId: string
  /** What the payer is to pay; may be a little more than the order's amount. */
  amountMinor: bigint
  /** Thirteen characters that name the deposit, if the provider recognises money by them or knows it by no longer id. */
  code?: string
  currency: Currency
  expiresAt: Date
  /** The account the payer is expected to pay from. */
  payer: { accountNo: string; accountName: string; bankCode: string }
  /** The exact text that the agent sent. */
  extraParams: string | null
  /** The use of the connector that the deposit was made with. */
  use?: number | null
  /** The provider's own id of it, if an answer told it. */
  theirId?: string | null
}

/** How the payer can pay; at least one of these is set. */
export interface DepositInstructions {
  qrcodeText?: string
  /** Which scheme the QR code belongs to; the payment page says what to do with it. */
  qrKind?: QrKind
  /** What the payer writes into the transfer, so that the money is recognised. */
  code?: string
  /** Decimal text, if only this exact amount is recognised. */
  exactAmount?: string
  transfer?: { bankCode: string; accountNumber: string; accountName: string }
  /** The provider's own payment page, over https. */
  link?: string
}

/** The details of a payout that a provider needs. */
export interface Payout {
  /**
   * Thirteen characters, `0-9A-Z`, unique among all payouts of all agents. It is committed before the first
   * call, and the provider identifies the payout by it from then on.
   */
  reference: string
  amountMinor: bigint
  currency: Currency
  payee: { accountNo: string; accountName: string; bankCode: string }
  /** The exact text that the agent sent. */
  extraParams: string | null
  /** The use of the connector that it was handed over with; null: it was none. */
  use?: number | null
  /** The provider's own id of it, if an answer told it. */
  theirId?: string | null
}

/** What a provider reports about a payout. Anything uncertain is `unknown`, never `rejected`. */
export type PayoutOutcome = {
  /** The provider's own id of the payout, if it told one. */
  theirId?: string
} /** The provider has the payout and will pay it, or has not decided yet. */ & (
  | { type: 'accepted' }
  | { type: 'paid' }
  /** Nothing was or will be paid; `mayTryAnother` means that another provider may succeed. */
  | { type: 'rejected'; mayTryAnother: boolean; reason: string }
  /** The provider cancelled it before paying. */
  | { type: 'cancelled' }
  /** It was paid, and the money came back. */
  | { type: 'returned' }
  /**
   * The provider does not know the reference. `mayRepeat` says whether it may be sent again, if that differs from what
   * the provider promises today.
   */
  | { type: 'not_found'; mayRepeat?: boolean }
  /** Nothing has left for the provider, so the same reference may be sent later, whatever the provider promises. */
  | {
      type: 'not_sent'
      reason: string
      /** It can never be sent as it is, so another provider may have it. */
      isForGood?: true
    }
  | { type: 'unknown'; reason: string }
)

/** A provider's answer when asked to expect a deposit. */
export type DepositOutcome =
  | {
      type: 'accepted'
      instructions: DepositInstructions
      theirId?: string
      /** How often to ask about it while it is not paid; unset: never, the provider reports by itself. */
      askEveryS?: number
    }
  | { type: 'rejected'; reason: string }
  /** Nothing has left for the provider. */
  | { type: 'not_sent'; reason: string }
  | { type: 'unknown'; reason: string }

/** An event that a provider reports on its own. `id` is the provider's and stays the same in repeats. */
export type ProviderEvent = {
  id: string
  /** Its notice carried a token or a password, and no signature: whoever has seen one can make the next. */
  byToken?: boolean
} & (
  | {
      type: 'payment'
      /** The provider's own id for the incoming money. */
      paymentId: string
      /** The reference that the payer gave: the deposit's txnId, or anything else. */
      reference: string
      amountMinor: bigint
      currency: Currency
      /** The bank's own time, if it reports one. */
      paidAt: Date | null
      payer: {
        accountNo: string | null
        accountName: string | null
        bankCode: string | null
      } | null
    }
  /** The bank took a payment back. */
  | { type: 'payment_taken_back'; paymentId: string; reference: string }
  /** The deposit will not be paid any more. */
  | { type: 'deposit_ended'; reference: string; status: 'FAILED' | 'VOID' | 'EXPIRED' }
  | {
      type: 'payout'
      reference: string
      /** What was paid, if the provider says so. It must be the payout's own amount. */
      amountMinor?: bigint
      currency?: Currency
      outcome: PayoutOutcome
    }
  /** The provider charges for an order and keeps that much of the money that is at it. */
  | {
      type: 'cost'
      /** The deposit's txnId, or the payout's reference. */
      reference: string
      /** The provider's own id for the charge; it counts once. */
      costId: string
      /** Negative if the provider gives back what it charged before. */
      amountMinor: bigint
      currency: Currency
    }
  /** What the provider said is not understood: it stays open until a person has looked into it. */
  | { type: 'unread'; reference: string; fault: string; text: string }
)

/** How a provider recognises incoming money, if its payers cannot name the txnId. */
export interface Recognition {
  /** By the payment code in the transfer's text, by an amount that is unique at the account, or by either. */
  by: 'code' | 'amount' | 'code+amount'
  codeForm: CodeForm
  /** How many steps of surplus tell equal amounts apart. */
  surplusSteps: number
  /** How long after the order's end money for it may arrive. */
  holdMs: number
  /** The most that the account may be asked to take in a day of its zone. */
  dayLimitMinor: bigint | null
  /** What the rail keeps of a payment that names its order. */
  deductionMinor: bigint
  zone: string
}

/** How much is believed of what comes with a token alone, in minor units: for one payment, and in a day (UTC). */
export type TokenLimits = ReadonlyMap<Currency, { payment: bigint; day: bigint }>

/** How a notice reached us, beside its body and headers. */
export interface NoticeWay {
  method: string
  /** With its query. */
  path: string
  /** The address that it was sent to, as the provider knows it. */
  url: string
  ip: string
}

/** A line of one of the operator's bank accounts, as a provider reports it. */
export interface ReportedLine {
  id: string
  /** Positive for money that came in. */
  amountMinor: bigint
  currency: Currency
  bookedAt: Date
  text: string
  /** The account that it is of, if it says so. */
  accountNo: string | null
  payer: { accountNo: string | null; name: string | null; bank: string | null }
}

/** A provider that only reports the lines of a bank account here. */
export interface LineReporter {
  account: string
  /** Whether its notices are signed; a token or a password can be read by whoever sees one request. */
  isSigned: boolean
  /** The words that each rule for lines asks for: one may be the number of the account. */
  ruleWords: readonly (readonly string[])[]
  /** Undefined if it is not the provider's. What cannot be read is an event, which stays open. */
  read(
    body: Buffer,
    headers: Record<string, string | string[] | undefined>,
    now: Date,
    way: NoticeWay,
  ): { lines: ReportedLine[]; unread: ProviderEvent[] } | undefined
}

export interface Capabilities {
  currencies: readonly Currency[]
  deposits: boolean
  payouts: boolean
  /** Sending the same reference again never pays twice. */
  idempotentByReference: boolean
}

/** A party that moves real money. It never touches the database; it reports everything as return values. */
export interface Provider {
  readonly name: string
  readonly can: Capabilities
  /** Set for a connector: the version of its document, which orders that it gets are bound to. */
  readonly version?: number
  /** Set for a connector: its version with which secrets. */
  readonly use?: number
  /** The most calls at once; unset: as many as the service has places for. */
  readonly callsAtOnce?: number
  /** How long it may take to answer about a payout, if that is longer than usual. */
  readonly callLimitMs?: number
  /** Set if a deposit must be expected under a code or amount before its instructions are made. */
  readonly recognises?: Recognition
  /** False if it gets no orders until a second person has confirmed it. */
  readonly isConfirmed?: boolean
  /** Why the order's extraParams cannot be accepted, as a field and a message. */
  faultIn?(
    kind: 'deposit' | 'withdraw',
    extraParams: string | null,
  ): { field: string; message: string } | undefined
  /**
   * It pays out only by files that people bring to a bank. A withdrawal that it is the first choice for waits, and
   * can be cancelled, until a file that it is in is approved.
   */
  readonly paysByFile?: boolean
  /** Why a payee cannot be paid by it, as a sentence; null if nothing stands in the way. */
  payeeFault?(
    payee: Payout['payee'],
    currency: Currency,
    amountMinor?: bigint,
    /** The exact text that the agent sent; undefined if there is no order yet. */
    extraParams?: string | null,
  ): string | null
  /** Why a payee's name could be read as more than a name by it, as a sentence: an agent's order with it is refused. */
  nameFault?(name: string): string | null
  /** The most that it can pay at once; null or unset: any amount. */
  readonly mostPerPayoutMinor?: bigint | null
  /** The instructions, if they need no call; otherwise `expectDeposit` returns them. */
  depositInstructions(deposit: DepositToCollect): DepositInstructions | undefined
  /** Whether it knows deposits by a code, because our ids are too long for it. */
  readonly usesCodes?: boolean
  /**
   * Called after the order is committed and before it is answered; after an error, again with the same txnId.
   */
  expectDeposit?(deposit: DepositToCollect, signal: AbortSignal): Promise<DepositOutcome>
  /** False while it fails: other providers are asked for deposits before it. */
  isAnswering?(): boolean
  /** Whether it can be asked about deposits. */
  readonly canAskDeposits?: boolean
  /** Whether its answers can tell that a payment was taken back, so that a deposit is asked about once it is paid, too. */
  readonly asksPaidDeposits?: boolean
  /** What the provider says about a deposit; undefined if that is not clear. */
  askDeposit?(
    deposit: DepositToCollect,
    signal: AbortSignal,
  ): Promise<{ events: ProviderEvent[]; body: Buffer } | undefined>
  /** Whether the payout may be handed over now. If not, it waits and can still be cancelled. */
  isReadyFor?(payout: Omit<Payout, 'reference'>): boolean
  submitPayout(payout: Payout, signal: AbortSignal): Promise<PayoutOutcome>
  askPayout(payout: Payout, signal: AbortSignal): Promise<PayoutOutcome>
  /** The events of a notice; undefined if it is not the provider's, is stale or cannot be read. */
  readNotice(
    body: Buffer,
    headers: Record<string, string | string[] | undefined>,
    now: Date,
    way?: NoticeWay,
  ): ProviderEvent[] | undefined
  /** How much is believed of notices with a token; beyond that, or if unset, it is asked. */
  readonly tokenLimits?: TokenLimits
  /** What it wants to read in answer to a notice; unset: our own words. */
  readonly noticeAnswer?: { type: string; body: string }
  /** Set if it only reports lines of a bank account. */
  readonly lines?: LineReporter
}
