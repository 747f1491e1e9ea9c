import { expect, test } from 'vitest'
import { isPrintable } from './printable.ts'

test.each([
  ['a letter', 'a'],
  ['spaces between words', 'Somchai Jaidee'],
  ['punctuation', `O'Brien-Smith, Jr. (#1) "x" \\ /`],
  ['Thai with its marks', 'สมชาย ใจดี'],
  ['Vietnamese, decomposed', 'Nguye\u0302\u0303n'],
  ['64 emoji', '😀'.repeat(64)],
  ['64 letters', 'x'.repeat(64)],
  ['a space at its end', 'x '],
])('%s is printable', (_what, text) => {
  expect(isPrintable(text, 64)).toBe(true)
})

test.each([
  ['nothing', ''],
  ['a blank', ' '],
  ['blanks of other widths', '\u00a0\u3000'],
  ['65 letters', 'x'.repeat(65)],
  ['65 emoji', '😀'.repeat(65)],
  ['NUL', 'a\u0000b'],
  ['a tab', 'a\tb'],
  ['a line break', 'a\nb'],
  ['a line break at its end', 'a\n'],
  ['escape', 'a\u001b[31mb'],
  ['delete', 'a\u007fb'],
  ['a C1 control', 'a\u0085b'],
  ['a line separator', 'a\u2028b'],
  ['a paragraph separator', 'a\u2029b'],
  ['a zero width space', 'a\u200bb'],
  ['a text that turns direction', 'a\u202eb'],
  ['a byte order mark', '\ufeffa'],
  ['a private character', 'a\ue000b'],
  ['an unassigned character', 'a\uffffb'],
  ['a lone high surrogate', 'a\ud800b'],
  ['a lone low surrogate', 'a\udc00b'],
])('%s is not printable', (_what, text) => {
  expect(isPrintable(text, 64)).toBe(false)
})
