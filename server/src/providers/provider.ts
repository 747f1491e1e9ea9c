import type { Currency } from '../lib/money.ts'

/** What a provider is told of a deposit that wants paying. */
export interface DepositToCollect {
  txnId: string
  amountMinor: bigint
  currency: Currency
}

/** How the payer can pay. */
export interface DepositInstructions {
  qrcodeText: string
  transfer: { bankCode: string; accountNumber: string; accountName: string }
}

/** A party that moves real money. It never touches the database: what it says comes back as values. */
export interface Provider {
  name: string
  depositInstructions(deposit: DepositToCollect): DepositInstructions
}
