import { banksOf, findBank } from '../lib/banks.ts'
import { currencyRow } from '../lib/currencies.ts'
import { ibanFault, looksLikeIban } from '../lib/iban.ts'
import { isTimeZone } from '../lib/local-time.ts'
import type { Currency } from '../lib/money.ts'
import { isCodeForm, usualForm } from '../lib/payment-code.ts'
import { isPrintable } from '../lib/printable.ts'
import type { QrSetting } from '../lib/qr/qr-kinds.ts'
import { carriesCode, qrFault, qrWarning, referenceComesBack } from '../lib/qr/qr-text.ts'
import { latinText } from '../payment-files/characters.ts'
import { findPaymentFormat, paymentFormats } from '../payment-files/render-payment-file.ts'
import { csvProfileFault } from '../statements/csv-profile.ts'
import { feedProfileFault } from '../statements/feed-profile.ts'
import { isEncoding } from '../statements/file-bytes.ts'
import { isoDay } from '../statements/reading.ts'
import type { BankAccount } from './bank-account.ts'

/** What an operator says about an account; the rest follows. */
export type BankAccountTerms = Omit<
  BankAccount,
  | 'formerNumbers'
  | 'formerCodeForms'
  | 'onlyOne'
  | 'feedSecret'
  | 'sftpKey'
  | 'confirmedAt'
  | 'confirmedBy'
  | 'createdAt'
  | 'createdBy'
  | 'changedBy'
  | 'changedAt'
  | 'changed'
  | 'maker'
  | 'confirmer'
  | 'testPaidBy'
  | 'testPaidAt'
  | 'testPaidMinor'
  | 'version'
>

/** The terms of a new account, before anything else is said about it. */
export function freshTerms(
  name: string,
  currency: Currency,
  qr: QrSetting,
  feed: BankAccount['feed'],
  zone: string,
): BankAccountTerms {
  return {
    name,
    currency,
    bankCode: '',
    accountNo: '',
    accountName: '',
    city: null,
    address: null,
    qrKind: qr.kind,
    qrValue: qr.value,
    match: usualMatch(qr),
    codeForm: usualForm,
    surplusSteps: currencyRow(currency).surplusSteps,
    // Without a feed the bank reports once a day at best.
    holdS: feed === 'none' ? 172_800 : 7_200,
    dayLimitMinor: null,
    fileLimitMinor: 0n,
    tokenLimitMinor: 0n,
    tokenDayLimitMinor: 0n,
    feedProfile: null,
    payout: 'none',
    payoutFormat: null,
    payoutCharacters: 'format',
    payoutCutoffs: '',
    payoutHolidays: '',
    payoutDraftBefore: null,
    payoutFileLimitMinor: null,
    payoutDayLimitMinor: null,
    payoutTrustsPaid: false,
    sftpHost: null,
    sftpPort: null,
    sftpUser: null,
    sftpHostKey: null,
    sftpPutFolder: null,
    sftpGetFolder: null,
    expectedDeductionMinor: 0n,
    feed,
    zone,
    csvProfile: null,
    encoding: null,
    ownAccounts: '',
  }
}

/** How money is recognised that is paid with a QR code, if nobody says otherwise. */
export function usualMatch(qr: QrSetting): BankAccount['match'] {
  const matches = { always: 'code', sometimes: 'code+amount', never: 'amount' } as const
  return matches[referenceComesBack(qr)]
}

/** What an account may have but hardly should, in words. */
export function bankAccountWarning(
  terms: Pick<BankAccountTerms, 'qrKind' | 'qrValue' | 'match'>,
): string | undefined {
  const { qrKind: kind, qrValue: value, match } = terms
  const isNameless = match === 'code' && kind !== 'none' && !carriesCode(kind)
  const warnings = [
    qrWarning({ kind, value }),
    isNameless
      ? 'This QR code holds no payment code, so money that is paid with it names no order: recognise it by the amount, or by both.'
      : undefined,
  ].filter((each) => each !== undefined)
  return warnings.length === 0 ? undefined : warnings.join(' ')
}

/** An account number as it is kept: without spaces and dashes. */
export function writtenAccountNo(text: string): string {
  return text.replace(/[\s-]/g, '')
}

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
  if (!isCodeForm(terms.codeForm)) {
    say('code_form', 'must be two characters such as SX, none of them I, L, O or U, or digits')
  }
  if (!isTimeZone(terms.zone)) say('zone', 'must be a time zone such as Asia/Bangkok')
  if (!(terms.surplusSteps >= 1 && terms.surplusSteps <= 9_999)) {
    say('surplus_steps', 'must be from 1 to 9999')
  }
  if (!(terms.holdS >= 0 && terms.holdS <= 2_592_000)) say('hold', 'must be from 0 to 30 days')
  if (terms.dayLimitMinor !== null && terms.dayLimitMinor <= 0n) {
    say('day_limit', 'must be above zero')
  }
  const amounts = ['fileLimit', 'tokenLimit', 'tokenDayLimit', 'expectedDeduction'] as const
  for (const field of amounts) {
    if (terms[`${field}Minor`] < 0n) say(snake(field), 'must not be below zero')
  }
  const feedFault = terms.feedProfile && jsonFault(terms.feedProfile, feedProfileFault)
  if (feedFault) say('feed_profile', feedFault)
  faults.push(...payoutFaults(terms), ...sftpFaults(terms))
  const strange = ownAccountsOf(terms).find((each) => !/^[A-Za-z0-9]{4,34}$/.test(each))
  if (strange !== undefined) {
    say('own_accounts', `"${strange}" is not an account number of 4 to 34 letters and digits`)
  }
  if (terms.encoding && (terms.encoding.length > 40 || !isEncoding(terms.encoding))) {
    say('encoding', 'must be an encoding such as utf-8, latin1, windows-874 or cp850')
  }
  const profileFault =
    terms.csvProfile === null ? null : jsonFault(terms.csvProfile, csvProfileFault)
  if (profileFault !== null) say('csv_profile', profileFault)
  // What a QR code is made of must be right first.
  if (faults.length > 0) return faults
  const fault = qrFault({ kind: terms.qrKind, value: terms.qrValue }, terms)
  if (fault !== undefined) say('qr', fault)
  return faults
}

function payoutFaults(terms: BankAccountTerms): BankAccountFault[] {
  const faults: BankAccountFault[] = []
  const say = (field: string, message: string) => faults.push({ field, message })
  const { payout, payoutFormat, currency, payoutCutoffs, payoutHolidays } = terms
  const format = payoutFormat === null ? undefined : findPaymentFormat(payoutFormat)
  if (payoutFormat === null && payout === 'file') {
    say('payout_format', 'is needed to pay out by files: one of those that the bank takes')
  } else if (payoutFormat !== null && !format) {
    const names = paymentFormats.map(({ name }) => name).join(', ')
    say('payout_format', `must be one of ${names}`)
  } else if (format && !format.currencies.includes(currency)) {
    say('payout_format', `${format.name} does not pay in ${currency}`)
  }
  const { lost } = latinText(terms.accountName)
  if (terms.payoutCharacters === 'latin' && lost !== null) {
    say('payout_characters', `cannot be latin: the account's own name has “${lost}”`)
  }
  const times = payoutCutoffs === '' ? [] : payoutCutoffs.split(',')
  if (times.length > 10 || times.some((each) => !/^([01]\d|2[0-3]):[0-5]\d$/.test(each))) {
    say('payout_cutoffs', 'must be up to ten times such as 14:30')
  }
  const days = payoutHolidays === '' ? [] : payoutHolidays.split(',')
  if (days.length > 300 || days.some((each) => isoDay(each) !== each)) {
    say('payout_holidays', 'must be up to 300 days such as 2026-12-31')
  }
  const before = terms.payoutDraftBefore
  if (before !== null && !(Number.isInteger(before) && before >= 1 && before <= 1_440)) {
    say('payout_draft_before', 'must be from 1 to 1440 minutes')
  } else if (before !== null && payoutCutoffs === '') {
    say('payout_draft_before', 'needs cut-offs: a draft is made before each of them')
  }
  for (const field of ['payoutFileLimit', 'payoutDayLimit'] as const) {
    const limit = terms[`${field}Minor`]
    if (limit !== null && limit <= 0n) say(snake(field), 'must be above zero')
  }
  return faults
}

/** What is wrong with where files are exchanged. */
export function sftpFaults(
  terms: Pick<
    BankAccountTerms,
    'sftpHost' | 'sftpPort' | 'sftpUser' | 'sftpHostKey' | 'sftpPutFolder' | 'sftpGetFolder'
  >,
): BankAccountFault[] {
  const faults: BankAccountFault[] = []
  const say = (field: string, message: string) => faults.push({ field, message })
  const { sftpHost, sftpPort, sftpUser, sftpHostKey, sftpPutFolder, sftpGetFolder } = terms
  if (sftpHost === null) {
    const more = [sftpPort, sftpUser, sftpHostKey, sftpPutFolder, sftpGetFolder]
    if (more.some((each) => each !== null)) say('sftp_host', 'is needed for SFTP')
    return faults
  }
  if (!/^[A-Za-z0-9]([A-Za-z0-9.:-]{0,251}[A-Za-z0-9])?$/.test(sftpHost)) {
    say('sftp_host', 'must be a name or an address')
  }
  if (sftpPort === null || !(sftpPort >= 1 && sftpPort <= 65_535)) {
    say('sftp_port', 'must be from 1 to 65535')
  }
  if (sftpUser === null || !/^[!-~]{1,100}$/.test(sftpUser)) {
    say('sftp_user', 'is needed: 1 to 100 characters without spaces')
  }
  const keys = sftpHostKey?.split(',') ?? []
  const isKey = (text: string) => /^SHA256:[A-Za-z0-9+/]{43}$/.test(text)
  if (keys.length === 0 || keys.length > 4 || !keys.every(isKey)) {
    const message =
      'is needed: SHA256 and 43 characters, as ssh-keygen -l -f KEY writes it; up to four by commas'
    say('sftp_host_key', message)
  }
  for (const field of ['sftpPutFolder', 'sftpGetFolder'] as const) {
    const folder = terms[field]
    if (folder !== null && (!isPrintable(folder, 500) || folder.length > 500 || folder === '')) {
      say(snake(field), 'must be the path of a folder, of 1 to 500 characters')
    }
  }
  return faults
}

/** What is wrong with a private key; undefined if it may be one. */
export function sftpKeyFault(key: string): string | undefined {
  const isKey = /^-----BEGIN [A-Z ]*PRIVATE KEY-----\r?\n/.test(key) && key.length <= 16_384
  if (!isKey) return 'must be a private key as ssh-keygen makes it, of at most 16 KiB'
  return key.includes('ENCRYPTED') ? 'must be a key without a passphrase' : undefined
}

function jsonFault(text: string, faultOf: (value: unknown) => string | null): string | null {
  if (Buffer.byteLength(text) > 8_192) return 'is larger than 8 KiB'
  try {
    return faultOf(JSON.parse(text))
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
export function canonicalTerms(terms: BankAccountTerms): BankAccountTerms {
  const { currency, bankCode, accountNo } = terms
  return {
    ...terms,
    bankCode: findBank(currency, bankCode)?.code ?? bankCode.toUpperCase(),
    accountNo: looksLikeIban(accountNo) ? accountNo.toUpperCase() : accountNo,
  }
}
