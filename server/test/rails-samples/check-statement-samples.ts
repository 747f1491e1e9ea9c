import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readBankFile } from '../../src/statements/read-bank-file.ts'
import { idOf } from '../../src/statements/reading.ts'
import {
  type BankBalance,
  type BankEntry,
  BankFileFault,
  type BankStatement,
} from '../../src/statements/statement.ts'

/** What another reader makes of the camt files, in `expected-xml.json`. */
interface CamtFile {
  message: string
  statements?: CamtStatement[]
}

interface CamtStatement {
  id: string | null
  seq: string | null
  account: string | null
  ccy: string | null
  balances: { type: string; amount: string; sign: string | null; date: string }[]
  entries: number
  credits: string
  debits: string
  opening: string | null
  closing: string | null
  closes: boolean | null
  returns: { entry: number; reason: string | null; endToEndId: string | null }[]
  entryList: CamtEntry[]
}

interface CamtEntry {
  amount: string
  ccy: string
  sign: string
  status: string | null
  bookingDate: string | null
  ntryRef: string | null
  acctSvcrRef: string | null
  bkTxCd: string | null
  batchTxs: string | null
  txDetails: number
  tx: Record<string, string | null>[]
}

/** And of MT940 and OFX, in `expected-mt940-ofx.json`. */
interface Mt940Statement {
  ref: string
  account: string
  number: string
  opening: [string, string, string] | null
  closing: [string, string, string] | null
  lines: number
  net: string
  closes: boolean | null
}

interface OfxFile {
  accounts: string[]
  currency: string[]
  transactions: number
  sum: string
  first: { amt: string; fitid: string; date: string }[]
  ledgerBalance: string[]
}

export interface Checked {
  checked: number
  /** A line for each value that is not the expected one. */
  differences: string[]
  /** Files that the other reader takes and this one must not. */
  refused: string[]
}

/**
 * Reads the bank files of a folder, and compares them with what another reader made of them. Two kinds must
 * be refused although the other reader takes them: an MT940 statement without its closing balance, and an
 * amount that it reads only up to a blank.
 */
export async function checkStatementSamples(folder: string): Promise<Checked> {
  const result: Checked = { checked: 0, differences: [], refused: [] }
  const expectedOf = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'))
  const camt: Record<string, CamtFile> = expectedOf('expected-xml.json')
  for (const [path, expected] of Object.entries(camt)) {
    if (!expected.statements) continue
    await check(path, (read) => camtDifferences(expected, read))
  }
  const others: Record<string, { statements: Mt940Statement[] } | OfxFile> =
    expectedOf('expected-mt940-ofx.json')
  for (const [path, expected] of Object.entries(others)) {
    if ('statements' in expected) {
      const { statements } = expected
      await check(path, (read) => mt940Differences(statements, read), statements)
    } else await check(path, (read) => ofxDifferences(expected, read))
  }
  return result

  async function check(
    path: string,
    differencesOf: (read: BankStatement[]) => Iterable<string>,
    mt940: Mt940Statement[] = [],
  ) {
    result.checked++
    const bytes = readFileSync(join(folder, path))
    const isCutOff = mt940.some((statement) => statement.opening && !statement.closing)
    const hasBlank = mt940.some(({ closing }) => closing && stopsAtBlank(bytes, closing))
    try {
      const read = await readBankFile(bytes, options)
      if (isCutOff || hasBlank) result.differences.push(`${path}: should have been refused`)
      else for (const one of differencesOf(read)) result.differences.push(`${path}: ${one}`)
    } catch (fault) {
      if (!(fault instanceof BankFileFault)) throw fault
      const list = isCutOff || hasBlank ? result.refused : result.differences
      list.push(`${path}: ${fault.message}`)
    }
  }
}

const wholeUnits = new Set(['JPY', 'KRW', 'VND'])
const decimalsOf = (currency: string) => (wholeUnits.has(currency) ? 0 : 2)
const options = { currency: null, decimalsOf, zone: 'UTC' }

function stopsAtBlank(bytes: Uint8Array, [amount, day, currency]: [string, string, string]) {
  return Buffer.from(bytes).toString('latin1').includes(`${day}${currency}${amount} `)
}

function* camtDifferences(expected: CamtFile, read: BankStatement[]) {
  yield* differ('statements', read.length, expected.statements?.length)
  for (const [index, want] of (expected.statements ?? []).entries()) {
    const got = read[index]
    if (!got) continue
    const at = `statement ${index + 1}`
    yield* differ(`${at} format`, got.format, expected.message)
    yield* differ(`${at} id`, got.id, want.id)
    yield* differ(`${at} seq`, got.seq, want.seq)
    yield* differ(`${at} account`, got.accountNo, want.account)
    if (want.ccy !== null) yield* differ(`${at} currency`, got.currency, want.ccy)
    yield* differ(`${at} entries`, entriesOf(got).length, want.entries)
    yield* differ(`${at} credits`, sumOf(got, 1n), minor(want.credits))
    yield* differ(`${at} debits`, sumOf(got, -1n), minor(want.debits))
    yield* differ(`${at} opening`, got.opening?.amountMinor, optionalMinor(want.opening))
    yield* differ(`${at} closing`, got.closing?.amountMinor, optionalMinor(want.closing))
    yield* differ(`${at} closes`, closes(got), want.closes)
    yield* differ(
      `${at} balances`,
      got.balances.map(balanceText).join(', '),
      want.balances.map(expectedBalanceText).join(', '),
    )
    for (const [no, entry] of want.entryList.entries()) {
      yield* entryDifferences(`${at} entry ${no + 1}`, entriesOf(got)[no] ?? [], entry)
    }
    yield* returnDifferences(at, got, want)
  }
}

function balanceText({ type, amountMinor, day, currency }: BankBalance): string {
  const scaled = wholeUnits.has(currency) ? amountMinor * 100n : amountMinor
  return `${type} ${scaled} ${day}`
}

function expectedBalanceText(balance: CamtStatement['balances'][number]): string {
  const amount = minor(balance.amount)
  const signed = balance.sign === 'DBIT' ? -amount : amount
  return `${balance.type} ${signed} ${balance.date.slice(0, 10)}`
}

function* entryDifferences(at: string, got: BankEntry[], want: CamtEntry) {
  const [first] = got
  if (!first) {
    yield `${at}: missing`
    return
  }
  const amount = minor(want.amount)
  const sum = got.reduce((total, entry) => total + entry.amountMinor, 0n)
  yield* differ(`${at} amount`, sum, want.sign === 'DBIT' ? -amount : amount)
  yield* differ(`${at} currency`, first.currency, want.ccy)
  const isBooked = want.status === 'BOOK' || want.status === null
  yield* differ(`${at} status`, first.status, isBooked ? 'booked' : 'pending')
  if (want.bookingDate !== null) {
    yield* differ(`${at} day`, first.bookedOn, want.bookingDate.slice(0, 10))
  }
  yield* differ(`${at} NtryRef`, first.ids.entryRef, idOf(want.ntryRef))
  if (got.length === 1 && want.batchTxs !== null) {
    yield* differ(`${at} batch`, first.batchCount, Number(want.batchTxs))
  }
  const isSplit = got.length > 1
  if (isSplit) yield* differ(`${at} payments`, got.length, want.txDetails)
  for (const [index, tx] of (isSplit || want.txDetails === 1 ? want.tx : []).entries()) {
    yield* paymentDifferences(`${at} payment ${index + 1}`, got[index], tx, want, isSplit)
  }
}

function* paymentDifferences(
  at: string,
  got: BankEntry | undefined,
  want: Record<string, string | null>,
  entry: CamtEntry,
  isSplit: boolean,
) {
  if (!got) {
    yield `${at}: missing`
    return
  }
  if (isSplit) {
    const absolute = got.amountMinor < 0n ? -got.amountMinor : got.amountMinor
    yield* differ(`${at} amount`, absolute, optionalMinor(want.amount ?? null))
  }
  const { ids } = got
  yield* differ(`${at} EndToEndId`, ids.endToEndId, idOf(want.endToEndId))
  yield* differ(`${at} TxId`, ids.transactionId, idOf(want.txId))
  yield* differ(`${at} InstrId`, ids.instructionId, idOf(want.instrId))
  yield* differ(
    `${at} AcctSvcrRef`,
    ids.accountServicerRef,
    idOf(want.acctSvcrRef) ?? idOf(entry.acctSvcrRef),
  )
  if (want.pmtInfId) yield* differ(`${at} PmtInfId`, ids.paymentInformationId, idOf(want.pmtInfId))
  if (want.msgId) yield* differ(`${at} MsgId`, ids.messageId, idOf(want.msgId))
  yield* differ(`${at} return`, got.returnReason, want.returnReason ?? null)
  const code = (want.bkTxCd ?? entry.bkTxCd ?? got.typeCode)?.replace('prtry:', '')
  yield* differ(`${at} type`, got.typeCode ?? undefined, code)
  if (want.creditorRef && !got.texts.includes(want.creditorRef)) {
    yield `${at}: the reference ${want.creditorRef} is missing`
  }
}

function* returnDifferences(at: string, got: BankStatement, want: CamtStatement) {
  const returned = got.entries.filter((entry) => entry.isReturn)
  yield* differ(
    `${at} returns`,
    returned.map(({ entryNo, returnReason }) => `${entryNo} ${returnReason}`).join(', '),
    want.returns.map(({ entry, reason }) => `${entry + 1} ${reason}`).join(', '),
  )
}

function* mt940Differences(expected: Mt940Statement[], read: BankStatement[]) {
  yield* differ('statements', read.length, expected.length)
  for (const [index, want] of expected.entries()) {
    const got = read[index]
    if (!got) continue
    const at = `statement ${index + 1}`
    const [seq = '', page] = want.number.split('\n')[0]?.split('/') ?? []
    yield* differ(`${at} id`, got.id, idOf(want.ref))
    yield* differ(`${at} account`, got.accountNo, want.account)
    yield* differ(`${at} seq`, got.seq, seq)
    yield* differ(`${at} page`, got.page?.number, page === undefined ? undefined : Number(page))
    yield* differ(`${at} entries`, got.entries.length, want.lines)
    yield* differ(`${at} net`, sumOf(got, 1n) - sumOf(got, -1n), minor(want.net))
    yield* differ(`${at} closes`, closes(got), want.closes)
    for (const [name, balance, text] of [
      ['opening', got.opening, want.opening],
      ['closing', got.closing, want.closing],
    ] as const) {
      yield* differ(`${at} ${name}`, balance?.amountMinor, optionalMinor(text?.[0] ?? null))
      yield* differ(`${at} ${name} currency`, balance?.currency, text?.[2])
      if (balance?.day) yield* differ(`${at} ${name} day`, shortDay(balance.day), text?.[1])
    }
  }
}

function shortDay(day: string): string {
  return day.slice(2).replaceAll('-', '')
}

function* ofxDifferences(want: OfxFile, read: BankStatement[]) {
  const entries = read.flatMap((statement) => statement.entries)
  const sum = entries.reduce((total, entry) => total + entry.amountMinor, 0n)
  yield* differ('accounts', read.map((one) => one.accountNo).join(), want.accounts.join())
  yield* differ('currencies', read.map((one) => one.currency).join(), want.currency.join())
  yield* differ('entries', entries.length, want.transactions)
  yield* differ('sum', sum, minor(want.sum))
  yield* differ(
    'balances',
    read.map((statement) => statement.closing?.amountMinor).join(),
    want.ledgerBalance.map(minor).join(),
  )
  for (const [index, first] of want.first.entries()) {
    const entry = entries[index]
    yield* differ(`entry ${index + 1} amount`, entry?.amountMinor, minor(first.amt))
    yield* differ(`entry ${index + 1} FITID`, entry?.ids.feedId, first.fitid)
    yield* differ(
      `entry ${index + 1} day`,
      entry?.bookedOn.replaceAll('-', ''),
      first.date.slice(0, 8),
    )
  }
}

/** The entries of a statement, each with its single payments. */
function entriesOf(statement: BankStatement): BankEntry[][] {
  const groups = new Map<number, BankEntry[]>()
  for (const entry of statement.entries) {
    groups.set(entry.entryNo, [...(groups.get(entry.entryNo) ?? []), entry])
  }
  return [...groups.values()]
}

function sumOf(statement: BankStatement, sign: bigint): bigint {
  return entriesOf(statement)
    .map((group) => group.reduce((sum, entry) => sum + entry.amountMinor, 0n) * sign)
    .filter((sum) => sum > 0n)
    .reduce((total, sum) => total + sum, 0n)
}

function closes({ opening, closing, entries }: BankStatement): boolean | null {
  if (!opening || !closing) return null
  const sum = entries.reduce((total, entry) => total + entry.amountMinor, opening.amountMinor)
  return sum === closing.amountMinor
}

function minor(text: string): bigint {
  const [, sign, whole = '', fraction = ''] = /^(-?)(\d+)(?:[.,](\d+))?$/.exec(text) ?? []
  const absolute = BigInt(whole + fraction.slice(0, 2).padEnd(2, '0'))
  return sign === '-' ? -absolute : absolute
}

function optionalMinor(text: string | null): bigint | undefined {
  return text === null ? undefined : minor(text)
}

function* differ(what: string, got: unknown, want: unknown) {
  if (got !== want) yield `${what} is ${String(got)}, not ${String(want)}`
}
