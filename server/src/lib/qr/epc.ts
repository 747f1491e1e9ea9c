import { ibanFault } from '../iban.ts'
import { amountText } from './amount-text.ts'
import { creditorReference } from './creditor-reference.ts'
import type { QrScheme } from './qr-scheme.ts'

const maxAmountMinor = 99_999_999_999n
/** A code has at most 331 bytes, and what is not the name takes no more than 96. */
const maxNameBytes = 235

/** A SEPA credit transfer by EPC069-12, version 2, in UTF-8; the payment code is the structured reference. */
export const epc: QrScheme = {
  takes: null,
  carriesCode: true,
  referenceComesBack: () => 'always',
  fault: (_value, { accountNo, accountName, bankCode }) => {
    const fault = ibanFault(accountNo)
    if (fault !== undefined) return `The account number ${fault}. The EPC code needs one.`
    if (accountName.trim() === '' || /[\r\n]/.test(accountName)) {
      return 'The EPC code needs the account name, on one line.'
    }
    if (Buffer.byteLength(nameOf(accountName)) > maxNameBytes) {
      return 'The account name is too long for the EPC code: shorten it.'
    }
    if (bankCode !== '' && !/^[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?$/.test(bankCode)) {
      return `${bankCode} is not a BIC of 8 or 11 characters: correct it or leave it out.`
    }
    return undefined
  },
  text: (_value, { currency, accountNo, accountName, bankCode }, { amountMinor, code }) => {
    if (amountMinor > maxAmountMinor) return undefined
    return [
      'BCD',
      '002',
      '1',
      'SCT',
      bankCode,
      nameOf(accountName),
      accountNo.toUpperCase(),
      `${currency}${amountText(amountMinor, currency)}`,
      '',
      creditorReference(code),
    ].join('\n')
  },
}

function nameOf(accountName: string): string {
  return [...accountName.trim()].slice(0, 70).join('')
}
