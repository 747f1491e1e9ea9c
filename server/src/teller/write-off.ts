import type { JournalRow } from '../ledger/book.ts'
import { writeOffKey } from '../ledger/decide-house.ts'
import { houseBook } from '../ledger/house.ts'
import { refuseItemRef } from '../ledger/open-items.ts'
import { readJournalByKey } from '../ledger/read-journal.ts'
import type { Currency } from '../lib/money.ts'
import { Problem } from '../lib/problem.ts'
import type { Desk } from './desk.ts'

export interface WriteOff {
  currency: Currency
  provider: string
  /** Positive if the provider's account shows less than the books: a loss. Negative if it shows more. */
  amountMinor: bigint
  reason: string
  /** A write-off takes effect once per provider and reference. */
  ref: string
  /** Whether it is what the provider charges, for no order, rather than a difference. */
  asCost?: boolean
}

/**
 * The house takes a difference at a provider on itself. Refuses a reference already used for something else,
 * so that the sender does not assume this one was booked.
 */
export async function writeOff(
  desk: Pick<Desk, 'pool' | 'teller' | 'now'>,
  { currency, provider, amountMinor, reason, ref, asCost = false }: WriteOff,
): Promise<{ changed: boolean }> {
  const agentId = houseBook(currency)
  // Earlier releases had no provider in the key.
  const earlier = await readJournalByKey(desk.pool, agentId, `write-off:${ref}`)
  if (earlier?.clearingAt === provider) {
    refuseOther(earlier, provider, amountMinor)
    return { changed: false }
  }
  await refuseItemRef(desk.pool, ref, { agentId, onceKey: writeOffKey({ provider, ref }) })
  const { changed } = await desk.teller.do({
    type: 'write_off',
    agentId,
    at: desk.now(),
    provider,
    amountMinor,
    reason,
    ref,
    ...(asCost && { asCost }),
  })
  if (changed) return { changed }
  const first = await readJournalByKey(desk.pool, agentId, writeOffKey({ provider, ref }))
  refuseOther(first, provider, amountMinor)
  return { changed }
}

function refuseOther(first: JournalRow | undefined, provider: string, amountMinor: bigint): void {
  // A debit that was reported before it was explained has left clearing already.
  const { clearing = 0n, unexplained = 0n } = first?.change ?? {}
  const isThere = first?.clearingAt === provider || unexplained !== 0n
  if (clearing + unexplained === amountMinor && isThere) return
  const what = first ? 'another amount' : 'a write-off that was archived'
  throw new Problem('invalid_request', `This reference stands for ${what}: take a new one.`, {
    errors: [{ field: 'ref', message: `was used for ${what}` }],
  })
}
