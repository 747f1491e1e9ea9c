import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import PDFDocument from 'pdfkit'

const margin = 36
const rowHeight = 13
const columns = [
  { name: 'Seq', width: 44, align: 'right' },
  { name: 'Time', width: 98, align: 'left' },
  { name: 'Event', width: 92, align: 'left' },
  { name: 'Order or reason', width: 92, align: 'left' },
  { name: 'Available', width: 68, align: 'right' },
  { name: 'Held', width: 62, align: 'right' },
  { name: 'Balance', width: 67, align: 'right' },
] as const

/** A statement as PDF, written page by page while it is read. */
export function printStatement(
  heading: { title: string; lines: string[] },
  rows: AsyncIterable<string[]>,
): Readable {
  const document = new PDFDocument({ size: 'A4', margin, info: { Title: 'Statement' } })
  print(document, heading, rows).then(
    () => document.end(),
    (error) => document.destroy(error),
  )
  return document
}

async function print(
  document: PDFKit.PDFDocument,
  { title, lines }: { title: string; lines: string[] },
  rows: AsyncIterable<string[]>,
): Promise<void> {
  document.font('Helvetica-Bold').fontSize(15).text(printed(title))
  document.font('Helvetica').fontSize(9)
  for (const line of lines) document.text(printed(line))
  let y = headings(document, document.y + 10)
  for await (const row of rows) {
    if (y + rowHeight > document.page.height - margin) {
      document.addPage()
      y = headings(document, margin)
    }
    line(document, row, y)
    y += rowHeight
    // No more is made than the reader takes; one who is gone takes nothing more.
    while (document.readableLength > 1_000_000 && !document.destroyed) await sleep(5)
    if (document.destroyed) return
  }
}

function headings(document: PDFKit.PDFDocument, y: number): number {
  document.font('Helvetica-Bold').fontSize(8)
  line(
    document,
    columns.map(({ name }) => name),
    y,
  )
  document.font('Helvetica').fontSize(8)
  return y + rowHeight + 2
}

function line(document: PDFKit.PDFDocument, cells: readonly string[], y: number): void {
  let x = margin
  columns.forEach(({ width, align }, at) => {
    const options = { width: width - 4, height: rowHeight, align, ellipsis: true, lineBreak: false }
    document.text(printed(cells[at] ?? ''), x, y, options)
    x += width
  })
}

/** The fonts every reader has know Latin letters alone; others would come out as noise. */
function printed(text: string): string {
  return text.replace(/[^\x20-\x7e\xa0-\xff]/g, '?')
}
