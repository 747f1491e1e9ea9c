import { currencyRow } from '../currencies.ts'
import { amountText } from './amount-text.ts'
import { type EmvField, writeEmv, writeFields } from './emv.ts'
import type { QrAccount, QrPayment, QrScheme } from './qr-scheme.ts'

/** PromptPay by a mobile number; nothing but the amount tells payments apart. */
export const promptPayMobile: QrScheme = {
  takes: 'the mobile number that is registered with PromptPay, such as 0812345678',
  carriesCode: false,
  referenceComesBack: () => 'never',
  fault: (value) =>
    mobileProxy(value) === undefined
      ? `${value} is not a Thai mobile number: give ten digits that begin with 06, 08 or 09.`
      : undefined,
  text: (value, account, payment) =>
    promptPay(
      [
        '29',
        [
          ['00', 'A000000677010111'],
          ['01', mobileProxy(value) ?? ''],
        ],
      ],
      account,
      payment,
    ),
}

/** PromptPay by a national id or a tax id. */
export const promptPayId: QrScheme = {
  takes: 'the national or tax id of 13 digits that is registered with PromptPay',
  carriesCode: false,
  referenceComesBack: () => 'never',
  fault: (value) =>
    /^\d{13}$/.test(digitsOf(value))
      ? undefined
      : `${value} is not a national or tax id: give its 13 digits.`,
  warning: (value) => checkDigitWarning(digitsOf(value)),
  text: (value, account, payment) =>
    promptPay(
      [
        '29',
        [
          ['00', 'A000000677010111'],
          ['02', digitsOf(value)],
        ],
      ],
      account,
      payment,
    ),
}

/**
 * A bill of a biller that is registered at one bank: the payment code is its first reference. Some banks ask for a second
 * one, the same for all, or for the number of a terminal.
 */
export const promptPayBill: QrScheme = {
  takes:
    'the biller id of 15 digits that the bank gave out, the tax id and two digits; if the bank asks for them, a comma and a second reference, another comma and a terminal',
  carriesCode: true,
  referenceComesBack: () => 'always',
  fault: (value) =>
    /^\d{15}(,[0-9A-Z]{0,20}(,[0-9A-Z]{1,25})?)?$/.test(digitsOf(value))
      ? undefined
      : `${value} is not a biller id: give its 15 digits, the tax id and the two digits after it. A second reference of up to 20 capitals and digits may follow after a comma, and a terminal of up to 25.`,
  warning: (value) => checkDigitWarning(digitsOf(value).slice(0, 13)),
  text: (value, account, payment) => {
    const [biller = '', second = '', terminal = ''] = digitsOf(value).split(',')
    const bill: EmvField[] = [
      ['00', 'A000000677010112'],
      ['01', biller],
      ['02', payment.code],
    ]
    if (second !== '') bill.push(['03', second])
    return promptPay(['30', bill], account, payment, terminal)
  },
}

function promptPay(
  [tag, payTo]: [tag: string, payTo: EmvField[]],
  account: QrAccount,
  payment: QrPayment,
  terminal = '',
): string | undefined {
  const amount = amountText(payment.amountMinor, account.currency)
  if (amount.length > 13) return undefined
  return writeEmv([
    ['00', '01'],
    ['01', '12'],
    [tag, writeFields(payTo)],
    ['53', currencyRow(account.currency).isoNumber],
    ['54', amount],
    ['58', 'TH'],
    ...(terminal === '' ? [] : [['62', writeFields([['07', terminal]])] as EmvField]),
  ])
}

function digitsOf(value: string): string {
  return value.replace(/[\s-]/g, '')
}

/** A mobile number as PromptPay writes it, 0066 and nine digits. */
function mobileProxy(value: string): string | undefined {
  const match = /^(?:0|\+?66|0066)([689]\d{8})$/.exec(digitsOf(value))
  return match ? `0066${match[1]}` : undefined
}

/** Modulo 11. Only a warning: the bank's app says for certain whether the id is registered. */
function checkDigitWarning(id: string): string | undefined {
  const sum = [...id.slice(0, 12)].reduce(
    (total, digit, at) => total + Number(digit) * (13 - at),
    0,
  )
  if ((11 - (sum % 11)) % 10 === Number(id[12])) return undefined
  return `The check digit of ${id} is wrong. Compare the id with its document.`
}
