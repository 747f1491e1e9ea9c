import type { Answer } from '../../api.ts'
import { locale } from '../../languages/language.ts'
import type { api } from '../../paths.ts'

export type InsightsView = Answer<typeof api.insights>

const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 })

export function rateText(rate: number | null | undefined): string {
  return rate === null || rate === undefined ? '–' : percent.format(rate)
}

const signed = new Intl.NumberFormat(locale, {
  style: 'percent',
  maximumFractionDigits: 0,
  signDisplay: 'exceptZero',
})

/** By how much an amount is more or less than before; nothing if there was none before. */
export function changeText(now: number, before: number): string | undefined {
  return before === 0 ? undefined : signed.format((now - before) / Math.abs(before))
}
