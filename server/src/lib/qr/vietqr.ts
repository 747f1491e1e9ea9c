import { findBank } from '../banks.ts'
import { currencyRow } from '../currencies.ts'
import { amountText } from './amount-text.ts'
import { writeEmv, writeFields } from './emv.ts'
import type { QrAccount, QrScheme } from './qr-scheme.ts'

/** VietQR to an account; the payment code is the purpose, which arrives within the transfer's text. */
export const vietQr: QrScheme = {
  takes: null,
  carriesCode: true,
  referenceComesBack: () => 'always',
  fault: (_value, account) => {
    if (binOf(account) === null) {
      return `VietQR needs the bank's BIN, and ${account.bankCode || 'no bank'} has none: give the code of another bank.`
    }
    if (!/^[A-Za-z0-9]{4,19}$/.test(account.accountNo)) {
      return 'VietQR takes an account number of 4 to 19 letters and digits.'
    }
    return undefined
  },
  text: (_value, account, { amountMinor, code }) => {
    const amount = amountText(amountMinor, account.currency)
    if (amount.length > 13) return undefined
    return writeEmv([
      ['00', '01'],
      ['01', '12'],
      [
        '38',
        writeFields([
          ['00', 'A000000727'],
          [
            '01',
            writeFields([
              ['00', binOf(account) ?? ''],
              ['01', account.accountNo],
            ]),
          ],
          ['02', 'QRIBFTTA'],
        ]),
      ],
      ['53', currencyRow(account.currency).isoNumber],
      ['54', amount],
      ['58', 'VN'],
      ['62', writeFields([['08', code]])],
    ])
  },
}

function binOf({ currency, bankCode }: QrAccount): string | null {
  const number = findBank(currency, bankCode)?.numericCode ?? null
  return number !== null && /^\d{6}$/.test(number) ? number : null
}
