import { adjustmentKey } from '../ledger/entry.ts'
import { refuseItemRef } from '../ledger/open-items.ts'
import { readJournalByKey } from '../ledger/read-journal.ts'
import { Problem } from '../lib/problem.ts'
import type { Desk } from './desk.ts'

export interface Adjustment {
  amountMinor: bigint
  reason: string
  /** An adjustment takes effect once per reference: repeating it after a lost answer changes nothing. */
  ref: string
}

/**
 * Credits or debits a wallet on a person's decision. Refuses a reference already used for another amount,
 * so that the sender does not assume this one was booked.
 */
export async function adjustWallet(
  desk: Pick<Desk, 'pool' | 'teller' | 'now'>,
  agentId: bigint,
  { amountMinor, reason, ref }: Adjustment,
): Promise<{ changed: boolean }> {
  const at = desk.now()
  await refuseItemRef(desk.pool, ref, { agentId, onceKey: adjustmentKey(ref) })
  const { changed } = await desk.teller.do({
    type: 'adjust',
    agentId,
    at,
    amountMinor,
    reason,
    ref,
  })
  if (changed) return { changed }
  const first = await readJournalByKey(desk.pool, agentId, adjustmentKey(ref))
  if (first?.change.available !== amountMinor) {
    const what = first ? 'another amount' : 'an adjustment that was archived'
    throw new Problem('invalid_request', `This reference stands for ${what}: take a new one.`, {
      errors: [{ field: 'ref', message: `was used for ${what}` }],
    })
  }
  return { changed }
}
