import { ibanFault } from '../lib/iban.ts'
import { type Piece, piecesOf } from './file-bytes.ts'
import { type Details, detailsOf, noDetails } from './mt940-details.ts'
import {
  checkCurrency,
  dayOf,
  emptyStatement,
  idOf,
  isOfAnother,
  noAmount,
  note,
  type Reading,
  readAmount,
  shown,
  textsOf,
} from './reading.ts'
import {
  type BankBalance,
  type BankEntry,
  BankFileFault,
  type BankStatement,
  type Day,
  maxTextLength,
  noIds,
} from './statement.ts'

/** A field such as `:61:`, with the lines that continue it. */
interface Field {
  tag: string
  line: number
  lines: string[]
  length: number
  /** Whether a line break follows its first line. */
  ended: boolean
}

/** A line `:61:` with the `:86:` that follows it. */
interface RawEntry {
  line: number
  details: Details
  valueDay: string
  entryDay: string
  mark: string
  amount: string
  type: string
  rest: string
  more: string[]
}

interface Draft {
  line: number
  id: string | null
  accountNo: string | null
  seq: string | null
  pageNo: number | null
  opening: Field | null
  closing: Field | null
  available: Field[]
  /** The totals of MT942, `:90D:` and `:90C:`. */
  totals: Field[]
  /** Fields that only MT942 has. */
  isInterim: boolean
  currency: string | null
  entries: RawEntry[]
  /** Whether the line of a single dash that ends a message was seen. */
  isEnded: boolean
}

/**
 * Only these start a field: texts break anywhere, and a line of one may well start with `:12:`.
 */
const tags = new Set(
  '20 21 25 25P 28 28C 60F 60M 61 86 62F 62M 64 65 34F 13 13D 90C 90D'.split(' '),
)

/**
 * Reads MT940 and MT942. A statement counts as whole if its closing balance is there, and an interim report
 * if its end or its totals are: anything else was cut off.
 */
export async function readMt940(
  chunks: AsyncGenerator<Uint8Array>,
  encoding: string | null,
  reading: Reading,
): Promise<BankStatement[]> {
  const drafts: Draft[] = []
  let field: Field | undefined
  const take = () => {
    if (field) takeField(drafts, field, reading)
    field = undefined
  }
  for await (const pieces of piecesOf(chunks, '\n', encoding)) {
    for (const piece of pieces) {
      const text = piece.text.endsWith('\r') ? piece.text.slice(0, -1) : piece.text
      const tag = tagOf(text)
      const draft = drafts.at(-1)
      if (tag !== undefined) {
        take()
        const rest = text.slice(tag.length + 2)
        field = { tag, line: piece.line, lines: [rest], length: rest.length, ended: piece.ended }
      } else if (isEnd(text)) {
        take()
        if (draft) draft.isEnded = true
      } else if (field) continueField(field, text)
      else refuseStray(text, piece)
    }
  }
  take()
  if (drafts.length === 0) throw new BankFileFault(1, 'There is no statement in this file.')
  return drafts.map((draft) => finished(draft, reading))
}

function tagOf(text: string): string | undefined {
  if (!text.startsWith(':')) return undefined
  const tag = text.slice(1, text.indexOf(':', 1))
  return tags.has(tag) ? tag : undefined
}

/** A dash ends a message, `-}` in SWIFT's own form; a Swedish code page writes `å` for the brace. */
function isEnd(text: string): boolean {
  return text.startsWith('-}') || /^-[^ -~]?\s*$/.test(text)
}

function continueField(field: Field, text: string) {
  field.lines.push(text)
  field.length += text.length + 1
  if (field.length > maxTextLength) {
    throw new BankFileFault(field.line, `A text is longer than ${maxTextLength} characters.`)
  }
}

/** Between messages are headers and empty lines. */
function refuseStray(text: string, piece: Piece) {
  if (text.startsWith(':')) {
    throw new BankFileFault(piece.line, `The field ${shown(text)} belongs to no statement.`)
  }
}

function takeField(drafts: Draft[], field: Field, reading: Reading) {
  const value = field.lines[0]?.trim() ?? ''
  if (field.tag === '20') {
    drafts.push(newDraft(field, value))
    return
  }
  const draft = drafts.at(-1)
  if (!draft) throw new BankFileFault(field.line, `A statement starts without the field :20:.`)
  switch (field.tag) {
    case '25':
    case '25P':
      draft.accountNo = idOf(value)
      break
    case '28':
    case '28C':
      takeNumber(draft, value)
      break
    case '60F':
    case '60M':
      draft.opening = field
      draft.currency ??= currencyOfBalance(value)
      break
    case '62F':
    case '62M':
      draft.closing = field
      draft.currency ??= currencyOfBalance(value)
      break
    case '64':
      draft.available.push(field)
      break
    case '34F':
      draft.isInterim = true
      draft.currency ??= value.slice(0, 3)
      break
    case '13':
    case '13D':
      draft.isInterim = true
      break
    case '90C':
    case '90D':
      draft.isInterim = true
      draft.totals.push(field)
      break
    case '61':
      reading.countEntry(field.line)
      draft.entries.push(rawEntry(field))
      break
    case '86':
      takeDetails(draft, field)
      break
  }
}

function newDraft(field: Field, id: string): Draft {
  return {
    line: field.line,
    id: idOf(id),
    accountNo: null,
    seq: null,
    pageNo: null,
    opening: null,
    closing: null,
    available: [],
    totals: [],
    isInterim: false,
    currency: null,
    entries: [],
    isEnded: false,
  }
}

function takeNumber(draft: Draft, value: string) {
  const [seq, page] = value.split('/')
  draft.seq = idOf(seq)
  // Banks that number no pages write zeros.
  draft.pageNo = page !== undefined && /^\d{1,6}$/.test(page) ? Number(page) || null : null
}

/** After the closing balance `:86:` is about the statement, not about an entry. */
function takeDetails(draft: Draft, field: Field) {
  const entry = draft.entries.at(-1)
  if (!entry || (draft.closing && draft.closing.line > entry.line)) return
  const details = detailsOf(field.lines)
  entry.details =
    entry.details === noDetails
      ? details
      : { ...entry.details, texts: [...entry.details.texts, ...details.texts] }
}

/**
 * Day, perhaps the booking day, credit or debit, perhaps the currency's third letter, amount, kind, and the
 * references. `CR` is a credit with a currency letter, `RC` takes a credit back.
 */
const entryLine =
  /^(\d{6})(\d{4}| {4})?(R?[CD]|E[CD])([A-Z])?(\d{1,15}(?:,\d{0,5})?)([NFS][A-Z0-9]{3})(.*)$/

function rawEntry(field: Field): RawEntry {
  const [first = '', ...more] = field.lines
  const match = entryLine.exec(first.trimEnd())
  if (!match) {
    throw new BankFileFault(field.line, `The entry ${shown(first)} cannot be read.`)
  }
  const [, valueDay = '', entryDay = '', mark = '', , amount = '', type = '', rest = ''] = match
  return {
    line: field.line,
    details: noDetails,
    valueDay,
    entryDay,
    mark,
    amount,
    type,
    rest,
    more,
  }
}

const balanceLine = /^([CD])(\d{6})([A-Z]{3})(.*)$/

function currencyOfBalance(value: string): string | null {
  return balanceLine.exec(value)?.[3] ?? null
}

function balanceOf(field: Field, type: string, booked: boolean, reading: Reading): BankBalance {
  const value = field.lines[0]?.trim() ?? ''
  const match = balanceLine.exec(value)
  if (!match) {
    throw new BankFileFault(field.line, `The balance ${shown(value)} cannot be read.`)
  }
  const [, mark, day = '', currency = '', amount = ''] = match
  checkCurrency(currency, field.line, reading)
  const absolute = commaAmount(amount, currency, field.line, reading)
  return {
    amountMinor: mark === 'D' ? -absolute : absolute,
    currency,
    day: shortDay(day),
    type,
    booked,
  }
}

/** `500,` and `500` both occur. */
function commaAmount(text: string, currency: string, line: number, reading: Reading): bigint {
  if (!/^\d{1,15}(,\d{0,5})?$/.test(text)) throw noAmount(text, currency, line)
  return readAmount(text.replace(/,$/, '').replace(',', '.'), currency, line, reading, text)
}

function shortDay(text: string): Day | null {
  const year = Number(text.slice(0, 2)) < 80 ? `20${text.slice(0, 2)}` : `19${text.slice(0, 2)}`
  return dayOf(year, text.slice(2, 4), text.slice(4, 6))
}

function finished(draft: Draft, reading: Reading): BankStatement {
  const isInterim = draft.isInterim && !draft.opening && !draft.closing
  const statement = emptyStatement(
    isInterim ? 'intraday' : 'statement',
    isInterim ? 'mt942' : 'mt940',
  )
  statement.id = draft.id
  statement.seq = draft.seq
  statement.currency = draft.currency ?? reading.currency
  statement.accountNo = accountNoOf(draft.accountNo, statement.currency)
  if (isOfAnother(statement, reading)) return statement
  statement.page =
    draft.pageNo === null ? null : { number: draft.pageNo, last: draft.closing?.tag !== '62M' }
  if (draft.opening) {
    const type = draft.opening.tag === '60F' ? 'OPBD' : 'ITBD'
    statement.opening = balanceOf(draft.opening, type, true, reading)
  }
  if (draft.closing) {
    const type = draft.closing.tag === '62F' ? 'CLBD' : 'ITBD'
    statement.closing = balanceOf(draft.closing, type, true, reading)
  }
  const available = draft.available.map((field) => balanceOf(field, 'CLAV', false, reading))
  statement.balances = [statement.opening, statement.closing, ...available].filter(
    (balance) => balance !== null,
  )
  const currency = statement.currency
  if (currency === null) throw new BankFileFault(draft.line, 'The statement has no currency.')
  checkCurrency(currency, draft.line, reading)
  for (const [index, raw] of draft.entries.entries()) {
    statement.entries.push(entryOf(raw, index + 1, currency, statement, reading))
    if (draft.closing && raw.line > draft.closing.line) {
      note(statement, raw.line, 'An entry comes after the closing balance.')
    }
  }
  if (isInterim) checkInterimIsWhole(draft, statement, reading)
  else checkStatementIsWhole(draft, statement)
  return statement
}

function checkStatementIsWhole(draft: Draft, statement: BankStatement) {
  if (!draft.closing) {
    throw new BankFileFault(
      draft.line,
      'The statement has no closing balance (:62F:), as if it were cut off.',
    )
  }
  if (!draft.opening) note(statement, draft.line, 'The statement has no opening balance.')
  // Without a line break the last digits of the balance may be missing. The entries prove that none is.
  if (draft.closing.ended || draft.isEnded || closes(statement)) return
  throw new BankFileFault(
    draft.closing.line,
    'The file ends within the closing balance, as if it were cut off.',
  )
}

function closes(statement: BankStatement): boolean {
  const { opening, closing } = statement
  return opening !== null && opening.amountMinor + sumOf(statement) === closing?.amountMinor
}

function sumOf(statement: BankStatement): bigint {
  return statement.entries.reduce((sum, entry) => sum + entry.amountMinor, 0n)
}

function checkInterimIsWhole(draft: Draft, statement: BankStatement, reading: Reading) {
  const last = draft.totals.at(-1)
  const doAgree = draft.totals.every((field) => isTotal(field, statement, reading))
  if (!doAgree && draft.totals.length > 0 && (last?.ended || draft.isEnded)) {
    note(statement, draft.line, 'The totals (:90D:, :90C:) are not those of the entries.')
  }
  if (draft.isEnded || last?.ended || (last && doAgree)) return
  throw new BankFileFault(
    draft.line,
    'The report has neither an end nor totals (:90D:, :90C:), as if it were cut off.',
  )
}

function isTotal(field: Field, statement: BankStatement, reading: Reading): boolean {
  const match = /^(\d{1,6})([A-Z]{3})(\d{1,15}(?:,\d{0,5})?)$/.exec(field.lines[0]?.trim() ?? '')
  if (!match) return false
  const [, count, currency = '', amount = ''] = match
  const isCredit = field.tag === '90C'
  const counted = statement.entries.filter((entry) => entry.amountMinor > 0n === isCredit)
  const sum = counted.reduce((total, entry) => total + entry.amountMinor, 0n)
  const absolute = sum < 0n ? -sum : sum
  return (
    Number(count) === counted.length &&
    commaAmount(amount, currency, field.line, reading) === absolute
  )
}

function entryOf(
  raw: RawEntry,
  entryNo: number,
  currency: string,
  statement: BankStatement,
  reading: Reading,
): BankEntry {
  const absolute = commaAmount(raw.amount, currency, raw.line, reading)
  const isCredit = raw.mark === 'C' || raw.mark === 'EC' || raw.mark === 'RD'
  const [ownerRef, ...servicerRef] = raw.rest.split('//')
  const { details } = raw
  const fromSwift = idOf(ownerRef)
  return {
    line: raw.line,
    entryNo,
    childNo: null,
    batchCount: null,
    bookedOn: bookingDay(raw, statement),
    bookedAt: null,
    amountMinor: isCredit ? absolute : -absolute,
    currency,
    // E marks what is only expected.
    status: raw.mark.startsWith('E') ? 'pending' : 'booked',
    ids: {
      ...noIds,
      accountServicerRef: idOf(servicerRef.join('//')),
      endToEndId: details.endToEndId,
      ownerRef: fromSwift ?? details.ownerRef,
    },
    texts: textsOf([...details.texts, fromSwift, details.ownerRef, ...raw.more]),
    counterparty: details.counterparty,
    balanceAfterMinor: null,
    chargesMinor: 0n,
    isReturn: raw.mark.startsWith('R') || details.isReturn || raw.type === 'NRTI',
    returnReason: details.returnReason,
    typeCode: details.bookingCode === null ? raw.type : `${raw.type}+${details.bookingCode}`,
  }
}

/** The booking day has no year: it is the one that brings it next to the value day. */
function bookingDay(raw: RawEntry, statement: BankStatement): Day {
  const valueDay = shortDay(raw.valueDay)
  const year = Number(shortDay(`${raw.valueDay.slice(0, 2)}0101`)?.slice(0, 4))
  const candidates = [year, year + 1, year - 1]
    .map((one) => dayOf(String(one), raw.entryDay.slice(0, 2), raw.entryDay.slice(2, 4)))
    .filter((day) => day !== null)
  const booked =
    valueDay === null
      ? candidates[0]
      : candidates.sort((a, b) => distance(a, valueDay) - distance(b, valueDay))[0]
  const day = booked ?? valueDay
  if (day !== null && day !== undefined) return day
  const fallback = statement.closing?.day ?? statement.opening?.day
  if (!fallback) throw new BankFileFault(raw.line, `There is no such day as ${raw.valueDay}.`)
  note(statement, raw.line, 'An entry has a day that does not exist; the balance’s is taken.')
  return fallback
}

function distance(a: Day, b: Day): number {
  return Math.abs(Date.parse(a) - Date.parse(b))
}

/** Some banks write the currency right behind the IBAN. */
function accountNoOf(accountNo: string | null, currency: string | null): string | null {
  if (accountNo === null || currency === null || !accountNo.endsWith(currency)) return accountNo
  const shorter = accountNo.slice(0, -currency.length).trim()
  return ibanFault(shorter) === undefined ? shorter : accountNo
}
