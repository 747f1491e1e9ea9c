import { hourOf, type LocalTime, localDayOf, localMonthOf, startOfDay } from '../lib/local-time.ts'
import type { Unit } from './insight-cells.ts'

export const periodNames = ['24h', '7d', '30d', '12m'] as const
export type PeriodName = (typeof periodNames)[number]

/** A stretch of summaries: of one unit, from a time up to but not including another. */
export interface Stretch {
  when: 'now' | 'before'
  unit: Unit
  from: Date
  to: Date
}

export interface Period {
  from: Date
  to: Date
  /** The period before, which ends at the same time of day; a year ends with that day, of which no hours are kept. */
  beforeFrom: Date
  beforeTo: Date
  /** What a plot has a point for. */
  step: 'hour' | 'day' | 'month'
  /** When each step begins. */
  steps: Date[]
  stretches: Stretch[]
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** The period that ends now, and the one before it, made of whole hours and days. */
export function periodOf(
  name: PeriodName,
  at: Date,
  { timeZone, localTime }: { timeZone: string; localTime: LocalTime },
): Period {
  const { start: hour, end: to } = hourOf(at, localTime)
  if (name === '24h') {
    const from = new Date(hour.getTime() - 23 * hourMs)
    const beforeFrom = new Date(from.getTime() - dayMs)
    const steps = Array.from({ length: 24 }, (_, n) => new Date(from.getTime() + n * hourMs))
    return {
      ...{ from, to, beforeFrom, beforeTo: from, step: 'hour', steps },
      stretches: [
        { when: 'now', unit: 'hour', from, to },
        { when: 'before', unit: 'hour', from: beforeFrom, to: from },
      ],
    }
  }
  const today = localDayOf(at, localTime)
  if (name === '12m') {
    const months = monthsBack(at, localTime, 24)
    const [from = at, beforeFrom = at] = [months[12], months[0]]
    const yearAgo = new Date(at.getTime() - 365 * dayMs)
    const beforeTo = localDayOf(yearAgo, localTime).end
    return {
      ...{ from, to, beforeFrom, beforeTo, step: 'month', steps: months.slice(12) },
      stretches: [
        { when: 'now', unit: 'day', from, to },
        { when: 'before', unit: 'day', from: beforeFrom, to: beforeTo },
      ],
    }
  }
  const days = name === '7d' ? 7 : 30
  // From noon to noon, because days have 23 to 25 hours.
  const noon = today.start.getTime() + 12 * hourMs
  const dayBack = (n: number) => startOfDay(new Date(noon - n * dayMs), timeZone)
  const steps = Array.from({ length: days }, (_, n) => dayBack(days - 1 - n))
  const [from = today.start] = steps
  const lastDay = dayBack(days)
  const beforeFrom = dayBack(2 * days - 1)
  const beforeTo = new Date(lastDay.getTime() + to.getTime() - today.start.getTime())
  return {
    ...{ from, to, beforeFrom, beforeTo, step: 'day', steps },
    stretches: [
      { when: 'now', unit: 'day', from, to },
      { when: 'before', unit: 'day', from: beforeFrom, to: lastDay },
      { when: 'before', unit: 'hour', from: lastDay, to: beforeTo },
    ],
  }
}

/** When each of the last months begins, this one last. */
function monthsBack(at: Date, localTime: LocalTime, count: number): Date[] {
  const months = [localMonthOf(at, localTime).start]
  for (const first of months) {
    if (months.length === count) break
    months.push(localMonthOf(new Date(first.getTime() - 1), localTime).start)
  }
  return months.reverse()
}
