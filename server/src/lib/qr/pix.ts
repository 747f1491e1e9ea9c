import { currencyRow } from '../currencies.ts'
import { amountText } from './amount-text.ts'
import { writeEmv, writeFields } from './emv.ts'
import { plainLatin } from './plain-latin.ts'
import type { QrScheme } from './qr-scheme.ts'

/** A static Pix code with an amount. The payment code is its txid, which statements often leave out. */
export const pix: QrScheme = {
  takes: 'a Pix key: a random key, an e-mail address, +55 and a mobile number, a CPF or a CNPJ',
  carriesCode: true,
  referenceComesBack: () => 'sometimes',
  fault: (value, { accountName, city }) => {
    if (pixKey(value) === undefined) {
      return `${value} is not a Pix key: give a random key, an e-mail address, +55 and a mobile number, a CPF or a CNPJ.`
    }
    if (city === null || plainLatin(city) === undefined) {
      return 'Pix writes the city of the account into the code: give a city in Latin letters.'
    }
    if (plainLatin(accountName) === undefined) {
      return 'Pix writes the account name into the code: give a name in Latin letters.'
    }
    return undefined
  },
  warning: (value) => {
    const key = pixKey(value) ?? ''
    if (!/^[0-9A-Z]{11,14}$/.test(key) || hasCheckDigits(key)) return undefined
    return `The check digits of ${value} are wrong. Compare the key with its document.`
  },
  text: (value, { currency, accountName, city }, { amountMinor, code }) => {
    const amount = amountText(amountMinor, currency)
    if (amount.length > 13) return undefined
    return writeEmv([
      ['00', '01'],
      [
        '26',
        writeFields([
          ['00', 'br.gov.bcb.pix'],
          ['01', pixKey(value) ?? ''],
        ]),
      ],
      ['52', '0000'],
      ['53', currencyRow(currency).isoNumber],
      ['54', amount],
      ['58', 'BR'],
      ['59', (plainLatin(accountName) ?? '').slice(0, 25).trim()],
      ['60', (plainLatin(city ?? '') ?? '').slice(0, 15).trim()],
      ['62', writeFields([['05', code]])],
    ])
  },
}

/** A key as the code carries it: ids without their punctuation. */
function pixKey(value: string): string | undefined {
  const text = value.trim()
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return text.toLowerCase()
  if (/^\+55\d{10,11}$/.test(text)) return text
  if (/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text)) {
    return text.length <= 77 && /^[\x21-\x7e]+$/.test(text) ? text.toLowerCase() : undefined
  }
  const id = text.replace(/[./-]/g, '').toUpperCase()
  return /^\d{11}$|^[0-9A-Z]{12}\d{2}$/.test(id) ? id : undefined
}

/** Modulo 11, twice, over a CPF of 11 digits or a CNPJ of 14 characters, whose letters count from 17. */
function hasCheckDigits(id: string): boolean {
  const values = [...id].map((character) => character.charCodeAt(0) - 48)
  const highest = id.length === 11 ? 11 : 9
  return [2, 1].every((left) => {
    const before = values.slice(0, -left).reverse()
    const sum = before.reduce((total, value, at) => total + value * (2 + (at % (highest - 1))), 0)
    const digit = sum % 11 < 2 ? 0 : 11 - (sum % 11)
    return digit === values.at(-left)
  })
}
