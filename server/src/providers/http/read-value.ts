import { type ExactJson, valueAt } from '../../lib/exact-json.ts'
import { Exact } from '../../lib/json-text.ts'
import { momentsIn, parseIsoTime } from '../../lib/local-time.ts'
import {
  type Currency,
  currencies,
  maxBalanceMinor,
  parseDecimal,
  toMinor,
  wholeNumber,
} from '../../lib/money.ts'
import type { AmountAt, Condition, CurrencyAt, Empty, TimeAt, Word } from './connector-document.ts'

/** The text at a pointer; a number is the digits that were written. */
export function textAt(json: ExactJson | undefined, pointer: string): string | undefined {
  const value = valueAt(json, pointer)
  if (value instanceof Exact) return value.text
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Whether everything that a rule asks for is there. */
export function fits(condition: Condition, json: ExactJson | undefined, status?: number): boolean {
  return Object.entries(condition).every(([at, words]) =>
    at === 'status'
      ? words.some((word) => word === status)
      : words.some((word) => isWord(valueAt(json, at), word)),
  )
}

function isWord(value: ExactJson | undefined, word: Word | Empty): boolean {
  if (typeof word === 'object' && word !== null) return Array.isArray(value) && value.length === 0
  if (typeof word !== 'number') return value === word
  return value instanceof Exact && wholeNumber(value.text) === BigInt(word)
}

/** An amount above zero, read from its own digits; undefined if it is none of the currency. */
export function amountAt(
  json: ExactJson | undefined,
  { at, as }: AmountAt,
  currency: Currency,
): bigint | undefined {
  const value = valueAt(json, at)
  const text = value instanceof Exact ? value.text : value
  if (typeof text !== 'string') return undefined
  const minor = minorOf(text, as, currency)
  return minor !== undefined && minor > 0n && minor <= maxBalanceMinor ? minor : undefined
}

function minorOf(text: string, as: AmountAt['as'], currency: Currency): bigint | undefined {
  if (as === 'decimal') return parseDecimal(text, currency)
  // 100.00 is not a number of minor units, whatever it is worth.
  if (!/^\d{1,16}$/.test(text)) return undefined
  return as === 'minor' ? BigInt(text) : toMinor(BigInt(text), currency)
}

/** The currency of an amount; undefined if it is none that is known here. */
export function currencyAt(json: ExactJson | undefined, where: CurrencyAt): Currency | undefined {
  if ('is' in where) return where.is
  const text = textAt(json, where.at)?.toUpperCase()
  return currencies.find((each) => each === text)
}

/** A time; null if there is none, undefined if what is there is no time. */
export function timeAt(json: ExactJson | undefined, where: TimeAt): Date | null | undefined {
  const value = valueAt(json, where.at)
  if (value === undefined || value === null) return null
  const text = value instanceof Exact ? value.text : value
  if (typeof text !== 'string') return undefined
  return timeOf(text, where.as, where.zone)
}

/** What a text says as a time; undefined if it is none. */
export function timeOf(text: string, as: TimeAt['as'], zone = 'UTC'): Date | undefined {
  switch (as) {
    case 'iso':
      return parseIsoTime(text)
    case 'unix':
      return /^\d{9,11}$/.test(text) ? new Date(Number(text) * 1000) : undefined
    case 'unixMs':
      return /^\d{12,14}$/.test(text) ? new Date(Number(text)) : undefined
    case 'local': {
      const [, day, time] = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d)?)$/.exec(text) ?? []
      if (day === undefined || time === undefined) return undefined
      if (Number.isNaN(Date.parse(`${day}T${time}Z`))) return undefined
      return momentsIn(zone)(day, time)
    }
  }
}
