import type { JournalRow, Order, OrderStatus } from '../ledger/book.ts'
import type { PayoutState } from '../ledger/payout-state.ts'
import { ensure, ensureSame } from './proof-failure.ts'

export interface PayoutFact {
  attempt: number
  provider: string
  reference: string
  state: PayoutState
  handed_at: Date
  ask_at: Date | null
}

const open: readonly PayoutState[] = ['handed', 'accepted', 'unknown', 'not_found']

/**
 * The payout states that are impossible for each status of the order, because the order is written first.
 */
const contradicts: Record<OrderStatus, readonly PayoutState[]> = {
  WAITING: ['paid', 'returned', 'rejected', 'cancelled'],
  PAID: ['returned', 'rejected', 'cancelled'],
  REVERT: ['rejected', 'cancelled'],
  FAILED: [],
  CANCEL: [],
  EXPIRED: [],
  VOID: [],
}

/** Proves that an order's provider, reference and status agree with its payouts. */
export function proveHandOvers(
  name: string,
  order: Order,
  rows: readonly JournalRow[],
  payouts: readonly PayoutFact[],
  isWaitingForPerson: boolean,
): void {
  const latest = payouts.at(-1)
  ensure(
    (latest !== undefined) === (order.handedOverAt !== null),
    () =>
      `${name} was handed to a provider ${payouts.length} times, but says ${order.handedOverAt ? 'when' : 'that it never was'}`,
  )
  if (!latest) return
  payouts.forEach((payout, index) => {
    const where = `payout ${payout.reference}`
    ensureSame(where, 'attempt', payout.attempt, index + 1)
    const isOpen = open.includes(payout.state)
    ensureSame(where, 'that it is asked about', payout.ask_at !== null, isOpen)
    ensure(payout === latest || !isOpen, () => `${where} is open, but ${name} went elsewhere`)
  })
  ensureSame(name, 'handed_over_at', order.handedOverAt, latest.handed_at)
  // An order may end by an earlier attempt that paid after all; while it waits, the latest attempt
  // counts.
  const own = payouts.find(({ reference }) => reference === order.providerRef)
  const theirs = order.status === 'WAITING' ? latest : (own ?? latest)
  ensureSame(name, 'provider_ref', order.providerRef, theirs.reference)
  ensureSame(name, 'provider', order.provider, theirs.provider)
  // A person may have ended the order differently from what the provider reported.
  const isByPerson = rows.some(({ reason }) => reason !== null)
  const isLeftToPerson = isWaitingForPerson && ['rejected', 'cancelled'].includes(theirs.state)
  ensure(
    isByPerson ||
      (order.status === 'WAITING' && isLeftToPerson) ||
      !contradicts[order.status].includes(theirs.state),
    () => `payout ${theirs.reference} is ${theirs.state}, but ${name} is ${order.status}`,
  )
}
