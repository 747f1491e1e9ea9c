import { randomBytes } from 'node:crypto'
import { raiseAlert } from '../alerts/raise-alert.ts'
import { inTransaction, type Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { Problem } from '../lib/problem.ts'
import { type SecretKeys, seal, unseal } from '../lib/secret-box.ts'
import { nobody, type Signature } from '../operators/credentials.ts'
import { type BankAccount, bankAccountColumns, findBankAccount } from './bank-account.ts'
import { type BankAccountTerms, canonicalTerms } from './bank-account-terms.ts'
import { feedLines } from './line-source.ts'
import { sealSftpKey } from './sftp-session.ts'

/** Creates an account. Returns undefined if its name or, in live, its number was ever used. The secret is shown only here, once. */
export async function createBankAccount(
  pool: Pool,
  secretKeys: SecretKeys,
  terms: BankAccountTerms,
  by: {
    name: string
    at: Date
    mode: 'sandbox' | 'live'
    /** Who says that it takes deposits; null if another person has to. */
    confirmedBy: string | null
    /** Of the user who makes it. */
    signature?: Signature
    /** The private key for its bank's server. */
    sftpKey?: string | null
    /** The payment that its QR code was tried with. */
    testPayment?: TestPayment | null
    /** What is written together with the account. */
    also?: (tx: Tx, account: BankAccount, feedSecret: string | null) => Promise<void>
  },
): Promise<{ account: BankAccount; feedSecret: string | null } | undefined> {
  const feedSecret = terms.feed === 'none' ? null : newFeedSecret()
  const canonical = canonicalTerms(terms)
  const account: BankAccount = {
    ...canonical,
    formerNumbers: '',
    formerCodeForms: '',
    onlyOne: by.mode === 'live' ? nameOfNumber(canonical) : null,
    feedSecret: feedSecret === null ? null : sealFeedSecret(secretKeys, terms.name, feedSecret),
    sftpKey: by.sftpKey ? sealSftpKey(secretKeys, terms.name, by.sftpKey) : null,
    confirmedAt: by.confirmedBy === null ? null : by.at,
    confirmedBy: by.confirmedBy,
    maker: by.signature ?? null,
    confirmer: null,
    createdAt: by.at,
    createdBy: by.name,
    changedBy: null,
    changedAt: null,
    changed: null,
    ...testPaidOf(by.testPayment ?? null),
    version: 1,
  }
  return inTransaction(pool, async (tx) => {
    // No connector may get its name at the same time.
    await tx.query('lock table providers in share row exclusive mode')
    if (await isConnector(tx, terms.name)) return undefined
    const { rowCount } = await tx.query(
      `insert into bank_accounts (${bankAccountColumns.names})
       select * from ${bankAccountColumns.unnest} on conflict do nothing`,
      bankAccountColumns.values([account]),
    )
    if (rowCount === 0) return undefined
    await feedLines(tx, terms.name, terms.feed !== 'none')
    await alertOf(tx, `The bank account ${terms.name} was added.`, terms.name, by.at)
    await by.also?.(tx, account, feedSecret)
    return { account, feedSecret }
  })
}

const changeable = bankAccountColumns.pick(
  'bankCode',
  'accountNo',
  'formerNumbers',
  'onlyOne',
  'accountName',
  'city',
  'address',
  'qrKind',
  'qrValue',
  'match',
  'codeForm',
  'formerCodeForms',
  'surplusSteps',
  'holdS',
  'dayLimitMinor',
  'feed',
  'feedSecret',
  'zone',
  'csvProfile',
  'encoding',
  'ownAccounts',
  'confirmedAt',
  'confirmedBy',
  'changedBy',
  'changedAt',
  'changed',
  'maker',
  'confirmer',
  'testPaidBy',
  'testPaidAt',
  'testPaidMinor',
  'fileLimitMinor',
  'tokenLimitMinor',
  'tokenDayLimitMinor',
  'feedProfile',
  'payout',
  'payoutFormat',
  'payoutCharacters',
  'payoutCutoffs',
  'payoutHolidays',
  'payoutDraftBefore',
  'payoutFileLimitMinor',
  'payoutDayLimitMinor',
  'payoutTrustsPaid',
  'expectedDeductionMinor',
  'sftpHost',
  'sftpPort',
  'sftpUser',
  'sftpHostKey',
  'sftpPutFolder',
  'sftpGetFolder',
  'sftpKey',
)

/** Whoever changes these decides where deposits go, what is believed of the bank's reports, or how much leaves by files. */
const decisive = [
  'bankCode',
  'accountNo',
  'accountName',
  'city',
  'address',
  'qrKind',
  'qrValue',
  'feed',
  'feedSecret',
  'csvProfile',
  'encoding',
  'fileLimitMinor',
  'tokenLimitMinor',
  'tokenDayLimitMinor',
  'feedProfile',
  'payout',
  'payoutFormat',
  'payoutCharacters',
  // When a day of the bank begins and ends, and how long it may still pay a file, follows from these.
  'zone',
  'payoutCutoffs',
  'payoutHolidays',
  'payoutFileLimitMinor',
  'payoutDayLimitMinor',
  'payoutTrustsPaid',
  'expectedDeductionMinor',
  'sftpHost',
  'sftpPort',
  'sftpUser',
  'sftpHostKey',
  'sftpPutFolder',
  'sftpGetFolder',
  'sftpKey',
] as const satisfies (keyof BankAccount)[]

/** How the console and the audit log name what was changed. */
const decisiveNames: Record<(typeof decisive)[number], string> = {
  bankCode: 'bank',
  accountNo: 'account_no',
  accountName: 'account_name',
  city: 'city',
  address: 'address',
  qrKind: 'qr',
  qrValue: 'qr',
  feed: 'feed',
  feedSecret: 'feed_secret',
  csvProfile: 'csv_profile',
  encoding: 'encoding',
  fileLimitMinor: 'file_limit',
  tokenLimitMinor: 'token_limit',
  tokenDayLimitMinor: 'token_day_limit',
  feedProfile: 'feed_profile',
  payout: 'payout',
  payoutFormat: 'payout_format',
  payoutCharacters: 'payout_characters',
  zone: 'zone',
  payoutCutoffs: 'payout_cutoffs',
  payoutHolidays: 'payout_holidays',
  payoutFileLimitMinor: 'payout_file_limit',
  payoutDayLimitMinor: 'payout_day_limit',
  payoutTrustsPaid: 'payout_trusts_paid',
  expectedDeductionMinor: 'expected_deduction',
  sftpHost: 'sftp',
  sftpPort: 'sftp',
  sftpUser: 'sftp',
  sftpHostKey: 'sftp',
  sftpPutFolder: 'sftp',
  sftpGetFolder: 'sftp',
  sftpKey: 'sftp_key',
}

/**
 * Changes an account, except its name and currency. A new feed gets a new secret, which is shown once. After a
 * change of what deposits and reports depend on, `by.confirmedBy` or another person has to confirm it. Returns
 * undefined if the account was changed since it was read or, in live, another has its number.
 */
export async function updateBankAccount(
  db: Pool | Tx,
  secretKeys: SecretKeys,
  before: BankAccount,
  terms: BankAccountTerms,
  by: {
    name: string
    at: Date
    confirmedBy: string | null
    newSecret: boolean
    /** Of the user who changes it. */
    signature?: Signature
    /** A new private key for its bank's server. */
    sftpKey?: string | null
    /** The payment that its QR code was tried with. */
    testPayment?: TestPayment | null
  },
): Promise<{ account: BankAccount; feedSecret: string | null } | undefined> {
  const makesSecret = terms.feed !== 'none' && (by.newSecret || before.feedSecret === null)
  const feedSecret = makesSecret ? newFeedSecret() : null
  const canonical = canonicalTerms(terms)
  const changed: BankAccount = {
    ...before,
    ...canonical,
    formerNumbers: formerOf(before.formerNumbers, before.accountNo, canonical.accountNo),
    formerCodeForms: formerOf(before.formerCodeForms, before.codeForm, canonical.codeForm),
    onlyOne: before.onlyOne === null ? null : nameOfNumber(canonical),
    feedSecret:
      feedSecret !== null
        ? sealFeedSecret(secretKeys, before.name, feedSecret)
        : terms.feed === 'none'
          ? null
          : before.feedSecret,
    sftpKey:
      canonical.sftpHost === null
        ? null
        : by.sftpKey
          ? sealSftpKey(secretKeys, before.name, by.sftpKey)
          : before.sftpKey,
    version: before.version + 1,
  }
  const names = decisive
    .filter((field) => changed[field] !== before[field])
    .map((field) => decisiveNames[field])
  // Who saves what nobody has confirmed as it is takes it on themselves.
  if (names.length === 0 && before.confirmedAt === null && by.confirmedBy === null) {
    names.push(...changedIn(before))
  }
  if (by.confirmedBy === null) refuseToTakeOver(before, changed, by.name)
  const isOtherQr = changed.qrKind !== before.qrKind || changed.qrValue !== before.qrValue
  const account: BankAccount = {
    ...changed,
    ...(names.length > 0 && {
      changedBy: by.name,
      changedAt: by.at,
      changed: [...new Set(names)].join(','),
      confirmedAt: by.confirmedBy === null ? null : by.at,
      confirmedBy: by.confirmedBy,
      maker: by.signature ?? null,
      confirmer: null,
    }),
    // Nothing but this payment was missing before it takes deposits.
    ...(by.testPayment &&
      names.length === 0 &&
      before.confirmedAt === null &&
      madeBy(before) === by.name && { confirmedAt: by.at, confirmedBy: by.confirmedBy }),
    ...((by.testPayment || isOtherQr) && testPaidOf(by.testPayment ?? null)),
  }
  if (!(await saveAccount(db, before, account))) return undefined
  await feedLines(db, before.name, account.feed !== 'none')
  if (names.length > 0) {
    const what = account.changed?.replaceAll('_', ' ').replaceAll(',', ', ')
    await alertOf(db, `The bank account ${before.name} was changed: ${what}.`, before.name, by.at)
  }
  return { account, feedSecret }
}

/**
 * Who saves an account that waits for a second person would become the maker of what another changed, and that person
 * could confirm it. So nobody else saves it, unless nothing is left of what was changed.
 */
function refuseToTakeOver(before: BankAccount, after: BankAccount, name: string): void {
  if (before.confirmedAt !== null || madeBy(before) === name) return
  const waits = changedIn(before)
  const left = decisive.filter((field) => {
    const what = decisiveNames[field]
    // Of what has several fields, those that are empty may be so before and after.
    const isEmpty = before[field] === null && (what === 'qr' || what === 'sftp')
    return waits.includes(what) && !isEmpty && after[field] === before[field]
  })
  if (left.length === 0 && before.changed !== null) return
  throw new Problem(
    'not_permitted',
    `What ${madeBy(before)} changed waits for a second person. Confirm it or set it back first, or let them save it.`,
  )
}

function changedIn({ changed }: BankAccount): string[] {
  return changed?.split(',') ?? ['saved']
}

/** Tells the admins, with the transaction of the change. */
async function alertOf(db: Pool | Tx, words: string, name: string, at: Date): Promise<void> {
  await raiseAlert(db, {
    kind: 'bank_account_changed',
    subject: `bank account ${name}`,
    words,
    to: { roles: ['admin'] },
    at,
  })
}

/** Tells who can be the second person, if there has to be one. */
export async function tellWhoConfirms(
  db: Pool | Tx,
  { name, confirmedAt, maker }: BankAccount,
  at: Date,
): Promise<void> {
  if (confirmedAt !== null) return
  const except = maker?.userId ?? nobody
  await raiseAlert(db, {
    kind: 'approval_waiting',
    subject: `bank account ${name} by ${except}`,
    words: `The bank account ${name} waits for a second person under Bank accounts.`,
    to: { roles: ['admin'], except },
    at,
  })
}

/** A test payment of an account's QR code, as the person who made it says. */
export interface TestPayment {
  by: string
  at: Date
  amountMinor: bigint
}

function testPaidOf(test: TestPayment | null) {
  return {
    testPaidBy: test?.by ?? null,
    testPaidAt: test?.at ?? null,
    testPaidMinor: test?.amountMinor ?? null,
  }
}

/**
 * Another person than the one who made or changed an account confirms it: it takes deposits from now on. Returns
 * undefined if the account was changed since it was read.
 */
export async function confirmBankAccount(
  db: Pool | Tx,
  before: BankAccount,
  by: { name: string; at: Date; signature: Signature },
  testPayment: TestPayment | null,
): Promise<BankAccount | undefined> {
  const account: BankAccount = {
    ...before,
    ...(testPayment && testPaidOf(testPayment)),
    confirmedAt: by.at,
    confirmedBy: by.name,
    confirmer: by.signature,
    version: before.version + 1,
  }
  return (await saveAccount(db, before, account)) ? account : undefined
}

/** Who made an account what it is: only another person may confirm it. */
export function madeBy({ changedBy, createdBy }: BankAccount): string {
  return changedBy ?? createdBy
}

/** Since when it is so. */
export function madeSo({ changedAt, createdAt }: BankAccount): Date {
  return changedAt ?? createdAt
}

/** How long somebody may confirm it then, as for a proposal. Saved once more, it waits anew. */
export const confirmableMs = 72 * 3_600_000

async function saveAccount(
  db: Pool | Tx,
  before: BankAccount,
  account: BankAccount,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update bank_accounts b set ${changeable.set('u')}, version = b.version + 1
     from ${changeable.rows('u')}
     where b.name = $${changeable.values([]).length + 1} and b.version = $${changeable.values([]).length + 2}
       and not exists (select 1 from bank_accounts o
         where o.only_one = u.only_one and o.name <> b.name)`,
    [...changeable.values([account]), before.name, before.version],
  )
  return rowCount === 1
}

async function isConnector(db: Pool | Tx, name: string): Promise<boolean> {
  const { rows } = await db.query('select 1 from connectors where name = $1', [name])
  return rows.length > 0
}

/** Why an account could not be made. */
export async function whyNotMade(pool: Pool, name: string): Promise<string> {
  return (await isConnector(pool, name)) || (await findBankAccount(pool, name))
    ? `the name "${name}" is taken or was used before: choose another`
    : numberIsTaken
}

/** Whether an account could not be changed because another has its number. */
export async function isNumberTaken(pool: Pool, before: BankAccount): Promise<boolean> {
  return (await findBankAccount(pool, before.name))?.version === before.version
}

export const numberIsTaken =
  'another bank account has this number: the money of one account must not count twice'

/** What an account had before, by commas: the last ones, as many as are kept. */
function formerOf(former: string, before: string, now: string): string {
  const all = new Set([...former.split(',').filter(Boolean), before])
  all.delete(now)
  return [...all].slice(-100).join(',')
}

function nameOfNumber({ currency, bankCode, accountNo }: BankAccountTerms): string {
  return `${currency} ${bankCode} ${accountNo.toUpperCase()}`
}

function newFeedSecret(): string {
  return `fs_${randomBytes(32).toString('hex')}`
}

function sealFeedSecret(secretKeys: SecretKeys, name: string, secret: string): string {
  return seal(secretKeys, `bank account ${name}`, secret).toString('base64')
}

/** The secret that the account's bank signs its reports with; undefined if it has no feed or no key opens it. */
export function feedSecretOf(
  secretKeys: SecretKeys,
  { name, feedSecret }: Pick<BankAccount, 'name' | 'feedSecret'>,
): string | undefined {
  if (feedSecret === null) return undefined
  return unseal(secretKeys, `bank account ${name}`, Buffer.from(feedSecret, 'base64'))
}
