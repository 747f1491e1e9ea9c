import { type Piece, piecesOf } from './file-bytes.ts'
import {
  checkCurrency,
  dayOf,
  emptyStatement,
  idOf,
  isOfAnother,
  noAmount,
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
  noIds,
} from './statement.ts'

/**
 * The elements that hold others. In the SGML form the rest has no closing tags: a value ends where the next
 * tag starts, whatever it is.
 */
const groups = new Set([
  'OFX',
  'SIGNONMSGSRSV1',
  'SONRS',
  'STATUS',
  'FI',
  'BANKMSGSRSV1',
  'STMTTRNRS',
  'STMTRS',
  'BANKACCTFROM',
  'BANKTRANLIST',
  'STMTTRN',
  'PAYEE',
  'BANKACCTTO',
  'CCACCTTO',
  'CURRENCY',
  'ORIGCURRENCY',
  'LEDGERBAL',
  'AVAILBAL',
  'BALLIST',
  'BAL',
  'CREDITCARDMSGSRSV1',
  'CCSTMTTRNRS',
  'CCSTMTRS',
  'CCACCTFROM',
])

/** A group while it is open, with the values in it. */
interface Group {
  name: string
  line: number
  values: Map<string, string>
}

interface State {
  open: Group[]
  statements: BankStatement[]
  /** The statement whose group is open. */
  current: BankStatement | undefined
  /** The value that was read last: a CDATA section in the XML form belongs to it. */
  last: { values: Map<string, string>; name: string } | undefined
  /** Groups inside the entry that is open, for example PAYEE. */
  parts: Map<string, Group>
  isOver: boolean
}

/** Reads OFX in both forms, SGML and XML, with one tag after the other. */
export async function readOfx(
  chunks: AsyncGenerator<Uint8Array>,
  encoding: string | null,
  reading: Reading,
): Promise<BankStatement[]> {
  const state: State = {
    open: [],
    statements: [],
    current: undefined,
    last: undefined,
    parts: new Map(),
    isOver: false,
  }
  let isHeader = true
  let line = 1
  for await (const pieces of piecesOf(chunks, '<', encoding)) {
    for (const piece of pieces) {
      line = piece.line
      if (isHeader) isHeader = false
      else takeTag(state, piece, reading)
    }
  }
  if (!state.isOver) {
    throw new BankFileFault(line, 'The file ends before </OFX>, as if it were cut off.')
  }
  if (state.statements.length === 0) {
    throw new BankFileFault(line, 'There is no statement in this file.')
  }
  return state.statements
}

function takeTag(state: State, piece: Piece, reading: Reading) {
  const { text, line } = piece
  if (text.startsWith('?')) return
  const [, characters] = /^!\[CDATA\[([^\]]*)\]\]>\s*$/.exec(text) ?? []
  if (characters !== undefined && state.last) {
    const { values, name } = state.last
    values.set(name, `${values.get(name)}${characters}`.trim())
    return
  }
  if (text.startsWith('!')) {
    throw new BankFileFault(
      line,
      'The file has a declaration (<!…), which OFX files of banks never have.',
    )
  }
  const end = text.indexOf('>')
  const isClosing = text.startsWith('/')
  const name = text
    .slice(isClosing ? 1 : 0, end === -1 ? 0 : end)
    .trim()
    .toUpperCase()
  if (end === -1 || !/^[A-Z0-9._]{1,64}\/?$/.test(name)) {
    throw new BankFileFault(line, `${shown(`<${text.slice(0, 20)}`)} is no tag of OFX.`)
  }
  const value = text.slice(end + 1).trim()
  if (isClosing) closeTag(state, name, value, line, reading)
  else if (!name.endsWith('/')) openTag(state, name, value, line, reading)
}

function openTag(state: State, name: string, value: string, line: number, reading: Reading) {
  if (state.isOver) throw new BankFileFault(line, 'The file goes on after its end.')
  if (!groups.has(name)) {
    const values = state.open.at(-1)?.values
    if (!values) throw new BankFileFault(line, `${shown(name)} comes before <OFX>.`)
    if (!values.has(name)) {
      values.set(name, plainText(value))
      state.last = { values, name }
    }
    return
  }
  if (state.open.length === 0 && name !== 'OFX') {
    throw new BankFileFault(line, `${shown(name)} comes before <OFX>.`)
  }
  if (state.open.length >= groups.size) {
    throw new BankFileFault(line, 'Groups are nested too deep.')
  }
  state.open.push({ name, line, values: new Map() })
  if (name === 'STMTRS' || name === 'CCSTMTRS') {
    state.current = emptyStatement('statement', 'ofx')
    state.statements.push(state.current)
  }
  if (name === 'STMTTRN') {
    state.parts = new Map()
    reading.countEntry(line)
  }
}

function closeTag(state: State, name: string, after: string, line: number, reading: Reading) {
  state.last = undefined
  if (!groups.has(name)) return
  const group = state.open.pop()
  if (group?.name !== name) {
    throw new BankFileFault(line, `${shown(`</${name}>`)} closes what is not open.`)
  }
  if (name === 'OFX') {
    state.isOver = true
    if (after.replaceAll(dosEndOfFile, '') !== '') {
      throw new BankFileFault(line, 'The file goes on after its end.')
    }
  }
  const statement = state.current
  switch (name) {
    case 'STMTRS':
    case 'CCSTMTRS':
      state.current = undefined
      break
    case 'BANKACCTFROM':
    case 'CCACCTFROM':
      if (statement) statement.accountNo = idOf(group.values.get('ACCTID'))
      break
    case 'BANKTRANLIST':
      if (statement) {
        statement.from = ofxDay(group.values.get('DTSTART'))
        statement.to = ofxDay(group.values.get('DTEND'))
      }
      break
    case 'LEDGERBAL':
    case 'AVAILBAL':
      if (statement && !isOfAnother(statement, reading)) {
        takeBalance(state, statement, group, reading)
      }
      break
    case 'STMTTRN':
      if (!statement) throw new BankFileFault(group.line, 'An entry belongs to no account.')
      if (!isOfAnother(statement, reading)) {
        statement.entries.push(entryOf(state, statement, group, reading))
      }
      break
    default:
      state.parts.set(name, group)
  }
}

const dosEndOfFile = '\u001a'

/** Reads as HTML does the few characters that cannot stand for themselves. */
function plainText(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|apos|nbsp|#\d{1,6});/gi, (whole, name: string) => {
    if (!name.startsWith('#')) return entities[name.toLowerCase()] ?? whole
    const code = Number(name.slice(1))
    return code >= 32 ? String.fromCodePoint(code) : ' '
  })
}

const entities: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
}

/** The currency is a value of the statement's own group, which is still open. */
function currencyOf(state: State, statement: BankStatement, line: number, reading: Reading) {
  const group = state.open.findLast((one) => one.name === 'STMTRS' || one.name === 'CCSTMTRS')
  statement.currency ??= group?.values.get('CURDEF')?.toUpperCase() ?? reading.currency
  if (statement.currency === null) {
    throw new BankFileFault(line, 'The statement has no currency (CURDEF).')
  }
  checkCurrency(statement.currency, line, reading)
  return statement.currency
}

function takeBalance(state: State, statement: BankStatement, group: Group, reading: Reading) {
  const currency = currencyOf(state, statement, group.line, reading)
  const isLedger = group.name === 'LEDGERBAL'
  const balance: BankBalance = {
    amountMinor: ofxAmount(group.values.get('BALAMT') ?? '', currency, group.line, reading),
    currency,
    day: ofxDay(group.values.get('DTASOF')),
    type: isLedger ? 'LDGR' : 'AVBL',
    booked: isLedger,
  }
  statement.balances.push(balance)
  if (isLedger) statement.closing = balance
}

/**
 * With a point or a comma, and without thousands separators. Three digits behind the only mark may be
 * thousands, and are refused.
 */
function ofxAmount(text: string, currency: string, line: number, reading: Reading): bigint {
  const [, sign, digits = '', fraction] = /^([+-]?)(\d{1,15})(?:[.,](\d{1,5}))?$/.exec(text) ?? []
  const isAmbiguous = fraction?.length === 3 && digits.length <= 3
  if (sign === undefined || isAmbiguous) throw noAmount(text, currency, line)
  const plain = fraction === undefined ? digits : `${digits}.${fraction}`
  const absolute = readAmount(plain, currency, line, reading, text)
  return sign === '-' ? -absolute : absolute
}

/** `20260102`, perhaps with a time and `[-3:BRT]`: the day is the bank's own. */
function ofxDay(text: string | undefined): Day | null {
  const [, year, month, day] = /^(\d{4})(\d\d)(\d\d)/.exec(text ?? '') ?? []
  return year && month && day ? dayOf(year, month, day) : null
}

/** Only with its zone: banks write noon and midnight for a mere day, and their own time as if it were UTC. */
function ofxMoment(text: string, day: Day): Date | null {
  const match = /^\d{8}(\d\d)(\d\d)(\d\d)(?:\.\d{1,3})?\[([+-]?\d{1,2})(?:\.(\d\d))?/.exec(text)
  if (!match) return null
  const [, hour = '', minute = '', second = '', offset = '', part = '00'] = match
  const isFiller = ['000000', '120000'].includes(hour + minute + second)
  if (isFiller || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null
  const local = Date.parse(`${day}T${hour}:${minute}:${second}Z`)
  const quarters = Math.round(Math.abs(Number(`${Math.abs(Number(offset))}.${part}`)) * 60)
  return new Date(local - (offset.startsWith('-') ? -quarters : quarters) * 60_000)
}

function entryOf(
  state: State,
  statement: BankStatement,
  group: Group,
  reading: Reading,
): BankEntry {
  const { line, values } = group
  const currency = currencyOf(state, statement, line, reading)
  const other = state.parts.get('CURRENCY')?.values.get('CURSYM')?.toUpperCase() ?? currency
  if (other !== currency) {
    throw new BankFileFault(line, `An entry is in ${shown(other)}, but the account in ${currency}.`)
  }
  const amountMinor = ofxAmount(values.get('TRNAMT') ?? '', currency, line, reading)
  const type = values.get('TRNTYPE')?.toUpperCase() ?? null
  if ((type === 'DEBIT' && amountMinor > 0n) || (type === 'CREDIT' && amountMinor < 0n)) {
    const amount = shown(values.get('TRNAMT') ?? '')
    throw new BankFileFault(
      line,
      `An entry says ${type} and ${amount}, which contradict each other.`,
    )
  }
  const posted = values.get('DTPOSTED') ?? ''
  const bookedOn = ofxDay(posted)
  if (bookedOn === null) throw new BankFileFault(line, `The bank wrote ${shown(posted)} for a day.`)
  const account = (state.parts.get('BANKACCTTO') ?? state.parts.get('CCACCTTO'))?.values
  const payee = state.parts.get('PAYEE')?.values
  const feedId = idOf(values.get('FITID'))
  return {
    line,
    entryNo: statement.entries.length + 1,
    childNo: null,
    batchCount: null,
    bookedOn,
    bookedAt: ofxMoment(posted, bookedOn),
    amountMinor,
    currency,
    status: 'booked',
    ids: {
      ...noIds,
      // Some banks number entries 0 and 1 in every file.
      feedId: feedId !== null && feedId.length > 3 ? feedId : null,
      ownerRef: idOf(values.get('REFNUM')),
    },
    texts: textsOf(
      ['MEMO', 'NAME', 'MEMO2', 'REFNUM', 'CHECKNUM', 'FITID'].map((name) =>
        idOf(values.get(name)),
      ),
    ),
    counterparty: {
      accountNo: idOf(account?.get('ACCTID')),
      name: idOf(payee?.get('NAME')) ?? idOf(values.get('NAME')),
      bank: idOf(account?.get('BANKID')),
    },
    balanceAfterMinor: null,
    chargesMinor: 0n,
    isReturn: false,
    returnReason: null,
    typeCode: type,
  }
}
