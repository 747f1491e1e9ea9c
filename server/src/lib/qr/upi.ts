import { amountText } from './amount-text.ts'
import type { QrScheme } from './qr-scheme.ts'

/** A UPI link, to be shown as a QR code: as a link, apps refuse it for accounts that are not merchants'. */
export const upi: QrScheme = {
  takes: 'a UPI id, such as shop@bank',
  carriesCode: true,
  // Neither the reference nor the note is on the statements of persons.
  referenceComesBack: () => 'never',
  fault: (value, { accountName }) => {
    if (!/^[A-Za-z0-9._-]{2,64}@[A-Za-z][A-Za-z0-9.-]{1,63}$/.test(value)) {
      return `${value} is not a UPI id: give one such as shop@bank.`
    }
    return accountName.trim() === '' ? 'UPI needs the account name.' : undefined
  },
  text: (value, { currency, accountName }, { amountMinor, code }) =>
    `upi://pay?${[
      ['pa', value],
      // Apps show a plus sign as it is, so spaces are written as %20.
      ['pn', encodeURIComponent(accountName.trim())],
      ['tr', code],
      ['tn', code],
      ['am', amountText(amountMinor, currency)],
      ['cu', currency],
    ]
      .map(([name, text]) => `${name}=${text}`)
      .join('&')}`,
}
