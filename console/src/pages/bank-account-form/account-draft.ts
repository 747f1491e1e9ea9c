import type { Answer, Body } from '../../api.ts'
import { plainNumber } from '../../languages/language.ts'
import { type Currency, defaultCurrency } from '../../parts/currencies.ts'
import type { api } from '../../paths.ts'

export const characterRules = ['format', 'latin', 'kept'] as const

/** The fields of the form, as they are typed. Empty ones that follow from the others are left out. */
export interface AccountDraft {
  name: string
  currency: Currency
  bank: string
  account_no: string
  account_name: string
  zone: string
  qr_kind: Terms['qr_kind']
  qr_value: string
  city: string
  address: string
  match: '' | NonNullable<Terms['match']>
  code_form: string
  surplus_steps: string
  hold_hours: string
  feed: Terms['feed']
  feed_profile: string
  token_limit: string
  token_day_limit: string
  csv_profile: string
  encoding: string
  own_accounts: string[]
  day_limit: string
  file_limit: string
  expected_deduction: string
  payout: NonNullable<Terms['payout']>
  payout_format: string
  payout_characters: (typeof characterRules)[number]
  payout_cutoffs: string[]
  payout_holidays: string[]
  payout_file_limit: string
  payout_day_limit: string
  payout_trusts_paid: boolean
  payout_draft_before: string
  sftp_host: string
  sftp_port: string
  sftp_user: string
  sftp_host_key: string
  sftp_put_folder: string
  sftp_get_folder: string
  route: boolean
}

type Terms = Omit<Body<typeof api.changeBankAccount>, 'version' | 'reason' | 'code'>
export type Account = Answer<typeof api.bankAccount>

export const emptyDraft: AccountDraft = {
  name: '',
  currency: defaultCurrency,
  bank: '',
  account_no: '',
  account_name: '',
  zone: '',
  qr_kind: 'none',
  qr_value: '',
  city: '',
  address: '',
  match: '',
  code_form: '',
  surplus_steps: '',
  hold_hours: '',
  feed: 'none',
  feed_profile: '',
  token_limit: '0',
  token_day_limit: '0',
  csv_profile: '',
  encoding: '',
  own_accounts: [],
  day_limit: '',
  file_limit: '0',
  expected_deduction: '0',
  payout: 'none',
  payout_format: '',
  payout_characters: 'format',
  payout_cutoffs: [],
  payout_holidays: [],
  payout_file_limit: '',
  payout_day_limit: '',
  payout_trusts_paid: false,
  payout_draft_before: '',
  sftp_host: '',
  sftp_port: '',
  sftp_user: '',
  sftp_host_key: '',
  sftp_put_folder: '',
  sftp_get_folder: '',
  route: true,
}

/** The form of an account that exists. */
export function draftOf(account: Account): AccountDraft {
  return {
    name: account.name,
    currency: account.currency,
    bank: account.bank,
    account_no: account.account_no,
    account_name: account.account_name,
    zone: account.zone,
    qr_kind: account.qr_kind,
    qr_value: account.qr_value ?? '',
    city: account.city ?? '',
    address: account.address ?? '',
    match: account.match,
    code_form: account.code_form,
    surplus_steps: String(account.surplus_steps),
    hold_hours: String(account.hold_hours),
    feed: account.feed,
    feed_profile: account.feed_profile ?? '',
    token_limit: account.token_limit,
    token_day_limit: account.token_day_limit,
    csv_profile: account.csv_profile ?? '',
    encoding: account.encoding ?? '',
    own_accounts: account.own_accounts,
    day_limit: account.day_limit ?? '',
    file_limit: account.file_limit,
    expected_deduction: account.expected_deduction,
    payout: account.payout,
    payout_format: account.payout_format ?? '',
    payout_characters: account.payout_characters,
    payout_cutoffs: account.payout_cutoffs,
    payout_holidays: account.payout_holidays,
    payout_file_limit: account.payout_file_limit ?? '',
    payout_day_limit: account.payout_day_limit ?? '',
    payout_trusts_paid: account.payout_trusts_paid,
    payout_draft_before: String(account.payout_draft_before ?? ''),
    sftp_host: account.sftp_host ?? '',
    sftp_port: String(account.sftp_port ?? ''),
    sftp_user: account.sftp_user ?? '',
    sftp_host_key: account.sftp_host_key ?? '',
    sftp_put_folder: account.sftp_put_folder ?? '',
    sftp_get_folder: account.sftp_get_folder ?? '',
    route: true,
  }
}

/** What the service takes. */
export function termsOf(draft: AccountDraft): Terms {
  const { match, code_form, surplus_steps, hold_hours, zone } = draft
  return {
    bank: draft.bank,
    account_no: draft.account_no,
    account_name: draft.account_name,
    city: draft.city === '' ? null : draft.city,
    address: draft.address === '' ? null : draft.address,
    qr_kind: draft.qr_kind,
    qr_value: draft.qr_value === '' ? null : draft.qr_value,
    ...(match !== '' && { match }),
    ...(code_form !== '' && { code_form: codeFormOf(code_form) }),
    ...(surplus_steps !== '' && { surplus_steps: Number(surplus_steps) }),
    ...(hold_hours !== '' && { hold_hours: Number(hold_hours) }),
    ...(zone !== '' && { zone }),
    day_limit: draft.day_limit === '' ? null : plainNumber(draft.day_limit),
    file_limit: orZero(draft.file_limit),
    expected_deduction: orZero(draft.expected_deduction),
    payout: draft.payout,
    payout_format: draft.payout_format === '' ? null : draft.payout_format,
    payout_characters: draft.payout_characters,
    payout_cutoffs: draft.payout_cutoffs,
    payout_holidays: draft.payout_holidays,
    payout_file_limit: draft.payout_file_limit === '' ? null : plainNumber(draft.payout_file_limit),
    payout_day_limit: draft.payout_day_limit === '' ? null : plainNumber(draft.payout_day_limit),
    payout_trusts_paid: draft.payout_trusts_paid,
    payout_draft_before: wholeOrNull(draft.payout_draft_before),
    sftp_host: textOrNull(draft.sftp_host),
    sftp_port: wholeOrNull(draft.sftp_port),
    sftp_user: textOrNull(draft.sftp_user),
    sftp_host_key: textOrNull(draft.sftp_host_key),
    sftp_put_folder: textOrNull(draft.sftp_put_folder),
    sftp_get_folder: textOrNull(draft.sftp_get_folder),
    token_limit: orZero(draft.token_limit),
    token_day_limit: orZero(draft.token_day_limit),
    feed_profile: draft.feed_profile.trim() === '' ? null : draft.feed_profile,
    feed: draft.feed,
    csv_profile: draft.csv_profile.trim() === '' ? null : draft.csv_profile,
    encoding: draft.encoding === '' ? null : draft.encoding,
    own_accounts: draft.own_accounts,
  }
}

function codeFormOf(text: string): string {
  const typed = text.trim()
  return typed.toLowerCase() === 'digits' ? 'digits' : typed.toUpperCase()
}

function textOrNull(text: string): string | null {
  return text.trim() === '' ? null : text.trim()
}

function wholeOrNull(text: string): number | null {
  return /^[0-9]+$/.test(text.trim()) ? Number(text) : null
}

function orZero(amount: string): string {
  return amount === '' ? '0' : plainNumber(amount)
}

/** The fields that differ, with what they were and what they will be. */
export function changesOf(
  before: AccountDraft,
  after: AccountDraft,
): [keyof AccountDraft, string, string][] {
  const text = (value: unknown) => (Array.isArray(value) ? value.join(', ') : String(value))
  return (Object.keys(before) as (keyof AccountDraft)[]).flatMap((field) => {
    const [was, is] = [text(before[field]), text(after[field])]
    return was === is ? [] : [[field, was, is] as [keyof AccountDraft, string, string]]
  })
}
