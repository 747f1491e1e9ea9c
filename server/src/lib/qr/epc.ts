import { ibanFault } from '../iban.ts'
import { amountText } from './amount-text.ts'
import { creditorReference } from './creditor-reference.ts'
import type { QrScheme } from './qr-scheme.ts'

const maxAmountMinor = 99_999_999_999n
/** A code has at most 331 bytes, and what is not the name takes no more than 96. */
const maxNameBytes = 235
const asText = 'text'

/**
 * A SEPA credit transfer by EPC069-12, version 2, in UTF-8. The payment code is the structured reference, which banks'
 * apps check and bring back; where a bank has trouble with that, it is the text.
 */
export const epc: QrScheme = {
  takes: 'nothing, or the word text if the payment code is to be the text and not the RF reference',
  isOptional: true,
  carriesCode: true,
  referenceComesBack: () => 'always',
  fault: (value, { accountNo, accountName, bankCode }) => {
    if (value !== '' && value !== asText) return `Write epc alone, or epc:${asText}.`
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
  text: (value, { currency, accountNo, accountName, bankCode }, { amountMinor, code }) => {
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
      ...(value === asText ? ['', code] : [creditorReference(code)]),
    ].join('\n')
  },
}

function nameOf(accountName: string): string {
  return [...accountName.trim()].slice(0, 70).join('')
}
