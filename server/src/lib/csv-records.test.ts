import { describe, expect, it } from 'vitest'
import { csvCells, csvRecords } from './csv-records.ts'

async function recordsOf(...pieces: string[]): Promise<string[]> {
  const records: string[] = []
  async function* source() {
    yield* pieces
  }
  for await (const record of csvRecords(source())) records.push(record)
  return records
}

describe('records of a table', () => {
  it('are the same wherever the pieces are cut', async () => {
    const text = 'a,b\n1,"x\ny"\n2,"say ""no"",\nno"\n'
    const whole = await recordsOf(text)
    expect(whole).toEqual(['a,b', '1,"x\ny"', '2,"say ""no"",\nno"'])
    for (let cut = 1; cut < text.length; cut++) {
      expect(await recordsOf(text.slice(0, cut), text.slice(cut))).toEqual(whole)
    }
  })

  it('are not complete without the end of the last line', async () => {
    await expect(recordsOf('a,b\n1,2')).rejects.toThrow('has no end')
  })
})

describe('the values of a record', () => {
  it.each([
    ['1,2', ['1', '2']],
    [',', [null, null]],
    ['"",x', ['', 'x']],
    ['"a,b","c\nd"', ['a,b', 'c\nd']],
    ['"say ""no""",', ['say "no"', null]],
    ['""""', ['"']],
  ])('%j', (record, cells) => {
    expect(csvCells(record)).toEqual(cells)
  })

  it.each(['"a', '"a"b,c'])('%j is no record', (record) => {
    expect(() => csvCells(record)).toThrow('does not end')
  })
})
