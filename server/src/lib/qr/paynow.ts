import { currencyRow } from '../currencies.ts'
import { localTimeIn } from '../local-time.ts'
import { amountText } from './amount-text.ts'
import { type EmvField, writeEmv, writeFields } from './emv.ts'
import { plainLatin } from './plain-latin.ts'
import type { QrScheme } from './qr-scheme.ts'

/** PayNow to a company (UEN) or a mobile number, the amount fixed; the payment code is the bill number. */
export const payNow: QrScheme = {
  takes: 'a UEN with its suffix, or +65 and a mobile number',
  carriesCode: true,
  // Statements of companies show the bill number, those of persons need not.
  referenceComesBack: (value) => (mobile.test(value) ? 'sometimes' : 'always'),
  fault: (value, { accountName }) => {
    if (!mobile.test(value) && !uen.test(value)) {
      return `${value} is neither a UEN with its suffix, of 9 to 13 capitals and digits, nor +65 and a mobile number of eight digits.`
    }
    if (plainLatin(accountName) === undefined) {
      return 'PayNow writes the account name into the code: give a name in Latin letters.'
    }
    return undefined
  },
  text: (value, { currency, accountName }, { amountMinor, code, expiresAt }) => {
    const amount = amountText(amountMinor, currency)
    if (amount.length > 13) return undefined
    return writeEmv([
      ['00', '01'],
      ['01', '12'],
      [
        '26',
        writeFields([
          ['00', 'SG.PAYNOW'],
          ['01', mobile.test(value) ? '0' : '2'],
          ['02', value],
          ['03', '0'],
          ...(expiresAt ? [['04', singaporeTime(expiresAt)] as EmvField] : []),
        ]),
      ],
      ['52', '0000'],
      ['53', currencyRow(currency).isoNumber],
      ['54', amount],
      ['58', 'SG'],
      ['59', (plainLatin(accountName) ?? '').slice(0, 25).trim()],
      ['60', 'Singapore'],
      ['62', writeFields([['01', code]])],
    ])
  },
}

function singaporeTime(at: Date): string {
  return localTimeIn('Asia/Singapore')(at).replace(/\D/g, '')
}

const mobile = /^\+65[89]\d{7}$/
const uen = /^[0-9A-Z]{9,13}$/
