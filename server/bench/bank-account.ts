import type { Backend } from '../dist/backend.js'
import { createBankAccount } from '../dist/bank-accounts/save-bank-account.js'

/** A bank account whose payers scan a PromptPay bill, and whose money names its order by a code. */
export async function makeBankAccount({ pool, secretKeys }: Backend) {
  const made = await createBankAccount(
    pool,
    secretKeys,
    {
      name: 'bench',
      currency: 'THB',
      bankCode: 'KBANK',
      accountNo: '1234567890',
      accountName: 'Bench',
      city: null,
      address: null,
      qrKind: 'promptpay-bill',
      qrValue: '010753600010286',
      match: 'code',
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
      payoutCharacters: 'format',
      payoutCutoffs: '',
      payoutHolidays: '',
      payoutFileLimitMinor: null,
      payoutDraftBefore: null,
      sftpHost: null,
      sftpPort: null,
      sftpUser: null,
      sftpHostKey: null,
      sftpPutFolder: null,
      sftpGetFolder: null,
      payoutDayLimitMinor: null,
      payoutTrustsPaid: false,
      expectedDeductionMinor: 0n,
      feed: 'none',
      zone: 'UTC',
      csvProfile: null,
      encoding: null,
      ownAccounts: '',
    },
    { name: 'bench', at: new Date(), mode: 'sandbox', confirmedBy: 'sandbox' },
  )
  if (!made) throw new Error('the account was not made')
  return made.account
}
