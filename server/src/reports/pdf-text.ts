import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { create } from 'fontkit'

/** Where a line of text stands on paper: its baseline, and the room it has. */
export interface Line {
  x: number
  y: number
  size: number
  bold?: boolean
  width: number
  align?: 'left' | 'right'
  /** Made smaller where it does not fit, instead of being cut: half an amount would be a lie. */
  whole?: boolean
}

interface Font {
  /** What the document calls it. */
  name: string
  file: Buffer
  codePoints: ReadonlySet<number>
}

/** Characters in a row that one font prints. */
interface Run {
  font: string
  text: string
}

interface Look {
  latin: string
  fonts: readonly [Font, ...Font[]]
}

/**
 * Every reader has Helvetica and it costs nothing, so it prints what is Latin from end to end: nearly every
 * text. What has another letter is printed by fonts that go with the document, a text in one look: the
 * first has Helvetica's shapes and widths, and Vietnamese, Cyrillic and Greek; the second has Thai.
 */
const looks: Record<'regular' | 'bold', Look> = {
  regular: {
    latin: 'Helvetica',
    fonts: [
      fontIn('@expo-google-fonts/arimo/400Regular/Arimo_400Regular.ttf'),
      fontIn('@expo-google-fonts/noto-sans-thai/400Regular/NotoSansThai_400Regular.ttf'),
    ],
  },
  bold: {
    latin: 'Helvetica-Bold',
    fonts: [
      fontIn('@expo-google-fonts/arimo/700Bold/Arimo_700Bold.ttf'),
      fontIn('@expo-google-fonts/noto-sans-thai/700Bold/NotoSansThai_700Bold.ttf'),
    ],
  },
}

/** Without the soft hyphen, which is not meant to be seen. */
const isLatin = /^[\x20-\x7e\xa0-\xac\xae-\xff–—‘’“”…]*$/
const isMark = /\p{M}/u
const staysWithLast = /[\p{M} ]/u
/** Controls; and what is written from right to left, which would come out in the wrong order. */
const neverPrinted = /[\p{C}\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/u
/** Stands for what no font has; the first font has it. */
const replacement = '\ufffd'
const ellipsis = '…'
/** Of the characters of each font. */
const widths = new Map<string, Map<string, number>>()
const mostWidths = 1_000
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

function fontIn(name: string): Font {
  const file = readFileSync(createRequire(import.meta.url).resolve(name))
  const font = create(file)
  if (!('characterSet' in font)) throw new Error(`${name} is not a font`)
  return { name, file, codePoints: new Set(font.characterSet) }
}

/** Tells a document its fonts; those that it does not use are not put into it. */
export function registerFonts(document: PDFKit.PDFDocument): void {
  for (const { fonts } of Object.values(looks)) {
    for (const { name, file } of fonts) document.registerFont(name, file)
  }
}

/** Prints text of any language on one line. What has no room is cut, and an ellipsis says so. */
export function printLine(document: PDFKit.PDFDocument, text: string, line: Line): void {
  const look = line.bold ? looks.bold : looks.regular
  let { size } = line
  let runs = runsOf(readable(text), look)
  let width = widthOf(document, runs)
  if (width * size > line.width && line.whole) size = line.width / width
  else if (width * size > line.width) {
    runs = cut(document, readable(text), look, line.width / size)
    width = widthOf(document, runs)
  }
  document.x = line.align === 'right' ? line.x + line.width - width * size : line.x
  for (const run of runs) printRun(document, run, line.y, size)
}

/** Leaves the document where the next run begins. */
function printRun(
  document: PDFKit.PDFDocument,
  { font, text }: Run,
  y: number,
  size: number,
): void {
  const drawn = drawable(text)
  // Marks are drawn one by one where they belong; found and copied they are as they were written.
  const isMarked = drawn !== text || isMark.test(text)
  if (isMarked) document.markContent('Span', { actual: text })
  document.font(font, size).text(drawn, document.x, y, { lineBreak: false, baseline: 'alphabetic' })
  if (isMarked) document.endMarkedContent()
}

/** As many whole characters as have room with an ellipsis behind them. */
function cut(document: PDFKit.PDFDocument, text: string, look: Look, room: number): Run[] {
  let kept = ''
  let left = room - widthOf(document, runsOf(ellipsis, look))
  for (const character of charactersOf(text)) {
    left -= widthOf(document, runsOf(character, look))
    if (left < 0) break
    kept += character
  }
  return runsOf(`${kept.trimEnd()}${ellipsis}`, look)
}

/**
 * At a size of one point. Laying letters out takes long, so each is measured once and the widths are added
 * up; what kerning saves is not counted.
 */
function widthOf(document: PDFKit.PDFDocument, runs: readonly Run[]): number {
  let width = 0
  for (const { font, text } of runs) {
    for (const character of charactersOf(text)) width += widthOfOne(document, font, character)
  }
  return width
}

function widthOfOne(document: PDFKit.PDFDocument, font: string, character: string): number {
  const known = widths.get(font) ?? new Map<string, number>()
  let width = known.get(character)
  if (width === undefined) {
    width = document.font(font, 1).widthOfString(drawable(character))
    if (known.size >= mostWidths) known.clear()
    widths.set(font, known.set(character, width))
  }
  return width
}

/** As people count them: with their marks. */
function charactersOf(text: string): Iterable<string> {
  if (isLatin.test(text)) return text
  return Array.from(graphemes.segment(text), ({ segment }) => segment)
}

/** On one line, letters and their marks in one where they can be, and nothing that cannot be seen. */
function readable(text: string): string {
  if (isLatin.test(text)) return text
  return text
    .replace(/\p{DI}/gu, '')
    .replace(/\s+/g, ' ')
    .normalize('NFC')
}

/** The text by the fonts that have its characters; a mark or a space stays with what is before it. */
function runsOf(text: string, { latin, fonts }: Look): Run[] {
  if (isLatin.test(text)) return [{ font: latin, text }]
  const runs: (Run & { by: Font })[] = []
  for (const character of text) {
    const last = runs.at(-1)
    const found =
      last && staysWithLast.test(character) && has(last.by, character)
        ? last.by
        : fonts.find((font) => has(font, character))
    const by = found ?? fonts[0]
    const printed = found ? character : replacement
    if (last?.by === by) last.text += printed
    else runs.push({ by, font: by.name, text: printed })
  }
  return runs
}

function has({ codePoints }: Font, character: string): boolean {
  return codePoints.has(character.codePointAt(0) ?? 0) && !neverPrinted.test(character)
}

/**
 * A tone goes above the ring of the vowel am, though it is written before it. Text engines see to that;
 * the one of the PDF does not.
 */
function drawable(text: string): string {
  return text.replace(/([\u0e48-\u0e4b]?)\u0e33/g, '\u0e4d$1\u0e32')
}
