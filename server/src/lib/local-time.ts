/** Formats a time as `YYYY-MM-DD HH:mm:ss` in one zone: the format of every date in the spec. */
export type LocalTime = (at: Date) => string

export function localTimeIn(timeZone: string): LocalTime {
  if (timeZone === 'UTC') return (at) => at.toISOString().slice(0, 19).replace('T', ' ')
  // The Swedish locale writes dates in ISO order.
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium',
  })
  return (at) => format.format(at)
}

/** The start of the day that contains a moment, in a time zone. */
export function startOfDay(at: Date, timeZone: string): Date {
  const localTime = localTimeIn(timeZone)
  return momentOf(localTime(at).slice(0, 10), at, localTime)
}

/** When local clocks show a time of a day that is near a moment; without a time, when the day begins. */
export function momentOf(day: string, near: Date, localTime: LocalTime, time = '00:00'): Date {
  const shown = Date.parse(`${day}T${time}:00Z`)
  // Guess with the zone's offset at `near`, then correct the guess with the offset that applies there.
  let guess = shown - offsetMs(near, localTime)
  guess = shown - offsetMs(new Date(guess), localTime)
  return new Date(guess)
}

/** How far local time is ahead of UTC at a moment. */
function offsetMs(at: Date, localTime: LocalTime): number {
  const local = Date.parse(`${localTime(at).replace(' ', 'T')}Z`)
  return local - Math.floor(at.getTime() / 1000) * 1000
}

/** A stretch of time: from its start, up to but not including its end. */
export interface Span {
  start: Date
  end: Date
}

const hourMs = 3_600_000

/** The hour on local clocks that a moment is in. */
export function hourOf(at: Date, localTime: LocalTime): Span {
  const offset = offsetMs(at, localTime)
  const start = Math.floor((at.getTime() + offset) / hourMs) * hourMs - offset
  return { start: new Date(start), end: new Date(start + hourMs) }
}

/** The local day that a moment is in. */
export function localDayOf(at: Date, localTime: LocalTime): Span {
  const start = momentOf(localTime(at).slice(0, 10), at, localTime)
  // Days have 23 to 25 hours.
  const next = new Date(start.getTime() + 30 * hourMs)
  return { start, end: momentOf(localTime(next).slice(0, 10), next, localTime) }
}

/** The local month that a moment is in. */
export function localMonthOf(at: Date, localTime: LocalTime): Span {
  const firstDay = (moment: Date) => `${localTime(moment).slice(0, 7)}-01`
  const start = momentOf(firstDay(at), at, localTime)
  // Months have 28 to 31 days.
  const next = new Date(start.getTime() + 32 * 24 * hourMs)
  return { start, end: momentOf(firstDay(next), next, localTime) }
}

/** The moments of local times in a zone. */
export function momentsIn(zone: string): (day: string, time: string) => Date {
  const localTime = localTimeIn(zone)
  const offsetAt = (ms: number) => Date.parse(`${localTime(new Date(ms)).replace(' ', 'T')}Z`) - ms
  return (day, time) => {
    const written = Date.parse(`${day}T${time}Z`)
    // Guess with the offset at the same clock time in UTC, then correct the guess.
    return new Date(written - offsetAt(written - offsetAt(written)))
  }
}

export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/**
 * Parses an ISO 8601 time of the years 1 to 9999 in UTC; undefined if it is invalid, down to the calendar
 * day. The zone may be +07:00, +0700 or +07, but it is required: without it the time would be ambiguous.
 */
export function parseIsoTime(text: string): Date | undefined {
  const [, day, hour, minute, second = '00', fraction = '0', written = ''] =
    isoTime.exec(text) ?? []
  const zone = colonZone(written)
  if (day === undefined || Number(hour) > 23 || zone === undefined) return undefined
  const midnight = new Date(`${day}T00:00:00Z`)
  if (Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== day) {
    return undefined
  }
  const at = new Date(`${day}T${hour}:${minute}:${second}.${fraction}${zone}`)
  // Other years have a different number of digits, which the database does not accept.
  return at.getUTCFullYear() >= 1 && at.getUTCFullYear() <= 9_999 ? at : undefined
}

const isoTime =
  /^(\d{4}-\d\d-\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(Z|[+-]\d\d(?::?\d\d)?)$/i

/** A zone in the one notation that every engine parses; undefined if the offset is impossible. */
function colonZone(zone: string): string | undefined {
  if (zone.length === 1) return 'Z'
  const hours = zone.slice(0, 3)
  const minutes = zone.length > 3 ? zone.slice(-2) : '00'
  return Math.abs(Number(hours)) < 24 && Number(minutes) < 60 ? `${hours}:${minutes}` : undefined
}
