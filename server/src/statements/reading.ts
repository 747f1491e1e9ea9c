import { momentsIn, parseIsoTime } from '../lib/local-time.ts'
import {
  BankFileFault,
  type BankStatement,
  type Day,
  maxEntries,
  type ReadingOptions,
} from './statement.ts'

/** One file being read: what is known of the account, and how many entries there were. */
export interface Reading extends ReadingOptions {
  /** Refuses the file once it has too many entries. */
  countEntry: (line: number) => void
  /** The moment of a local time `HH:MM:SS` in the bank's zone. */
  momentOf: (day: Day, time: string) => Date
}

export function startReading(options: ReadingOptions): Reading {
  let entries = 0
  return {
    ...options,
    countEntry: (line) => {
      if (++entries > maxEntries) {
        throw new BankFileFault(line, `The file has more than ${maxEntries} entries.`)
      }
    },
    momentOf: momentsIn(options.zone),
  }
}

/** Whether a statement is of another account than the one that the file is read for. */
export function isOfAnother({ accountNo }: BankStatement, { isOwn }: Reading): boolean {
  return accountNo !== null && isOwn !== undefined && !isOwn(accountNo)
}

/**
 * An amount as minor units, from digits with a decimal point. It is never rounded and never taken for zero:
 * whatever is no amount of the currency refuses the file. `written` is how the bank wrote it.
 */
export function readAmount(
  text: string,
  currency: string,
  line: number,
  reading: Reading,
  written = text,
): bigint {
  const decimals = reading.decimalsOf(currency)
  if (decimals === undefined) {
    throw new BankFileFault(line, `The currency ${shown(currency)} is not known to this service.`)
  }
  const match = /^(\d{1,15})(?:\.(\d{1,5}))?$/.exec(text)
  const [, whole = '', fraction = ''] = match ?? []
  if (!match || !/^0*$/.test(fraction.slice(decimals))) throw noAmount(written, currency, line)
  return BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, '0'))
}

export function noAmount(text: string, currency: string, line: number): BankFileFault {
  return new BankFileFault(
    line,
    `The bank wrote ${shown(text)}, which is no amount in ${currency}.`,
  )
}

/** A text from the file, short enough and safe to show in a sentence. */
export function shown(text: string): string {
  return text === '' ? 'nothing' : `“${text.slice(0, 60).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?')}”`
}

export function checkCurrency(currency: string, line: number, reading: Reading) {
  if (reading.currency !== null && currency !== reading.currency) {
    throw new BankFileFault(
      line,
      `This is in ${shown(currency)}, but the account is in ${reading.currency}.`,
    )
  }
}

/** Placeholders that banks write where there is no id. */
const placeholders = new Set(['NOTPROVIDED', 'NOT PROVIDED', 'NONREF', 'NOREF', 'NONE', 'N/A'])

export function idOf(text: string | null | undefined): string | null {
  const trimmed = text?.trim() ?? ''
  return trimmed === '' || placeholders.has(trimmed.toUpperCase()) ? null : trimmed
}

/** The different texts among these, without empty ones. */
export function textsOf(texts: (string | null | undefined)[]): string[] {
  const kept = texts.map((text) => text?.trim() ?? '').filter((text) => text !== '')
  return [...new Set(kept)]
}

const maxNotes = 100

/** Notes what the reader assumed, the first time in each statement. */
export function note(statement: BankStatement, line: number, sentence: string) {
  const isNew = !statement.notes.some((noted) => noted.endsWith(sentence))
  if (isNew && statement.notes.length < maxNotes) statement.notes.push(`Line ${line}: ${sentence}`)
}

/** The day if there is such a day in the calendar. */
export function dayOf(year: string, month: string, day: string): Day | null {
  const text = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  const at = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(at.getTime()) && at.toISOString().slice(0, 10) === text ? text : null
}

/** The day of an ISO date or time, as the bank wrote it. */
export function isoDay(text: string | null): Day | null {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)/.exec(text ?? '') ?? []
  return year && month && day ? dayOf(year, month, day) : null
}

/** The moment of an ISO time. Midnight is how banks write a day as a time, so it is no time of day. */
export function isoMoment(text: string | null, reading: Reading): Date | null {
  const day = isoDay(text)
  const [, time] = /^.{10}T(\d\d:\d\d:\d\d)/.exec(text ?? '') ?? []
  if (text === null || day === null || time === undefined || time === '00:00:00') return null
  if (!/^([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/.test(time)) return null
  const hasZone = /(Z|[+-]\d\d:?\d\d)$/i.test(text.slice(19))
  return hasZone ? (parseIsoTime(text) ?? null) : reading.momentOf(day, time)
}

export function emptyStatement(kind: BankStatement['kind'], format: string): BankStatement {
  return {
    kind,
    format,
    accountNo: null,
    currency: null,
    id: null,
    seq: null,
    page: null,
    from: null,
    to: null,
    opening: null,
    closing: null,
    balances: [],
    entries: [],
    notes: [],
  }
}
