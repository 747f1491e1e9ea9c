import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bytesOf, euro, mt940 } from '../../test/support/bank-files.ts'
import { readBankFile } from './read-bank-file.ts'
import { BankFileFault, type BankStatement } from './statement.ts'

async function read(text: string | Uint8Array, encoding?: string): Promise<BankStatement[]> {
  const bytes = typeof text === 'string' ? bytesOf(text) : text
  return readBankFile(bytes, { ...euro, ...(encoding === undefined ? {} : { encoding }) })
}

async function one(text: string): Promise<BankStatement> {
  const [statement, ...others] = await read(text)
  expect(others).toEqual([])
  return statement as BankStatement
}

const head = ':20:REF1\n:25:10020030/1234567\n:28C:5/2\n:60F:C261030EUR100,00\n'

/** A statement with these lines, and the closing balance that fits a net sum in cents. */
function around(lines: string, closing: string): string {
  return `${head}${lines}\n:62F:C261102EUR${closing}\n-\n`
}

test('numbered subfields: text over several of them, the words of SEPA, who paid', async () => {
  const statement = await one(
    around(
      `:61:2611021102CR12,5NTRFKREF7//B77
:86:166?00GUTSCHRIFT?109310?20EREF+E2E-0001?21KREF+K7?22SVWZ+SX4Q and more tex
t tha?23t goes on?30TESTXX00?31XX34TEST0002?32Ada Maximiliane Longlastnam?33e?34000`,
      '112,50',
    ),
  )
  expect(statement).toMatchObject({
    kind: 'statement',
    format: 'mt940',
    accountNo: '10020030/1234567',
    currency: 'EUR',
    id: 'REF1',
    seq: '5',
    page: { number: 2, last: true },
    opening: { type: 'OPBD', amountMinor: 10_000n, day: '2026-10-30', booked: true },
    closing: { type: 'CLBD', amountMinor: 11_250n, day: '2026-11-02' },
    notes: [],
  })
  expect(statement.entries).toHaveLength(1)
  expect(statement.entries[0]).toMatchObject({
    line: 5,
    entryNo: 1,
    bookedOn: '2026-11-02',
    bookedAt: null,
    amountMinor: 1_250n,
    currency: 'EUR',
    status: 'booked',
    ids: { accountServicerRef: 'B77', endToEndId: 'E2E-0001', ownerRef: 'KREF7' },
    counterparty: {
      accountNo: 'XX34TEST0002',
      name: 'Ada Maximiliane Longlastname',
      bank: 'TESTXX00',
    },
    typeCode: 'NTRF+166',
    isReturn: false,
  })
  expect(statement.entries[0]?.texts).toContain('SX4Q and more text that goes on')
})

test('words between slashes: the Dutch form', async () => {
  const { entries } = await one(
    around(
      `:61:261102D2,50NTRFEREF//260500000001
/TRCD/00100/
:86:/EREF/E-77//CNTP/XX34TEST0002/TESTXX00/ADA TESTER/UTRECHT//REMI/USTD//S
X4Q0 order 9/
:61:261102C2,50NRTI4711
:86:/TRTP/SEPA OVERBOEKING/IBAN/XX55TEST/BIC/TESTXX11/NAME/B TESTER/RTRN/AC04/REMI/not taken/EREF/NOTPROVIDED`,
      '100,00',
    ),
  )
  expect(entries[0]).toMatchObject({
    amountMinor: -250n,
    ids: { endToEndId: 'E-77', accountServicerRef: '260500000001' },
    counterparty: { accountNo: 'XX34TEST0002', bank: 'TESTXX00', name: 'ADA TESTER' },
    typeCode: 'NTRF',
  })
  expect(entries[0]?.texts).toContain('SX4Q0 order 9')
  expect(entries[0]?.texts).toContain('/TRCD/00100/')
  expect(entries[1]).toMatchObject({
    amountMinor: 250n,
    isReturn: true,
    returnReason: 'AC04',
    ids: { endToEndId: null },
    counterparty: { accountNo: 'XX55TEST', bank: 'TESTXX11', name: 'B TESTER' },
  })
})

test('free text, and lines in it that only look like fields', async () => {
  const { entries } = await one(
    around(':61:261102C1,NMSCNONREF\n:86:paid at\n:12:11 by someone\n:61 not a field', '101,00'),
  )
  expect(entries[0]?.texts).toEqual(['paid at :12:11 by someone :61 not a field'])
  expect(entries[0]?.ids.ownerRef).toBeNull()
})

test.each([
  ['C1,00', 100n, 'booked', false],
  ['D1,00', -100n, 'booked', false],
  ['CR1,00', 100n, 'booked', false],
  ['DR1,00', -100n, 'booked', false],
  ['RC1,00', -100n, 'booked', true],
  ['RD1,00', 100n, 'booked', true],
  ['RCR1,00', -100n, 'booked', true],
  ['EC1,00', 100n, 'pending', false],
  ['ED1,00', -100n, 'pending', false],
  ['C1', 100n, 'booked', false],
  ['C1,', 100n, 'booked', false],
  ['C1,5', 150n, 'booked', false],
  ['C1,500', 150n, 'booked', false],
] as const)('%s is %s, %s', async (mark, amountMinor, status, isReturn) => {
  const { entries } = await one(around(`:61:261102${mark}NTRFX`, '0,'))
  expect(entries[0]).toMatchObject({ amountMinor, status, isReturn })
})

test.each([
  ['2612310102', '2027-01-02'],
  ['2701021231', '2026-12-31'],
  ['261102    ', '2026-11-02'],
  ['2611020231', '2026-11-02'],
  ['2602300301', '2026-03-01'],
  ['260230', '2026-11-02'],
])('the booking day of %s is %s', async (days, bookedOn) => {
  const { entries } = await one(around(`:61:${days}C1,NTRFX`, '101,'))
  expect(entries[0]?.bookedOn).toBe(bookedOn)
})

test('SWIFT’s headers, several messages and pages', async () => {
  const text = `{1:F01TESTXX00AXXX0000000000}{2:I940TESTXX11XXXXN}{4:\r\n${head.replaceAll('\n', '\r\n')}:62M:C261102EUR100,00\r\n-}\r\n{1:F01TESTXX00AXXX0000000000}{2:I940TESTXX11XXXXN}{4:\r\n:20:REF2\r\n:25:XX\r\n:28C:5/3\r\n:60M:C261102EUR100,00\r\n:61:261102C1,NTRFX\r\n:62F:D261102EUR5,00\r\n:64:C261102EUR1,00\r\n:86:about the statement\r\n-}{5:{CHK:1}}\r\n`
  const statements = await read(text)
  expect(statements.map(({ id, page, closing }) => [id, page, closing?.type])).toEqual([
    ['REF1', { number: 2, last: false }, 'ITBD'],
    ['REF2', { number: 3, last: true }, 'CLBD'],
  ])
  expect(statements[1]?.closing?.amountMinor).toBe(-500n)
  expect(statements[1]?.entries[0]?.texts).toEqual(['X'])
  expect(statements[1]?.balances.map((balance) => balance.type)).toEqual(['ITBD', 'CLBD', 'CLAV'])
})

test('a bank that numbers no pages writes zeros', async () => {
  const [statement] = await read(
    ':20:R\n:25:XX\n:28C:00000/000\n:60F:C261102EUR1,\n:62F:C261102EUR1,',
  )
  expect(statement).toMatchObject({ page: null, closing: { type: 'CLBD' } })
})

const interim =
  ':20:R\n:25:XX\n:28C:1\n:34F:EURD0,\n:13D:2611021733+0100\n:61:261102C9,5NTRFX\n:61:261102D1,NTRFX\n:90D:1EUR1,\n:90C:1EUR9,50'

test('MT942 is an intraday report without balances', async () => {
  const [statement] = await read(`${interim}\n-\n`)
  expect(statement).toMatchObject({
    kind: 'intraday',
    format: 'mt942',
    currency: 'EUR',
    opening: null,
    closing: null,
    notes: [],
  })
  expect(statement?.entries.map((entry) => entry.amountMinor)).toEqual([950n, -100n])
  const [other] = await read(`${interim.replace('9,50', '9,40')}\n-\n`)
  expect(other?.notes).toHaveLength(1)
})

test('the currency behind an IBAN is not part of the account', async () => {
  const iban = 'NL91ABNA0417164300'
  const text = around('', '100,00').replace('10020030/1234567', `${iban}EUR`)
  expect((await one(text)).accountNo).toBe(iban)
})

test.each([
  ['an amount with a point', ':61:261102C1.00NTRFX', 'Line 5: The entry'],
  ['no amount', ':61:261102CNTRFX', 'Line 5: The entry'],
  ['too many decimals', ':61:261102C1,005NTRFX', 'Line 5: The bank wrote “1,005”'],
  ['a blank in a balance', ':61:261102C1,NTRFX', 'Line 6: The bank wrote “11 00,00”'],
])('%s refuses the file', async (what, line, words) => {
  const closing = what.includes('blank') ? '11 00,00' : '1,00'
  await expect(read(around(line, closing))).rejects.toThrow(words)
})

test('another currency refuses the file', async () => {
  await expect(read(around('', '1,').replaceAll('EUR', 'CHF'))).rejects.toThrow(
    'This is in “CHF”, but the account is in EUR.',
  )
})

test('an entry after the closing balance is read, and noted', async () => {
  const { entries, notes } = await one(`${around('', '100,00')}:61:261103C1,NTRFX\n`)
  expect([entries.length, notes.length]).toEqual([1, 1])
})

test.each([
  ['utf-8', undefined, Buffer.from('Müller ßaße')],
  ['Windows-1252', undefined, Buffer.from('Müller ßaße', 'latin1')],
  ['cp850', 'cp850', Buffer.from([0x4d, 0x81, ...Buffer.from('ller '), 0xe1, 0x61, 0xe1, 0x65])],
  ['cp437', 'cp437', Buffer.from([0x4d, 0x81, ...Buffer.from('ller '), 0xe1, 0x61, 0xe1, 0x65])],
])('names in %s', async (_, encoding, name) => {
  const [before = '', after = ''] = around(':61:261102C1,NTRFX\n:86:@@', '101,').split('@@')
  const bytes = Buffer.concat([Buffer.from(before), name, Buffer.from(after)])
  const [statement] = await read(bytes, encoding)
  expect(statement?.entries[0]?.texts[0]).toBe('Müller ßaße')
})

test('a file that is not in the account’s encoding is refused with its line', async () => {
  const bytes = Buffer.from(around(':61:261102C1,NTRFX\n:86:Müller', '101,'), 'latin1')
  await expect(read(bytes, 'utf-8')).rejects.toThrow(/^Line 6: Some bytes are no text in utf-8/)
  await expect(read(bytes, 'klingon')).rejects.toThrow('is not known')
})

test('a file cut off at any byte is refused, or what is left is whole', async () => {
  const whole = mt940({
    opening: '10.00',
    closing: '123.45',
    entries: [
      { amount: '100.45', mark: 'C', text: 'SVWZ+a long text that takes more than one subfield' },
      { amount: '13.00', mark: 'C', text: 'x' },
    ],
  })
  const [wanted] = await read(whole)
  const cutAtNothing = whole.lastIndexOf(':62F:') + ':62F:C261102EUR123,45'.length
  for (let length = 0; length < whole.length; length++) {
    const result = await read(whole.slice(0, length)).catch((fault: unknown) => fault)
    if (length < cutAtNothing) expect(result).toBeInstanceOf(BankFileFault)
    else expect(result).toEqual([wanted])
  }
})

test('a closing balance whose end is missing is not believed', async () => {
  await expect(read(`${head}:62F:C261102EUR100,0`)).resolves.toHaveLength(1)
  await expect(read(`${head}:62F:C261102EUR10`)).rejects.toThrow('cut off')
  await expect(read(`${head}:62F:C261102EUR10\n`)).resolves.toHaveLength(1)
})

test('an intraday report cut off at any byte is refused, or what is left is whole', async () => {
  const wanted = await read(interim)
  const totals = interim.indexOf('\n:90D:')
  for (let length = 0; length < interim.length; length++) {
    const result = await read(interim.slice(0, length)).catch((fault: unknown) => fault)
    if (Array.isArray(result) && length > totals) expect(result).toEqual(wanted)
    else expect(result).toBeInstanceOf(BankFileFault)
  }
})

const cents = fc.bigInt(1n, 99_999_999n)
const decimal = (minor: bigint) => `${minor / 100n}.${String(minor % 100n).padStart(2, '0')}`

test('made-up statements come back as they were written', async () => {
  const entry = fc.record({
    amount: cents,
    isCredit: fc.boolean(),
    text: fc.stringMatching(/^[A-Z0-9]{1,120}$/),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { maxLength: 8 }), async (entries) => {
      const signed = entries.map(({ amount, isCredit }) => (isCredit ? amount : -amount))
      const closing = signed.reduce((sum, amount) => sum + amount, 10n ** 10n)
      const statement = await one(
        mt940({
          opening: decimal(10n ** 10n),
          closing: decimal(closing),
          entries: entries.map(({ amount, isCredit, text }) => ({
            amount: decimal(amount),
            mark: isCredit ? 'C' : 'D',
            text,
          })),
        }),
      )
      expect(statement.closing?.amountMinor).toBe(closing)
      expect(statement.entries.map((got) => got.amountMinor)).toEqual(signed)
      expect(statement.entries.map((got) => got.texts[0])).toEqual(entries.map(({ text }) => text))
    }),
    { numRuns: 100 },
  )
})
