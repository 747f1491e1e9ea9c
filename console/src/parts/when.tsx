import { createContext, use } from 'react'
import { words } from '../words.ts'
import classes from './parts.module.css'

/** The time zone of all times in the console: the service's. */
export const TimeZone = createContext('UTC')

const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone)
  if (known) return known
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone: zone,
    dateStyle: 'short',
    timeStyle: 'medium',
  })
  formats.set(zone, format)
  return format
}

/** YYYY-MM-DD HH:mm:ss in the zone. */
export function localText(at: string | Date, zone: string): string {
  return formatOf(zone).format(new Date(at))
}

const steps: [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'narrow' })

export function agoText(at: string | Date, now = Date.now()): string {
  const seconds = Math.round((new Date(at).getTime() - now) / 1000)
  const [unit, size] = steps.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1]
  return relative.format(Math.trunc(seconds / size), unit)
}

/** A duration: 45 s, 12 min, 3 h, 4 d. */
export function spanText(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`
  if (seconds < 60) return `${Math.round(seconds)} s`
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`
  return `${Math.round(seconds / 86_400)} d`
}

/**
 * A time in the service's zone; hovering shows it exactly, with its zone and how long ago it was. A due time
 * that has passed is shown as "now".
 */
export function When(props: { at: string | null | undefined; ago?: boolean; due?: boolean }) {
  const { at, ago, due } = props
  const zone = use(TimeZone)
  if (at === null || at === undefined) return <span className={classes.none}>–</span>
  const text = localText(at, zone)
  const exact = words.exactTime(text, zone, new Date(at).toISOString(), agoText(at))
  return (
    <time dateTime={at} title={exact} className={classes.when}>
      {due && Date.parse(at) < Date.now() ? words.now : ago || due ? agoText(at) : text}
    </time>
  )
}
