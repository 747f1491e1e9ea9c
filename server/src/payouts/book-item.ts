import type { Booking } from '../ledger/book.ts'
import { houseBook } from '../ledger/house.ts'
import type { FoundItem } from '../ledger/open-items.ts'
import type { Desk } from '../teller/desk.ts'

/**
 * Books what left, at the provider that it left, and closes the item, in one transaction: of several who decide on it,
 * one does. To repeat it changes nothing.
 */
export async function bookItem(
  desk: Pick<Desk, 'teller' | 'now'>,
  item: FoundItem,
  as: Booking,
  { reason, by, again = false }: { reason: string; by: string; again?: boolean },
): Promise<void> {
  const { agentId, orderId, itemId, provider, providerSaid, currency } = item
  await desk.teller.do({
    type: 'book_item',
    agentId,
    houseId: houseBook(currency),
    orderId,
    itemId,
    provider,
    as,
    providerSaid,
    by,
    reason,
    ...(again && { again }),
    at: desk.now(),
  })
}
