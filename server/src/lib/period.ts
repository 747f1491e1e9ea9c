import { localTimeIn, startOfDay } from './local-time.ts'

/** A stretch of time: from its beginning to just before its end. */
export interface Period {
  from: Date
  to: Date
}

/**
 * The day, week or month that a text names, in a time zone: `2026-11-16`, `2026-W47` or `2026-11`. Weeks are
 * those of ISO 8601, which begin on Monday. Undefined if there is no such period.
 */
export function periodNamed(text: string, timeZone: string): Period | undefined {
  const days = daysNamed(text)
  if (!days) return undefined
  return { from: startOfDate(days.first, timeZone), to: startOfDate(days.end, timeZone) }
}

/** The start of a calendar day such as `2026-11-16`, in a time zone. */
export function startOfDate(day: string, timeZone: string): Date {
  const noon = Date.parse(`${day}T12:00:00Z`)
  const local = Date.parse(`${localTimeIn(timeZone)(new Date(noon)).replace(' ', 'T')}Z`)
  // Within an hour of noon there, even if the clocks change on that day.
  return startOfDay(new Date(noon - (local - noon)), timeZone)
}

/** The calendar day so many days after another. */
export function daysAfter(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)
}

/** The Monday of the week that contains a calendar day. */
export function mondayOf(day: string): string {
  const weekday = (new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7
  return daysAfter(day, -weekday)
}

function daysNamed(text: string): { first: string; end: string } | undefined {
  if (/^\d{4}-\d\d-\d\d$/.test(text)) {
    return isDay(text) ? { first: text, end: daysAfter(text, 1) } : undefined
  }
  if (/^\d{4}-\d\d$/.test(text)) {
    const first = `${text}-01`
    if (!isDay(first)) return undefined
    // The 32nd day is always in the next month.
    return { first, end: `${daysAfter(first, 31).slice(0, 7)}-01` }
  }
  const [, year, number] = /^(\d{4})-W(\d\d)$/.exec(text) ?? []
  if (year === undefined || !isDay(`${year}-01-04`)) return undefined
  // The fourth of January is always in the first week.
  const monday = daysAfter(mondayOf(`${year}-01-04`), (Number(number) - 1) * 7)
  // A week belongs to the year that its Thursday is in.
  const isOfYear = daysAfter(monday, 3).slice(0, 4) === year
  return isOfYear ? { first: monday, end: daysAfter(monday, 7) } : undefined
}

/** Years have four digits in the database and here, on the day after too. */
function isDay(text: string): boolean {
  const at = new Date(`${text}T00:00:00Z`)
  if (Number.isNaN(at.getTime()) || at.toISOString().slice(0, 10) !== text) return false
  return at.getUTCFullYear() >= 1_900 && at.getUTCFullYear() <= 9_998
}
