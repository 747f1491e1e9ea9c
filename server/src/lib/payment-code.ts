import { createHash } from 'node:crypto'

/** Crockford's base32: no I, L, O or U, so that people do not misread a code when they copy it. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

const prefix = 'SX'
const drawnLength = 10

/**
 * A code of 13 characters that fits every bank's reference field: the prefix, ten characters from a hash
 * of the seed, and a check character. The same seed always yields the same code, so an order gets the
 * same code again after the database is restored from a backup.
 */
export function paymentCode(seed: string): string {
  const hash = createHash('sha256').update(seed).digest()
  const drawn = Array.from(hash.subarray(0, drawnLength), (byte) => alphabet[byte % 32]).join('')
  return `${prefix}${drawn}${checkCharacter(prefix + drawn)}`
}

/** Whether a text is a payment code with the right check character. */
export function isPaymentCode(text: string): boolean {
  if (!/^SX[0-9A-HJKMNP-TV-Z]{11}$/.test(text)) return false
  return checkCharacter(text.slice(0, -1)) === text.at(-1)
}

/**
 * The payment codes hidden in texts, each once. Banks break lines, add spaces and put their own words around
 * a code, and people misread letters, so only letters and digits count, and O, I and L are read as digits.
 */
export function findPaymentCodes(texts: readonly string[]): string[] {
  const found = new Set<string>()
  for (const text of texts) {
    const plain = text
      .normalize('NFKC')
      .toUpperCase()
      .replace(/[^0-9A-Z]/g, '')
      .replace(/O/g, '0')
      .replace(/[IL]/g, '1')
    for (let at = plain.indexOf(prefix); at >= 0; at = plain.indexOf(prefix, at + 1)) {
      const code = plain.slice(at, at + prefix.length + drawnLength + 1)
      if (isPaymentCode(code)) found.add(code)
    }
  }
  return [...found]
}

/** Luhn's algorithm, modulo 32. It detects every single wrong character. */
function checkCharacter(code: string): string {
  let sum = 0
  let factor = 2
  for (const character of [...code].reverse()) {
    const addend = factor * alphabet.indexOf(character)
    sum += Math.floor(addend / 32) + (addend % 32)
    factor = 3 - factor
  }
  return alphabet[(32 - (sum % 32)) % 32] ?? ''
}
