import { ibanFault } from '../iban.ts'
import { amountText } from './amount-text.ts'
import { creditorReference, swissReference } from './creditor-reference.ts'
import type { QrScheme } from './qr-scheme.ts'

const maxAmountMinor = 99_999_999_999n

/** A Swiss QR-bill with a structured address, for anybody to pay; the payment code is its reference. */
export const swiss: QrScheme = {
  takes: null,
  carriesCode: true,
  referenceComesBack: () => 'always',
  fault: (_value, { accountNo, accountName, address }) => {
    const fault = ibanFault(accountNo)
    if (fault !== undefined) return `The account number ${fault}. The Swiss QR-bill needs one.`
    if (!/^(?:CH|LI)/i.test(accountNo)) {
      return 'The Swiss QR-bill pays to accounts in Switzerland and Liechtenstein: give an IBAN that begins with CH or LI.'
    }
    if (!isLatin(accountName)) {
      return 'The Swiss QR-bill takes a name in Latin letters, on one line: correct the account name.'
    }
    return addressFault(address)
  },
  text: (_value, { currency, accountNo, accountName, address }, { amountMinor, code }) => {
    if (amountMinor > maxAmountMinor) return undefined
    const nobody = ['', '', '', '', '', '', '']
    return [
      'SPC',
      '0200',
      '1',
      accountNo.toUpperCase(),
      'S',
      [...accountName.trim()].slice(0, 70).join('').trim(),
      ...(partsOf(address) ?? []),
      ...nobody,
      amountText(amountMinor, currency),
      currency,
      ...nobody,
      ...(isQrIban(accountNo) ? ['QRR', swissReference(code)] : ['SCOR', creditorReference(code)]),
      '',
      'EPD',
    ].join('\n')
  },
}

/** Whether a Swiss IBAN is for QR-bills alone: its bank number is from a range of its own. */
export function isQrIban(iban: string): boolean {
  return /^(?:CH|LI)\d{2}3[01]\d{3}/i.test(iban)
}

const most = [70, 16, 16, 35, 2]
const named = ['street', 'house number', 'post code', 'town', 'country']

/** Street, house number, post code, town, country; the first two may be empty. */
function partsOf(address: string | null): string[] | undefined {
  const parts = (address ?? '').split(';').map((part) => part.trim())
  return parts.length === 5 ? [...parts.slice(0, 4), (parts[4] ?? '').toUpperCase()] : undefined
}

function addressFault(address: string | null): string | undefined {
  const parts = partsOf(address)
  if (!parts) {
    return "The Swiss QR-bill needs the owner's address: give it as 'street;house number;post code;town;country'."
  }
  const long = parts.findIndex((part, at) => [...part].length > (most[at] ?? 0))
  if (long >= 0) return `The address has a ${named[long]} of more than ${most[long]} characters.`
  const missing = parts.findIndex((part, at) => at >= 2 && part === '')
  if (missing >= 0) return `The address has no ${named[missing]}.`
  if (!/^[A-Z]{2}$/.test(parts[4] ?? '')) {
    return `The country of the address, ${parts[4]}, is not a country of two letters such as CH.`
  }
  if (!isLatin(parts.join(' '))) return 'The Swiss QR-bill takes an address in Latin letters.'
  return undefined
}

/** The characters that QR-bills may hold: Basic Latin, Latin-1, Latin Extended-A and a few more. */
function isLatin(text: string): boolean {
  return text.trim() !== '' && /^[\x20-\x7e\u00a0-\u017f\u0218-\u021b\u20ac]+$/.test(text)
}
