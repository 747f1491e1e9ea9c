import { expect, test } from 'vitest'
import { cut, encoded, latinText, missingIn } from './characters.ts'

test.each([
  ['Müller & Söhne', 'Mueller + Soehne', null],
  ['Mu\u0308ller', 'Mueller', null],
  ['François Ångström', 'Francois Angstroem', null],
  ['Đặng Thị Ánh', 'Dang Thi Anh', null],
  ['ẞß Łódź Ørsted Æ þ', 'SSss Lodz Orsted AE th', null],
  ['O’Brien–Smith_1', "O'Brien-Smith-1", null],
  ['A*B  #  C', 'A B C', null],
  ['ＡＢ', 'AB', null],
  ['Иван', '', 'И'],
  ['Ann สม', 'Ann', 'ส'],
  ['٣', '', '٣'],
])('%s in Latin letters', (text, latin, lost) => {
  expect(latinText(text)).toEqual({ text: latin, lost })
})

test('windows-874 has Thai and ASCII, a byte for each character', () => {
  const text = 'Aกขฮฯะ๛๙ ~€'
  expect(missingIn('windows-874', text)).toBeNull()
  const bytes = encoded('windows-874', text)
  expect(bytes).toHaveLength(text.length)
  expect(bytes.subarray(0, 3)).toEqual(Buffer.from([0x41, 0xa1, 0xa2]))
  expect(new TextDecoder('windows-874').decode(bytes)).toBe(text)
  expect(missingIn('windows-874', 'กé')).toBe('é')
  expect(missingIn('windows-874', '\u0081')).toBe('\u0081')
  expect(missingIn('ascii', 'aก')).toBe('ก')
})

test('a cut text keeps whole characters', () => {
  expect(cut('a😀b', 2)).toBe('a😀')
  expect(cut('ab cd', 3)).toBe('ab')
})
