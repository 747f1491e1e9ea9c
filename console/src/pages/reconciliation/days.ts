import { queryOptions } from '@tanstack/react-query'
import { type Answer, ask, type Row } from '../../api.ts'
import { api } from '../../paths.ts'

export type BankDay = Row<typeof api.bankDays>
export type BankDays = Answer<typeof api.bankDays>

/** The days of an account in a month such as 2026-11. */
export function daysQuery(account: string, month: string) {
  const query = { from: `${month}-01`, to: lastOf(month) }
  return queryOptions({
    queryKey: ['bank-days', account, month],
    queryFn: ({ signal }) => ask(api.bankDays, { params: { name: account }, query, signal }),
    refetchInterval: 30_000,
  })
}

function lastOf(month: string): string {
  const [year = 0, at = 1] = month.split('-').map(Number)
  return new Date(Date.UTC(year, at, 0)).toISOString().slice(0, 10)
}

/** The weeks of a month, from Monday on; days of other months are null. */
export function weeksOf(month: string): (string | null)[][] {
  const last = Number(lastOf(month).slice(8))
  const days = Array.from(
    { length: last },
    (_, at) => `${month}-${String(at + 1).padStart(2, '0')}`,
  )
  const lead = (new Date(`${month}-01T00:00:00Z`).getUTCDay() + 6) % 7
  const cells = [...Array<null>(lead).fill(null), ...days]
  while (cells.length % 7 !== 0) cells.push(null)
  return Array.from({ length: cells.length / 7 }, (_, week) => cells.slice(week * 7, week * 7 + 7))
}

/** The month so many months later. */
export function monthAfter(month: string, by: number): string {
  const [year = 0, at = 1] = month.split('-').map(Number)
  return new Date(Date.UTC(year, at - 1 + by, 1)).toISOString().slice(0, 7)
}
