import { TextDecoder } from 'node:util'

/** Whether a text has characters that could end a field, a line or a document, or that nobody can see. */
export function hasControl(text: string): boolean {
  return /[\p{C}\p{Zl}\p{Zp}]/u.test(text)
}

/** A text on one line: every run of blanks is one space, and there are none at the ends. */
export function tidy(text: string): string {
  return text.normalize('NFC').replace(/\s+/g, ' ').trim()
}

/** At most so many characters. Pairs of surrogates stay whole. */
export function cut(text: string, length: number): string {
  return [...text].slice(0, length).join('').trim()
}

/** Letters that lose more than a mark, and signs that have a stand-in among those of SEPA. */
const substitutes: Record<string, string> = {
  ...{ ä: 'ae', ö: 'oe', ü: 'ue', Ä: 'Ae', Ö: 'Oe', Ü: 'Ue', ß: 'ss', ẞ: 'SS' },
  ...{ æ: 'ae', Æ: 'AE', œ: 'oe', Œ: 'OE', ø: 'o', Ø: 'O', đ: 'd', Đ: 'D', ð: 'd', Ð: 'D' },
  ...{ þ: 'th', Þ: 'TH', ł: 'l', Ł: 'L', ı: 'i', ħ: 'h', Ħ: 'H', ŋ: 'n', Ŋ: 'N', ŧ: 't', Ŧ: 'T' },
  ...{ '&': '+', _: '-', '–': '-', '—': '-', '’': "'", '‘': "'", '`': "'", '´': "'", ʼ: "'" },
}

const isLatin = /^[A-Za-z0-9/\-?:().,'+ ]*$/

/**
 * A text in the characters that every SEPA bank takes. Letters lose their marks; other signs become blanks.
 * `lost` is the first letter or digit that has no such form, null if there is none.
 */
export function latinText(text: string): { text: string; lost: string | null } {
  let lost: string | null = null
  const latin = Array.from(text.normalize('NFC'), (character) => {
    const plain =
      substitutes[character] ?? character.normalize('NFKD').replace(/[\u0300-\u036f]/g, '')
    const written = Array.from(plain, (each) => substitutes[each] ?? each).join('')
    if (isLatin.test(written)) return written
    if (/[\p{L}\p{N}\p{M}]/u.test(written)) lost ??= character
    return ' '
  })
  return { text: tidy(latin.join('')), lost }
}

export type Charset = 'ascii' | 'windows-874' | 'utf-8'

/** The byte of each character in windows-874: ASCII, and Thai. */
const thaiBytes = new Map(
  Array.from(new TextDecoder('windows-874').decode(Uint8Array.from(Array(256).keys())))
    .map((character, byte) => [character, byte] as const)
    .filter(([character]) => !hasControl(character) && character !== '\ufffd'),
)

/** The first character that a charset does not have; null if it has all. */
export function missingIn(charset: Charset, text: string): string | null {
  if (charset === 'utf-8') return null
  for (const character of text) {
    const isThere = charset === 'ascii' ? /^[ -~]$/.test(character) : thaiBytes.has(character)
    if (!isThere) return character
  }
  return null
}

/** The bytes of a text whose characters, except for line ends, the charset has. */
export function encoded(charset: Charset, text: string): Buffer {
  if (charset !== 'windows-874') return Buffer.from(text)
  return Buffer.from(
    Array.from(text, (character) => thaiBytes.get(character) ?? character.charCodeAt(0)),
  )
}
