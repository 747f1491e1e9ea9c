import type { Order, OrderStatus } from './book.ts'
import { demand, demandSame } from './lie.ts'
import type { PayoutState } from './payouts.ts'

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
 * What the latest attempt may have ended as, by what its order is. An outcome is written to the order first, so
 * that an attempt may still be open behind it; and whoever paid may have had the money come back.
 */
const endsBeside: Record<OrderStatus, readonly PayoutState[]> = {
  WAITING: [],
  PAID: ['paid'],
  REVERT: ['paid', 'returned'],
  FAILED: ['rejected', 'cancelled', 'returned'],
  CANCEL: ['rejected', 'cancelled', 'returned'],
  EXPIRED: [],
  VOID: [],
}

/** The payouts of an order are what the order says of where it is, and nothing in them contradicts its state. */
export function provePayouts(name: string, order: Order, payouts: readonly PayoutFact[]): void {
  const latest = payouts.at(-1)
  demand(
    (latest !== undefined) === (order.handedOverAt !== null),
    () =>
      `${name} was handed to a provider ${payouts.length} times, but says ${order.handedOverAt ? 'when' : 'that it never was'}`,
  )
  if (!latest) return
  payouts.forEach((payout, index) => {
    const where = `payout ${payout.reference} of ${name}`
    demandSame(where, 'attempt', payout.attempt, index + 1)
    demandSame(where, 'that it is asked about', payout.ask_at !== null, isOpen(payout))
  })
  demandSame(name, 'provider', order.provider, latest.provider)
  demandSame(name, 'provider_ref', order.providerRef, latest.reference)
  demandSame(name, 'handed_over_at', order.handedOverAt, latest.handed_at)
  for (const earlier of payouts.slice(0, -1)) {
    demand(
      earlier.state === 'rejected',
      () =>
        `payout ${earlier.reference} is ${earlier.state}, but ${name} went to ${latest.provider}`,
    )
  }
  demand(
    isOpen(latest) || endsBeside[order.status].includes(latest.state),
    () => `payout ${latest.reference} is ${latest.state}, but ${name} is ${order.status}`,
  )
}

function isOpen({ state }: PayoutFact): boolean {
  return open.includes(state)
}
