import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  hourOf,
  isTimeZone,
  localDayOf,
  localMonthOf,
  localTimeIn,
  parseIsoTime,
  startOfDay,
} from './local-time.ts'

test.each([
  ['UTC', '2026-01-31T23:59:59.999Z', '2026-01-31 23:59:59'],
  ['UTC', '2026-02-01T00:00:00.000Z', '2026-02-01 00:00:00'],
  ['Asia/Bangkok', '2025-12-31T17:00:00.000Z', '2026-01-01 00:00:00'],
  ['Asia/Bangkok', '2026-01-31T16:59:59.999Z', '2026-01-31 23:59:59'],
  ['Asia/Ho_Chi_Minh', '2026-01-31T05:04:03.000Z', '2026-01-31 12:04:03'],
  ['America/New_York', '2026-07-01T04:00:00.000Z', '2026-07-01 00:00:00'],
  ['America/New_York', '2026-01-01T04:00:00.000Z', '2025-12-31 23:00:00'],
  ['Asia/Kathmandu', '2026-01-01T00:00:00.000Z', '2026-01-01 05:45:00'],
])('in %s, %s is written %s', (zone, at, text) => {
  expect(localTimeIn(zone)(new Date(at))).toBe(text)
})

test('Bangkok is seven hours ahead of UTC, and every time keeps the one format', () => {
  const [utc, bangkok] = [localTimeIn('UTC'), localTimeIn('Asia/Bangkok')]
  const range = { min: new Date('1970-01-01T00:00:00Z'), max: new Date('2500-01-01T00:00:00Z') }
  fc.assert(
    fc.property(fc.date({ ...range, noInvalidDate: true }), (at) => {
      const text = bangkok(at)
      expect(text).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
      expect(text).toBe(utc(new Date(at.getTime() + 7 * 3_600_000)))
    }),
  )
})

test.each([
  ['UTC', true],
  ['Asia/Bangkok', true],
  ['Mars/Olympus', false],
  ['', false],
  ['Bangkok', false],
])('%j is a time zone: %s', (name, isZone) => {
  expect(isTimeZone(name)).toBe(isZone)
})

test.each([
  ['2026-01-31T08:30:00Z', '2026-01-31T08:30:00.000Z'],
  ['2026-01-31T08:30:00.5Z', '2026-01-31T08:30:00.500Z'],
  ['2026-01-31T08:30:00.123456789Z', '2026-01-31T08:30:00.123Z'],
  ['2026-01-31T08:30:00+07:00', '2026-01-31T01:30:00.000Z'],
  ['2026-01-31T08:30:00-03:30', '2026-01-31T12:00:00.000Z'],
  ['2028-02-29T00:00:00Z', '2028-02-29T00:00:00.000Z'],
  ['2026-01-31T08:30:00+0700', '2026-01-31T01:30:00.000Z'],
  ['2026-01-31T08:30:00+07', '2026-01-31T01:30:00.000Z'],
  ['2026-01-31T08:30:00-0330', '2026-01-31T12:00:00.000Z'],
  ['2026-01-31T08:30:00,250Z', '2026-01-31T08:30:00.250Z'],
  ['2026-01-31t08:30:00z', '2026-01-31T08:30:00.000Z'],
  ['2026-01-31T08:30Z', '2026-01-31T08:30:00.000Z'],
  ['2026-01-31t08:30+07', '2026-01-31T01:30:00.000Z'],
])('the time %s is read as %s', (text, iso) => {
  expect(parseIsoTime(text)?.toISOString()).toBe(iso)
})

test.each([
  ['without a zone', '2026-01-31T08:30:00'],
  ['with a space', '2026-01-31 08:30:00Z'],
  ['a date alone', '2026-01-31'],
  ['without seconds or a zone', '2026-01-31T08:30'],
  ['a fraction of a minute', '2026-01-31T08:30.5Z'],
  ['a mark without a fraction', '2026-01-31T08:30:00,Z'],
  ['the 30th of February', '2026-02-30T08:30:00Z'],
  ['the 29th of February of a common year', '2026-02-29T08:30:00Z'],
  ['the 31st of April', '2026-04-31T08:30:00+07:00'],
  ['month 13', '2026-13-01T08:30:00Z'],
  ['month 0', '2026-00-01T08:30:00Z'],
  ['day 0', '2026-01-00T08:30:00Z'],
  ['hour 24', '2026-01-31T24:00:00Z'],
  ['minute 60', '2026-01-31T08:60:00Z'],
  ['second 60', '2026-01-31T08:30:60Z'],
  ['a zone beyond a day', '2026-01-31T08:30:00+99:00'],
  ['a zone beyond a day without a colon', '2026-01-31T08:30:00+2400'],
  ['a zone of 60 minutes', '2026-01-31T08:30:00+07:60'],
  ['a zone of one digit', '2026-01-31T08:30:00+7'],
  ['a zone by name', '2026-01-31T08:30:00 ICT'],
  ['a number', '1767225600'],
  ['words', 'tomorrow'],
  ['something behind it', '2026-01-31T08:30:00Z\n'],
  ['digits of another script', '๒๐๒๖-01-31T08:30:00Z'],
  ['nothing', ''],
  ['the year 0', '0000-01-01T00:00:00Z'],
  ['the year 0 in UTC', '0001-01-01T00:00:00+07:00'],
  ['the year 10000 in UTC', '9999-12-31T23:59:59-07:00'],
])('%s is no ISO time with zone', (_what, text) => {
  expect(parseIsoTime(text)).toBeUndefined()
})

test.each([
  ['UTC', '2026-01-31T23:59:59.999Z', '2026-01-31T00:00:00.000Z'],
  ['Asia/Bangkok', '2026-01-31T16:59:59.999Z', '2026-01-30T17:00:00.000Z'],
  ['Asia/Bangkok', '2026-01-31T17:00:00.000Z', '2026-01-31T17:00:00.000Z'],
  ['Asia/Kathmandu', '2026-01-01T00:00:00.000Z', '2025-12-31T18:15:00.000Z'],
  // Clocks went forward at two that night, and back in autumn: the day began before.
  ['America/New_York', '2026-03-08T20:00:00.000Z', '2026-03-08T05:00:00.000Z'],
  ['America/New_York', '2026-11-01T20:00:00.000Z', '2026-11-01T04:00:00.000Z'],
])('in %s, the day of %s began at %s', (zone, at, start) => {
  expect(startOfDay(new Date(at), zone).toISOString()).toBe(start)
})

test.each([
  ['Asia/Bangkok', '2026-03-31T17:30:00Z', '2026-03-31T17:00:00Z', '2026-04-01T17:00:00Z'],
  ['America/New_York', '2026-03-08T12:00:00Z', '2026-03-08T05:00:00Z', '2026-03-09T04:00:00Z'],
  ['America/New_York', '2026-11-01T12:00:00Z', '2026-11-01T04:00:00Z', '2026-11-02T05:00:00Z'],
  ['Asia/Kathmandu', '2026-01-01T00:00:00Z', '2025-12-31T18:15:00Z', '2026-01-01T18:15:00Z'],
])('in %s, the day of %s is from %s to %s', (zone, at, start, end) => {
  const day = localDayOf(new Date(at), localTimeIn(zone))
  expect([day.start, day.end]).toEqual([new Date(start), new Date(end)])
})

test.each([
  ['Asia/Bangkok', '2026-02-28T16:59:59Z', '2026-01-31T17:00:00Z', '2026-02-28T17:00:00Z'],
  ['America/New_York', '2026-03-20T00:00:00Z', '2026-03-01T05:00:00Z', '2026-04-01T04:00:00Z'],
  ['UTC', '2026-12-31T23:59:59Z', '2026-12-01T00:00:00Z', '2027-01-01T00:00:00Z'],
])('in %s, the month of %s is from %s to %s', (zone, at, start, end) => {
  const month = localMonthOf(new Date(at), localTimeIn(zone))
  expect([month.start, month.end]).toEqual([new Date(start), new Date(end)])
})

test.each([
  ['Asia/Kathmandu', '2026-01-01T00:00:00Z', '2025-12-31T23:15:00Z'],
  ['UTC', '2026-01-01T00:59:59Z', '2026-01-01T00:00:00Z'],
])('in %s, the hour of %s starts at %s', (zone, at, start) => {
  expect(hourOf(new Date(at), localTimeIn(zone)).start).toEqual(new Date(start))
})
