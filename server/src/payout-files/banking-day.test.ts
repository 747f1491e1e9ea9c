import { expect, it } from 'vitest'
import { executionDay } from './banking-day.ts'

const account = {
  zone: 'Asia/Bangkok',
  payoutCutoffs: '11:00,15:30',
  payoutHolidays: '2026-12-31,2027-01-01',
}

it.each([
  ['before the last cut-off: today', '2026-11-17T08:30:00Z', '2026-11-17'],
  ['after it: the next day', '2026-11-17T08:31:00Z', '2026-11-18'],
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
