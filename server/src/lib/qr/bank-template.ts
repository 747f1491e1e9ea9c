import { currencyRow } from '../currencies.ts'
import { amountText } from './amount-text.ts'
import { fieldOf, readEmv, writeEmv } from './emv.ts'
import type { QrScheme } from './qr-scheme.ts'

/**
 * The static code that a bank issued, with the amount put in and for one payment: QRIS, DuitNow, QR Ph and
 * others. All other fields stay as they are.
 */
export const bankTemplate: QrScheme = {
  takes: "the whole text of the bank's own static QR code",
  carriesCode: false,
  referenceComesBack: () => 'never',
  fault: (value, { currency }) => {
    if (value.length > 512)
      return 'A payment QR code has at most 512 characters: this is another text.'
    const read = readEmv(value.trim())
    if ('fault' in read) {
      return `This is not the text of a payment QR code: ${read.fault}. Scan the bank's code again and paste the whole text.`
    }
    const { fields } = read
    const { isoNumber } = currencyRow(currency)
    const said = fieldOf(fields, '53')
    if (said !== isoNumber) {
      return `The code is in the currency ${said ?? 'that it does not name'}, and ${currency} is ${isoNumber}: paste the code of an account in ${currency}.`
    }
    if (!fields.some(([tag]) => tag >= '02' && tag <= '51')) {
      return 'The code does not say whom it pays: paste the code of the account itself.'
    }
    if (fields.some(([tag]) => tag >= '55' && tag <= '57')) {
      return 'The code asks for a tip or a fee, so the payer would pay more than the amount: ask the bank for one without.'
    }
    if (fieldOf(fields, '01') === '12') {
      return 'The code is for one payment only: paste the static code, which can be paid again and again.'
    }
    return undefined
  },
  text: (value, { currency }, { amountMinor }) => {
    const amount = amountText(amountMinor, currency)
    const read = readEmv(value.trim())
    if (amount.length > 13 || 'fault' in read) return undefined
    return writeEmv(
      read.fields.flatMap((field) => {
        const [tag] = field
        if (tag === '00') return [field, ['01', '12']]
        if (tag === '53') return [field, ['54', amount]]
        return tag === '01' || tag === '54' ? [] : [field]
      }),
    )
  },
}
