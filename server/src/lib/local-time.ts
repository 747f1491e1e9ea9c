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
  const localMs = (ms: number) => Date.parse(`${localTime(new Date(ms)).replace(' ', 'T')}Z`)
  const midnight = Date.parse(`${localTime(at).slice(0, 10)}T00:00:00Z`)
  // Guess with the zone's offset at `at`, then correct the guess with the offset that applies there.
  let guess = midnight - (localMs(at.getTime()) - Math.floor(at.getTime() / 1000) * 1000)
  guess = midnight - (localMs(guess) - guess)
  return new Date(guess)
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
