import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { create } from 'fontkit'

/** The position of a line of text on paper: its baseline and the available width. */
export interface Line {
  x: number
  y: number
  size: number
  bold?: boolean
  width: number
  align?: 'left' | 'right'
  /** Shrunk to fit instead of cut: part of an amount would be misleading. */
  whole?: boolean
}

interface Font {
  /** The font's name in the document. */
  name: string
  file: Buffer
  codePoints: ReadonlySet<number>
}

/** Consecutive characters that one font prints. */
interface Run {
  font: string
  text: string
}

interface Look {
  latin: string
  fonts: readonly [Font, ...Font[]]
}

/**
 * Every PDF reader has Helvetica, so it prints texts that are entirely Latin, which is nearly all of them, at
 * no cost in size. A text with any other letter is printed entirely in embedded fonts, so that it looks
 * uniform: the first has Helvetica's shapes and widths plus Vietnamese, Cyrillic and Greek; the second has
 * Thai.
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

/** Excludes the soft hyphen, which should not be visible. */
const isLatin = /^[\x20-\x7e\xa0-\xac\xae-\xff–—‘’“”…]*$/
const isMark = /\p{M}/u
const staysWithLast = /[\p{M} ]/u
/** Control characters, and right-to-left scripts, which would be printed in the wrong order. */
const neverPrinted = /[\p{C}\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/u
/** Replaces characters that no font has; the first font has it. */
const replacement = '\ufffd'
const ellipsis = '…'
/** The character widths of each font. */
const widths = new Map<string, Map<string, number>>()
const mostWidths = 1_000
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

function fontIn(name: string): Font {
  const file = readFileSync(createRequire(import.meta.url).resolve(name))
  const font = create(file)
  if (!('characterSet' in font)) throw new Error(`${name} is not a font`)
  return { name, file, codePoints: new Set(font.characterSet) }
}

/** Registers the fonts with a document; unused ones are not embedded. */
export function registerFonts(document: PDFKit.PDFDocument): void {
  for (const { fonts } of Object.values(looks)) {
    for (const { name, file } of fonts) document.registerFont(name, file)
  }
}

/** Prints text of any language on one line. Text that does not fit is cut and ends in an ellipsis. */
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

/** Leaves the cursor where the next run begins. */
function printRun(
  document: PDFKit.PDFDocument,
  { font, text }: Run,
  y: number,
  size: number,
): void {
  const drawn = drawable(text)
  // Marks are drawn individually at their positions; searching and copying still give the original text.
  const isMarked = drawn !== text || isMark.test(text)
  if (isMarked) document.markContent('Span', { actual: text })
  document.font(font, size).text(drawn, document.x, y, { lineBreak: false, baseline: 'alphabetic' })
  if (isMarked) document.endMarkedContent()
}

/** As many whole characters as fit with an ellipsis after them. */
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
 * The width at a size of one point. Text layout is slow, so each character is measured once and the widths
 * are added up, ignoring kerning.
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

/** Characters as people count them, with their marks. */
function charactersOf(text: string): Iterable<string> {
  if (isLatin.test(text)) return text
  return Array.from(graphemes.segment(text), ({ segment }) => segment)
}

/**
 * Joins the text on one line, composes letters with their marks where possible, and removes invisible
 * characters.
 */
function readable(text: string): string {
  if (isLatin.test(text)) return text
  return text
    .replace(/\p{DI}/gu, '')
    .replace(/\s+/g, ' ')
    .normalize('NFC')
}

/**
 * Splits the text by the fonts that have its characters; a mark or a space stays with the character before
 * it.
 */
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
 * A tone mark goes above the ring of the vowel sara am, although it is written before the vowel. Text engines
 * handle this; the PDF library does not.
 */
function drawable(text: string): string {
  return text.replace(/([\u0e48-\u0e4b]?)\u0e33/g, '\u0e4d$1\u0e32')
}
