import { Exact } from './json-text.ts'

export type CsvCell = string | bigint | Date | Exact | null

/** A line of a table. Text that a spreadsheet would take for a formula is made plain text first. */
export function csvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(cellText).join(',')}\r\n`
}

function cellText(cell: CsvCell): string {
  if (cell === null) return ''
  if (cell instanceof Exact) return cell.text
  if (cell instanceof Date) return cell.toISOString()
  if (typeof cell === 'bigint') return String(cell)
  // Spreadsheets skip spaces before the sign that makes a formula, and some know its wide form.
  const plain = /^\s*[=+\-@\t\r＝＋－＠]/.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}
