import { inflateSync } from 'node:zlib'
import PDFDocument from 'pdfkit'

/** Text on a page, where it was put. */
export interface Printed {
  page: number
  font: string
  text: string
  x: number
  y: number
  width: number
  /** What a reader copies from there; a text whose marks are drawn one by one is copied with the first. */
  copied: string
}

/** What a PDF of ours shows: every piece of text, read back through the fonts it is drawn with. */
export function printedIn(pdf: Buffer): Printed[] {
  const objects = objectsOf(pdf)
  const fonts = fontsOf(objects)
  const pages = [...objects.values()].filter(({ text }) => /\/Type \/Page\b/.test(text))
  return pages.flatMap(({ text }, at) => {
    const content = objects.get(/\/Contents (\d+) 0 R/.exec(text)?.[1] ?? '')
    return piecesOf(content?.stream ?? '', fonts).map((piece) => ({ page: at + 1, ...piece }))
  })
}

interface PdfObject {
  text: string
  stream: string
}

function objectsOf(pdf: Buffer): Map<string, PdfObject> {
  const objects = new Map<string, PdfObject>()
  for (const match of pdf.toString('latin1').matchAll(/(\d+) 0 obj\n([\s\S]*?)\nendobj/g)) {
    const [, id = '', whole = ''] = match
    const [text = '', packed] = whole.split(/\nstream\n|\nendstream/)
    const bytes = packed && Buffer.from(packed, 'latin1')
    const stream = bytes ? (text.includes('FlateDecode') ? inflateSync(bytes) : bytes) : ''
    objects.set(id, { text, stream: stream.toString('latin1') })
  }
  return objects
}

interface PdfFont {
  textOf(hex: string): string
  /** In thousandths of the size. */
  widthOf(hex: string): number
}

/** The fonts by their names on the page. */
function fontsOf(objects: Map<string, PdfObject>): Map<string, PdfFont> {
  const fonts = new Map<string, PdfFont>()
  for (const { text } of objects.values()) {
    for (const [, name = '', id = ''] of text.matchAll(/\/(F\d+) (\d+) 0 R/g)) {
      const font = objects.get(id)?.text ?? ''
      fonts.set(name, font.includes('/ToUnicode') ? embedded(font, objects) : standard(font))
    }
  }
  return fonts
}

function standard(font: string): PdfFont {
  const name = /\/BaseFont \/(\S+)/.exec(font)?.[1] ?? ''
  const measure = new PDFDocument({ autoFirstPage: false }).font(name, 1000)
  const textOf = (hex: string) => Buffer.from(hex, 'hex').toString('latin1').replaceAll('\x85', '…')
  return { textOf, widthOf: (hex) => measure.widthOfString(textOf(hex)) }
}

function embedded(font: string, objects: Map<string, PdfObject>): PdfFont {
  const named = (key: RegExp, within: string) => objects.get(key.exec(within)?.[1] ?? '')
  const cmap = named(/\/ToUnicode (\d+) 0 R/, font)?.stream ?? ''
  const letters = [...cmap.matchAll(/\[(.*)\]/g)]
    .flatMap(([, entries = '']) => [...entries.matchAll(/<([0-9a-f ]*)>/g)])
    .map(([, code = '']) => utf16(Buffer.from(code.replaceAll(' ', ''), 'hex')))
  const glyphs = named(/\/DescendantFonts \[(\d+) 0 R/, font)?.text ?? ''
  const widths = (/\/W \[0 \[([^\]]*)/.exec(glyphs)?.[1] ?? '').split(' ').map(Number)
  const codes = (hex: string) => (hex.match(/.{4}/g) ?? []).map((code) => Number.parseInt(code, 16))
  return {
    textOf: (hex) =>
      codes(hex)
        .map((code) => letters[code] ?? '')
        .join(''),
    widthOf: (hex) => codes(hex).reduce((sum, code) => sum + (widths[code] ?? Number.NaN), 0),
  }
}

function piecesOf(content: string, fonts: Map<string, PdfFont>): Omit<Printed, 'page'>[] {
  const pieces: Omit<Printed, 'page'>[] = []
  let [name, size, x, y] = ['', 0, 0, 0]
  let actual: string | undefined
  const operators =
    /\/ActualText \(([\s\S]*?[^\\])\)\n?>>|(EMC)|1 0 0 1 (\S+) (\S+) Tm|\/(F\d+) (\S+) Tf|\[(.*)\] TJ/g
  for (const [, told, end, left, up, font, points, shown] of content.matchAll(operators)) {
    if (told !== undefined) actual = utf16(Buffer.from(unescaped(told), 'latin1').subarray(2))
    else if (end) actual = undefined
    else if (left) [x, y] = [Number(left), Number(up)]
    else if (font) [name, size] = [font, Number(points)]
    else if (shown) {
      const parts = [...shown.matchAll(/<([0-9a-f]*)> (\S+)/g)]
      const text = parts.map(([, hex = '']) => fonts.get(name)?.textOf(hex)).join('')
      const width = parts.reduce(
        (sum, [, hex = '', back]) => sum + (fonts.get(name)?.widthOf(hex) ?? 0) - Number(back),
        0,
      )
      const copied = actual ?? text
      pieces.push({ font: name, text, x, y, width: (width * size) / 1000, copied })
      if (actual !== undefined) actual = ''
    }
  }
  return pieces
}

function utf16(bytes: Buffer): string {
  return Buffer.from(bytes).swap16().toString('utf16le')
}

function unescaped(text: string): string {
  const controls: Record<string, string> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }
  return text.replace(/\\([\s\S])/g, (_, letter: string) => controls[letter] ?? letter)
}
