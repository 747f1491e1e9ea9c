import { Exact } from './json-text.ts'

export type CsvCell = string | bigint | Date | Exact | null

/** One line of CSV. Text that a spreadsheet would read as a formula is escaped first. */
export function csvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(cellText).join(',')}\r\n`
}

function cellText(cell: CsvCell): string {
  if (cell === null) return ''
  if (cell instanceof Exact) return cell.text
  if (cell instanceof Date) return cell.toISOString()
  if (typeof cell === 'bigint') return String(cell)
  // Spreadsheets ignore spaces before a formula's first character; some also accept its full-width form.
  const plain = /^\s*[=+\-@\t\r＝＋－＠]/.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}
