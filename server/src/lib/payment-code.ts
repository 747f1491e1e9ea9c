import { createHash } from 'node:crypto'

/** Crockford's base32: no I, L, O or U, so that people do not misread a code when they copy it. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const digits = alphabet.slice(0, 10)

/**
 * What payment codes look like: the two characters that they begin with, or `digits` for codes of thirteen digits,
 * where a bank takes nothing else.
 */
export type CodeForm = string

export const usualForm: CodeForm = 'SX'
export const digitsForm: CodeForm = 'digits'

/** Whether codes may have this form. Letters that are read as digits would never be found again. */
export function isCodeForm(text: string): boolean {
  return text === digitsForm || /^[A-HJKMNP-TV-Z][0-9A-HJKMNP-TV-Z]$/.test(text)
}

const codeLength = 13
const drawnLength = 10

/**
 * A code of 13 characters that fits every bank's reference field: the prefix, ten characters from a hash
 * of the seed, and a check character. The same seed always yields the same code, so an order gets the
 * same code again after the database is restored from a backup.
 */
export function paymentCode(seed: string, form = usualForm): string {
  const hash = createHash('sha256').update(seed).digest()
  if (form === digitsForm) {
    // A zero in front would get lost wherever the code is taken for a number.
    const drawn = String(10n ** 11n + (hash.readBigUInt64BE() % (9n * 10n ** 11n)))
    return drawn + checkCharacter(drawn, digits)
  }
  const drawn = Array.from(hash.subarray(0, drawnLength), (byte) => alphabet[byte % 32]).join('')
  return `${form}${drawn}${checkCharacter(form + drawn, alphabet)}`
}

/** Whether a text is a payment code of one of these forms, with the right check character. */
export function isPaymentCode(text: string, forms: readonly CodeForm[] = [usualForm]): boolean {
  if (/^[1-9]\d{12}$/.test(text) && forms.includes(digitsForm)) return isChecked(text, digits)
  return (
    /^[0-9A-HJKMNP-TV-Z]{13}$/.test(text) &&
    forms.includes(text.slice(0, 2)) &&
    isChecked(text, alphabet)
  )
}

/**
 * The payment codes hidden in texts, each once. Banks break lines, add spaces and put their own words around
 * a code, and people misread letters, so only letters and digits count, and O, I and L are read as digits.
 */
export function findPaymentCodes(
  texts: readonly string[],
  forms: readonly CodeForm[] = [usualForm],
): string[] {
  const found = new Set<string>()
  for (const text of texts) {
    const plain = plainOf(text).replace(/O/g, '0').replace(/[IL]/g, '1')
    for (const prefix of forms) {
      if (prefix === digitsForm) continue
      for (let at = plain.indexOf(prefix); at >= 0; at = plain.indexOf(prefix, at + 1)) {
        const code = plain.slice(at, at + codeLength)
        if (isPaymentCode(code, [prefix])) found.add(code)
      }
    }
  }
  return [...found]
}

/** Longer rows of digits are no reference, and hold a code of digits by chance. */
const mostDigitCodes = 100

/** What may be codes of digits in a text: one row of digits in ten is. Which of them were given out, only a table says. */
export function possibleDigitCodes(text: string): string[] {
  const found = new Set<string>()
  for (const [run] of plainOf(text).matchAll(/\d{13,}/g)) {
    for (let at = 0; at + codeLength <= run.length; at++) {
      const code = run.slice(at, at + codeLength)
      if (isPaymentCode(code, [digitsForm])) found.add(code)
      if (found.size === mostDigitCodes) return [...found]
    }
  }
  return [...found]
}

/** Whether a code is of digits alone. */
export function isDigitCode(code: string): boolean {
  return /^\d+$/.test(code)
}

/** Whether a code of digits stands by itself in a text, or in a creditor reference, and is no part of longer numbers. */
export function isWrittenOut(code: string, texts: readonly string[]): boolean {
  const alone = new RegExp(`(?<!\\d)(?:RF\\d\\d)?${code}(?!\\d)`, 'i')
  return texts.some((text) => alone.test(text.normalize('NFKC')))
}

function plainOf(text: string): string {
  return text
    .normalize('NFKC')
    .toUpperCase()
    .replace(/[^0-9A-Z]/g, '')
}

function isChecked(code: string, characters: string): boolean {
  return checkCharacter(code.slice(0, -1), characters) === code.at(-1)
}

/** Luhn's algorithm, modulo the number of characters. It detects every single wrong character. */
function checkCharacter(code: string, characters: string): string {
  const base = characters.length
  let sum = 0
  let factor = 2
  for (const character of [...code].reverse()) {
    const addend = factor * characters.indexOf(character)
    sum += Math.floor(addend / base) + (addend % base)
    factor = 3 - factor
  }
  return characters[(base - (sum % base)) % base] ?? ''
}

/** How often a code is drawn for an order before it is given up. */
const mostDraws = 5

/** The codes that a deposit may get, in these forms: they follow from the order, so that one of another is noticed. */
export function depositCodes(orderId: string, forms: readonly CodeForm[]): string[] {
  return forms.flatMap((form) =>
    Array.from({ length: mostDraws }, (_, draw) =>
      paymentCode(`deposit ${orderId}${draw === 0 ? '' : ` ${draw}`}`, form),
    ),
  )
}
