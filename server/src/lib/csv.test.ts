import { expect, test } from 'vitest'
import { csvLine } from './csv.ts'
import { Exact } from './json-text.ts'

test.each([
  ['plain', 'plain'],
  ['a,b', '"a,b"'],
  ['say "so"', '"say ""so"""'],
  ['two\nlines', '"two\nlines"'],
  ['=1+1', "'=1+1"],
  ['+66', "'+66"],
  ['-5', "'-5"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t=1"],
  [' =1', "' =1"],
  ['＝1+1', "'＝1+1"],
  ['=HYPERLINK("x","y")', `"'=HYPERLINK(""x"",""y"")"`],
  ['a=b', 'a=b'],
])('the text %j stands as %j', (text, expected) => {
  expect(csvLine([text])).toBe(`${expected}\r\n`)
})

test('numbers, times and nothing stand as they are', () => {
  const at = new Date('2026-01-31T08:30:00Z')
  expect(csvLine([new Exact('-12.5'), 7n, at, null])).toBe('-12.5,7,2026-01-31T08:30:00.000Z,\r\n')
})
