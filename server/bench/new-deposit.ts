import { randomBytes } from 'node:crypto'
import type { Order } from '../dist/ledger/book.js'
import { newOrderId } from '../dist/lib/ids.js'

/** A deposit of 100 baht as creating it makes one. */
export function newDeposit(agentId: bigint): Order {
  const createdAt = new Date()
  return {
    agentId,
    orderId: newOrderId(createdAt),
    kind: 'deposit',
    refId: randomBytes(12).toString('hex'),
    userId: 'user-1',
    amountMinor: 10_000n,
    feeMinor: 0n,
    feeRule: '0%',
    accountName: 'Somchai Jaidee',
    accountNo: '1234567890',
    bankCode: 'SCB',
    extraParams: null,
    status: 'WAITING',
    version: 1,
    answer: '{}',
    createdAt,
    expiresAt: new Date(createdAt.getTime() + 3_600_000),
    completedAt: null,
    paidAmountMinor: null,
    paidFeeMinor: null,
    provider: null,
    providerRef: null,
    handedOverAt: null,
    instructions: null,
  }
}
