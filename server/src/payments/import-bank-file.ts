import { createHash, randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { BankAccount } from '../bank-accounts/bank-account.ts'
import { reportsOf } from '../bank-accounts/bank-report.ts'
import { insertStatement, trustStatements } from '../bank-accounts/bank-statements.ts'
import { confirmWithinLimit } from '../bank-accounts/confirm-movements.ts'
import { plainAccountNo } from '../bank-accounts/expected-deposits.ts'
import {
  lockAccount,
  pageOf,
  type ReportOfStatement,
  takeReports,
} from '../bank-accounts/take-reports.ts'
import { inTransaction, type Tx, withPatience } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { currencyRow } from '../lib/currencies.ts'
import { newOrderId } from '../lib/ids.ts'
import { currencies, maxAccountMinor } from '../lib/money.ts'
import { sealBytes } from '../lib/secret-box.ts'
import { nobody, signatureOf } from '../operators/credentials.ts'
import type { CsvProfile } from '../statements/csv-profile.ts'
import { tooLarge } from '../statements/file-bytes.ts'
import { fitsMaskedAccountNo, isMaskedAccountNo } from '../statements/masked-account-no.ts'
import { previewRows, readBankFile } from '../statements/read-bank-file.ts'
import type { PreviewRow } from '../statements/read-csv.ts'
import {
  BankFileFault,
  type BankStatement,
  maxFileBytes,
  type ReadingOptions,
} from '../statements/statement.ts'
import type { Desk } from '../teller/desk.ts'

type ImportDesk = Pick<Desk, 'pool' | 'now' | 'secretKeys'>

export interface BankFile {
  name: string
  bytes: Buffer
  /** How it came: brought by a person, or fetched from the bank. */
  via: 'console' | 'command' | 'folder' | 'sftp'
  by: string
  /** The user who brought it; missing for a machine and for the command line. */
  userId?: bigint
}

export interface Imported {
  fileId: string
  /** Whether the same bytes were imported before. */
  isRepeat: boolean
  statements: number
  entries: number
  /** Entries that the bank has not booked yet: they are not money. */
  pending: number
  movements: number
  notes: string[]
}

/**
 * Imports a bank's file. All of it is taken or nothing; a file that is refused is kept as it came, with the
 * reason. The same file again, or one that overlaps it, adds nothing twice.
 */
export async function importBankFile(
  desk: ImportDesk,
  account: BankAccount,
  file: BankFile,
  mode: 'sandbox' | 'live',
): Promise<Imported> {
  const fileId = await keepFile(desk, account, file)
  let statements: BankStatement[]
  try {
    statements = await readStatements(account, file)
  } catch (error) {
    if (error instanceof BankFileFault) await noteFault(desk.pool, account.name, fileId, error)
    throw error
  }
  // In live, a file that a person brings is not yet the bank's word, nor is one that is read as one person says.
  const isFetched = file.via === 'folder' || file.via === 'sftp'
  const isTrusted = mode === 'sandbox' || (isFetched && account.confirmedAt !== null)
  const taken = await inTransaction(desk.pool, (tx) =>
    withPatience(tx, 120, async () => {
      await lockAccount(tx, account.name)
      const at = desk.now()
      // Of many who bring it at once, one is the first.
      const isRepeat = await isTaken(tx, account.name, fileId)
      const movements = await takeStatements(tx, account, statements, fileId, isTrusted, at)
      if (!isTrusted && !isFetched) await confirmWithinLimit(tx, account, fileId, at)
      return { isRepeat, movements }
    }),
  )
  const entries = statements.flatMap((each) => each.entries)
  return {
    fileId,
    ...taken,
    statements: statements.length,
    entries: entries.length,
    pending: entries.filter(({ status }) => status === 'pending').length,
    notes: statements.flatMap(({ notes }) => notes),
  }
}

/** What reading a file needs to know of its account. */
type ReadAccount = Pick<
  BankAccount,
  'name' | 'currency' | 'zone' | 'csvProfile' | 'encoding' | 'accountNo' | 'formerNumbers'
>

/** Reads a file for an account, without storing anything. A bank may put its statements of several accounts into one. */
export async function readStatements(
  account: ReadAccount,
  { bytes }: Pick<BankFile, 'bytes'>,
): Promise<BankStatement[]> {
  const profile = profileOf(account)
  const numbers = [account.accountNo, ...account.formerNumbers.split(',').filter(Boolean)]
  const isOwn = (accountNo: string) => numbers.some((own) => isSameAccount(accountNo, own))
  const told = await readBankFile(bytes, {
    ...readingOptions(account),
    isOwn,
    ...(account.encoding !== null && { encoding: account.encoding }),
    ...(profile && { csvProfile: profile }),
  })
  const taken = ownNumbers(account, told, isOwn, numbers)
  const others = new Set<string>()
  const statements = told.filter(({ accountNo }) => {
    if (accountNo === null || taken.has(accountNo)) return true
    others.add(accountNo)
    return false
  })
  const [first] = statements
  const [other] = others
  if (!first && other !== undefined) {
    const detail = `The file is of the account ${other}, and ${account.name} is ${account.accountNo}.`
    throw new BankFileFault(lineOf(bytes, other), detail)
  }
  for (const each of others) first?.notes.push(`What is of the account ${each} was left out.`)
  refuseImpossible(statements)
  return statements
}

/**
 * The numbers in a file that are an account's own. Where several may be, as two banks can give out one number, only the one
 * counts that is written in full.
 */
function ownNumbers(
  { name, accountNo }: ReadAccount,
  told: readonly BankStatement[],
  isOwn: (accountNo: string) => boolean,
  numbers: readonly string[],
): ReadonlySet<string> {
  const written = told.flatMap((each) => (each.accountNo === null ? [] : [each.accountNo]))
  const own = new Set(written.filter(isOwn))
  const plain = (text: string) => withoutZeros(plainAccountNo(text))
  if (new Set([...own].map(plain)).size < 2) return own
  const exact = [...own].filter((each) => numbers.some((number) => plain(number) === plain(each)))
  if (new Set(exact.map(plain)).size === 1) return new Set(exact)
  const detail = `The file is of the accounts ${[...own].join(' and ')}, and each of them may be ${name}, ${accountNo}: bring the statements of one.`
  throw new BankFileFault(1, detail)
}

/** The first line that has a text; the first of all if it is written in another way. */
function lineOf(bytes: Buffer, text: string): number {
  const at = bytes.indexOf(text)
  let line = 1
  for (let end = bytes.indexOf(10); end !== -1 && end < at; end = bytes.indexOf(10, end + 1)) line++
  return line
}

/** The first ten lines of a CSV file, as they are and as the account's profile reads them. */
export async function previewLines(
  account: ReadAccount,
  { bytes }: Pick<BankFile, 'bytes'>,
): Promise<PreviewRow[]> {
  const csvProfile = profileOf(account)
  return csvProfile ? previewRows(bytes, { ...readingOptions(account), csvProfile }) : []
}

function readingOptions({ currency, zone }: ReadAccount): ReadingOptions {
  const decimalsOf = (text: string) => {
    const named = currencies.find((each) => each === text)
    return named && currencyRow(named).decimals
  }
  return { currency, zone, decimalsOf }
}

function profileOf({ csvProfile }: ReadAccount): CsvProfile | undefined {
  return csvProfile === null ? undefined : (JSON.parse(csvProfile) as CsvProfile)
}

/** What is kept of an entry's references, together. */
const mostIdBytes = 4_096

/** A sum is kept as one report for each of its payments. */
const mostInBatch = 100_000

/** No bank account holds such amounts, and nothing was booked on such days: the file is not what it seems. */
function refuseImpossible(statements: readonly BankStatement[]): void {
  let sum = 0n
  let lastLine = 1
  for (const { amountMinor, bookedOn, batchCount, line, ids } of statements.flatMap(
    ({ entries }) => entries,
  )) {
    lastLine = Math.max(lastLine, line)
    if (Buffer.byteLength(JSON.stringify(ids)) > mostIdBytes) {
      throw new BankFileFault(line, 'The references of this entry are longer than any bank writes.')
    }
    sum += amountMinor < 0n ? -amountMinor : amountMinor
    if (sum > maxAccountMinor) {
      throw new BankFileFault(line, 'The amounts up to here are more than any account can hold.')
    }
    if ((batchCount ?? 0) > mostInBatch) {
      throw new BankFileFault(line, `A sum of ${batchCount} payments is more than is read.`)
    }
    if (bookedOn < '2000-01-01' || bookedOn > '2100-01-01') {
      throw new BankFileFault(line, `The bank wrote the day ${bookedOn}, which cannot be.`)
    }
  }
  for (const { amountMinor } of statements.flatMap(({ balances }) => balances)) {
    if (amountMinor > maxAccountMinor || amountMinor < -maxAccountMinor) {
      throw new BankFileFault(lastLine, 'A balance is more than any account can hold.')
    }
  }
}

/** Banks write numbers with their branch before or the currency behind, and with zeros in front. */
function isSameAccount(written: string, own: string): boolean {
  const [a, b] = [plainAccountNo(written), plainAccountNo(own)]
  if (isMaskedAccountNo(written)) return fitsMaskedAccountNo(written, own)
  if (a === b || withoutZeros(a) === withoutZeros(b)) return true
  const parts = written.toUpperCase().split(/[^A-Z0-9]+/)
  // A short number may be the end of somebody else's, unless something says where it begins.
  const hasStart = b.length >= 8 || /^[A-Z]{2}\d{2}/.test(a) || parts.includes(b)
  return hasStart && (a.endsWith(b) || a.replace(/[A-Z]{3}$/, '').endsWith(b))
}

function withoutZeros(text: string): string {
  return text.replace(/^0+/, '')
}

/** Keeps a file as it came, once, and returns its id. */
async function keepFile(
  { pool, secretKeys, now }: ImportDesk,
  { name }: BankAccount,
  file: BankFile,
): Promise<string> {
  if (file.bytes.length > maxFileBytes) {
    throw tooLarge()
  }
  const sha256 = createHash('sha256').update(file.bytes).digest('hex')
  const find = async () => {
    const { rows } = await pool.query<{ file_id: string }>(
      'select file_id from bank_files where account = $1 and sha256 = $2',
      [name, sha256],
    )
    return rows[0]?.file_id
  }
  const known = await find()
  if (known !== undefined) return known
  const packed = await promisify(gzip)(file.bytes)
  const at = now()
  const fileId = newOrderId(at)
  await inTransaction(pool, async (tx) => {
    const bringer = await signatureOf(tx, file.userId ?? nobody, at)
    await tx.query(
      `insert into bank_files (account, file_id, sha256, name, size, bytes, via, brought_by, received_at,
         bringer_user_id, bringer_credential, bringer_reset_by)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
       on conflict (account, sha256) do nothing`,
      [
        name,
        fileId,
        sha256,
        file.name.slice(-255) || 'file',
        file.bytes.length,
        sealBytes(secretKeys, `bank file ${name}`, packed),
        file.via,
        file.by,
        at,
        bringer.userId,
        bringer.credential,
        bringer.resetBy,
      ],
    )
  })
  return (await find()) ?? fileId
}

/** Whether the statements of a file were taken: a process may have died after it kept the file. */
async function isTaken(tx: Tx, account: string, fileId: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    'select 1 from bank_statements where account = $1 and file_id = $2 limit 1',
    [account, fileId],
  )
  return rowCount !== 0
}

async function noteFault(
  pool: Pool,
  account: string,
  fileId: string,
  fault: BankFileFault,
): Promise<void> {
  await pool.query('update bank_files set fault = $3 where account = $1 and file_id = $2', [
    account,
    fileId,
    fault.message.slice(0, 2000),
  ])
}

/** Takes the statements of a file, in the transaction that has locked the account. Returns the new movements. */
export async function takeStatements(
  tx: Tx,
  account: BankAccount,
  statements: readonly BankStatement[],
  fileId: string,
  isTrusted: boolean,
  at: Date,
): Promise<number> {
  await tx.query('update bank_files set fault = null where account = $1 and file_id = $2', [
    account.name,
    fileId,
  ])
  const { rows } = await tx.query<{ statement_id: string }>(
    'select statement_id from bank_statements where account = $1 and file_id = $2',
    [account.name, fileId],
  )
  const isNew = rows.length === 0
  if (!isNew && isTrusted) {
    await trustStatements(tx, account.name, fileId)
  }
  let added = 0
  for (const source of ['intraday', 'statement'] as const) {
    const own = statements.filter(({ kind }) => kind === source)
    // All statements of a file are paired together: equal lines are told apart over the whole file.
    const reports = reportsOf(
      source,
      own.flatMap(({ entries }) => entries),
    )
    let next = 0
    const ofStatements: ReportOfStatement[] = []
    for (const statement of own) {
      const statementId = isNew ? randomUUID() : null
      const booked = statement.entries.filter(
        ({ status, amountMinor }) => status === 'booked' && amountMinor !== 0n,
      )
      const ofIt = reports.slice(next, next + booked.length)
      next += booked.length
      const page = pageOf(statement.seq?.slice(0, 40) ?? null, statement.page?.number)
      for (const report of ofIt) ofStatements.push({ ...report, statementId, page })
      if (statementId !== null) {
        const kept = { fileId, statementId, isTrusted }
        await insertStatement(tx, account.name, kept, source, statement)
      }
    }
    const taken = await takeReports(tx, account, source, ofStatements, { fileId, isTrusted, at })
    added += taken.added
  }
  return added
}
