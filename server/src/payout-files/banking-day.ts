import type { BankAccount } from '../bank-accounts/bank-account.ts'
import { localTimeIn } from '../lib/local-time.ts'
import type { Day } from '../statements/statement.ts'

/**
 * The day on which the bank is to execute a file that is sealed now: today until the last cut-off, if the bank works
 * today, else its next working day.
 */
export function executionDay(
  {
    zone,
    payoutCutoffs,
    payoutHolidays,
  }: Pick<BankAccount, 'zone' | 'payoutCutoffs' | 'payoutHolidays'>,
  now: Date,
): Day {
  const [today = '', time = ''] = localTimeIn(zone)(now).split(' ')
  const last = payoutCutoffs.split(',').sort().at(-1) ?? ''
  const isLate = last !== '' && time.slice(0, 5) > last
  const holidays = new Set(payoutHolidays.split(','))
  let day = isLate ? dayAfter(today) : today
  while (isWeekend(day) || holidays.has(day)) day = dayAfter(day)
  return day
}

function dayAfter(day: Day): Day {
  return new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10)
}

function isWeekend(day: Day): boolean {
  return [0, 6].includes(new Date(day).getUTCDay())
}
