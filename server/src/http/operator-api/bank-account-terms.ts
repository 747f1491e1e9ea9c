import type { Static } from 'typebox'
import {
  type BankAccountTerms,
  bankAccountFaults,
  freshTerms,
  sftpKeyFault,
  writtenAccountNo,
} from '../../bank-accounts/bank-account-terms.ts'
import { type Currency, parseDecimal } from '../../lib/money.ts'
import type { FieldError } from '../../lib/problem.ts'
import type { QrKind } from '../../lib/qr/qr-kinds.ts'
import type { BankAccountDraft } from './schemas/bank-accounts.ts'

type Draft = Omit<Static<typeof BankAccountDraft>, 'name' | 'currency' | 'sample'>

/** The terms that a form asks for, with what follows from the rest, and everything that is wrong with them. */
export function termsFromDraft(
  named: { name: string; currency: Currency } & Partial<BankAccountTerms>,
  draft: Draft,
  timeZone: string,
): { terms: BankAccountTerms; errors: FieldError[] } {
  const { name, currency } = named
  // The schema allows only known values.
  const feed = draft.feed as BankAccountTerms['feed']
  const qr = { kind: draft.qr_kind as QrKind, value: textOrNull(draft.qr_value) }
  const fresh = freshTerms(name, currency, qr, feed, timeZone)
  const errors: FieldError[] = []
  const amount = (field: string, text: string): bigint => {
    const minor = parseDecimal(text, currency)
    if (minor === undefined) errors.push({ field, message: `must be an amount in ${currency}` })
    return minor ?? 0n
  }
  const ceiling = (
    field: 'payout_file_limit' | 'payout_day_limit',
    before: bigint | null | undefined,
  ) => {
    const asked = draft[field]
    if (asked === undefined) return before ?? null
    return asked === null ? null : amount(field, String(asked))
  }
  const { match, surplus_steps, hold_hours, zone } = draft
  const terms: BankAccountTerms = {
    ...fresh,
    bankCode: draft.bank.trim().toUpperCase(),
    accountNo: writtenAccountNo(draft.account_no),
    accountName: draft.account_name.trim(),
    city: textOrNull(draft.city),
    address: textOrNull(draft.address),
    ...(match !== undefined && { match: match as BankAccountTerms['match'] }),
    codeForm: draft.code_form ?? named.codeForm ?? fresh.codeForm,
    ...(surplus_steps !== undefined && { surplusSteps: surplus_steps }),
    ...(hold_hours !== undefined && { holdS: hold_hours * 3_600 }),
    ...(zone !== undefined && zone !== '' && { zone }),
    dayLimitMinor: draft.day_limit === null ? null : amount('day_limit', String(draft.day_limit)),
    fileLimitMinor: amount('file_limit', draft.file_limit),
    // Who does not ask about these leaves them as they are.
    tokenLimitMinor:
      draft.token_limit === undefined
        ? (named.tokenLimitMinor ?? 0n)
        : amount('token_limit', draft.token_limit),
    tokenDayLimitMinor:
      draft.token_day_limit === undefined
        ? (named.tokenDayLimitMinor ?? 0n)
        : amount('token_day_limit', draft.token_day_limit),
    expectedDeductionMinor:
      draft.expected_deduction === undefined
        ? (named.expectedDeductionMinor ?? 0n)
        : amount('expected_deduction', draft.expected_deduction),
    feedProfile:
      draft.feed_profile === undefined
        ? (named.feedProfile ?? null)
        : textOrNull(draft.feed_profile),
    payout: (draft.payout as BankAccountTerms['payout']) ?? named.payout ?? 'none',
    payoutFormat:
      draft.payout_format === undefined
        ? (named.payoutFormat ?? null)
        : textOrNull(draft.payout_format),
    payoutCharacters:
      (draft.payout_characters as BankAccountTerms['payoutCharacters'] | undefined) ??
      named.payoutCharacters ??
      'format',
    payoutCutoffs: draft.payout_cutoffs?.join(',') ?? named.payoutCutoffs ?? '',
    payoutHolidays: draft.payout_holidays?.join(',') ?? named.payoutHolidays ?? '',
    payoutDraftBefore: wholeOrNull(draft.payout_draft_before, named.payoutDraftBefore),
    ...sftpTerms(named, draft),
    payoutFileLimitMinor: ceiling('payout_file_limit', named.payoutFileLimitMinor),
    payoutDayLimitMinor: ceiling('payout_day_limit', named.payoutDayLimitMinor),
    payoutTrustsPaid: draft.payout_trusts_paid ?? named.payoutTrustsPaid ?? false,
    csvProfile: textOrNull(draft.csv_profile),
    encoding: textOrNull(draft.encoding),
    ownAccounts: draft.own_accounts.map(writtenAccountNo).join(','),
  }
  return { terms, errors: errors.length > 0 ? errors : namedAsAsked(bankAccountFaults(terms)) }
}

/** The faults, under the names of the form's fields. */
function namedAsAsked(faults: readonly FieldError[]): FieldError[] {
  const names: Record<string, string> = { qr: 'qr_value', hold: 'hold_hours' }
  return faults.map(({ field, message }) => ({ field: names[field] ?? field, message }))
}

/** Who does not ask about SFTP leaves it as it is. */
function sftpTerms(named: Partial<BankAccountTerms>, draft: Draft) {
  const host = draft.sftp_host === undefined ? named.sftpHost : textOrNull(draft.sftp_host)
  const text = (asked: unknown, before: string | null | undefined) =>
    asked === undefined ? (before ?? null) : textOrNull(asked)
  if (!host) {
    const none = { sftpHost: null, sftpPort: null, sftpUser: null, sftpHostKey: null }
    return { ...none, sftpPutFolder: null, sftpGetFolder: null }
  }
  return {
    sftpHost: host,
    sftpPort: wholeOrNull(draft.sftp_port, named.sftpPort) ?? 22,
    sftpUser: text(draft.sftp_user, named.sftpUser),
    sftpHostKey: text(draft.sftp_host_key, named.sftpHostKey)?.replaceAll(' ', '') ?? null,
    sftpPutFolder: text(draft.sftp_put_folder, named.sftpPutFolder),
    sftpGetFolder: text(draft.sftp_get_folder, named.sftpGetFolder),
  }
}

/** A new private key that a form brings, and what is wrong with it. */
export function sftpKeyIn(
  draft: Pick<Draft, 'sftp_key'>,
  { sftpHost }: Pick<BankAccountTerms, 'sftpHost'>,
  hasOne: boolean,
): { sftpKey: string | null; errors: FieldError[] } {
  const key = typeof draft.sftp_key === 'string' ? draft.sftp_key.trim() : ''
  const say = (message: string) => ({ sftpKey: null, errors: [{ field: 'sftp_key', message }] })
  if (key === '') {
    if (sftpHost === null || hasOne) return { sftpKey: null, errors: [] }
    return say('is needed: the private key to sign in with')
  }
  const fault = sftpKeyFault(`${key}\n`)
  return fault === undefined ? { sftpKey: `${key}\n`, errors: [] } : say(fault)
}

/** Who does not ask about it leaves it as it is. */
function wholeOrNull(asked: unknown, before: number | null | undefined): number | null {
  if (asked === undefined) return before ?? null
  return typeof asked === 'number' ? asked : null
}

function textOrNull(text: unknown): string | null {
  return typeof text === 'string' && text.trim() !== '' ? text.trim() : null
}
