import { createHmac, randomBytes } from 'node:crypto'
import { expect, vi } from 'vitest'
import type { BankAccount } from '../../src/bank-accounts/bank-account.ts'
import {
  type BankAccountTerms,
  bankAccountFaults,
} from '../../src/bank-accounts/bank-account-terms.ts'
import { readMovements } from '../../src/bank-accounts/read-movements.ts'
import { createBankAccount } from '../../src/bank-accounts/save-bank-account.ts'
import { bookMovements } from '../../src/payments/book-movement.ts'
import { type Imported, importBankFile } from '../../src/payments/import-bank-file.ts'
import { reconcileAccount } from '../../src/reconcile/reconcile-account.ts'
import { saveProviderState } from '../../src/routing/providers.ts'
import type { Answer, TestService } from './service.ts'

/** A bank account that takes orders, with what its bank signs with. */
export interface TestAccount {
  account: BankAccount
  secret: string
}

const zone = 'Asia/Bangkok'
let numbers = 1_000_000_000

/** Makes a bank account and, unless it is off, waits until the service routes orders to it. */
export async function makeAccount(
  s: TestService,
  terms: Partial<BankAccountTerms> = {},
  {
    mode = 'sandbox',
    isOff = false,
    sftpKey = null,
  }: { mode?: 'sandbox' | 'live'; isOff?: boolean; sftpKey?: string | null } = {},
): Promise<TestAccount> {
  const whole: BankAccountTerms = {
    name: `account-${randomBytes(4).toString('hex')}`,
    currency: 'THB',
    bankCode: 'KBANK',
    accountNo: String(++numbers),
    accountName: 'Sluice Shop',
    city: null,
    address: null,
    qrKind: 'promptpay-mobile',
    qrValue: '0801234567',
    match: 'code+amount',
    codeForm: 'SX',
    surplusSteps: 99,
    holdS: 7_200,
    dayLimitMinor: null,
    fileLimitMinor: 0n,
    tokenLimitMinor: 0n,
    tokenDayLimitMinor: 0n,
    feedProfile: null,
    payout: 'none',
    payoutFormat: null,
    payoutCutoffs: '',
    payoutHolidays: '',
    payoutDraftBefore: null,
    sftpHost: null,
    sftpPort: null,
    sftpUser: null,
    sftpHostKey: null,
    sftpPutFolder: null,
    sftpGetFolder: null,
    payoutFileLimitMinor: null,
    payoutDayLimitMinor: null,
    payoutCharacters: 'format',
    payoutTrustsPaid: false,
    expectedDeductionMinor: 0n,
    feed: 'signed',
    zone,
    csvProfile: null,
    encoding: null,
    ownAccounts: '',
    ...terms,
  }
  expect(bankAccountFaults(whole)).toEqual([])
  const made = await createBankAccount(s.backend.pool, s.backend.secretKeys, whole, {
    name: 'test',
    at: s.clock(),
    mode,
    confirmedBy: 'another test',
    sftpKey,
    ...(isOff && { also: (tx) => saveProviderState(tx, whole.name, 'off', s.clock()) }),
  })
  if (!made) throw new Error('the account was not made')
  if (!isOff) await routed(s, whole.name)
  return { account: made.account, secret: made.feedSecret ?? '' }
}

/** Waits until the service knows an account, in the version that it has now. */
export async function routed(s: TestService, name: string): Promise<void> {
  const { providers } = s.service.desk
  const begunAt = performance.now()
  // Whatever is being read at this moment may have been read before the account was changed.
  await Promise.resolve(Reflect.get(providers, 'reading')).catch(() => {})
  const readBefore = Reflect.get(providers, 'readAt')
  await vi.waitFor(
    async () => {
      await providers.freshen()
      const isRead = Reflect.get(providers, 'readAt') !== readBefore
      // Other processes read the table again when it is half a second old.
      const isOld = performance.now() - begunAt > 600
      if (!isRead || !isOld || !providers.find(name)) throw new Error('not yet')
    },
    { interval: 50, timeout: 300_000 },
  )
}

/** Reports a movement as the bank does, signed with the account's secret. */
export async function push(
  s: TestService,
  { account, secret }: TestAccount,
  fields: Record<string, unknown>,
  headers: (body: string, path: string) => Record<string, string> = (body, path) => ({
    'x-signature': feedSignature(secret, path, body, s.clock()),
  }),
): Promise<Answer> {
  const path = `/bank-feed/${account.name}`
  const body = JSON.stringify({
    direction: 'credit',
    currency: account.currency,
    booked_at: s.clock().toISOString(),
    ...fields,
  })
  const response = await fetch(s.service.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers(body, path) },
    body,
  })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: text.startsWith('{') ? JSON.parse(text) : undefined,
  }
}

export function feedSignature(secret: string, path: string, body: string, at: Date): string {
  const t = Math.floor(at.getTime() / 1000)
  const v1 = createHmac('sha256', secret).update(`${t}.POST ${path}.${body}`).digest('hex')
  return `t=${t},v1=${v1}`
}

/** A line of a statement; a negative amount left the account. */
export interface StatementLine {
  amount: string
  text?: string
  day?: string
  ref?: string
  endToEndId?: string
  payerNo?: string
  payerName?: string
  isReturn?: boolean
  status?: string
  /** Single payments of a batch. */
  children?: { amount: string; text?: string; ref?: string }[]
  batchCount?: number
  batchId?: string
  /** What the bank kept of it. */
  charges?: string
}

export interface StatementOfDay {
  account: Pick<BankAccount, 'accountNo' | 'currency'>
  day: string
  opening?: string
  closing?: string
  lines: StatementLine[]
  seq?: number
  /** A camt.054 notification instead of a camt.053 statement. */
  isIntraday?: boolean
  /** A camt.052 report instead of a camt.053 statement. */
  isReport?: boolean
}

/** A bank's file of one or more statements, written as camt. */
export function camt(...statements: StatementOfDay[]): Buffer {
  const [first] = statements
  const [message, element, version] = first?.isIntraday
    ? ['BkToCstmrDbtCdtNtfctn', 'Ntfctn', 'camt.054.001.04']
    : first?.isReport
      ? ['BkToCstmrAcctRpt', 'Rpt', 'camt.052.001.04']
      : ['BkToCstmrStmt', 'Stmt', 'camt.053.001.04']
  const parts = statements.map(({ account, day, opening, closing, lines, seq }) => {
    const balance = (type: string, amount: string | undefined) =>
      amount === undefined
        ? ''
        : `<Bal><Tp><CdOrPrtry><Cd>${type}</Cd></CdOrPrtry></Tp><Amt Ccy="${account.currency}">${absolute(amount)}</Amt><CdtDbtInd>${direction(amount)}</CdtDbtInd><Dt><Dt>${day}</Dt></Dt></Bal>`
    return `<${element}><Id>${day}</Id>${seq === undefined ? '' : `<ElctrncSeqNb>${seq}</ElctrncSeqNb>`}<FrToDt><FrDtTm>${day}T00:00:00</FrDtTm><ToDtTm>${day}T23:59:59</ToDtTm></FrToDt><Acct><Id><Othr><Id>${account.accountNo}</Id></Othr></Id><Ccy>${account.currency}</Ccy></Acct>${balance('OPBD', opening)}${balance('CLBD', closing)}
${lines.map((line) => entry(line, day, account.currency)).join('\n')}</${element}>`
  })
  return Buffer.from(
    `<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="urn:iso:std:iso:20022:tech:xsd:${version}"><${message}><GrpHdr><MsgId>M</MsgId></GrpHdr>${parts.join('\n')}</${message}></Document>`,
  )
}

function absolute(amount: string): string {
  return amount.replace(/^-/, '')
}

function direction(amount: string): string {
  return amount.startsWith('-') ? 'DBIT' : 'CRDT'
}

function entry(line: StatementLine, day: string, currency: string): string {
  const { amount, children, batchCount, batchId } = line
  const batch =
    batchCount === undefined
      ? ''
      : `<Btch>${batchId === undefined ? '' : `<PmtInfId>${batchId}</PmtInfId>`}<NbOfTxs>${batchCount}</NbOfTxs></Btch>`
  const details = children
    ? children.map((child) => payment({ ...line, ...child }, currency)).join('')
    : batchCount === undefined
      ? payment(line, currency)
      : ''
  return `<Ntry><Amt Ccy="${currency}">${absolute(amount)}</Amt><CdtDbtInd>${direction(amount)}</CdtDbtInd>${line.isReturn ? '<RvslInd>true</RvslInd>' : ''}<Sts>${line.status ?? 'BOOK'}</Sts><BookgDt><Dt>${line.day ?? day}</Dt></BookgDt>${children && line.ref !== undefined ? `<AcctSvcrRef>${line.ref}</AcctSvcrRef>` : ''}<NtryDtls>${batch}${details}</NtryDtls></Ntry>`
}

function payment(line: StatementLine, currency: string): string {
  const { amount, text, ref, endToEndId, payerNo, payerName, charges } = line
  const side = amount.startsWith('-') ? 'Cdtr' : 'Dbtr'
  const refs = `${ref === undefined ? '' : `<AcctSvcrRef>${ref}</AcctSvcrRef>`}${endToEndId === undefined ? '' : `<EndToEndId>${endToEndId}</EndToEndId>`}`
  const who =
    payerNo === undefined && payerName === undefined
      ? ''
      : `<RltdPties>${payerName === undefined ? '' : `<${side}><Nm>${payerName}</Nm></${side}>`}${payerNo === undefined ? '' : `<${side}Acct><Id><Othr><Id>${payerNo}</Id></Othr></Id></${side}Acct>`}</RltdPties>`
  const kept =
    charges === undefined
      ? ''
      : `<Chrgs><Rcrd><Amt Ccy="${currency}">${charges}</Amt><ChrgInclInd>true</ChrgInclInd></Rcrd></Chrgs>`
  return `<TxDtls>${refs === '' ? '' : `<Refs>${refs}</Refs>`}<Amt Ccy="${currency}">${absolute(amount)}</Amt><CdtDbtInd>${direction(amount)}</CdtDbtInd>${kept}${who}${text === undefined ? '' : `<RmtInf><Ustrd>${text}</Ustrd></RmtInf>`}</TxDtls>`
}

/** Imports a file and books what it brought, as the command line does. */
export async function importFile(
  s: TestService,
  { account }: TestAccount,
  bytes: Buffer,
  {
    via = 'command',
    mode = 'sandbox',
  }: { via?: 'command' | 'folder'; mode?: 'sandbox' | 'live' } = {},
): Promise<Imported> {
  const { desk } = s.service
  const file = { name: 'statement.xml', bytes, via, by: 'test@example.com' }
  const done = await importBankFile(desk, account, file, mode)
  await booked(s, account.name)
  return done
}

/** Waits until everything that was reported is booked or waits for a person. */
export async function booked(s: TestService, name: string): Promise<void> {
  const errors: unknown[] = []
  await bookMovements(s.service.desk, (error) => errors.push(error), name)
  expect(errors).toEqual([])
  await expect
    .poll(async () => {
      const { rows } = await s.sql(
        `select movement_id from bank_movements where account = $1 and state in ('new', 'matched')`,
        [name],
      )
      return rows
    })
    .toEqual([])
}

/** The movements of an account, oldest first. */
export async function movementsOf(s: TestService, { account }: TestAccount) {
  const search = { account: account.name, from: null, to: null, after: null, limit: 10_000 }
  const found = await readMovements(s.backend.pool, search)
  return found.sort((a, b) => (a.movementId < b.movementId ? -1 : 1))
}

/** What the days of an account are, as `2026-11-16 green`, with the names of their breaks. */
export async function daysOf(s: TestService, { account }: TestAccount): Promise<string[]> {
  const { days } = await reconcileAccount(s.backend.pool, account, s.clock())
  return days.map(({ day, state, breaks }) =>
    [day, state, ...breaks.map(({ name }) => name)].join(' '),
  )
}

/** The bank's day of a moment. */
export function dayAt(at: Date): string {
  return new Date(at.getTime() + 7 * 3_600_000).toISOString().slice(0, 10)
}
