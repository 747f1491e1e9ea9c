import type { Order } from '../ledger/book.ts'
import { txnId } from '../lib/ids.ts'
import type { DepositToCollect } from '../providers/provider.ts'

/** The details of a deposit that a provider receives. */
export function toCollect(order: Order, code?: string | null): DepositToCollect {
  const { currency, accountNo, accountName, bankCode } = order
  return {
    txnId: txnId(order.agentId, order.orderId),
    amountMinor: order.payableMinor ?? order.amountMinor,
    ...(typeof code === 'string' && { code }),
    currency,
    expiresAt: order.expiresAt ?? order.createdAt,
    payer: { accountNo, accountName, bankCode },
    extraParams: order.extraParams,
  }
}
