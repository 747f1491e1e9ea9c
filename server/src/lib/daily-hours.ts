import { localTimeIn, momentOf, type Span } from './local-time.ts'
import { daysAfter } from './period.ts'

/** Hours of every day in a time zone, such as 22:00 to 07:00. */
export interface DailyHours {
  from: string
  to: string
  zone: string
}

/** The stretch of daily hours that a moment is in, which may go past midnight; undefined if it is in none. */
export function hoursAround({ from, to, zone }: DailyHours, at: Date): Span | undefined {
  const localTime = localTimeIn(zone)
  const [day = '', time = ''] = localTime(at).slice(0, 16).split(' ')
  const isOverMidnight = from > to
  const hasBegun = time >= from
  const goesOn = time < to
  if (!(isOverMidnight ? hasBegun || goesOn : hasBegun && goesOn)) return undefined
  const first = hasBegun ? day : daysAfter(day, -1)
  const last = goesOn ? day : daysAfter(day, 1)
  return { start: momentOf(first, at, localTime, from), end: momentOf(last, at, localTime, to) }
}
