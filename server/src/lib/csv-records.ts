/** A value in a CSV record; null for an empty value without quotes. */
export type Cell = string | null

/**
 * Splits CSV text that arrives in pieces into its records, unparsed. Quoted values may hold line breaks.
 */
export async function* csvRecords(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = ''
  let searched = 0
  let quoted = false
  for await (const piece of pieces) {
    rest += piece
    let start = 0
    for (; searched < rest.length; searched++) {
      const code = rest.charCodeAt(searched)
      if (code === quote) quoted = !quoted
      else if (code === lineEnd && !quoted) {
        yield rest.slice(start, searched)
        start = searched + 1
      }
    }
    rest = rest.slice(start)
    searched = rest.length
  }
  if (rest !== '') throw new Error('the last line of the table has no end')
}

const quote = 0x22
const lineEnd = 0x0a

/** The values of one record. An empty value without quotes is null. */
export function csvCells(record: string): Cell[] {
  const cells: Cell[] = []
  for (let at = 0; at <= record.length; at++) {
    if (record.charCodeAt(at) !== quote) {
      const comma = record.indexOf(',', at)
      const end = comma === -1 ? record.length : comma
      cells.push(end === at ? null : record.slice(at, end))
      at = end
      continue
    }
    let end = record.indexOf('"', at + 1)
    while (end !== -1 && record.charCodeAt(end + 1) === quote) end = record.indexOf('"', end + 2)
    const isClosed = end !== -1 && (end + 1 === record.length || record[end + 1] === ',')
    if (!isClosed) throw new Error('a quoted value of the table does not end')
    cells.push(record.slice(at + 1, end).replaceAll('""', '"'))
    at = end + 1
  }
  return cells
}
