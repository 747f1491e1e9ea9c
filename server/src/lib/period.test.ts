import { expect, test } from 'vitest'
import { mondayOf, periodNamed } from './period.ts'

test.each([
  ['UTC', '2026-11-16', '2026-11-16T00:00:00.000Z', '2026-11-17T00:00:00.000Z'],
  ['Asia/Bangkok', '2026-11-16', '2026-11-15T17:00:00.000Z', '2026-11-16T17:00:00.000Z'],
  ['Pacific/Kiritimati', '2026-11-16', '2026-11-15T10:00:00.000Z', '2026-11-16T10:00:00.000Z'],
  ['Etc/GMT+12', '2026-11-16', '2026-11-16T12:00:00.000Z', '2026-11-17T12:00:00.000Z'],
  // The days on which the clocks go forward and back have 23 and 25 hours.
  ['America/New_York', '2026-03-08', '2026-03-08T05:00:00.000Z', '2026-03-09T04:00:00.000Z'],
  ['America/New_York', '2026-11-01', '2026-11-01T04:00:00.000Z', '2026-11-02T05:00:00.000Z'],
  ['Europe/Berlin', '2026-W13', '2026-03-22T23:00:00.000Z', '2026-03-29T22:00:00.000Z'],
  ['UTC', '2026-W01', '2025-12-29T00:00:00.000Z', '2026-01-05T00:00:00.000Z'],
  ['UTC', '2026-W53', '2026-12-28T00:00:00.000Z', '2027-01-04T00:00:00.000Z'],
  ['UTC', '2028-02', '2028-02-01T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
  ['Asia/Bangkok', '2026-12', '2026-11-30T17:00:00.000Z', '2026-12-31T17:00:00.000Z'],
])('in %s, %s is from %s to before %s', (zone, text, from, to) => {
  const period = periodNamed(text, zone)
  expect([period?.from.toISOString(), period?.to.toISOString()]).toEqual([from, to])
})

test.each([
  '2026-02-30',
  '2026-13',
  '2026-00',
  '2025-W53',
  '2026-W00',
  '2026-W54',
  '2026',
  '2026-1-1',
  '2026-11-16 ',
  '9999-12-31',
  '0000-01',
  '',
])('"%s" is no period', (text) => {
  expect(periodNamed(text, 'UTC')).toBeUndefined()
})

test('a week begins on its Monday', () => {
  expect(mondayOf('2026-11-16')).toBe('2026-11-16')
  expect(mondayOf('2026-11-22')).toBe('2026-11-16')
  expect(mondayOf('2026-11-23')).toBe('2026-11-23')
})
