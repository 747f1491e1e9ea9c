import { randomBytes } from 'node:crypto'
import { inTransaction, type Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { banksOf, findBank } from '../lib/banks.ts'
import { currencyRow } from '../lib/currencies.ts'
import { ibanFault, looksLikeIban } from '../lib/iban.ts'
import { isTimeZone } from '../lib/local-time.ts'
import { isPrintable } from '../lib/printable.ts'
import { qrFault } from '../lib/qr/qr-text.ts'
import { type SecretKeys, seal, unseal } from '../lib/secret-box.ts'
import { csvProfileFault } from '../statements/csv-profile.ts'
import { type BankAccount, bankAccountColumns } from './bank-account.ts'

/** What an operator says about an account; the rest follows. */
export type BankAccountTerms = Omit<
  BankAccount,
  | 'formerNumbers'
  | 'onlyOne'
  | 'feedSecret'
  | 'confirmedAt'
  | 'confirmedBy'
  | 'createdAt'
  | 'createdBy'
  | 'version'
>

export interface BankAccountFault {
  field: string
  message: string
}

/** Describes everything that is wrong with an account, and what to do about it. */
export function bankAccountFaults(terms: BankAccountTerms): BankAccountFault[] {
  const faults: BankAccountFault[] = []
  const say = (field: string, message: string) => faults.push({ field, message })
  if (!/^[a-z][a-z0-9-]{0,31}$/.test(terms.name)) {
    say('name', 'must be 1 to 32 small letters, digits and dashes, and begin with a letter')
  } else if (terms.name === 'sandbox') say('name', 'is taken: choose another')
  const bankFault = bankCodeFault(terms)
  if (bankFault !== undefined) say('bank', bankFault)
  if (!/^[A-Za-z0-9]{4,34}$/.test(terms.accountNo)) {
    say('account_no', 'must be 4 to 34 letters and digits')
  } else if (looksLikeIban(terms.accountNo)) {
    const fault = ibanFault(terms.accountNo)
    if (fault !== undefined) say('account_no', fault)
  }
  if (terms.accountName.trim() === '' || terms.accountName.length > 100) {
    say('account_name', 'must be 1 to 100 characters')
  }
  for (const field of ['accountName', 'city', 'address'] as const) {
    const value = terms[field]
    if (value !== null && !isPrintable(value, 200)) say(snake(field), 'must be printable text')
  }
  if (terms.city !== null && terms.city.length > 50) say('city', 'is longer than 50 characters')
  if (terms.address !== null && terms.address.length > 200) {
    say('address', 'is longer than 200 characters')
  }
  if (!isTimeZone(terms.zone)) say('zone', 'must be a time zone such as Asia/Bangkok')
  if (!(terms.surplusSteps >= 1 && terms.surplusSteps <= 9_999)) {
    say('surplus_steps', 'must be from 1 to 9999')
  }
  if (!(terms.holdS >= 0 && terms.holdS <= 2_592_000)) say('hold', 'must be from 0 to 30 days')
  if (terms.dayLimitMinor !== null && terms.dayLimitMinor <= 0n) {
    say('day_limit', 'must be above zero')
  }
  const strange = ownAccountsOf(terms).find((each) => !/^[A-Za-z0-9]{4,34}$/.test(each))
  if (strange !== undefined) {
    say('own_accounts', `"${strange}" is not an account number of 4 to 34 letters and digits`)
  }
  const profileFault = terms.csvProfile === null ? null : csvFault(terms.csvProfile)
  if (profileFault !== null) say('csv_profile', profileFault)
  // What a QR code is made of must be right first.
  if (faults.length > 0) return faults
  const fault = qrFault({ kind: terms.qrKind, value: terms.qrValue }, terms)
  if (fault !== undefined) say('qr', fault)
  return faults
}

function csvFault(text: string): string | null {
  if (Buffer.byteLength(text) > 8_192) return 'is larger than 8 KiB'
  try {
    return csvProfileFault(JSON.parse(text))
  } catch {
    return 'must be JSON'
  }
}

function bankCodeFault({ currency, bankCode }: BankAccountTerms): string | undefined {
  const { bankCode: kind } = currencyRow(currency)
  if (kind === 'table') {
    const bank = findBank(currency, bankCode)
    if (bankCode === '')
      return `is needed in ${currency}: one of its banks, such as ${banksOf(currency)[0]?.code}`
    if (!bank) return `no ${currency} bank has the code "${bankCode}"`
    return bank.closed ? `${bank.name} is closed` : undefined
  }
  if (bankCode === '' || findBank(currency, bankCode)) return undefined
  return kind === 'ifsc'
    ? 'must be an IFSC: four letters, a zero and six letters or digits'
    : 'must be a BIC of 8 or 11 characters'
}

function snake(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** The account numbers of the operator's own. */
export function ownAccountsOf({ ownAccounts }: Pick<BankAccount, 'ownAccounts'>): string[] {
  return ownAccounts === '' ? [] : ownAccounts.split(',')
}

/** The terms as they are stored: the bank's own code, and the account number in capitals if it is an IBAN. */
function canonicalTerms(terms: BankAccountTerms): BankAccountTerms {
  const { currency, bankCode, accountNo } = terms
  return {
    ...terms,
    bankCode: findBank(currency, bankCode)?.code ?? bankCode.toUpperCase(),
    accountNo: looksLikeIban(accountNo) ? accountNo.toUpperCase() : accountNo,
  }
}

/** Creates an account. Returns undefined if its name or, in live, its number was ever used. The secret is shown only here, once. */
export async function createBankAccount(
  pool: Pool,
  secretKeys: SecretKeys,
  terms: BankAccountTerms,
  by: {
    name: string
    at: Date
    mode: 'sandbox' | 'live'
    confirms: boolean
    /** What is written together with the account. */
    also?: (tx: Tx) => Promise<void>
  },
): Promise<{ account: BankAccount; feedSecret: string | null } | undefined> {
  const feedSecret = terms.feed === 'none' ? null : newFeedSecret()
  const canonical = canonicalTerms(terms)
  const account: BankAccount = {
    ...canonical,
    formerNumbers: '',
    onlyOne: by.mode === 'live' ? nameOfNumber(canonical) : null,
    feedSecret: feedSecret === null ? null : sealFeedSecret(secretKeys, terms.name, feedSecret),
    confirmedAt: by.confirms ? by.at : null,
    confirmedBy: by.confirms ? by.name : null,
    createdAt: by.at,
    createdBy: by.name,
    version: 1,
  }
  return inTransaction(pool, async (tx) => {
    const { rowCount } = await tx.query(
      `insert into bank_accounts (${bankAccountColumns.names})
       select * from ${bankAccountColumns.unnest} on conflict do nothing`,
      bankAccountColumns.values([account]),
    )
    if (rowCount === 0) return undefined
    await by.also?.(tx)
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
  'surplusSteps',
  'holdS',
  'dayLimitMinor',
  'feed',
  'feedSecret',
  'zone',
  'csvProfile',
  'ownAccounts',
  'confirmedAt',
  'confirmedBy',
)

/**
 * Changes an account, except its name and currency. A new feed gets a new secret, which is shown once.
 * Returns undefined if the account was changed since it was read or, in live, another has its number.
 */
export async function updateBankAccount(
  db: Pool | Tx,
  secretKeys: SecretKeys,
  before: BankAccount,
  terms: BankAccountTerms & Partial<Pick<BankAccount, 'confirmedAt' | 'confirmedBy'>>,
  newSecret: boolean,
): Promise<{ account: BankAccount; feedSecret: string | null } | undefined> {
  const makesSecret = terms.feed !== 'none' && (newSecret || before.feedSecret === null)
  const feedSecret = makesSecret ? newFeedSecret() : null
  const canonical = canonicalTerms(terms)
  const account: BankAccount = {
    ...before,
    ...canonical,
    formerNumbers: formerNumbersOf(before, canonical.accountNo),
    onlyOne: before.onlyOne === null ? null : nameOfNumber(canonical),
    feedSecret:
      feedSecret !== null
        ? sealFeedSecret(secretKeys, before.name, feedSecret)
        : terms.feed === 'none'
          ? null
          : before.feedSecret,
    version: before.version + 1,
  }
  const { rowCount } = await db.query(
    `update bank_accounts b set ${changeable.set('u')}, version = b.version + 1
     from ${changeable.rows('u')}
     where b.name = $${changeable.values([]).length + 1} and b.version = $${changeable.values([]).length + 2}
       and not exists (select 1 from bank_accounts o
         where o.only_one = u.only_one and o.name <> b.name)`,
    [...changeable.values([account]), before.name, before.version],
  )
  return rowCount === 1 ? { account, feedSecret } : undefined
}

/** The last numbers, as many as are kept. */
function formerNumbersOf({ accountNo, formerNumbers }: BankAccount, now: string): string {
  const all = new Set([...formerNumbers.split(',').filter(Boolean), accountNo])
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
