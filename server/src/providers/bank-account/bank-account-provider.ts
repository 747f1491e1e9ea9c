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
}

/**
 * A bank account of the operator. It calls nobody: the payer follows the instructions, and the bank's reports
 * arrive as movements, not as notices.
 */
export function makeBankAccountProvider(account: AccountToPay): Provider {
  const { name, currency, qr, recognises, isConfirmed } = account
  return {
    name,
    can: {
      currencies: [currency],
      deposits: true,
      payouts: false,
      idempotentByReference: false,
    },
    recognises,
    isConfirmed,
    depositInstructions({ amountMinor, code }) {
      // Without a code the deposit is not expected yet.
      if (code === undefined) return undefined
      const qrcodeText = qrText(qr, account, { amountMinor, code })
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
    submitPayout: async () => noPayouts,
    askPayout: async () => noPayouts,
    readNotice: () => undefined,
  }
}

const noPayouts = {
  type: 'rejected',
  mayTryAnother: true,
  reason: 'The account pays nothing out.',
} as const
