import { randomBytes } from 'node:crypto'
import type { Order } from '../dist/ledger/book.js'
import { newOrderId, txnId } from '../dist/lib/ids.js'

/** A deposit of 100 baht as creating it makes one. */
export function newDeposit(agentId: bigint): Order {
  const createdAt = new Date()
  const orderId = newOrderId(createdAt)
  const refId = randomBytes(12).toString('hex')
  return {
    agentId,
    orderId,
    kind: 'deposit',
    refId,
    refundOf: null,
    payableMinor: null,
    currency: 'THB',
    userId: 'user-1',
    amountMinor: 10_000n,
    feeMinor: 0n,
    feeRule: '0%',
    lateMoney: 'review',
    reserveRule: null,
    revertFee: null,
    accountName: 'Somchai Jaidee',
    accountNo: '1234567890',
    bankCode: 'SCB',
    extraParams: null,
    status: 'WAITING',
    version: 1,
    // The proof reads it.
    answer: JSON.stringify({
      txn_id: txnId(agentId, orderId),
      ref_id: refId,
      amount: 100,
      fee: 0,
      expires_in: 3600,
      created_at: createdAt.toISOString().slice(0, 19).replace('T', ' '),
    }),
    createdAt,
    expiresAt: new Date(createdAt.getTime() + 3_600_000),
    completedAt: null,
    paidAmountMinor: null,
    paidFeeMinor: null,
    releaseAt: null,
    provider: 'sandbox',
    providerRef: null,
    handedOverAt: null,
    instructions: null,
  }
}
