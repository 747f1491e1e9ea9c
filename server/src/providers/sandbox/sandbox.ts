import { decimalText } from '../../lib/money.ts'
import type { Provider } from '../provider.ts'

/** The bank of the sandbox. Nothing it hands out can be mistaken for a way to pay real money. */
export const sandbox: Provider = {
  name: 'sandbox',
  can: { currencies: ['THB', 'VND'], deposits: true, payouts: true, idempotentByReference: true },
  depositInstructions({ txnId, amountMinor, currency }) {
    return {
      qrcodeText:
        `SLUICE SANDBOX - NOT A PAYMENT ${txnId} ${decimalText(amountMinor, currency)} ${currency}`.toUpperCase(),
      transfer: {
        bankCode: 'SANDBOX',
        accountNumber: `TEST${txnId.slice(-8).toUpperCase()}`,
        accountName: 'SANDBOX NOT A REAL ACCOUNT',
      },
    }
  },
  submitPayout: async () => ({ type: 'unknown', reason: 'the bank has no payouts yet' }),
  askPayout: async () => ({ type: 'unknown', reason: 'the bank has no payouts yet' }),
  readNotice: () => undefined,
}
