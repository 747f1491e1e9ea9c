import { type Currency, decimalText } from '../../lib/money.ts'
import type { QrSetting } from '../../lib/qr/qr-kinds.ts'
import type { QrAccount } from '../../lib/qr/qr-scheme.ts'
import { qrText } from '../../lib/qr/qr-text.ts'
import type { Provider, Recognition } from '../provider.ts'

/** What the instructions for payers are made of. */
export interface AccountToPay extends QrAccount {
  name: string
  currency: Currency
  qr: QrSetting
  recognises: Recognition
  isConfirmed: boolean
  /** Set if it pays out by files: why a payee cannot be put into one. */
  payeeFault: Provider['payeeFault'] | null
  nameFault: NonNullable<Provider['nameFault']>
  /** The most that it can pay out at once by a file. */
  mostPerPayoutMinor: bigint | null
}

/**
 * A bank account of the operator. It calls nobody: the payer follows the instructions, and the bank's reports
 * arrive as movements, not as notices.
 */
export function makeBankAccountProvider(account: AccountToPay): Provider {
  const { name, currency, qr, recognises, isConfirmed, payeeFault, nameFault } = account
  const { mostPerPayoutMinor } = account
  return {
    name,
    can: {
      currencies: [currency],
      deposits: true,
      payouts: payeeFault !== null,
      idempotentByReference: false,
    },
    recognises,
    isConfirmed,
    ...(payeeFault && { paysByFile: true, payeeFault, nameFault, mostPerPayoutMinor }),
    depositInstructions({ amountMinor, code, expiresAt }) {
      // Without a code the deposit is not expected yet.
      if (code === undefined) return undefined
      const qrcodeText = qrText(qr, account, { amountMinor, code, expiresAt })
      return {
        ...(qrcodeText !== undefined && { qrcodeText, qrKind: qr.kind }),
        ...(recognises.by !== 'amount' && { code }),
        ...(recognises.by !== 'code' && { exactAmount: decimalText(amountMinor, currency) }),
        transfer: {
          bankCode: account.bankCode,
          accountNumber: account.accountNo,
          accountName: account.accountName,
        },
      }
    },
    submitPayout: async () => (payeeFault ? inAFile : noPayouts),
    askPayout: async () => (payeeFault ? inAFile : notToBeAsked),
    readNotice: () => undefined,
  }
}

/** What becomes of it, the bank says in its own files. */
const inAFile = { type: 'accepted' } as const

/** It may have paid by a file before: only the bank's files say. */
const notToBeAsked = { type: 'unknown', reason: 'The bank says it in its own files.' } as const

const noPayouts = {
  type: 'rejected',
  mayTryAnother: true,
  reason: 'The account pays nothing out.',
} as const
