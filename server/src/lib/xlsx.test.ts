import { crc32, inflateRawSync } from 'node:zlib'
import { SaxesParser } from 'saxes'
import { expect, test } from 'vitest'
import { Exact } from './json-text.ts'
import { xlsxOf } from './xlsx.ts'

/** The files of a zip archive, read by its directory, each with its checksum compared. */
function filesIn(zip: Buffer): Map<string, string> {
  const end = zip.lastIndexOf(Buffer.from('PK\u0005\u0006'))
  const files = new Map<string, string>()
  let at = zip.readUInt32LE(end + 16)
  for (let n = zip.readUInt16LE(end + 10); n > 0; n--) {
    const name = zip.subarray(at + 46, at + 46 + zip.readUInt16LE(at + 28)).toString()
    const header = zip.readUInt32LE(at + 42)
    const start = header + 30 + zip.readUInt16LE(header + 26)
    const plain = inflateRawSync(zip.subarray(start, start + zip.readUInt32LE(at + 20)))
    expect([crc32(plain), plain.length]).toEqual([
      ...[zip.readUInt32LE(at + 16), zip.readUInt32LE(at + 24)],
    ])
    expect(zip.subarray(header + 14, header + 26)).toEqual(zip.subarray(at + 16, at + 28))
    files.set(name, plain.toString())
    at += 46 + name.length
  }
  return files
}

/** Every start tag and text; fails if the XML is not well-formed. */
function wellFormed(xml: string): string[] {
  const found: string[] = []
  const parser = new SaxesParser({ xmlns: true })
  parser.on('error', (error) => {
    throw error
  })
  parser.on('text', (text) => found.push(text))
  parser.write(xml).close()
  return found.filter((text) => text !== '\n')
}

test('a workbook is a zip of well-formed parts, and its cells are what was given', () => {
  const rows = [
    ['name', 'amount'],
    ['=cmd|"/c calc"!A1 <b> & \u0007', new Exact('12.50')],
    ['ไทย', new Exact('1234567890123.45')],
    [null, new Exact('12345678901234.56')],
    ['  spaces  ', 99_999_999_999_999_999n],
    [new Date('2026-11-17T00:00:00Z'), -5n],
  ]
  const files = filesIn(xlsxOf([{ name: 'A & B', rows }]))
  expect([...files.keys()]).toEqual([
    ...['[Content_Types].xml', '_rels/.rels', 'xl/workbook.xml', 'xl/_rels/workbook.xml.rels'],
    ...['xl/styles.xml', 'xl/worksheets/sheet1.xml'],
  ])
  for (const xml of files.values()) wellFormed(xml)
  const sheet = files.get('xl/worksheets/sheet1.xml') ?? ''
  expect(wellFormed(sheet)).toEqual([
    ...['name', 'amount', '=cmd|"/c calc"!A1 <b> & \ufffd', '12.50', 'ไทย', '1234567890123.45'],
    ...['12345678901234.56', '  spaces  ', '99999999999999999', '2026-11-17T00:00:00.000Z', '-5'],
  ])
  // Nothing is a formula, and what a double would round is text.
  expect(sheet).not.toContain('<f>')
  expect(sheet).toContain('<c r="B2"><v>12.50</v></c>')
  expect(sheet).toContain('<c r="B3"><v>1234567890123.45</v></c>')
  expect(sheet).toContain('<c r="B4" t="inlineStr">')
  expect(sheet).toContain('<c r="B5" t="inlineStr">')
  expect(sheet).toContain('<c r="B6"><v>-5</v></c>')
})

test('columns are named as spreadsheets name them', () => {
  const row = Array.from({ length: 703 }, (_, n) => BigInt(n))
  const sheet = filesIn(xlsxOf([{ name: 'A', rows: [row] }])).get('xl/worksheets/sheet1.xml')
  for (const place of ['A1', 'Z1', 'AA1', 'ZZ1', 'AAA1']) expect(sheet).toContain(`r="${place}"`)
})
