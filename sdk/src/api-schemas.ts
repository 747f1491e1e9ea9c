// Written from /openapi.json by server/test/sdk/sdk-schemas.test.ts; run it with -u after a change.

/** A request for a deposit or a withdrawal. */
export type OrderRequest = {
  /** 1 to 64 printable characters */
  refId: string
  /** 1 to 64 printable characters */
  userId: string
  /** a whole JSON number from 1 to 1000000000000 */
  amount: number
  /** 1 to 128 printable characters */
  accountName: string
  /** 4 to 34 letters and digits; spaces and dashes between them are taken away */
  accountNo: string
  /** a code from GET /payment/banks; if that has none, the BIC, or the IFSC of a bank in India */
  bankCode: string
  /** an ISO 8601 time with zone, within 300 seconds of the service's clock, such as 2026-01-31T08:30:00Z */
  timestamp: string
  /** an object of at most 4 KiB and 5 levels; null is as none */
  extraParams?: Record<string, unknown> | null
}

/** A deposit as it was created. */
export type Deposit = {
  /** the service's transaction id */
  txn_id: string
  /** the refId sent */
  ref_id: string
  /** the amount asked for */
  amount: number
  /** the fee of the transaction */
  fee: number
  /** how the payer can pay */
  method: 'link' | 'link+qrcode' | 'link+transfer' | 'link+qrcode+transfer'
  /** payment link, for a popup or an iframe */
  link: string
  qrcode?: {
    /** the content of the QR code */
    qrcode_text: string
    /** a page with the QR code alone */
    link: string
    /** a data: URL of the QR code as PNG */
    qrcode_date_url: string
  }
  transfer?: {
    bank_code: string
    account_number: string
    account_name: string
    /** what to transfer */
    amount: number
  }
  /** seconds the order is valid for */
  expires_in: number
  /** when it was created */
  created_at: string
}

/** A withdrawal as it was created. */
export type Withdraw = {
  /** the service's transaction id */
  txn_id: string
  /** the refId sent */
  ref_id: string
  /** the amount asked for */
  amount: number
  /** the fee of the transaction */
  fee: number
  /** always WAITING */
  status: 'WAITING'
  wallet: {
    /** the available balance after the hold */
    balance: number
  }
  /** when it was created */
  created_at: string
}

/** A request for a refund. */
export type RefundRequest = {
  /** 1 to 64 printable characters */
  refId: string
  /** an amount in steps of 0.01, or of 1 in a currency without decimals */
  amount: number
  /** an ISO 8601 time with zone, within 300 seconds of the service's clock, such as 2026-01-31T08:30:00Z */
  timestamp: string
  /** an object of at most 4 KiB and 5 levels; null is as none */
  extraParams?: Record<string, unknown> | null
}

/** A deposit as it is now. */
export type DepositOrder = {
  /** the service's transaction id */
  txn_id: string
  /** the refId sent */
  ref_id: string
  /** the amount asked for */
  amount: number
  /** the fee of the transaction */
  fee: number
  /** how the payer can pay */
  method: 'link' | 'link+qrcode' | 'link+transfer' | 'link+qrcode+transfer'
  /** payment link, for a popup or an iframe */
  link: string
  qrcode?: {
    /** the content of the QR code */
    qrcode_text: string
    /** a page with the QR code alone */
    link: string
    /** a data: URL of the QR code as PNG */
    qrcode_date_url: string
  }
  transfer?: {
    bank_code: string
    account_number: string
    account_name: string
    /** what to transfer */
    amount: number
  }
  /** seconds the order is valid for */
  expires_in: number
  /** when it was created */
  created_at: string
  /** always deposit */
  kind: 'deposit'
  /** what has become of it */
  status: 'WAITING' | 'PAID' | 'FAILED' | 'EXPIRED' | 'VOID' | 'CANCEL' | 'REVERT'
  user_id: string
  /** when its outcome became known */
  completed_at: string | null
  /** what was really paid */
  paid_amount: number | null
}

/** A withdrawal as it is now. */
export type WithdrawOrder = {
  /** the service's transaction id */
  txn_id: string
  /** the refId sent */
  ref_id: string
  /** the amount asked for */
  amount: number
  /** the fee of the transaction */
  fee: number
  wallet: {
    /** the available balance after the hold */
    balance: number
  }
  /** when it was created */
  created_at: string
  /** always withdraw */
  kind: 'withdraw'
  /** what has become of it */
  status: 'WAITING' | 'PAID' | 'FAILED' | 'EXPIRED' | 'VOID' | 'CANCEL' | 'REVERT'
  user_id: string
  /** when its outcome became known */
  completed_at: string | null
  /** what was really paid */
  paid_amount: number | null
  /** of a refund: the txn_id of its deposit */
  refundOf?: string
}

/** Which orders. */
export type OrderQuery = {
  /** 1 to 64 printable characters */
  refId?: string
  /** 1 to 200 */
  limit?: number
  /** next from the page before */
  after?: string
  /** one of WAITING, PAID, FAILED, EXPIRED, VOID, CANCEL, REVERT */
  status?: 'WAITING' | 'PAID' | 'FAILED' | 'EXPIRED' | 'VOID' | 'CANCEL' | 'REVERT'
  /** deposit or withdraw */
  kind?: 'deposit' | 'withdraw'
  /** an ISO 8601 time with zone; created then or later */
  from?: string
  /** an ISO 8601 time with zone; created before it */
  to?: string
}

/** Orders, newest first. */
export type OrderPage = {
  data: (DepositOrder | WithdrawOrder)[]
  /** pass as after */
  next: string | null
}

/** The agent's wallet. */
export type Wallet = {
  /** available, without what is held or in reserve */
  balance: number
  /** held for waiting withdrawals */
  held: number
  currency: string
  /** the journal row these balances are after */
  seq: number
}

/** What is held back of deposits. */
export type Reserve = {
  /** held back of paid deposits until its time has come */
  reserve: number
  currency: string
  /** the journal row that it is after */
  seq: number
}

/** From where on, and how many. */
export type SeqQuery = {
  /** a seq, 0 to 999999999999999; what comes after it is returned */
  after?: number
  /** 1 to 200 */
  limit?: number
}

/** From which outcome on, and how many. */
export type EventQuery = {
  /** a seq, 0 to 999999999999999; what comes after it is returned */
  after?: number
  /** 1 to 200 */
  limit?: number
  /** the epoch of that seq: after a restore its numbers may name other outcomes */
  epoch?: number
}

/** A row of the agent's journal. */
export type WalletEntry = {
  /** gapless in the journal */
  seq: number
  /** when it happened */
  at: string
  event: string
  txn_id: string | null
  /** change of the available balance */
  amount: number
  /** change of what is held */
  held_change: number
  /** change of the fees paid */
  fee: number
  /** available after it */
  balance: number
  /** held after it */
  held: number
  reason: string | null
}

/** The journal, oldest first. */
export type WalletEntryPage = {
  data: WalletEntry[]
  /** gapless in the journal */
  next: number | null
}

/** An outcome and its callback. */
export type OutcomeEvent = {
  /** gapless in the journal */
  seq: number
  /** numbers count within it; 0 unless the service was restored from a backup, and rises then */
  epoch: number
  txn_id: string
  ref_id: string
  /** deposit or withdraw */
  kind: 'deposit' | 'withdraw'
  /** the outcome this callback tells */
  status: string
  /** when it happened */
  at: string
  /** how far its callback has come */
  delivery: string
  /** the exact bytes of the callback */
  body: string
}

/** Outcomes, oldest first. */
export type EventPage = {
  data: OutcomeEvent[]
  /** gapless in the journal */
  next: number | null
}

/** What a resend answers. */
export type Resent = {
  /** gapless in the journal */
  seq: number
  /** waiting: it goes out in a moment */
  delivery: string
}

/** A bank of the agent's currency. */
export type Bank = {
  /** what bankCode should be */
  code: string
  name: string
  numeric_code: string | null
  swift: string | null
  /** accepted as well */
  aliases: string[]
  /** orders to a closed bank are refused */
  closed: boolean
}

/** All of them. */
export type BankList = {
  data: Bank[]
}

/** What the bank of the sandbox is to say. */
export type Trigger = {
  /** one of PAID, FAILED, EXPIRED, VOID, REVERT, CANCEL */
  outcome: 'PAID' | 'FAILED' | 'EXPIRED' | 'VOID' | 'REVERT' | 'CANCEL'
  /** an amount in steps of 0.01, or of 1 in a currency without decimals, with a deposit that is PAID */
  paidAmount?: number
  /** 1 to 34 letters, digits, * for masked ones, or -, with a deposit that is PAID */
  payerAccountNo?: string
}

/** Why a request was refused. */
export type Problem = {
  type: string
  title: string
  status: number
  detail: string
  /** stable, for programs */
  code: string
  request_id: string
  errors?: {
    field: string
    message: string
  }[]
  /** with limit_exceeded */
  limit?: {
    /** which limit */
    name: string
    /** when the same order might be taken; null if time does not change it */
    frees_at: string | null
  }
}
