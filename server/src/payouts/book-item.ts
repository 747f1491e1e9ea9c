import type { Order } from '../ledger/book.ts'
import { adjustmentKey } from '../ledger/decide.ts'
import { writeOffKey } from '../ledger/decide-house.ts'
import { houseBook } from '../ledger/house.ts'
import { closeItem, type FoundItem, findItem, notClosed } from '../ledger/open-items.ts'
import { readJournalByKey } from '../ledger/read-journal.ts'
import { Problem } from '../lib/problem.ts'
import { adjustWallet } from '../teller/adjust-wallet.ts'
import type { Desk } from '../teller/desk.ts'
import { writeOff } from '../teller/write-off.ts'

/** How money is booked that left although the order shows no payout, or shows another. */
export const bookings = ['write_off', 'charge_agent', 'received_back'] as const
export type Booking = (typeof bookings)[number]

/** The ways to book what an item is about; none if the order itself has, or may still get, what left. */
export function bookingsOf(
  { kind, closedAt, providerSaid, reference }: FoundItem,
  { status, providerRef }: Pick<Order, 'status' | 'providerRef'>,
): readonly Booking[] {
  if (closedAt !== null || (kind !== 'paid_twice' && kind !== 'paid_after_failed')) return []
  if (status === 'PAID' && providerRef === reference) return []
  if (providerSaid === 'REVERT') return status === 'WAITING' ? [] : ['received_back']
  return status === 'FAILED' || status === 'WAITING' ? [] : bookings
}

/**
 * Books what left, at the provider that it left, and closes the item: the house bears it, or the agent pays the house for
 * it; if it is back, what was booked before is booked back. Each step counts once, so that all may be repeated.
 */
export async function bookItem(
  desk: Pick<Desk, 'pool' | 'teller' | 'now'>,
  item: FoundItem,
  as: Booking,
  { reason, by }: { reason: string; by: string },
): Promise<void> {
  const { itemId: ref, agentId, amountMinor, currency, provider } = item
  const back = `${ref}-back`
  const seen = await findItem(desk.pool, ref)
  // Somebody else has decided since: nothing is booked on top of that.
  const isOwn = seen?.closedBy === by && seen.evidence === reason
  if (!seen || (seen.closedAt !== null && !isOwn) || seen.providerSaid !== item.providerSaid) {
    throw new Problem('changed_meanwhile', notClosed)
  }
  const [isWrittenOff, isCharged, isBack] = await Promise.all([
    readJournalByKey(desk.pool, houseBook(currency), writeOffKey({ provider, ref })),
    readJournalByKey(desk.pool, agentId, adjustmentKey(ref)),
    readJournalByKey(desk.pool, houseBook(currency), writeOffKey({ provider, ref: back })),
  ])
  const left = { currency, provider, reason }
  if (as !== 'received_back') {
    if (isBack) {
      const detail = `It was booked, and booked back: write it off with a reference of its own, on the page Books.`
      throw new Problem('invalid_transition', detail)
    }
    await writeOff(desk, { ...left, amountMinor, ref })
    if (as === 'charge_agent') {
      await adjustWallet(desk, agentId, { amountMinor: -amountMinor, reason, ref })
    }
  } else {
    if (isWrittenOff) await writeOff(desk, { ...left, amountMinor: -amountMinor, ref: back })
    if (isCharged) await adjustWallet(desk, agentId, { amountMinor, reason, ref: back })
  }
  if (await closeItem(desk.pool, item, { at: desk.now(), by, evidence: reason })) return
  const now = await findItem(desk.pool, ref)
  // An earlier run that was interrupted has closed it.
  if (now?.closedBy === by && now.evidence === reason) return
  throw new Problem('changed_meanwhile', notClosed)
}
