import { dayOf } from './reading.ts'
import type { Day } from './statement.ts'

/** A day, and the time of day `HH:MM:SS` if the value has one. */
export interface WrittenDate {
  day: Day
  time: string | null
}

export type ReadDate = (text: string) => WrittenDate | undefined

const tokens = ['YYYY', 'YY', 'MMM', 'MM', 'M', 'DD', 'D', 'HH', 'mm', 'ss']

/** A reader for dates of one format, for example `DD/MM/YYYY HH:mm`; undefined for what does not fit it. */
export function dateReader(format: string, buddhistYear: boolean): ReadDate {
  const parts = partsOf(format)
  return (text) => {
    const found = new Map<string, string>()
    let at = 0
    for (const part of parts) {
      const value = part.isToken ? valueAt(text, at, part.text) : undefined
      if (part.isToken && value === undefined) return undefined
      if (!part.isToken && !text.startsWith(part.text, at)) return undefined
      if (value !== undefined) found.set(part.text.charAt(0), value.meaning)
      at += value?.length ?? part.text.length
    }
    return at === text.length ? dateFrom(found, buddhistYear) : undefined
  }
}

/** A reader for times of day, which may have a day of their own. */
export function timeReader(format: string, buddhistYear: boolean) {
  if (format.includes('D')) return dateReader(format, buddhistYear)
  const readDate = dateReader(`YYYY-MM-DD ${format}`, false)
  return (text: string) => {
    const read = readDate(`2000-01-01 ${text}`)
    return read && { day: null, time: read.time }
  }
}

function partsOf(format: string): { text: string; isToken: boolean }[] {
  const parts: { text: string; isToken: boolean }[] = []
  for (let at = 0; at < format.length; ) {
    const token = tokens.find((one) => format.startsWith(one, at))
    const text = token ?? format.charAt(at)
    parts.push({ text, isToken: token !== undefined })
    at += text.length
  }
  return parts
}

function valueAt(text: string, at: number, token: string) {
  if (token === 'MMM') return monthAt(text, at)
  const most = token === 'YYYY' ? 4 : 2
  let length = 0
  while (length < most && /\d/.test(text.charAt(at + length))) length++
  const needed = token.startsWith('Y') || token === 'mm' || token === 'ss' ? most : 1
  return length < needed ? undefined : { meaning: text.slice(at, at + length), length }
}

const months = [
  ['Jan', 'ม.ค.'],
  ['Feb', 'ก.พ.'],
  ['Mar', 'มี.ค.'],
  ['Apr', 'เม.ย.'],
  ['May', 'พ.ค.'],
  ['Jun', 'มิ.ย.'],
  ['Jul', 'ก.ค.'],
  ['Aug', 'ส.ค.'],
  ['Sep', 'ก.ย.'],
  ['Oct', 'ต.ค.'],
  ['Nov', 'พ.ย.'],
  ['Dec', 'ธ.ค.'],
]

function monthAt(text: string, at: number) {
  for (const [index, names] of months.entries()) {
    for (const name of names) {
      if (text.slice(at, at + name.length).toLowerCase() === name.toLowerCase()) {
        return { meaning: String(index + 1), length: name.length }
      }
    }
  }
  return undefined
}

function dateFrom(found: Map<string, string>, buddhistYear: boolean): WrittenDate | undefined {
  const written = found.get('Y') ?? ''
  const full = Number(written.length === 4 ? written : `${buddhistYear ? 25 : 20}${written}`)
  // A Buddhist year in a file that is said to have none, or the other way round, is five centuries wrong.
  if (full > 2400 !== buddhistYear) return undefined
  const year = String(buddhistYear ? full - 543 : full)
  const day = dayOf(year, found.get('M') ?? '', found.get('D') ?? '')
  if (day === null) return undefined
  const [hour, minute = '00', second = '00'] = ['H', 'm', 's'].map((name) => found.get(name))
  if (hour === undefined) return { day, time: null }
  const isTime = Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60
  return isTime ? { day, time: `${hour.padStart(2, '0')}:${minute}:${second}` } : undefined
}
