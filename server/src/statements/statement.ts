/**
 * What a bank file says, in one shape for every format. The readers change nothing and guess nothing: what
 * the bank left out is null, and whatever a reader had to assume is in `notes`.
 */
export interface BankStatement {
  /** Intraday reports and notifications (camt.052, camt.054, MT942) come again in a statement. */
  kind: 'statement' | 'intraday'
  /** For example `camt.053.001.08`, `mt940`, `mt942`, `ofx`, `csv`. */
  format: string
  /** As the bank writes it: an IBAN, or its own number. */
  accountNo: string | null
  currency: string | null
  /** Banks use the same id again every year, so it is no key by itself. */
  id: string | null
  /** The electronic sequence number, else the legal one. */
  seq: string | null
  page: { number: number; last: boolean } | null
  from: Day | null
  to: Day | null
  opening: BankBalance | null
  closing: BankBalance | null
  /** Every balance that the reader understands, opening and closing included. */
  balances: BankBalance[]
  entries: BankEntry[]
  /** For people: what the reader assumed, with the line. */
  notes: string[]
}

/** `YYYY-MM-DD`, a day in the bank's zone. */
export type Day = string

export interface BankBalance {
  amountMinor: bigint
  currency: string
  /** Null if the bank wrote a day that does not exist. */
  day: Day | null
  /**
   * The ISO 20022 code: OPBD, PRCD, CLBD, ITBD, CLAV and so on. MT940's are written as these; LDGR is the
   * ledger balance of OFX, RUNN the running balance of a CSV file.
   */
  type: string
  /** Whether it counts booked entries only, so that opening + booked entries = closing. */
  booked: boolean
}

export interface BankEntry {
  /** The line of the file where the entry starts. */
  line: number
  /** The number of the bank's entry in its statement, from 1. Single payments of a batch share it. */
  entryNo: number
  /** The number of the single payment in its batch, from 1; null if the entry is one movement. */
  childNo: number | null
  /** How many payments the bank put into this one movement, if it says so. */
  batchCount: number | null
  bookedOn: Day
  /** Only if the bank gives a time of day. */
  bookedAt: Date | null
  /** Positive for money that came in. */
  amountMinor: bigint
  currency: string
  /** Only booked entries are money. */
  status: 'booked' | 'pending'
  ids: BankIds
  /** Everything that a reference may be hidden in. */
  texts: string[]
  /** Who paid, or who was paid. */
  counterparty: Counterparty
  balanceAfterMinor: bigint | null
  /** What the bank kept of a credit: its own word, and what was sent is the amount and this. */
  chargesMinor: bigint
  isReturn: boolean
  /** A code such as AC01, or the bank's words. */
  returnReason: string | null
  /** The kind of booking in the bank's own code, for example `PMNT/RCDT/ESCT` or `NTRF+166`. */
  typeCode: string | null
}

/** None of these is unique by itself. Placeholders such as NOTPROVIDED and NONREF are null. */
export interface BankIds {
  accountServicerRef: string | null
  endToEndId: string | null
  instructionId: string | null
  transactionId: string | null
  uetr: string | null
  messageId: string | null
  paymentInformationId: string | null
  /** The bank's number of the whole entry (camt's `NtryRef`). */
  entryRef: string | null
  /** The account owner's reference, in MT940 cut to 16 characters. */
  ownerRef: string | null
  /** The bank's id in a feed, or OFX's FITID. */
  feedId: string | null
}

export interface Counterparty {
  accountNo: string | null
  name: string | null
  bank: string | null
}

export const noIds: Readonly<BankIds> = {
  accountServicerRef: null,
  endToEndId: null,
  instructionId: null,
  transactionId: null,
  uetr: null,
  messageId: null,
  paymentInformationId: null,
  entryRef: null,
  ownerRef: null,
  feedId: null,
}

/** Why a whole file is refused: the line, and a sentence for the person who brought it. */
export class BankFileFault extends Error {
  override readonly name = 'BankFileFault'
  readonly line: number

  constructor(line: number, sentence: string) {
    super(`Line ${line}: ${sentence}`)
    this.line = line
  }
}

/** What a reader must know of the account, and how much it reads before it refuses. */
export interface ReadingOptions {
  /** The account's currency: a file in another one is refused. Null reads whatever the file has. */
  currency: string | null
  /** How many decimals a currency has; undefined if this service does not know it. */
  decimalsOf: (currency: string) => number | undefined
  /** The bank's time zone, for times that are written without one. */
  zone: string
  /** Whether a number is the account's. Of other accounts in the file nothing is read; without it, all is. */
  isOwn?: (accountNo: string) => boolean
  /** For MT940 and OFX, for example `cp850`; without it UTF-8, line by line else Windows-1252. */
  encoding?: string
}

export const maxFileBytes = 64 * 1024 * 1024
export const maxEntries = 200_000
/** The longest text of one element, field or line. */
export const maxTextLength = 100_000
