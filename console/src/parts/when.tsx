import { createContext, use } from 'react'
import { locale } from '../languages/language.ts'
import { words } from '../words.ts'
import classes from './parts.module.css'

/** The time zone of all times in the console: the service's. */
export const TimeZone = createContext('UTC')

const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(zone: string, tag: string): Intl.DateTimeFormat {
  const known = formats.get(tag + zone)
  if (known) return known
  const format = new Intl.DateTimeFormat(tag, {
    timeZone: zone,
    ...{ year: 'numeric', month: '2-digit', day: '2-digit' },
    ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' },
  })
  formats.set(tag + zone, format)
  return format
}

/** YYYY-MM-DD HH:mm:ss in the zone. */
export function localText(at: string | Date, zone: string): string {
  return formatOf(zone, 'sv-SE').format(new Date(at))
}

// English readers do not agree on the order of day and month. Thai has years of its own, which neither the API nor
// the fields for dates have.
const dateTags: Partial<Record<string, string>> = { en: 'sv-SE', th: 'th-u-ca-gregory' }

/** The same as people write it in the language that is spoken. */
export function timeText(at: string | Date, zone: string): string {
  return formatOf(zone, dateTags[locale] ?? locale).format(new Date(at))
}

const steps: [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
]
const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'always', style: 'narrow' })

export function agoText(at: string | Date, now = Date.now()): string {
  const seconds = Math.round((new Date(at).getTime() - now) / 1000)
  const [unit, size] = steps.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1]
  return relative.format(Math.trunc(seconds / size), unit)
}

/** A duration: 45 s, 12 min, 3 h, 4 d. */
export function spanText(seconds: number): string {
  const { spans } = words
  if (seconds < 1) return spans.ms(Math.round(seconds * 1000))
  if (seconds < 60) return spans.s(Math.round(seconds))
  if (seconds < 3600) return spans.min(Math.round(seconds / 60))
  if (seconds < 172_800) return spans.h(Math.round(seconds / 3600))
  return spans.d(Math.round(seconds / 86_400))
}

/**
 * A time in the service's zone; hovering shows it exactly, with its zone and how long ago it was. A due time
 * that has passed is shown as "now".
 */
export function When(props: { at: string | null | undefined; ago?: boolean; due?: boolean }) {
  const { at, ago, due } = props
  const zone = use(TimeZone)
  if (at === null || at === undefined) return <span className={classes.none}>–</span>
  const text = timeText(at, zone)
  const exact = words.exactTime(text, zone, new Date(at).toISOString(), agoText(at))
  return (
    <time dateTime={at} title={exact} className={classes.when}>
      {due && Date.parse(at) < Date.now() ? words.now : ago || due ? agoText(at) : text}
    </time>
  )
}
