import { noChange } from './accounts.ts'
import { type BookableItem, type Booking, bookings, type Order } from './book.ts'
import type { BookView, Change, Command, Decision } from './commands.ts'
import { writeOffKey, writeOffRow } from './decide-house.ts'
import { adjustmentKey, beyondBound, nothingElse, refused, writeRow } from './entry.ts'

export interface ItemNamed {
  agentId: bigint
  houseId: bigint
  itemId: string
  provider: string
}

export const notClosed =
  'The item was closed already, its provider has said something else, or its order waits for a person to end it. Read it again.'

/** The ways to book what an item is about; none if the order itself has, or may still get, what left. */
export function bookingsOf(
  {
    kind,
    closedAt,
    providerSaid,
    reference,
  }: Pick<BookableItem, 'kind' | 'closedAt' | 'providerSaid' | 'reference'>,
  { status, providerRef }: Pick<Order, 'status' | 'providerRef'>,
): readonly Booking[] {
  if (closedAt !== null || (kind !== 'paid_twice' && kind !== 'paid_after_failed')) return []
  if (status === 'PAID' && providerRef === reference) return []
  if (providerSaid === 'REVERT') return status === 'WAITING' ? [] : ['received_back']
  return status === 'FAILED' || status === 'WAITING' ? [] : bookings
}

/** The rows that book an item's money and, if it comes back, book it back: by book and key. */
export function itemRowsOf({ agentId, houseId, itemId, provider }: ItemNamed) {
  const back = `${itemId}-back`
  return {
    lost: { agentId: houseId, onceKey: writeOffKey({ provider, ref: itemId }) },
    // Earlier releases had no provider in the key.
    lostBefore: { agentId: houseId, onceKey: `write-off:${itemId}` },
    lostBack: { agentId: houseId, onceKey: writeOffKey({ provider, ref: back }) },
    charged: { agentId, onceKey: adjustmentKey(itemId) },
    chargedBack: { agentId, onceKey: adjustmentKey(back) },
  }
}

/**
 * Books what left, at the provider that it left, and closes the item: the house bears it, or passes it on to the agent.
 * If it is back, what was booked before is booked back. An earlier release charged the agent for a loss that stayed with
 * the house; what it has begun is ended so.
 */
export function bookItem(
  book: BookView,
  order: Order,
  command: Command & { type: 'book_item' },
): Decision {
  const { item, house, itemRows } = book
  const { as, by, reason, at } = command
  if (!house) throw new Error('the book of the house was not read')
  if (!item) return refused('not_found', 'There is no such item.')
  const isOwn = item.closedBy === by && item.evidence === reason && item.bookedAs === as
  if (item.closedAt !== null && isOwn) return { type: 'unchanged', order }
  const keys = itemRowsOf(command)
  const rowOf = (which: keyof typeof keys) =>
    itemRows.get(`${keys[which].agentId} ${keys[which].onceKey}`)
  // What was booked stays booked, whatever the provider or a person has said of the item since.
  const own = as === 'received_back' ? 'lostBack' : as === 'write_off' ? 'lost' : 'charged'
  if (command.again && rowOf(own)?.reason === reason) return { type: 'unchanged', order }
  if (item.providerSaid !== command.providerSaid || !bookingsOf(item, order).includes(as)) {
    return refused('changed_meanwhile', notClosed)
  }
  const { agentId, itemId, provider, providerSaid, amountMinor } = item
  const before = rowOf('lostBefore')
  const lost = before?.clearingAt === provider ? before : rowOf('lost')
  const charged = rowOf('charged')
  const [lostBack, chargedBack] = [rowOf('lostBack'), rowOf('chargedBack')]
  // People may write off or adjust with the item's id as reference.
  const isOther =
    (lost && lost.change.clearing !== amountMinor) ||
    (charged && charged.change.available !== -amountMinor) ||
    (lostBack && lostBack.change.clearing !== -amountMinor) ||
    (chargedBack && chargedBack.change.available !== amountMinor)
  if (isOther) {
    return refused('invalid_transition', `The reference ${itemId} stands for another amount.`)
  }
  const isLost = lost !== undefined && lostBack === undefined
  const isCharged = charged !== undefined && chargedBack === undefined
  const isBooked = lost !== undefined || charged !== undefined
  if (as !== 'received_back' && isBooked && !isLost && !isCharged) {
    const detail =
      'It was booked, and booked back: write it off with a reference of its own, on the page Books.'
    return refused('invalid_transition', detail)
  }
  if (as === 'write_off' && isCharged) {
    return refused('invalid_transition', 'The agent is charged for it already: book it so.')
  }
  const isPassedOn = lost ? lost.change.transfers !== 0n : as === 'charge_agent' && !isCharged
  const isBack = as === 'received_back'
  const moved = isBack ? -amountMinor : amountMinor
  const ref = isBack ? `${itemId}-back` : itemId
  const changes: Partial<Change> = {}
  if (isLost === isBack) {
    const off = { provider, amountMinor: moved, reason, ref, at }
    const entry = writeOffRow(house, off, isPassedOn ? 'transfers' : 'differences')
    if (!entry) return beyondBound
    changes.house = entry
  }
  if (isBack ? isCharged : as === 'charge_agent' && !isCharged) {
    const other = isPassedOn ? 'transfers' : 'adjustments'
    const entry = writeRow(
      book.wallet,
      { ...noChange, available: -moved, [other]: moved },
      {
        orderId: null,
        event: 'adjustment',
        at,
        clearingAt: null,
        onceKey: adjustmentKey(ref),
        reason,
      },
    )
    if (!entry) return beyondBound
    Object.assign(changes, entry)
  }
  return {
    type: 'changed',
    ...nothingElse,
    wallet: book.wallet,
    order: undefined,
    ...changes,
    booked: { agentId, itemId, providerSaid, at, closedBy: by, evidence: reason, bookedAs: as },
  }
}
