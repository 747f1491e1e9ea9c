import { expect, test } from 'vitest'
import { hoursAround } from './daily-hours.ts'

const around = (from: string, to: string, zone: string, at: string) => {
  const found = hoursAround({ from, to, zone }, new Date(at))
  return found && [found.start.toISOString(), found.end.toISOString()]
}

test('hours are of the day in their zone', () => {
  const day = ['2026-11-17T01:00:00.000Z', '2026-11-17T13:00:00.000Z']
  expect(around('08:00', '20:00', 'Asia/Bangkok', '2026-11-17T01:00:00Z')).toEqual(day)
  expect(around('08:00', '20:00', 'Asia/Bangkok', '2026-11-17T12:59:59Z')).toEqual(day)
  expect(around('08:00', '20:00', 'Asia/Bangkok', '2026-11-17T13:00:00Z')).toBeUndefined()
  expect(around('08:00', '20:00', 'Asia/Bangkok', '2026-11-17T00:59:59Z')).toBeUndefined()
})

test('hours go past midnight', () => {
  const night = ['2026-11-17T15:00:00.000Z', '2026-11-18T00:00:00.000Z']
  expect(around('22:00', '07:00', 'Asia/Bangkok', '2026-11-17T15:00:00Z')).toEqual(night)
  expect(around('22:00', '07:00', 'Asia/Bangkok', '2026-11-17T23:59:59Z')).toEqual(night)
  expect(around('22:00', '07:00', 'Asia/Bangkok', '2026-11-18T00:00:00Z')).toBeUndefined()
})

test('a night in which clocks change is an hour longer or shorter', () => {
  expect(around('22:00', '07:00', 'Europe/Berlin', '2026-10-24T22:30:00Z')).toEqual([
    ...['2026-10-24T20:00:00.000Z', '2026-10-25T06:00:00.000Z'],
  ])
  expect(around('22:00', '07:00', 'Europe/Berlin', '2026-03-29T04:00:00Z')).toEqual([
    ...['2026-03-28T21:00:00.000Z', '2026-03-29T05:00:00.000Z'],
  ])
})
