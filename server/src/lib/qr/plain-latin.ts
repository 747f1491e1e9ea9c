/**
 * A text in printable ASCII, for schemes that take no more: accents are dropped, and letters without one
 * spelled out. Undefined if a letter is left that has no plain form, such as a Thai one.
 */
export function plainLatin(text: string): string | undefined {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[đĐøØłŁßæÆœŒ]/g, (letter) => spelled[letter] ?? '')
    .replace(/\s+/g, ' ')
    .trim()
  return /^[\x20-\x7e]+$/.test(plain) ? plain : undefined
}

const spelled: Record<string, string> = {
  đ: 'd',
  Đ: 'D',
  ø: 'o',
  Ø: 'O',
  ł: 'l',
  Ł: 'L',
  ß: 'ss',
  æ: 'ae',
  Æ: 'AE',
  œ: 'oe',
  Œ: 'OE',
}
