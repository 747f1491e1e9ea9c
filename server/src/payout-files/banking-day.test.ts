import { expect, it } from 'vitest'
import { executionDay, nextCutoff } from './banking-day.ts'

const account = {
  zone: 'Asia/Bangkok',
  payoutCutoffs: '11:00,15:30',
  payoutHolidays: '2026-12-31,2027-01-01',
}

it.each([
  ['before the last cut-off: today', '2026-11-17T08:30:00Z', '2026-11-17'],
  ['after it: the next day', '2026-11-17T08:30:01Z', '2026-11-18'],
  ['after it on a Friday: Monday', '2026-11-20T10:00:00Z', '2026-11-23'],
  ['on a Saturday: Monday', '2026-11-21T01:00:00Z', '2026-11-23'],
  ['by the day of the bank, not of UTC', '2026-11-17T17:30:00Z', '2026-11-18'],
  ['over holidays and a weekend', '2026-12-30T12:00:00Z', '2027-01-04'],
])('%s', (_, now, day) => {
  expect(executionDay(account, new Date(now))).toBe(day)
})

it('without cut-offs a file is for today at any time', () => {
  const always = { ...account, payoutCutoffs: '' }
  expect(executionDay(always, new Date('2026-11-17T16:59:00Z'))).toBe('2026-11-17')
})

it.each([
  ['the first that is left of today', '2026-11-17T04:01:00Z', '2026-11-17T08:30:00.000Z'],
  ['at the very moment it is now', '2026-11-17T08:30:00Z', '2026-11-17T08:30:00.000Z'],
  ['after the last: the first of tomorrow', '2026-11-17T08:30:01Z', '2026-11-18T04:00:00.000Z'],
  ['none on a Saturday', '2026-11-21T01:00:00Z', '2026-11-23T04:00:00.000Z'],
  ['none on holidays', '2026-12-30T12:00:00Z', '2027-01-04T04:00:00.000Z'],
])('the next cut-off: %s', (_, now, at) => {
  expect(nextCutoff(account, new Date(now))?.toISOString()).toBe(at)
})

it('the next cut-off is by the clocks of its own day', () => {
  const berlin = { zone: 'Europe/Berlin', payoutCutoffs: '12:00', payoutHolidays: '' }
  // Clocks go back an hour in the night to Sunday.
  expect(nextCutoff(berlin, new Date('2026-10-23T10:30:00Z'))?.toISOString()).toBe(
    '2026-10-26T11:00:00.000Z',
  )
  expect(nextCutoff({ ...berlin, payoutCutoffs: '' }, new Date())).toBeNull()
})
