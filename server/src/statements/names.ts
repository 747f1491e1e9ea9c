/** Whether two names are of the same person, as far as one can tell from how banks write them. */
export type NameComparison = 'same' | 'different' | 'unknown'

/**
 * Compares names in any order of their words, without titles and legal forms. Banks cut names and hide parts of
 * them; they write one person in two scripts. What cannot be compared is unknown, never different.
 */
export function compareNames(one: string, other: string): NameComparison {
  const [a, b] = [wordsOf(one), wordsOf(other)]
  if (!a || !b || a.script !== b.script) return 'unknown'
  if (pairUp(a.words, b.words, (x, y) => x === y)) return 'same'
  if (a.words.length < 2 || b.words.length < 2) return 'unknown'
  if (a.words.length !== b.words.length) return contains(a.words, b.words) ? 'unknown' : 'different'
  if (pairUp(a.words, b.words, isCut)) {
    // Initials alone fit too many people.
    return [...a.words, ...b.words].some((word) => [...word].length > 2) ? 'same' : 'unknown'
  }
  if (a.isMasked || b.isMasked) return 'unknown'
  return pairUp(a.words, b.words, isMistyped) ? 'same' : 'different'
}

interface Words {
  words: string[]
  script: 'latin' | 'thai'
  isMasked: boolean
}

const longestName = 200
const mask = /[*•#]+|X{3,}/g

function wordsOf(name: string): Words | undefined {
  const folded = fold(name.slice(0, longestName))
  const isMasked = folded.search(mask) !== -1
  const words = withoutForms(folded.replace(mask, ' '))
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter((word) => word !== '' && !titles.has(word))
  if (words.length === 0) return undefined
  const isThai = words.every((word) => /^[\p{Script=Thai}\d]+$/u.test(word))
  const isLatin = words.every((word) => /^[A-Z\d]+$/.test(word))
  if (!isThai && !isLatin) return undefined
  return { words, script: isThai ? 'thai' : 'latin', isMasked }
}

/** Letters that are no letter with a mark, so that decomposing them changes nothing. */
const folds: Record<string, string> = { Đ: 'D', Ø: 'O', ẞ: 'SS', Æ: 'AE', Œ: 'OE', Ł: 'L', Þ: 'TH' }

/** Latin letters lose their marks. Thai keeps its own, which are vowels and tones: without them ใจดี is ใจด. */
function fold(name: string): string {
  return name
    .normalize('NFKC')
    .replaceAll('\u0e4d\u0e32', '\u0e33')
    .toUpperCase()
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .replace(/[ĐØẞÆŒŁÞ]/g, (letter) => folds[letter] ?? letter)
}

/** Thai titles stand right before the name, without a blank; Thai writes no blanks between words either. */
const thaiTitles = ['นางสาว', 'น.ส.', 'นาย', 'นาง', 'บริษัท', 'บจก.', 'หจก.', 'บมจ.', 'ด.ช.', 'ด.ญ.']
const thaiForms = ['จำกัด', '(มหาชน)', 'มหาชน']
const titles = new Set('MR MRS MS MISS CTY TNHH LTD LIMITED INC PLC PCL GMBH LLC'.split(' '))

/** Words that are a form or a title in these places only: Cong, Co and Cp may also be names. */
const forms = [/^(CONG TY|CTY)( TNHH| CO PHAN| CP)?\b/, /\bCO[., ]+(?=LTD|LIMITED)/, /^(DR|KHUN)\b/]

function withoutForms(name: string): string {
  let rest = name.trim()
  const title = thaiTitles.find((one) => rest.startsWith(one))
  if (title !== undefined) rest = rest.slice(title.length)
  for (const form of thaiForms) rest = rest.replaceAll(form, ' ')
  for (const form of forms) rest = rest.replace(form, ' ')
  return rest
}

/** Whether each word of one name has its own partner in the other. */
function pairUp(a: string[], b: string[], fits: (x: string, y: string) => boolean): boolean {
  if (a.length !== b.length) return false
  const left = [...b]
  for (const word of a) {
    // An equal word is never spent on one that merely resembles it.
    const equal = left.indexOf(word)
    const found = equal === -1 ? left.findIndex((candidate) => fits(word, candidate)) : equal
    if (found === -1) return false
    left.splice(found, 1)
  }
  return true
}

function contains(a: string[], b: string[]): boolean {
  const [few, many] = a.length < b.length ? [a, b] : [b, a]
  return few.every((word) => many.some((other) => isCut(word, other) || isMistyped(word, other)))
}

function isCut(x: string, y: string): boolean {
  return x.startsWith(y) || y.startsWith(x)
}

function isMistyped(x: string, y: string): boolean {
  const isLong = [...x].length >= 5 && [...y].length >= 5
  return x === y || (isLong && differsByOne([...x], [...y]))
}

/** One letter too many, too few or another one, or two neighbours swapped (Damerau's distance of one). */
function differsByOne(a: string[], b: string[]): boolean {
  if (Math.abs(a.length - b.length) > 1) return false
  let start = 0
  while (start < a.length && a[start] === b[start]) start++
  let end = 0
  const most = Math.min(a.length, b.length) - start
  while (end < most && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  const [x, y] = [a.slice(start, a.length - end), b.slice(start, b.length - end)]
  if (x.length <= 1 && y.length <= 1) return true
  return x.length === 2 && y.length === 2 && x[0] === y[1] && x[1] === y[0]
}
