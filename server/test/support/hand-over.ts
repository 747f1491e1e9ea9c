import { randomUUID } from 'node:crypto'
import { parseTxnId } from '../../src/lib/ids.ts'
import type { TestService } from './service.ts'

/** Has a provider have a withdrawal, of which this much is known; it is not asked about again. */
export async function handOver(
  test: TestService,
  txnId: string,
  state: 'accepted' | 'unknown',
): Promise<void> {
  const named = parseTxnId(txnId)
  if (!named) throw new Error('no such order')
  await test.service.desk.teller.do({
    type: 'hand_over',
    ...named,
    at: test.clock(),
    provider: 'sandbox',
    references: [`${txnId}-1`],
    insteadOf: null,
    token: randomUUID(),
    askAt: new Date(test.clock().getTime() + 1e9),
  })
  await test.sql('update payouts set state = $2 where order_id = $1', [named.orderId, state])
}
