import { ibanFault, looksLikeIban } from '../lib/iban.ts'

/**
 * Banks hide characters of an account number, for example `XXX-X-XX123-4`, `****1234` or `SCB x1234`. An X that has a
 * letter behind it may be one of the number's own.
 */
const mask = /[*•#]|X(?![A-Z])|XX/

/** Whether all of an account number is there. An IBAN may have an X of its own, and its check digits say so. */
export function isFullAccountNo(written: string): boolean {
  const upper = written.toUpperCase()
  const plain = plainOf(upper)
  return (looksLikeIban(plain) && ibanFault(plain) === undefined) || !mask.test(upper)
}

/**
 * What can be seen of an account number: its letters and digits, and `*` for each that is hidden, without the bank's
 * name in front. Null if all of it is there.
 */
export function shownOfMasked(written: string): string | null {
  if (isFullAccountNo(written)) return null
  return written
    .toUpperCase()
    .replace(/^[A-WYZ]{3}[A-WYZ\W]*?(?=[X*•#])/, '')
    .replace(/[X•#]/g, '*')
    .replace(/[^0-9A-Z*]/g, '')
}

/** Whether some digits of an account number are hidden. */
export function isMaskedAccountNo(written: string): boolean {
  return /^[\d*]+$/.test(shownOfMasked(written) ?? '')
}

/**
 * Whether a number may be the one that is shown in part: all visible digits are in their places, and at least
 * four are visible. A mask that is shorter than the number stands for its end.
 */
export function fitsMaskedAccountNo(written: string, accountNo: string): boolean {
  const masked = shownOfMasked(written) ?? ''
  const own = plainOf(accountNo)
  if (!isMaskedAccountNo(written) || masked.length > own.length) return false
  const end = own.slice(-masked.length)
  const visible = [...masked].filter((character) => character !== '*')
  const doesFit = [...masked].every(
    (character, index) => character === '*' || character === end[index],
  )
  return doesFit && visible.length >= 4
}

function plainOf(accountNo: string): string {
  return accountNo.replace(/[\s.\-/]/g, '')
}
