import { mod97 } from '../iban.ts'

/** ISO 11649: `RF`, two check digits, the code. Bank apps check it, and it returns with the payment. */
export function creditorReference(code: string): string {
  const check = 98 - mod97(`${code}RF00`)
  return `RF${String(check).padStart(2, '0')}${code}`
}

export function isCreditorReference(text: string): boolean {
  return /^RF\d{2}[A-Z0-9]{1,21}$/.test(text) && mod97(text.slice(4) + text.slice(0, 4)) === 1
}

/**
 * The 27 digits that a payment to a Swiss QR-IBAN must carry: two for each of the code's thirteen
 * characters, and a check digit.
 */
export function swissReference(code: string): string {
  const digits = [...code]
    .map((character) => String(Number.parseInt(character, 36)).padStart(2, '0'))
    .join('')
    .padStart(26, '0')
  return digits + recursiveCheckDigit(digits)
}

export function isSwissReference(text: string): boolean {
  return /^\d{27}$/.test(text) && recursiveCheckDigit(text.slice(0, 26)) === Number(text.at(-1))
}

/** The payment code in a Swiss reference of ours; undefined if the reference is another. */
export function codeOfSwissReference(reference: string): string | undefined {
  if (!isSwissReference(reference)) return undefined
  const values = reference.slice(0, 26).match(/../g)?.map(Number) ?? []
  if (values.some((value) => value > 35)) return undefined
  return values.map((value) => value.toString(36).toUpperCase()).join('')
}

/** Modulo 10, recursive: each digit leads from one carry to the next through this table. */
const carries = [0, 9, 4, 6, 8, 2, 7, 1, 3, 5]

function recursiveCheckDigit(digits: string): number {
  let carry = 0
  for (const digit of digits) carry = carries[(carry + Number(digit)) % 10] ?? 0
  return (10 - carry) % 10
}
