import type { Readable } from 'node:stream'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import PDFDocument from 'pdfkit'
import { printLine, registerFonts } from './pdf-text.ts'

/** A column of the table. */
export interface PrintedColumn {
  name: string
  width: number
  align: 'left' | 'right'
  whole?: true
}

/** A statement ready to print, with every value as text. */
export interface PrintedStatement {
  /** What it is; a wallet's statement, unless it says so. */
  kind?: string
  /** Whose statement it is. */
  title: string
  madeAt: Date
  /** The subject and the totals, each a label and a text. */
  facts: [string, string][]
  figures: [string, string][]
  /** How many rows will follow, to number the pages. */
  rowCount?: number
  /** Left out if only the figures are printed. */
  rows?: AsyncIterable<PrintedRow>
  /** What the rows consist of; as on a wallet's statement, unless it says so. */
  columns?: readonly PrintedColumn[]
}

export interface PrintedRow {
  cells: string[]
  /** A balance or a total rather than a movement. */
  isSum?: true
}

// A4 landscape, in points.
const sheet = { width: 842, height: 595 }
const margin = 36
const right = sheet.width - margin
const gap = 8
const walletColumns: readonly PrintedColumn[] = [
  { name: 'Row', width: 40, align: 'right', whole: true },
  { name: 'Time', width: 92, align: 'left' },
  { name: 'Event', width: 98, align: 'left' },
  { name: 'Transaction or reason', width: 186, align: 'left' },
  { name: 'Change', width: 90, align: 'right', whole: true },
  { name: 'Held', width: 90, align: 'right', whole: true },
  { name: 'Fee', width: 74, align: 'right', whole: true },
  { name: 'Available', width: 100, align: 'right', whole: true },
]

const textSize = 8
const rowHeight = 15
const footerY = sheet.height - margin
const lastRowY = footerY - 22
const tableY = margin + 10
/** How long rows are printed before other requests are served. */
const sliceMs = 10

/** Prints a statement as a PDF, page by page while its rows are read. */
export function printStatement(statement: PrintedStatement): Readable {
  const document = new PDFDocument({
    size: [sheet.width, sheet.height],
    margin: 0,
    lang: 'en',
    info: { Title: `Statement of ${statement.title}`, CreationDate: statement.madeAt },
    // The cache would keep every word of every row.
    fontLayoutCache: false,
  })
  print(document, statement).then(
    () => document.end(),
    (error) => document.destroy(error),
  )
  return document
}

async function print(document: PDFKit.PDFDocument, statement: PrintedStatement): Promise<void> {
  registerFonts(document)
  heading(document, statement)
  const { rows, rowCount = 0, columns = walletColumns } = statement
  const pages = rows ? 1 + Math.ceil(rowCount / rowsPerPage) : 1
  // What it comes to has a page of its own: most readers need no other.
  let page = 1
  footer(document, statement.title, `Page ${page} of ${pages}`)
  if (!rows) return
  let y = Number.POSITIVE_INFINITY
  let turnedAt = performance.now()
  for await (const row of rows) {
    if (y > lastRowY) {
      document.addPage()
      y = columnNames(document, columns, tableY)
      page += 1
      footer(document, statement.title, `Page ${page} of ${pages}`)
    }
    tableRow(document, columns, row.cells, y, row.isSum)
    rule(document, y + 4.5, '#dddddd')
    y += rowHeight
    if (performance.now() - turnedAt > sliceMs) {
      await turn()
      turnedAt = performance.now()
    }
    // Produces no more than the reader takes, and stops waiting if the reader is gone.
    while (document.readableLength > 1_000_000 && !document.destroyed) await sleep(5)
    if (document.destroyed) return
  }
}

/** The first row stands below the column names. */
const rowsPerPage = Math.floor((lastRowY - tableY) / rowHeight)

function heading(document: PDFKit.PDFDocument, statement: PrintedStatement): void {
  const { kind = 'Wallet statement', title, facts, figures } = statement
  const width = right - margin
  printLine(document, kind, { x: margin, y: margin + 8, size: 9, width })
  printLine(document, title, { x: margin, y: margin + 30, size: 16, bold: true, width })
  const below = margin + 54
  facts.forEach(([label, text], at) => {
    const line = { y: below + at * 14, size: 9 }
    printLine(document, label, { ...line, x: margin, width: 60 })
    printLine(document, text, { ...line, x: margin + 60, width: 410, bold: true })
  })
  figures.forEach(([label, text], at) => {
    const line = { y: below + at * 14, size: 9 }
    printLine(document, label, { ...line, x: right - 290, width: 180 })
    const figure = { align: 'right', bold: true, whole: true } as const
    printLine(document, text, { ...line, ...figure, x: right - 110, width: 110 })
  })
}

function columnNames(
  document: PDFKit.PDFDocument,
  columns: readonly PrintedColumn[],
  y: number,
): number {
  const names = columns.map(({ name }) => name)
  tableRow(document, columns, names, y, true)
  rule(document, y + 4.5, '#000000')
  return y + rowHeight
}

function tableRow(
  document: PDFKit.PDFDocument,
  columns: readonly PrintedColumn[],
  cells: readonly string[],
  y: number,
  bold = false,
): void {
  let x = margin
  columns.forEach(({ name: _, width, ...column }, at) => {
    const line = { ...column, x, y, width: width - gap, size: textSize, bold }
    // The last column ends where the rule ends.
    if (at === columns.length - 1) line.width = width
    printLine(document, cells[at] ?? '', line)
    x += width
  })
}

function rule(document: PDFKit.PDFDocument, y: number, colour: string): void {
  document.moveTo(margin, y).lineTo(right, y).lineWidth(0.5).strokeColor(colour).stroke()
}

function footer(document: PDFKit.PDFDocument, title: string, page: string): void {
  const line = { x: margin, y: footerY, size: 7.5 }
  printLine(document, title, { ...line, width: 600 })
  printLine(document, page, { ...line, width: right - margin, align: 'right' })
}
