import type { BankAccount } from '../bank-accounts/bank-account.ts'
import { localTimeIn, momentOf } from '../lib/local-time.ts'
import type { Day } from '../statements/statement.ts'

type BankHours = Pick<BankAccount, 'zone' | 'payoutCutoffs' | 'payoutHolidays'>

/**
 * The day on which the bank is to execute a file that is sealed now: today until the last cut-off, if the bank works
 * today, else its next working day.
 */
export function executionDay({ zone, payoutCutoffs, payoutHolidays }: BankHours, now: Date): Day {
  const [today = '', time = ''] = localTimeIn(zone)(now).split(' ')
  const last = payoutCutoffs.split(',').sort().at(-1) ?? ''
  const isLate = last !== '' && time.slice(0, 8) > `${last}:00`
  return workingDayFrom(isLate ? dayAfter(today) : today, payoutHolidays)
}

/** The next cut-off on a day on which the bank works; null if the account has none. */
export function nextCutoff(
  { zone, payoutCutoffs, payoutHolidays }: BankHours,
  now: Date,
): Date | null {
  if (payoutCutoffs === '') return null
  const localTime = localTimeIn(zone)
  const [today = '', time = ''] = localTime(now).split(' ')
  const cutoffs = payoutCutoffs.split(',').sort()
  const isOpenToday = workingDayFrom(today, payoutHolidays) === today
  const left = isOpenToday ? cutoffs.find((each) => `${each}:00` >= time.slice(0, 8)) : undefined
  if (left !== undefined) return momentOf(today, now, localTime, left)
  return momentOf(workingDayFrom(dayAfter(today), payoutHolidays), now, localTime, cutoffs[0])
}

/** The day that is so many of the bank's working days after another. */
export function bankingDaysAfter(
  { payoutHolidays }: Pick<BankHours, 'payoutHolidays'>,
  from: Day,
  count: number,
): Day {
  let day = from
  for (let passed = 0; passed < count; passed++) day = workingDayFrom(dayAfter(day), payoutHolidays)
  return day
}

/** The days from one to another on which the bank works. */
export function bankingDays(
  { payoutHolidays }: Pick<BankHours, 'payoutHolidays'>,
  from: Day,
  to: Day,
): Day[] {
  const days: Day[] = []
  for (
    let day = workingDayFrom(from, payoutHolidays);
    day <= to;
    day = workingDayFrom(dayAfter(day), payoutHolidays)
  ) {
    days.push(day)
  }
  return days
}

/** The first day of a span on which the bank works and which no statement covers. */
export function firstGap(
  statements: readonly { fromDay: Day; toDay: Day }[],
  from: Day,
  to: Day,
  payoutHolidays: string,
): Day | undefined {
  let day = workingDayFrom(from, payoutHolidays)
  for (const { fromDay, toDay } of statements) {
    if (fromDay > day) break
    if (toDay >= day) day = workingDayFrom(dayAfter(toDay), payoutHolidays)
  }
  return day <= to ? day : undefined
}

/** The day itself, or the next one on which the bank works. */
function workingDayFrom(from: Day, payoutHolidays: string): Day {
  const holidays = new Set(payoutHolidays.split(','))
  let day = from
  while (isWeekend(day) || holidays.has(day)) day = dayAfter(day)
  return day
}

function dayAfter(day: Day): Day {
  return new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10)
}

function isWeekend(day: Day): boolean {
  return [0, 6].includes(new Date(day).getUTCDay())
}
