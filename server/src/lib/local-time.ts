/** Writes a time as `YYYY-MM-DD HH:mm:ss` in one zone: the format of every date the spec names. */
export type LocalTime = (at: Date) => string

export function localTimeIn(timeZone: string): LocalTime {
  if (timeZone === 'UTC') return (at) => at.toISOString().slice(0, 19).replace('T', ' ')
  // Swedish writes dates the ISO way round.
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium',
  })
  return (at) => format.format(at)
}

/** When the day began that a moment is in, in a zone. */
export function startOfDay(at: Date, timeZone: string): Date {
  const localTime = localTimeIn(timeZone)
  const localMs = (ms: number) => Date.parse(`${localTime(new Date(ms)).replace(' ', 'T')}Z`)
  const midnight = Date.parse(`${localTime(at).slice(0, 10)}T00:00:00Z`)
  // The zone's offset at a guess that is off by less than a day; then once more at what it leads to.
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

/** An ISO 8601 time with a zone, checked to the calendar day, of the years 1 to 9999 in UTC, or undefined. */
export function parseIsoTime(text: string): Date | undefined {
  const match = /^(\d{4}-\d\d-\d\d)T(\d\d):\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/.exec(text)
  if (!match?.[1] || Number(match[2]) > 23) return undefined
  const day = new Date(`${match[1]}T00:00:00Z`)
  if (Number.isNaN(day.getTime()) || day.toISOString().slice(0, 10) !== match[1]) return undefined
  const at = new Date(text)
  // Other years are written with another number of digits, which the database does not take.
  return at.getUTCFullYear() >= 1 && at.getUTCFullYear() <= 9_999 ? at : undefined
}
