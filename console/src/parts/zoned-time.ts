import { localText } from './when.tsx'

/** A time in the zone as 2026-01-31T08:30, the format of a datetime input. */
export function toLocal(at: string, zone: string): string {
  return localText(at, zone).replace(' ', 'T').slice(0, 16)
}

/** The moment at which a wall clock in the zone shows this time, as ISO 8601. */
export function fromLocal(local: string, zone: string): string {
  const asUtc = Date.parse(`${local}Z`)
  let guess = asUtc
  // Twice, because the first guess may be on the other side of a daylight saving change.
  for (let round = 0; round < 2; round++) {
    const shown = Date.parse(`${localText(new Date(guess), zone).replace(' ', 'T')}Z`)
    guess += asUtc - shown
  }
  return new Date(guess).toISOString()
}
