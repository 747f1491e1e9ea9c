import { ibanFault, looksLikeIban } from '../lib/iban.ts'

/** Banks show account numbers in part, for example `XXX-X-XX123-4` or `****1234`. */
const maskCharacter = /[Xx*•#]/

/** Whether some characters of an account number are hidden. */
export function isMaskedAccountNo(written: string): boolean {
  const plain = plainOf(written)
  return /^[\d*•#Xx]+$/.test(plain) && maskCharacter.test(plain)
}

/** Whether all of an account number is there. An IBAN may have an X of its own, and its check digits say so. */
export function isFullAccountNo(written: string): boolean {
  const plain = plainOf(written).toUpperCase()
  if (looksLikeIban(plain) && ibanFault(plain) === undefined) return true
  return !/[*•#]|XX/.test(plain) && !isMaskedAccountNo(plain)
}

/**
 * Whether a number may be the one that is shown in part: all visible digits are in their places, and at least
 * four are visible. A mask that is shorter than the number stands for its end.
 */
export function fitsMaskedAccountNo(written: string, accountNo: string): boolean {
  const masked = plainOf(written)
  const own = plainOf(accountNo)
  if (!isMaskedAccountNo(written) || masked.length > own.length) return false
  const end = own.slice(-masked.length)
  const visible = [...masked].filter((character) => !maskCharacter.test(character))
  const doesFit = [...masked].every(
    (character, index) => maskCharacter.test(character) || character === end[index],
  )
  return doesFit && visible.length >= 4
}

function plainOf(accountNo: string): string {
  return accountNo.replace(/[\s.\-/]/g, '')
}
