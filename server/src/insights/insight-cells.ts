import type { OrderKind, OrderStatus } from '../ledger/book.ts'
import { hourOf, type LocalTime, localDayOf, type Span } from '../lib/local-time.ts'
import { type Currency, minorPerUnit } from '../lib/money.ts'

/** What orders are counted by. `all` has one value, the empty one. */
export const facets = [
  'all',
  'provider',
  'bank',
  'amount',
  'hour',
  'paid_within',
  'called_within',
] as const
export type Facet = (typeof facets)[number]

export type Unit = 'hour' | 'day'
export type EndStatus = Exclude<OrderStatus, 'WAITING'>

/** What changes of a count of orders. */
export interface OrderCell {
  unit: Unit
  at: Date
  facet: Facet
  kind: OrderKind
  status: EndStatus
  value: string
  orders: bigint
  amountMinor: bigint
  paidMinor: bigint
  called: bigint
}

/** What changes of a sum of journal rows. */
export interface MoneyCell {
  unit: Unit
  at: Date
  provider: string
  available: bigint
  held: bigint
  reserve: bigint
  fees: bigint
  costs: bigint
}

/** The upper ends of the spans that durations are counted in, in seconds; what takes longer is in a last one. */
export const spanSeconds = [
  1, 2, 5, 10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21_600, 86_400,
] as const

/** The span that a duration is in, named after its upper end. */
export function spanOf(from: Date, to: Date): string {
  const seconds = (to.getTime() - from.getTime()) / 1000
  return String(spanSeconds.find((end) => seconds <= end) ?? 'more')
}

/** The band that an amount is in, named after its lower end in whole units: 1, 10, 100, ... and 0 below 1. */
export function bandOf(amountMinor: bigint, currency: Currency): string {
  const units = amountMinor / minorPerUnit(currency)
  return units === 0n ? '0' : `1${'0'.repeat(units.toString().length - 1)}`
}

/** The hour and the day that a moment is in. */
export interface Moment {
  hour: Date
  day: Date
  /** As local clocks show it, 00 to 23. */
  hourOfDay: string
}

export type Moments = (at: Date) => Moment

export function momentsBy(localTime: LocalTime): Moments {
  // Most rows are of the same hour as the row before.
  let known: { hour: Span; moment: Moment } | undefined
  return (at) => {
    if (known && at >= known.hour.start && at < known.hour.end) return known.moment
    const hour = hourOf(at, localTime)
    const moment = {
      hour: hour.start,
      day: localDayOf(at, localTime).start,
      hourOfDay: localTime(at).slice(11, 13),
    }
    known = { hour, moment }
    return moment
  }
}
