import { Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { dateReader, timeReader } from './csv-date.ts'
import type { CsvColumn, CsvProfile } from './csv-profile.ts'
import { textOf, wrongEncoding } from './file-bytes.ts'
import {
  emptyStatement,
  idOf,
  noAmount,
  note,
  type Reading,
  readAmount,
  shown,
  startReading,
  textsOf,
} from './reading.ts'
import {
  type BankEntry,
  BankFileFault,
  type BankStatement,
  maxTextLength,
  noIds,
} from './statement.ts'

/** A line of the table. */
interface Row {
  line: number
  cells: string[]
}

/** A line of the file as it is, and what the profile makes of it. */
export interface PreviewRow extends Row {
  entry: BankEntry | null
  /** Why it cannot be read; null as well for lines that are no entries. */
  fault: string | null
}

/** Where each value of an entry stands, from 0. */
interface Columns {
  date: number
  time: number | undefined
  amount: number | undefined
  debit: number | undefined
  credit: number | undefined
  direction: number | undefined
  balance: number | undefined
  balanceSign: number | undefined
  account: number | undefined
  texts: number[]
  reference: number | undefined
  payerAccount: number | undefined
  payerName: number | undefined
  payerBank: number | undefined
}

interface Table {
  columns: Columns
  /** How many values each line has. */
  width: number
}

/** What the lines around the table say. */
interface Surroundings {
  accountNo: string | null
  hasFooter: boolean
  endsWithLineBreak: boolean
  table: Table | undefined
}

const maxLinesBeforeTable = 100

/**
 * Reads a CSV file by the profile of its bank. Any line that does not fit refuses the file, and so does a
 * running balance that does not follow: it shows a missing line, a wrong sign or a wrong order.
 */
export async function readCsv(
  chunks: AsyncGenerator<Uint8Array>,
  encoding: string | null,
  profile: CsvProfile,
  options: Reading,
): Promise<BankStatement[]> {
  const reading = inProfileZone(profile, options)
  const around = surroundings()
  const statement = emptyStatement('statement', 'csv')
  statement.currency = currencyOf(reading)
  const toEntry = entryReader(profile, statement.currency, reading)
  const isNoEntry = noEntryTest(profile)
  let broughtForward: bigint | undefined
  let lastLine = 1
  for await (const row of rowsOf(chunks, encoding, profile, around)) {
    const { table } = around
    lastLine = row.line
    if (!table) continue
    if (isNoEntry(row, table)) {
      const isFirst = statement.entries.length === 0 && !profile.newestFirst
      if (isFirst && /\d/.test(row.cells[table.columns.balance ?? -1] ?? '')) {
        broughtForward ??= balanceOfRow(row, table, profile, statement.currency, reading)
      }
      continue
    }
    reading.countEntry(row.line)
    statement.entries.push(toEntry(row, table))
    takeAccountNo(row, table, around)
  }
  checkIsWhole(profile, around, lastLine)
  statement.accountNo = around.accountNo
  if (profile.newestFirst) statement.entries.reverse()
  for (const [index, entry] of statement.entries.entries()) entry.entryNo = index + 1
  takeDays(statement)
  if (profile.balanceIsLoose) {
    for (const entry of statement.entries) entry.balanceAfterMinor = null
    note(statement, 1, 'The running balance is not followed, as the profile says.')
  } else takeBalances(statement, broughtForward)
  return [statement]
}

/** The first ten lines, for looking at a profile before it is used. */
export async function previewCsv(
  chunks: AsyncGenerator<Uint8Array>,
  encoding: string | null,
  profile: CsvProfile,
  options: Reading,
): Promise<PreviewRow[]> {
  const reading = inProfileZone(profile, options)
  const around = surroundings()
  const toEntry = entryReader(profile, currencyOf(reading), reading)
  const isNoEntry = noEntryTest(profile)
  const rows: PreviewRow[] = []
  for await (const row of rowsOf(chunks, encoding, profile, around)) {
    rows.push(previewOf(row))
    if (rows.length === 10) break
  }
  return rows

  function previewOf(row: Row): PreviewRow {
    if (!around.table || isNoEntry(row, around.table)) return { ...row, entry: null, fault: null }
    try {
      return { ...row, entry: toEntry(row, around.table), fault: null }
    } catch (fault) {
      if (!(fault instanceof BankFileFault)) throw fault
      return { ...row, entry: null, fault: fault.message }
    }
  }
}

function inProfileZone(profile: CsvProfile, reading: Reading): Reading {
  return profile.zone === undefined ? reading : startReading({ ...reading, zone: profile.zone })
}

function currencyOf(reading: Reading): string {
  if (reading.currency !== null) return reading.currency
  throw new BankFileFault(1, 'A CSV file does not name its currency: choose the account first.')
}

function surroundings(): Surroundings {
  return { accountNo: null, hasFooter: false, endsWithLineBreak: false, table: undefined }
}

/** The lines of the table. What stands before it, and whether it has its end, is noted in `around`. */
async function* rowsOf(
  chunks: AsyncGenerator<Uint8Array>,
  encoding: string | null,
  profile: CsvProfile,
  around: Surroundings,
): AsyncGenerator<Row> {
  let seen = 0
  for await (const row of recordsOf(chunks, encoding, profile, around)) {
    seen++
    if (seen > maxLinesBeforeTable && !around.table) throw noHeadings(profile)
    const first = row.cells.find((cell) => cell !== '')
    if (first === undefined) continue
    if (!around.table) {
      around.accountNo ??= accountNoIn(row, profile)
      if (row.line <= (profile.skipLines ?? 0)) continue
      around.table = tableAt(row, profile)
      if (hasHeadings(profile)) continue
    }
    if (around.table && profile.footer !== undefined && first.startsWith(profile.footer)) {
      around.hasFooter = true
      return
    }
    yield row
  }
  if (!around.table) throw noHeadings(profile)
}

async function* recordsOf(
  chunks: AsyncGenerator<Uint8Array>,
  encoding: string | null,
  profile: CsvProfile,
  around: Surroundings,
): AsyncGenerator<Row> {
  const parser = parse({
    delimiter: profile.delimiter,
    relax_column_count: true,
    // Excel's ="0123", which keeps zeros in front.
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: maxTextLength,
    info: true,
  })
  const source = Readable.from(checkedText(chunks, encoding ?? profile.encoding, around))
  source.on('error', (error) => parser.destroy(error))
  source.pipe(parser)
  try {
    const records: AsyncIterable<{ record: string[]; info: { lines: number } }> = parser
    for await (const { record, info } of records) {
      const cells = record.map(cleanCell)
      const isEmpty = (cell: string) => cell === profile.emptyValue
      yield { line: info.lines, cells: cells.map((cell) => (isEmpty(cell) ? '' : cell)) }
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    throw new BankFileFault(parser.info.lines, 'The line does not end, or its quotes do not.')
  } finally {
    source.destroy()
    parser.destroy()
  }
}

async function* checkedText(
  chunks: AsyncGenerator<Uint8Array>,
  encoding: string,
  around: Surroundings,
): AsyncGenerator<string> {
  for await (const text of textOf(chunks, encoding)) {
    if (text.includes('\0')) throw wrongEncoding(1, encoding)
    if (text !== '') around.endsWithLineBreak = text.endsWith('\n') || text.endsWith('\r')
    yield text
  }
}

function cleanCell(cell: string): string {
  const text = cell.trim()
  return text.startsWith('="') && text.endsWith('"') ? text.slice(2, -1).trim() : text
}

function allColumns(profile: CsvProfile): CsvColumn[] {
  return Object.values(profile.columns).flat()
}

function hasHeadings(profile: CsvProfile): boolean {
  return allColumns(profile).some((column) => typeof column === 'string')
}

function noHeadings(profile: CsvProfile): BankFileFault {
  const names = allColumns(profile).join(', ')
  return new BankFileFault(1, `The file has no line with the headings ${names.slice(0, 300)}.`)
}

/** The table starts at its headings, or, without headings, at the first line that was not skipped. */
function tableAt(row: Row, profile: CsvProfile): Table | undefined {
  const headings = row.cells.map(heading)
  const place = (column: CsvColumn) =>
    typeof column === 'number' ? column - 1 : headings.indexOf(heading(column))
  if (allColumns(profile).some((column) => place(column) === -1)) return undefined
  const optional = (column: CsvColumn | undefined) =>
    column === undefined ? undefined : place(column)
  const { columns } = profile
  return {
    width: row.cells.length,
    columns: {
      date: place(columns.date),
      time: optional(columns.time),
      amount: optional(columns.amount),
      debit: optional(columns.debit),
      credit: optional(columns.credit),
      direction: optional(columns.direction),
      balance: optional(columns.balance),
      balanceSign: optional(columns.balanceSign),
      account: optional(columns.account),
      texts: columns.texts.map(place),
      reference: optional(columns.reference),
      payerAccount: optional(columns.payerAccount),
      payerName: optional(columns.payerName),
      payerBank: optional(columns.payerBank),
    },
  }
}

function heading(text: string | number): string {
  return String(text).normalize('NFKC').replace(/\s+/g, ' ').trim().toLowerCase()
}

function accountNoIn(row: Row, profile: CsvProfile): string | null {
  const label = profile.accountLabel
  if (label === undefined) return null
  const index = row.cells.findIndex((cell) => cell.startsWith(label))
  if (index === -1) return null
  const behind = row.cells[index]?.slice(label.length).replace(/^[\s:]+/, '')
  const next = row.cells.slice(index + 1).find((cell) => cell !== '')
  // An apostrophe tells Excel to keep the zeros in front.
  return idOf((behind || next)?.replace(/^'/, ''))
}

function takeAccountNo(row: Row, table: Table, around: Surroundings) {
  const { account } = table.columns
  const accountNo = account === undefined ? null : idOf(row.cells[account]?.replace(/^'/, ''))
  if (accountNo === null) return
  around.accountNo ??= accountNo
  if (around.accountNo !== accountNo) {
    throw new BankFileFault(row.line, 'The file has lines of more than one account.')
  }
}

/**
 * Which lines of the table are no entries by the words of the profile. What has a date and an amount is one, whatever
 * words its payer wrote.
 */
function noEntryTest(profile: CsvProfile): (row: Row, table: Table) => boolean {
  const starts = profile.notEntries ?? []
  const readDate = dateReader(profile.dateFormat, profile.buddhistYear ?? false)
  return ({ cells }, { columns }) => {
    if (!cells.some((cell) => starts.some((start) => cell.startsWith(start)))) return false
    const amounts = [columns.amount, columns.debit, columns.credit]
    const hasAmount = amounts.some((at) => at !== undefined && /[1-9]/.test(cells[at] ?? ''))
    return !hasAmount || readDate(cells[columns.date] ?? '') === undefined
  }
}

/**
 * A line is whole if its line break or the footer is there: without them the last digits of an amount may be
 * missing.
 */
function checkIsWhole(profile: CsvProfile, around: Surroundings, lastLine: number) {
  if (around.hasFooter) return
  if (profile.footer !== undefined) {
    const end = `its last line ${shown(profile.footer)} is missing`
    throw new BankFileFault(lastLine, `The file looks as if it were cut off: ${end}.`)
  }
  if (!around.endsWithLineBreak && !profile.lastLineIsOpen) {
    throw new BankFileFault(lastLine, 'The last line has no end, as if the file were cut off.')
  }
}

function entryReader(profile: CsvProfile, currency: string, reading: Reading) {
  const readDate = dateReader(profile.dateFormat, profile.buddhistYear ?? false)
  const readTime =
    profile.timeFormat === undefined
      ? undefined
      : timeReader(profile.timeFormat, profile.buddhistYear ?? false)
  return (row: Row, table: Table): BankEntry => {
    checkWidth(row, table)
    const { columns } = table
    const cell = (index: number | undefined) =>
      index === undefined ? '' : (row.cells[index] ?? '')
    const date = readDate(cell(columns.date))
    if (!date) throw noDate(row, cell(columns.date), 'date')
    const written = cell(columns.time)
    const paid = readTime && written !== '' ? readTime(written) : date
    if (!paid) throw noDate(row, written, 'time')
    const { time } = paid
    const reference = idOf(cell(columns.reference))
    return {
      line: row.line,
      entryNo: 0,
      childNo: null,
      batchCount: null,
      bookedOn: date.day,
      bookedAt:
        time === null || time === '00:00:00' ? null : reading.momentOf(paid.day ?? date.day, time),
      amountMinor: signedAmount(row, columns, profile, currency, reading),
      currency,
      status: 'booked',
      ids: { ...noIds, accountServicerRef: reference },
      texts: textsOf([...columns.texts.map(cell), reference]),
      counterparty: {
        accountNo: idOf(cell(columns.payerAccount)),
        name: idOf(cell(columns.payerName)),
        bank: idOf(cell(columns.payerBank)),
      },
      balanceAfterMinor: balanceOfRow(row, table, profile, currency, reading) ?? null,
      chargesMinor: 0n,
      isReturn: false,
      returnReason: null,
      typeCode: null,
    }
  }
}

function checkWidth(row: Row, table: Table) {
  const extra = row.cells.slice(table.width)
  if (row.cells.length >= table.width && extra.every((cell) => cell === '')) return
  throw new BankFileFault(
    row.line,
    `The line has ${row.cells.length} values, but the table has ${table.width} columns.`,
  )
}

function noDate(row: Row, text: string, what: string): BankFileFault {
  return new BankFileFault(row.line, `${shown(text)} is no ${what} as the profile describes it.`)
}

function signedAmount(
  row: Row,
  columns: Columns,
  profile: CsvProfile,
  currency: string,
  reading: Reading,
): bigint {
  const amountAt = (index: number | undefined) => {
    const text = index === undefined ? '' : (row.cells[index] ?? '')
    return text === '' || text === '-' ? 0n : csvAmount(text, profile, currency, row.line, reading)
  }
  if (columns.amount === undefined) {
    const debit = amountAt(columns.debit)
    const credit = amountAt(columns.credit)
    if ((debit === 0n) === (credit === 0n)) {
      const how = debit === 0n ? 'neither a debit nor a credit' : 'both a debit and a credit'
      throw new BankFileFault(row.line, `The line has ${how}.`)
    }
    // Some banks put a minus before debits, which says the same twice.
    return credit === 0n ? -(debit < 0n ? -debit : debit) : credit
  }
  const amount = amountAt(columns.amount)
  if (amount === 0n) throw new BankFileFault(row.line, 'The line has no amount.')
  if (profile.sign === 'opposite') return -amount
  if (profile.sign !== 'direction') return amount
  const word = row.cells[columns.direction ?? -1] ?? ''
  const absolute = amount < 0n ? -amount : amount
  if (profile.creditWords?.includes(word)) return absolute
  if (profile.debitWords?.includes(word)) return -absolute
  throw new BankFileFault(row.line, `${shown(word)} says neither credit nor debit.`)
}

/**
 * An amount with the profile's marks, a sign on either side, or in brackets. Three digits behind the only
 * mark may be thousands under a wrong profile, and are refused.
 */
function csvAmount(
  text: string,
  profile: CsvProfile,
  currency: string,
  line: number,
  reading: Reading,
): bigint {
  const [, opens, before, digits = '', after, closes] =
    /^(\(?)([+-]?)\s?([\d.,' \u00a0]{1,40}?)(-?)(\)?)$/.exec(text) ?? []
  const { decimalMark, groupingMark } = profile
  const parts = digits.trim().replaceAll('\u00a0', ' ').split(decimalMark)
  const [whole = '', fraction] = parts
  const isSound =
    parts.length <= 2 &&
    (opens === '') === (closes === '') &&
    [before !== '', after !== '', opens !== ''].filter(Boolean).length <= 1 &&
    isGrouped(whole, groupingMark) &&
    (fraction === undefined || /^\d{1,5}$/.test(fraction)) &&
    !(fraction?.length === 3 && /^\d{1,3}$/.test(whole))
  if (!isSound) throw noAmount(text, currency, line)
  const plain = groupingMark === '' ? whole : whole.replaceAll(groupingMark, '')
  const absolute = readAmount(
    fraction === undefined ? plain : `${plain}.${fraction}`,
    currency,
    line,
    reading,
    text,
  )
  return before === '-' || after === '-' || opens !== '' ? -absolute : absolute
}

/** Digits alone, or in groups of which the last has three; Indian ones before it have two. */
function isGrouped(whole: string, mark: string): boolean {
  const groups = mark === '' ? [whole] : whole.split(mark)
  const [first = '', ...others] = groups
  if (others.length === 0) return /^\d{1,15}$/.test(first)
  return (
    /^\d{1,3}$/.test(first) &&
    others.every((group) => /^\d{2,3}$/.test(group)) &&
    others.at(-1)?.length === 3
  )
}

function balanceOfRow(
  row: Row,
  table: Table,
  profile: CsvProfile,
  currency: string,
  reading: Reading,
): bigint | undefined {
  const { balance, balanceSign } = table.columns
  const text = balance === undefined ? '' : (row.cells[balance] ?? '')
  if (text === '') return undefined
  const amount = csvAmount(text, profile, currency, row.line, reading)
  return balanceSign !== undefined && row.cells[balanceSign] === '-' ? -amount : amount
}

function takeDays(statement: BankStatement) {
  for (const { bookedOn } of statement.entries) {
    if (statement.from === null || bookedOn < statement.from) statement.from = bookedOn
    if (statement.to === null || bookedOn > statement.to) statement.to = bookedOn
  }
}

/** Follows the running balance from entry to entry, and takes the opening and closing balance from it. */
function takeBalances(statement: BankStatement, broughtForward: bigint | undefined) {
  const { entries, currency } = statement
  const first = entries[0]
  const last = entries.at(-1)
  if (!first || !last || currency === null) return
  if (entries.some((entry) => entry.balanceAfterMinor === null)) return
  const balanceAfter = (entry: BankEntry) => entry.balanceAfterMinor ?? 0n
  let balance = broughtForward ?? balanceAfter(first) - first.amountMinor
  const opening = balance
  for (const entry of entries) {
    balance += entry.amountMinor
    if (balance === balanceAfter(entry)) continue
    throw new BankFileFault(
      entry.line,
      'The balance does not follow from the line before: a line is missing, or the profile has the wrong sign or order.',
    )
  }
  const common = { currency, type: 'RUNN', booked: true }
  statement.opening = { ...common, amountMinor: opening, day: first.bookedOn }
  statement.closing = { ...common, amountMinor: balance, day: last.bookedOn }
  statement.balances = [statement.opening, statement.closing]
}
