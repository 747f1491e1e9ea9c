import type { CsvCell } from './csv.ts'
import { Exact } from './json-text.ts'
import { zipOf } from './zip.ts'

/** A sheet of a workbook: the first row is its head. */
export interface Sheet {
  name: string
  rows: readonly (readonly CsvCell[])[]
}

const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const relations = 'http://schemas.openxmlformats.org/package/2006/relationships'
const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const content = 'application/vnd.openxmlformats-officedocument.spreadsheetml'

/**
 * A workbook in Office Open XML, with no more in it than readers need. Text is stored as text, so nothing in it is ever a
 * formula. A number that a spreadsheet would round, having more than 15 digits, is stored as text, too.
 */
export function xlsxOf(sheets: readonly Sheet[]): Buffer {
  const numbered = sheets.map((sheet, at) => ({ ...sheet, n: at + 1 }))
  const each = (write: (sheet: { n: number; name: string }) => string) =>
    numbered.map(write).join('')
  return zipOf([
    {
      name: '[Content_Types].xml',
      content: `${head}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${content}.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="${content}.styles+xml"/>${each(({ n }) => `<Override PartName="/xl/worksheets/sheet${n}.xml" ContentType="${content}.worksheet+xml"/>`)}</Types>`,
    },
    {
      name: '_rels/.rels',
      content: `${head}<Relationships xmlns="${relations}"><Relationship Id="rId1" Type="${office}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    },
    {
      name: 'xl/workbook.xml',
      content: `${head}<workbook xmlns="${main}" xmlns:r="${office}"><sheets>${each(({ n, name }) => `<sheet name="${escaped(name)}" sheetId="${n}" r:id="rId${n}"/>`)}</sheets></workbook>`,
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      content: `${head}<Relationships xmlns="${relations}">${each(({ n }) => `<Relationship Id="rId${n}" Type="${office}/worksheet" Target="worksheets/sheet${n}.xml"/>`)}<Relationship Id="rId${numbered.length + 1}" Type="${office}/styles" Target="styles.xml"/></Relationships>`,
    },
    {
      // The second of the formats is bold, for heads.
      name: 'xl/styles.xml',
      content: `${head}<styleSheet xmlns="${main}"><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="2"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/></cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`,
    },
    ...numbered.map(({ n, rows }) => ({
      name: `xl/worksheets/sheet${n}.xml`,
      content: `${head}<worksheet xmlns="${main}"><sheetData>${rows.map(rowOf).join('')}</sheetData></worksheet>`,
    })),
  ])
}

function rowOf(cells: readonly CsvCell[], at: number): string {
  const style = at === 0 ? ' s="1"' : ''
  const texts = cells.map((cell, column) => cellOf(cell, `${letters(column)}${at + 1}`, style))
  return `<row r="${at + 1}">${texts.join('')}</row>`
}

function cellOf(cell: CsvCell, place: string, style: string): string {
  if (cell === null) return ''
  const text =
    cell instanceof Exact ? cell.text : cell instanceof Date ? cell.toISOString() : String(cell)
  const isNumber = (cell instanceof Exact || typeof cell === 'bigint') && isHeldExactly(text)
  if (isNumber) return `<c r="${place}"${style}><v>${text}</v></c>`
  return `<c r="${place}"${style} t="inlineStr"><is><t xml:space="preserve">${escaped(text)}</t></is></c>`
}

/** Spreadsheets keep 15 digits of a number. */
function isHeldExactly(text: string): boolean {
  return /^-?\d+(\.\d+)?$/.test(text) && text.replace(/\D/g, '').replace(/^0+/, '').length <= 15
}

/** The name of a column: A to Z, AA and so on. */
function letters(column: number): string {
  const last = String.fromCharCode(65 + (column % 26))
  return column < 26 ? last : letters(Math.floor(column / 26) - 1) + last
}

/** Text as XML has it, without the characters that it cannot have. */
function escaped(text: string): string {
  return (
    // Encoding replaces halves of characters.
    Buffer.from(text)
      .toString()
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what XML cannot have
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
  )
}
