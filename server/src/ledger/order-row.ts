import { orderIdFromUuid } from '../lib/ids.ts'
import type { Order, OrderKind, OrderStatus } from './book.ts'

export interface OrderRow {
  agent_id: bigint
  order_id: string
  kind: OrderKind
  ref_id: string
  user_id: string
  amount: bigint
  fee: bigint
  fee_rule: string
  account_name: string
  account_no: string
  bank_code: string
  extra_params: string | null
  status: OrderStatus
  version: number
  answer: string
  created_at: Date
  expires_at: Date | null
  completed_at: Date | null
  paid_amount: bigint | null
  paid_fee: bigint | null
  provider: string | null
  provider_ref: string | null
  handed_over_at: Date | null
  instructions: string | null
}

export function orderFromRow(row: OrderRow): Order {
  return {
    agentId: row.agent_id,
    orderId: orderIdFromUuid(row.order_id),
    kind: row.kind,
    refId: row.ref_id,
    userId: row.user_id,
    amountMinor: row.amount,
    feeMinor: row.fee,
    feeRule: row.fee_rule,
    accountName: row.account_name,
    accountNo: row.account_no,
    bankCode: row.bank_code,
    extraParams: row.extra_params,
    status: row.status,
    version: row.version,
    answer: row.answer,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    completedAt: row.completed_at,
    paidAmountMinor: row.paid_amount,
    paidFeeMinor: row.paid_fee,
    provider: row.provider,
    providerRef: row.provider_ref,
    handedOverAt: row.handed_over_at,
    instructions: row.instructions,
  }
}
