import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bahtFile, bahtItem } from '../../test/support/payment-files.ts'
import { type Currency, parseDecimal } from '../lib/money.ts'
import { paymentCode } from '../lib/payment-code.ts'
import { bulkFormat } from './bulk-file.ts'
import { bulkProfiles } from './bulk-profiles.ts'
import { tidy } from './characters.ts'
import type { Payee, PaymentFile } from './payment-file.ts'
import { payeeProblem, renderPaymentFile } from './render-payment-file.ts'

/** The lines of a file; a file that ends within a line has one too many. */
function linesOf(format: string, file: PaymentFile): string[] {
  const { bytes, contentType } = renderPaymentFile(format, file)
  const [, charset] = /charset=(.+)$/.exec(contentType) ?? []
  const lines = new TextDecoder(charset, { fatal: true }).decode(bytes).split('\r\n')
  expect(lines.pop()).toBe('')
  return lines
}

const atKtb = { name: 'สมหญิง ใจงาม', accountNo: '1112223334', bankCode: 'KTB' }
const atScb = { ...atKtb, bankCode: 'SCB' }
const twoItems = [
  bahtItem({ amountMinor: 123_456n, text: 'งวด 1' }),
  bahtItem({ code: paymentCode('b'), amountMinor: 7n }),
]
const [code = '', otherCode = ''] = twoItems.map((item) => item.code)

test('Krungthai: lines of 498, amounts in satang', () => {
  const file = bahtFile({ items: twoItems })
  const lines = linesOf('ktb-ipay-standard', file)
  expect(lines.map((line) => line.length)).toEqual([498, 498, 498])
  const [header = '', first = '', second = ''] = lines
  expect(header.slice(0, 55).trimEnd()).toBe(
    [
      '10',
      '1',
      '000001',
      '006',
      '0000002',
      '0000000000000123463',
      '18112026',
      'C',
      '00000000',
    ].join(''),
  )
  expect(first.slice(0, 92)).toBe(
    [
      ...['10', '2', '000001', '004', '0012', '00123456789', '006', '0987', '09876543210'],
      ...['18112026', '59', '00', '00000000000123456', ' '.repeat(8), '0000000000'],
    ].join(''),
  )
  expect(first.slice(92, 192).trim()).toBe('สมชาย ใจดี')
  expect(first.slice(192, 292).trim()).toBe('บริษัท ตัวอย่าง จำกัด')
  expect(first.slice(352, 370).trim()).toBe(code)
  expect(second.slice(352, 370).trim()).toBe(otherCode)
  expect(second.slice(392, 400)).toBe('00000209')
  const direct = bahtFile({ items: [bahtItem({ payee: atKtb })] })
  expect(linesOf('ktb-ipay-direct', direct)[1]?.slice(9, 12)).toBe('006')
})

test('Siam Commercial Bank: five kinds of records, amounts with three decimals', () => {
  const lines = linesOf('scb-mcl', bahtFile({ items: twoItems }))
  expect(lines.map((line) => line.slice(0, 3)).join(' ')).toBe('001 002 003 004 003 004 999')
  const [header = '', debit = '', first = '', payee = ''] = lines
  expect(header.slice(15).trimEnd()).toBe(
    `${'SX20261117-1'.padEnd(32)}20261117150910BCM${'B20261117-1'}`,
  )
  expect(debit.slice(3, 70)).toBe(
    `MCL20261118${'9876543210'.padEnd(25)}  0987THB000000000123463000000001`.slice(0, 67),
  )
  expect(first.slice(3, 53)).toBe(`000001${'0123456789'.padEnd(25)}0000000001234560THB`)
  expect(first).toContain(code.padEnd(20))
  expect(first).toContain('งวด 1')
  expect(payee).toContain('สมชาย ใจดี')
  expect(lines.at(-1)).toBe('9990000010000020000000001234630')
  const direct = bahtFile({ items: [bahtItem({ payee: atScb })] })
  expect(linesOf('scb-dcp', direct)[1]?.slice(3, 6)).toBe('DCP')
})

test('CSV: with quotes and without', () => {
  const payee = { name: 'Smith, "Joe"', accountNo: '0123456789', bankCode: 'KBANK' }
  const quoted = bahtFile({ items: [bahtItem({ payee, text: '=1+1\u0000\u202e' })] })
  expect(linesOf('csv', quoted)).toEqual([
    '"code","name","account","bank","amount","currency","date","text"',
    `"${code}","Smith, ""Joe""","0123456789","KBANK","100.10","THB","2026-11-18","1+1"`,
  ])
  const plain = bahtFile({ items: [bahtItem({ text: 'a,"b"\r\nc' })] })
  expect(linesOf('csv-plain', plain)).toEqual([
    'code,name,account,bank,amount,currency,date,text',
    `${code},สมชาย ใจดี,0123456789,KBANK,100.10,THB,2026-11-18,a b c`,
  ])
  expect(renderPaymentFile('csv', quoted)).toMatchObject({
    name: 'SX20261117-1.csv',
    contentType: 'text/csv; charset=utf-8',
  })
})

test('numbered layouts differ from the others by what tells two files of a day apart', () => {
  const files = ['PF1', 'PF2'].map((messageId) => bahtFile({ messageId, items: twoItems }))
  const numbers = files.map((file) => {
    const plain = linesOf('ktb-ipay-standard', file)
    const numbered = linesOf('ktb-ipay-standard-numbered', file)
    const [number = ''] = numbered.map((line) => line.slice(3, 9))
    expect(number).toMatch(/^\d{6}$/)
    const without = numbered.map((line) => `${line.slice(0, 3)}000001${line.slice(9)}`)
    expect(without).toEqual(plain)
    expect(numbered.every((line) => line.slice(3, 9) === number)).toBe(true)
    const [head, ...rows] = linesOf('csv-plain', file)
    expect(linesOf('csv-plain-numbered', file)).toEqual([
      `${head},file`,
      ...rows.map((row) => `${row},${file.messageId}`),
    ])
    return number
  })
  expect(new Set(numbers).size).toBe(2)
})

test('the header of a file that is made in the night has the day of the account', () => {
  const night = { createdAt: new Date('2026-11-17T18:30:00Z') }
  const [here = ''] = linesOf('scb-mcl', bahtFile(night))
  expect(here).toContain('20261118013000BCM')
  // Files of earlier releases are rendered as they were.
  const [earlier = ''] = linesOf('scb-mcl', bahtFile({ ...night, zone: null }))
  expect(earlier).toContain('20261117183000BCM')
})

test('names are written as the account says, or refused in words', () => {
  const payee = { name: 'Nguyễn Đình Thi', accountNo: '0123456789', bankCode: 'KBANK' }
  const file = bahtFile({
    debtor: { ...bahtFile().debtor, name: 'Café Bangkok' },
    characters: 'latin',
    items: [bahtItem({ payee })],
  })
  expect(linesOf('ktb-ipay-standard', file)[1]?.slice(92, 192).trim()).toBe('Nguyen Dinh Thi')
  expect(linesOf('ktb-ipay-standard', file)[1]?.slice(192, 292).trim()).toBe('Cafe Bangkok')
  const problem = (name: string) => payeeProblem('csv-plain', { ...payee, name }, 'THB', 'latin')
  expect(problem('Zoé')).toBeNull()
  expect(problem('สมชาย')).toContain('“ส”, which has no form in the Latin letters')
  // What it becomes must not break out either.
  expect(problem('& Söhne')).toContain('begins with +')
  expect(payeeProblem('csv-plain', { ...payee, name: 'สมชาย' }, 'THB', 'kept')).toBeNull()
})

test('the same values make the same bytes', () => {
  for (const { name } of bulkProfiles.filter(({ payeeBanks = {} }) => !('only' in payeeBanks))) {
    expect(renderPaymentFile(name, bahtFile())).toEqual(renderPaymentFile(name, bahtFile()))
  }
})

test('no layout says that a bank has checked it', () => {
  expect(bulkProfiles.filter(({ checked }) => checked)).toEqual([])
})

describe('payees', () => {
  const sound: Payee = bahtItem().payee
  const problems: [string, Partial<Payee>, string | null][] = [
    ['csv-plain', { name: 'SOMCHAI,9876543210,999999.00' }, 'has ,, which would end its field'],
    ['csv-plain', { name: 'A "B"' }, 'has ", which would end its field'],
    ['csv-plain', { name: 'A;B|C' }, null],
    ['csv', { name: 'SOMCHAI,9876543210,999999.00' }, null],
    ['csv', { name: 'A\r\nB' }, 'line breaks'],
    ['csv-plain', { name: 'A\tB' }, 'line breaks'],
    ['csv', { name: ' =1+1' }, 'begins with ='],
    ['csv-plain', { name: '＠SUM' }, 'begins with ＠'],
    ['csv-plain', { name: '-1' }, 'begins with -'],
    ['csv-plain', { name: '  ' }, 'The name is empty'],
    ['csv', { accountNo: '1","2' }, 'letters and digits'],
    ['csv', { bankCode: 'NOBANK' }, 'GET /payment/banks'],
    ['ktb-ipay-standard', { name: 'Nguyễn' }, 'has “ễ”, which files in windows-874 do not have'],
    ['ktb-ipay-standard', { name: 'A\u2028B' }, 'line breaks'],
    ['ktb-ipay-standard', { name: 'ก'.repeat(300) }, null],
    ['ktb-ipay-standard', { accountNo: '012345678901' }, 'more than the 11 characters'],
    ['ktb-ipay-standard', { accountNo: '123456789' }, 'fewer than 10'],
    ['ktb-ipay-standard', { accountNo: '12345ABCDE' }, 'The account number is not made of digits'],
    ['ktb-ipay-standard', { bankCode: 'KTB' }, 'do not pay to accounts at KTB'],
    ['ktb-ipay-direct', {}, 'pay only to accounts at KTB'],
    ['scb-dcp', { bankCode: 'scb' }, null],
    ['scb-mcl', { bankCode: 'SCB' }, 'do not pay to accounts at SCB'],
  ]
  test.each(problems)('%s %j', (format, payee, words) => {
    const problem = payeeProblem(format, { ...sound, ...payee }, 'THB')
    if (words === null) expect(problem).toBeNull()
    else expect(problem).toContain(words)
  })

  test('a Thai layout pays in baht only', () => {
    expect(payeeProblem('scb-mcl', sound, 'VND')).toContain('does not pay in VND')
    const debtor = { ...bahtFile().debtor, currency: 'VND' as const }
    expect(() => renderPaymentFile('scb-mcl', bahtFile({ debtor }))).toThrow('does not pay in VND')
  })
})

test('an account of ours that does not fit is refused, and so is an amount', () => {
  const debtor = { ...bahtFile().debtor, accountNo: '987654321012' }
  expect(() => renderPaymentFile('ktb-ipay-standard', bahtFile({ debtor }))).toThrow(
    '11 characters',
  )
  const items = [bahtItem({ amountMinor: 10n ** 17n })]
  expect(() => renderPaymentFile('ktb-ipay-standard', bahtFile({ items }))).toThrow('17 characters')
})

test('a profile with too few decimals writes nothing, rather than round', () => {
  const plain = bulkProfiles.find(({ name }) => name === 'csv-plain')
  if (!plain) throw new Error('There is no plain CSV.')
  const wholeUnits = { source: 'amount', decimals: 0, point: false } as const
  expect(() => bulkFormat({ ...plain, detail: [[wholeUnits]] }).render(bahtFile())).toThrow(
    'decimals',
  )
})

/** Names as an attacker would choose them, among any others. */
const hostile = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 150 }),
  fc
    .array(
      fc.constantFrom(',', '"', '\r\n', '\n', '\t', '=', 'ก', 'A', '1', ' ', '10', '\u0000', "'"),
      {
        maxLength: 150,
      },
    )
    .map((parts) => parts.join('')),
)
const amount = fc.bigInt({ min: 1n, max: 10n ** 13n })
const hostileItems = fc.array(fc.tuple(hostile, hostile, amount), { minLength: 1, maxLength: 5 })

test.each(bulkProfiles.map((profile) => [profile.name, profile] as const))(
  '%s: nothing that a payee or a text says adds a field or a line, and sums are exact',
  (format, { header, detail, trailer, delimiter, quoted, payeeBanks = {} }) => {
    const bankCode = 'only' in payeeBanks ? payeeBanks.only : 'KBANK'
    const currency: Currency = 'THB'
    fc.assert(
      fc.property(hostileItems, (list) => {
        const items = list
          .map(([name, text, amountMinor], index) =>
            bahtItem({
              code: paymentCode(String(index)),
              amountMinor,
              payee: { name, accountNo: '0123456789', bankCode },
              text,
            }),
          )
          .filter(({ payee }) => payeeProblem(format, payee, currency) === null)
        fc.pre(items.length > 0)
        const lines = linesOf(format, bahtFile({ items }))
        expect(lines).toHaveLength(header.length + items.length * detail.length + trailer.length)
        const sum = items.reduce((total, item) => total + item.amountMinor, 0n)
        if (delimiter === null) {
          const widths = [...header, ...items.flatMap(() => detail), ...trailer].map((record) =>
            record.reduce((width, field) => width + (field.width ?? Number.NaN), 0),
          )
          expect(lines.map((line) => line.length)).toEqual(widths)
          const sumText = format.startsWith('ktb')
            ? lines[0]?.slice(19, 38)
            : lines.at(-1)?.slice(15)
          expect(BigInt(sumText ?? '')).toBe(format.startsWith('ktb') ? sum : sum * 10n)
        } else {
          const rows: string[][] = quoted
            ? parse(lines.join('\r\n'), { relax_quotes: false })
            : lines.map((line) => line.split(delimiter))
          for (const row of rows) expect(row).toHaveLength(detail[0]?.length ?? 0)
          expect(
            rows.slice(1).map((row) => [row[0], row[1], parseDecimal(row[4] ?? '', currency)]),
          ).toEqual(
            items.map(({ code, payee, amountMinor }) => [code, tidy(payee.name), amountMinor]),
          )
        }
      }),
      { numRuns: 100 },
    )
  },
)
