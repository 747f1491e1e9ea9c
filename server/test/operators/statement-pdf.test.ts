import { beforeAll, describe, expect, it } from 'vitest'
import { printStatement } from '../../src/reports/statement-pdf.ts'
import { type Printed, printedIn } from '../support/printed-text.ts'

/** A statement of rows that are a reason each, or cells. */
async function statementOf(rows: (string | string[])[], title = 'Shop'): Promise<Buffer> {
  async function* cells() {
    for (const row of rows) {
      yield { cells: typeof row === 'string' ? ['1', 'time', 'adjustment', row] : row }
    }
  }
  const pdf = printStatement({
    title,
    madeAt: new Date(0),
    facts: [['Currency', 'THB']],
    figures: [['Opening balance', '0.00']],
    rowCount: rows.length,
    rows: cells(),
  })
  return Buffer.concat(await pdf.toArray())
}

const drawn = (pieces: Printed[]) => pieces.map(({ text }) => text).join('')
const copied = (pieces: Printed[]) => pieces.map((piece) => piece.copied).join('')
const missing = '\ufffd'

describe('names', () => {
  const names = [
    'ร้านทองดี กุ้ง ปู่ เกื้อกูล ทั้งนั้น',
    'น้ำใจดี ซ้ำ ตำรวจ',
    'Nguyễn Thị Phước Đặng Ỹ ₫',
    'Михаил Щербаков Ґє',
    'Γιώργος ἀρχή',
    'Łukasz Żółć Ünal ı',
    'Công ty สมชาย & Сын, 10 ฿',
  ]
  let pdf: Buffer
  let pieces: Printed[]

  beforeAll(async () => {
    const rows = [...names, ...names.map((name) => `d: ${name.normalize('NFD')}`)]
    pdf = await statementOf(rows, 'Công ty สมชาย น้ำ')
    pieces = printedIn(pdf)
  })

  it.each(names)('are printed, found and copied in their own letters: %s', (name) => {
    expect(copied(pieces)).toContain(`adjustment${name}`)
    expect(copied(pieces)).toContain(`d: ${name.normalize('NFC')}`)
    expect(drawn(pieces)).not.toContain(missing)
  })

  it('head the statement and stand at the foot of every page', () => {
    expect(copied(pieces).split('Công ty สมชาย น้ำ')).toHaveLength(4)
  })

  it('in Thai have the tone above the ring of the vowel am', () => {
    expect(drawn(pieces)).toContain('น\u0e4d\u0e49\u0e32')
    expect(drawn(pieces)).not.toContain('\u0e33')
  })

  it('add no more of a font than their letters', () => {
    expect(pdf.length).toBeLessThan(80_000)
  })
})

describe('what no font has', () => {
  it.each([
    ['an emoji', 'a😀b', `a${missing}b`],
    ['Chinese', 'a中b', `a${missing}b`],
    ['a letter from right to left', 'aאb', `a${missing}b`],
    ['half of a character', 'a\ud83db', `a${missing}b`],
    ['a control', 'a\x07b', `a${missing}b`],
    ['a letter of private use', 'a\ue000b', `a${missing}b`],
  ])('is seen to be missing: %s', async (_, text, shown) => {
    const pdf = await statementOf([text])
    expect(drawn(printedIn(pdf))).toContain(shown)
  })

  it('or is not meant to be seen, is not', async () => {
    const pdf = await statementOf(['a\u200b\u202e\ufe0f\u00ad\n\tb'])
    expect(drawn(printedIn(pdf))).toContain('adjustmenta b')
  })

  it('stops no statement, whatever characters there are', async () => {
    const rows: string[] = []
    for (let first = 0; first < 0x20000; first += 32) {
      // Every character where most of what the fonts have is, and some of all the others.
      if (first > 0x580 && first % 0x800 !== 0 && (first < 0xe00 || first > 0xe60)) continue
      rows.push(String.fromCodePoint(...Array.from({ length: 32 }, (_, at) => first + at)))
    }
    const pieces = printedIn(await statementOf(rows))
    expect(pieces.filter(({ text }) => text === 'adjustment')).toHaveLength(rows.length)
  })
})

describe('a text without room', () => {
  it.each(['a long reason ', 'ที่อยู่น้ำซ้ำ ', 'Nguyễn Thị Phước ', 'Ж', '😀'])(
    'is cut before the next column, and an ellipsis says so: %s',
    async (part) => {
      const cells = ['1', 't', 'e', part.repeat(100), '0.00']
      const pieces = printedIn(await statementOf([cells]))
      const [before, after] = ['e', '0.00'].map((cell) =>
        pieces.findLastIndex(({ text }) => text === cell),
      )
      const shown = pieces.slice((before ?? 0) + 1, after)
      expect(drawn(shown)).toMatch(/…$/)
      const { x: start } = shown[0] ?? { x: 0 }
      const { x, width } = shown.at(-1) ?? { x: 0, width: 0 }
      expect(x + width - start).toBeGreaterThan(150)
      expect(x + width - start).toBeLessThanOrEqual(178)
    },
  )

  it('is made smaller where it is an amount, and never cut', async () => {
    const most = '-90,071,992,547,409.91'
    const pieces = printedIn(await statementOf([['1', 't', 'e', 'r', most, most, most, most]]))
    expect(pieces.filter(({ text }) => text === most)).toHaveLength(4)
  })
})

it('tells its pages: as many as it has', async () => {
  for (const rows of [0, 1, 31, 32, 33, 64, 65]) {
    const pieces = printedIn(await statementOf(Array(rows).fill('reason')))
    const told = pieces.filter(({ text }) => /^Page /.test(text)).map(({ text }) => text)
    const pages = Math.max(...pieces.map(({ page }) => page))
    expect(told).toEqual(Array.from({ length: pages }, (_, at) => `Page ${at + 1} of ${pages}`))
    expect(pieces.filter(({ text }) => text === 'adjustment')).toHaveLength(rows)
  }
})

it('begins with what it comes to, on a page of its own', async () => {
  const pieces = printedIn(await statementOf(['reason']))
  const pageOf = (wanted: string) => pieces.find(({ text }) => text === wanted)?.page
  const first = pageOf('Opening balance')
  expect([pageOf('adjustment'), pageOf('Event')]).toEqual([(first ?? 0) + 1, (first ?? 0) + 1])
})
