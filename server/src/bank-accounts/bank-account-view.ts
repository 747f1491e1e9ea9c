import { decimalText } from '../lib/money.ts'
import { qrSettingText } from '../lib/qr/qr-kinds.ts'
import type { BankAccount } from './bank-account.ts'
import { ownAccountsOf } from './bank-account-terms.ts'

/** An account as the command line, the console and the audit log show it: everything but its secrets. */
export function bankAccountView(account: BankAccount, state: 'on' | 'draining' | 'off') {
  const money = (minor: bigint | null) =>
    minor === null ? null : decimalText(minor, account.currency)
  return {
    name: account.name,
    state: account.confirmedAt === null ? 'unconfirmed' : state,
    currency: account.currency,
    bank: account.bankCode,
    account_no: account.accountNo,
    account_name: account.accountName,
    city: account.city,
    address: account.address,
    qr: qrSettingText({ kind: account.qrKind, value: account.qrValue }),
    match: account.match,
    code_form: account.codeForm,
    surplus_steps: account.surplusSteps,
    hold_hours: account.holdS / 3_600,
    day_limit: money(account.dayLimitMinor),
    file_limit: money(account.fileLimitMinor),
    expected_deduction: money(account.expectedDeductionMinor),
    feed: account.feed,
    token_limit: money(account.tokenLimitMinor),
    token_day_limit: money(account.tokenDayLimitMinor),
    feed_profile: account.feedProfile,
    payout: account.payout,
    payout_format: account.payoutFormat,
    payout_characters: account.payoutCharacters,
    payout_cutoffs: account.payoutCutoffs === '' ? [] : account.payoutCutoffs.split(','),
    payout_holidays: account.payoutHolidays === '' ? [] : account.payoutHolidays.split(','),
    payout_draft_before: account.payoutDraftBefore,
    payout_file_limit: money(account.payoutFileLimitMinor),
    payout_day_limit: money(account.payoutDayLimitMinor),
    payout_trusts_paid: account.payoutTrustsPaid,
    sftp_host: account.sftpHost,
    sftp_port: account.sftpPort,
    sftp_user: account.sftpUser,
    sftp_host_key: account.sftpHostKey,
    sftp_put_folder: account.sftpPutFolder,
    sftp_get_folder: account.sftpGetFolder,
    zone: account.zone,
    csv_profile: account.csvProfile,
    encoding: account.encoding,
    own_accounts: ownAccountsOf(account),
    created_at: account.createdAt.toISOString(),
    created_by: account.createdBy,
    changed: account.changed,
    changed_at: account.changedAt?.toISOString() ?? null,
    changed_by: account.changedBy,
    confirmed_at: account.confirmedAt?.toISOString() ?? null,
    confirmed_by: account.confirmedBy,
  }
}
