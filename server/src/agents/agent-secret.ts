import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** 43 digits of 62 are 256 bits. */
const randomDigits = 43
const checkDigits = 6

/**
 * A new secret of an agent: what it is, where it counts, chance, and a checksum of all before it, so that a
 * scanner for leaked secrets can tell one from any other text without asking.
 */
export function newAgentSecret(mode: 'sandbox' | 'live'): string {
  const said = `${mode === 'live' ? 'sk_live_' : 'sk_test_'}${randomText(randomDigits)}`
  return said + checksum(said)
}

/** Whether a text has the form and the checksum of a secret. Secrets of former versions have neither. */
export function looksLikeSecret(text: string): boolean {
  const form = /^sk_(?:live|test)_[0-9A-Za-z]{49}$/
  return form.test(text) && checksum(text.slice(0, -checkDigits)) === text.slice(-checkDigits)
}

/** CRC-32 in base 62, of six digits. */
function checksum(text: string): string {
  let [rest, written] = [crc32(text), '']
  while (written.length < checkDigits) {
    written = digits.charAt(rest % 62) + written
    rest = Math.floor(rest / 62)
  }
  return written
}

function randomText(length: number): string {
  let text = ''
  while (text.length < length) {
    // 248 is a multiple of 62: taking more would make some digits more likely than others.
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += digits.charAt(byte % 62)
    }
  }
  return text
}
