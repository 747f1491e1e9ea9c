import fc from 'fast-check'
import { expect, test } from 'vitest'
import { baht, bytesOf, dong } from '../../test/support/bank-files.ts'
import { type CsvProfile, csvProfileFault } from './csv-profile.ts'
import { builtInCsvProfiles } from './csv-profiles.ts'
import { previewRows, readBankFile } from './read-bank-file.ts'
import { BankFileFault, type BankStatement } from './statement.ts'

const plain: CsvProfile = {
  encoding: 'utf-8',
  delimiter: ',',
  columns: { date: 'Date', amount: 'Amount', balance: 'Balance', texts: ['Text', 'Ref'] },
  dateFormat: 'DD/MM/YYYY',
  decimalMark: '.',
  groupingMark: ',',
}

async function read(
  text: string | Uint8Array,
  profile: CsvProfile = plain,
  account = baht,
): Promise<BankStatement> {
  const bytes = typeof text === 'string' ? bytesOf(text) : text
  const [statement] = await readBankFile(bytes, { ...account, csvProfile: profile })
  return statement as BankStatement
}

const table = `Date,Amount,Balance,Text,Ref
02/11/2026,"1,000.50","1,500.50",SX4Q paid,R1
02/11/2026,-0.50,"1,500.00","a ""fee"", monthly",
`

test('a table with headings: amounts, balances, texts', async () => {
  const statement = await read(table)
  expect(statement).toMatchObject({
    kind: 'statement',
    format: 'csv',
    accountNo: null,
    currency: 'THB',
    from: '2026-11-02',
    to: '2026-11-02',
    opening: { type: 'RUNN', amountMinor: 50_000n, day: '2026-11-02', booked: true },
    closing: { amountMinor: 150_000n },
    notes: [],
  })
  expect(statement.entries).toMatchObject([
    {
      line: 2,
      entryNo: 1,
      amountMinor: 100_050n,
      balanceAfterMinor: 150_050n,
      bookedOn: '2026-11-02',
      bookedAt: null,
      texts: ['SX4Q paid', 'R1'],
    },
    { line: 3, entryNo: 2, amountMinor: -50n, texts: ['a "fee", monthly'] },
  ])
})

test('newest first: entries come back in the order of time', async () => {
  const text = `Date,Amount,Balance,Text,Ref\n03/11/2026,2,13,b,\n02/11/2026,1,11,a,\n`
  const statement = await read(text, { ...plain, newestFirst: true })
  expect(statement.entries.map((entry) => [entry.entryNo, entry.texts[0]])).toEqual([
    [1, 'a'],
    [2, 'b'],
  ])
  expect([statement.opening?.amountMinor, statement.closing?.amountMinor]).toEqual([1_000n, 1_300n])
  await expect(read(text)).rejects.toThrow('Line 3: The balance does not follow')
})

test('a wrong sign shows in the running balance', async () => {
  await expect(read(table, { ...plain, sign: 'opposite' })).rejects.toThrow('does not follow')
  const reversed = table.replace('"1,000.50"', '"-1,000.50"').replace('-0.50', '0.50')
  await expect(read(reversed)).rejects.toThrow('does not follow')
  expect((await read(reversed, { ...plain, sign: 'opposite' })).entries[0]?.amountMinor).toBe(
    100_050n,
  )
})

test('a bank whose balance cannot be followed', async () => {
  const loose = { ...plain, balanceIsLoose: true }
  const statement = await read(table.replace('1,500.00', '7.00'), loose)
  expect([statement.closing, statement.entries[0]?.balanceAfterMinor]).toEqual([null, null])
  expect(statement.notes).toHaveLength(1)
})

test('columns by number, no headings, another delimiter, marks and a direction', async () => {
  const profile: CsvProfile = {
    encoding: 'utf-8',
    delimiter: ';',
    skipLines: 1,
    columns: { date: 1, amount: 2, direction: 3, texts: [4] },
    sign: 'direction',
    creditWords: ['CR'],
    debitWords: ['DR'],
    dateFormat: 'D MMM YYYY HH:mm',
    decimalMark: ',',
    groupingMark: '.',
    zone: 'Asia/Tokyo',
  }
  const { entries } = await read(
    'skipped\n2 Nov 2026 09:05;1.234,5;CR;a\n3 Nov 2026 00:00;7;DR;b\n',
    profile,
  )
  expect(entries).toMatchObject([
    { amountMinor: 123_450n, bookedAt: new Date('2026-11-02T00:05:00Z') },
    { amountMinor: -700n, bookedOn: '2026-11-03', bookedAt: null },
  ])
  await expect(read('x\n2 Nov 2026 09:05;1;XX;a\n', profile)).rejects.toThrow(
    'neither credit nor debit',
  )
})

test('Buddhist years, and what they must not be mixed up with', async () => {
  const thai = { ...plain, dateFormat: 'D MMM YY', buddhistYear: true }
  const text = 'Date,Amount,Balance,Text,Ref\n2 พ.ย. 69,1,1,a,\n'
  expect((await read(text, thai)).entries[0]?.bookedOn).toBe('2026-11-02')
  await expect(read(table.replaceAll('2026', '2569'))).rejects.toThrow('is no date')
  await expect(read(table, { ...plain, buddhistYear: true })).rejects.toThrow('is no date')
})

test('indian groups of digits', async () => {
  const text = 'Date,Amount,Balance,Text,Ref\n02/11/2026,"12,34,567.00","12,34,567.00",a,\n'
  expect((await read(text)).entries[0]?.amountMinor).toBe(123_456_700n)
})

test.each([
  ['(5.00)', -500n],
  ['5.00-', -500n],
  ['+5', 500n],
  ['- 5.00', -500n],
])('%s is an amount', async (amount, minor) => {
  const { balance: _, ...columns } = plain.columns
  const { entries } = await read(`Date,Amount,Text,Ref\n02/11/2026,${amount},a,\n`, {
    ...plain,
    columns,
  })
  expect(entries[0]?.amountMinor).toBe(minor)
})

test.each([
  'abc',
  '1.000',
  '1,00',
  '1,0000',
  '12,34',
  '1.2.3',
  '-(5)',
  '--5',
  '1e3',
  '5.001',
  '฿5',
  '',
])('%j is no amount, and refuses the file', async (amount) => {
  const { balance: _, ...columns } = plain.columns
  const text = `Date,Amount,Text,Ref\n02/11/2026,1,a,\n02/11/2026,"${amount}",a,\n`
  await expect(read(text, { ...plain, columns })).rejects.toThrow(
    /^Line 3: The (bank wrote|line has no amount)/,
  )
})

test('thousands are not taken for decimals in a currency without any', async () => {
  const { balance: _, ...columns } = plain.columns
  const text = 'Date,Amount,Text,Ref\n02/11/2026,25.000,a,\n'
  await expect(read(text, { ...plain, columns }, dong)).rejects.toThrow('which is no amount in VND')
})

test.each([
  ['too few values', '02/11/2026,1,1,a', 'has 4 values, but the table has 5 columns'],
  ['too many values', '02/11/2026,1,1,a,b,c', 'has 6 values'],
  ['a wrong date', '2026-11-02,1,1,a,', 'is no date'],
  ['a day that does not exist', '31/11/2026,1,1,a,', 'is no date'],
  ['open quotes', '02/11/2026,1,1,"a,', 'quotes'],
])('a line with %s refuses the file', async (_, line, words) => {
  await expect(read(`Date,Amount,Balance,Text,Ref\n${line}\n`)).rejects.toThrow(words)
})

test('a debit and a credit in one line, or neither, refuse the file', async () => {
  const pair: CsvProfile = {
    ...plain,
    columns: { date: 'Date', debit: 'Out', credit: 'In', texts: ['Text'] },
  }
  const of = (out: string, into: string) => `Date,Out,In,Text\n02/11/2026,${out},${into},a\n`
  expect((await read(of('', '5.00'), pair)).entries[0]?.amountMinor).toBe(500n)
  expect((await read(of('5.00', '0.00'), pair)).entries[0]?.amountMinor).toBe(-500n)
  expect((await read(of('-5.00', '-'), pair)).entries[0]?.amountMinor).toBe(-500n)
  await expect(read(of('1', '2'), pair)).rejects.toThrow('both a debit and a credit')
  await expect(read(of('', ''), pair)).rejects.toThrow('neither a debit nor a credit')
})

test('a file without the headings is refused with their names', async () => {
  await expect(read('a,b\n1,2\n')).rejects.toThrow('no line with the headings Date, Amount')
})

test('a file cut off at any byte is refused, or has whole lines only', async () => {
  const whole = await read(table)
  for (let length = 0; length < table.length; length++) {
    const result = await read(table.slice(0, length)).catch((fault: unknown) => fault)
    if (result instanceof BankFileFault) continue
    expect(table[length - 1]).toBe('\n')
    const { entries } = result as BankStatement
    expect(entries).toEqual(whole.entries.slice(0, entries.length))
  }
})

test('with a footer a file cut off anywhere before it is refused', async () => {
  const profile = { ...plain, footer: 'Total' }
  const text = `${table}Total,"1,000.00",,,\nwhatever follows\n`
  expect((await read(text, profile)).entries).toHaveLength(2)
  for (let length = 0; length < table.length + 'Total'.length; length++) {
    await expect(read(text.slice(0, length), profile)).rejects.toThrow(BankFileFault)
  }
})

test('a profile may say that the last line has no end', async () => {
  await expect(read(table.trimEnd())).rejects.toThrow('The last line has no end')
  const profile = { ...plain, lastLineIsOpen: true }
  expect((await read(table.trimEnd(), profile)).entries).toHaveLength(2)
})

function windows874(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => {
    const code = character.codePointAt(0) ?? 0
    return code >= 0x0e01 ? code - 0x0d60 : code
  })
}

test('encodings: windows-874, UTF-16 with a mark, and the wrong one', async () => {
  const text = table.replace('SX4Q paid', 'สมชาย ใจดี')
  const thai = { ...plain, encoding: 'windows-874' }
  expect((await read(windows874(text), thai)).entries[0]?.texts[0]).toBe('สมชาย ใจดี')
  const utf16 = Buffer.from(`\ufeff${text}`, 'utf16le')
  expect((await read(utf16, thai)).entries[0]?.texts[0]).toBe('สมชาย ใจดี')
  await expect(read(windows874(text))).rejects.toThrow(/^Line 2: Some bytes are no text in utf-8/)
  await expect(read(Buffer.from(text, 'utf16le'))).rejects.toThrow('another encoding')
})

test('ten lines to look at, as they are and as the profile reads them', async () => {
  const rows = Array.from({ length: 20 }, (_, index) => `02/11/2026,${index === 2 ? 'x' : 1},,t,`)
  const preview = await previewRows(bytesOf(`Date,Amount,Balance,Text,Ref\n${rows.join('\n')}\n`), {
    ...baht,
    csvProfile: plain,
  })
  expect(preview).toHaveLength(10)
  expect(preview[0]).toMatchObject({
    line: 2,
    cells: ['02/11/2026', '1', '', 't', ''],
    entry: { amountMinor: 100n },
    fault: null,
  })
  expect(preview[2]).toMatchObject({ entry: null, fault: expect.stringContaining('is no amount') })
})

/** A file of each bank in its layout, made up. */
const samples: Record<string, { bytes: Uint8Array; entries: object[]; accountNo: string | null }> =
  {
    'kbank-biz': {
      bytes: bytesOf(
        `\ufeffStatement,,,,,,,,,,,,\n,,,,,,,Account Number,,,,XXX-X-XX123-4,\n,Date,"Time/\nEff.Date",Descriptions,Withdrawal,,Deposit,,"Outstanding\nBalance",,Channel,,Details\n,02-11-26,,Beginning Balance,,,,,10.00,,,,\n,02-11-26,11:24,Transfer Deposit,,,"1,000.07",,"1,010.07",,K PLUS,,From X1234 TESTER\n,02-11-26,12:01,Cash Withdrawal,5.00,,,,"1,005.07",,ATM,,Ref 1\n`,
      ),
      accountNo: 'XXX-X-XX123-4',
      entries: [
        { amountMinor: 100_007n, bookedAt: new Date('2026-11-02T04:24:00Z') },
        { amountMinor: -500n },
      ],
    },
    'kbank-corporate': {
      bytes: windows874(
        `รายการเดินบัญชี\n,\nเลขที่บัญชี,'0012345678,สกุลเงิน,บาท\n,\nวันที่ทำรายการ,เวลา,รายการ,เลขที่เช็ค,จำนวนเงินหักบัญชี,จำนวนเงินนำฝากเข้าบัญชี,ยอดคงเหลือ,หมายเลข,สาขา,วันที่รายการมีผล,ช่องทาง,รายละเอียด\n02-พ.ย.-2569,10:01:02,รับโอน,00000000,,100.07,200.07,77,001,02-พ.ย.-2569,K PLUS,จาก X1234\n,\n** สิ้นสุดรายงาน   **\n`,
      ),
      accountNo: '0012345678',
      entries: [
        {
          amountMinor: 10_007n,
          bookedOn: '2026-11-02',
          bookedAt: new Date('2026-11-02T03:01:02Z'),
          texts: ['จาก X1234', 'รับโอน', 'K PLUS', '77'],
        },
      ],
    },
    'scb-business': {
      bytes: windows874(
        'Account Number,Date,Time,Transaction Code,Channel,Cheque Number,Debit Amount,Credit Amount,Balance Sign,Balance Amount,Description\n1110001112,02/11/2026,00:21,X1,BCMS,N/A,,"22,338.00", ,"22,300.00",Transfer from x1234 ทดสอบ\n1110001112,02/11/2026,00:22,X2,BCMS,N/A,"30,000.00",,-,"7,700.00",out\n',
      ),
      accountNo: '1110001112',
      entries: [
        { amountMinor: 2_233_800n },
        { amountMinor: -3_000_000n, balanceAfterMinor: -770_000n },
      ],
    },
    bbl: simple('Date,Description,Channel,Debit,Credit,Balance', '02/11/2026,t,c,,5.00,5.00'),
    ktb: simple(
      'Date,Transaction Code,Description,Withdrawal,Deposit,Balance',
      '02/11/2026 10:00:00,X,t,,5.00,5.00',
    ),
    bay: simple(
      'Date,Time,Description,Channel,Withdrawal,Deposit,Balance',
      '02/11/2026,10:00:00,t,c,,5.00,5.00',
    ),
    ttb: simple(
      'Transaction Date,Time,Description,Channel,Debit,Credit,Balance',
      '02/11/2026,10:00,t,c,,5.00,5.00',
    ),
    mb: {
      bytes: bytesOf(
        ',,,,,,,,,\nTên/ Customer name: TESTER,,,,,,,Tài khoản/ Account No: 0012345678,,\nNgày giao dịch,Ngày hạch toán,Số bút toán,Phát sinh nợ,Phát sinh có,Số dư lũy kế,Nội dung,Đơn vị thụ hưởng/ Đơn vị chuyển,Tài khoản,Ngân hàng đối tác\nTransaction date,Accounting Date,Transaction No,Debit,Credit,Accumulated balance,Details,Beneficiary/Applicant,Account,Remitter Bank\n16/11/2026 01:21:02,15/11/2026,FT1,37,"180,123","182,277",MBVCB.1.SX4Q CT tu 012,TESTER A,0099,TESTBANK\n16/11/2026 09:45:51,16/11/2026,FT2,"2,000",37,"180,277",fee,37,37,37\nTổng phát sinh trong kỳ / Total,,,"2,000","180,123",,,,,\n',
      ),
      accountNo: '0012345678',
      entries: [
        {
          amountMinor: 180_123n,
          bookedOn: '2026-11-15',
          bookedAt: new Date('2026-11-15T18:21:02Z'),
          ids: { accountServicerRef: 'FT1' },
          counterparty: { accountNo: '0099', name: 'TESTER A', bank: 'TESTBANK' },
        },
        { amountMinor: -2_000n, counterparty: { accountNo: null, name: null, bank: null } },
      ],
    },
    vietcombank: simple(
      'STT,Ngày giao dịch,Số tham chiếu,Số tiền ghi nợ,Số tiền ghi có,Mô tả',
      '1,02/11/2026,R1,,"25.000.000",t\n,Tổng cộng,,,"25.000.000",',
    ),
    techcombank: simple(
      'Transaction Date,Description,Amount,Balance,Reference',
      '2026-11-02 12:31:05,t,"500,000","500,000",R1',
    ),
    acb: simple(
      'Ngày giao dịch,Số GD,Nội dung giao dịch,Ghi nợ,Ghi có,Số dư',
      '02/11/2026,R1,t,,"500,000","500,000"',
    ),
    vietinbank: simple(
      'Ngày hạch toán,Mô tả giao dịch,Nợ,Có,Số dư TK,Số giao dịch',
      '02/11/2026 10:00:00,t,,"500,000","500,000",R1',
    ),
    bidv: simple(
      'Ngày giao dịch,Số chứng từ,Số tiền ghi nợ,Số tiền ghi có,Số dư,Nội dung',
      '02/11/2026 10:00:00,R1,,"500,000","500,000",t',
    ),
  }

function simple(headings: string, lines: string) {
  return {
    bytes: bytesOf(`${headings}\n${lines}\n`),
    accountNo: null,
    entries: [{ bookedOn: '2026-11-02', texts: expect.arrayContaining(['t']) }],
  }
}

const vietnamese = ['mb', 'vietcombank', 'techcombank', 'acb', 'vietinbank', 'bidv']

test.each(builtInCsvProfiles)(
  'the profile $name reads a file of its layout',
  async ({ name, profile }) => {
    expect(csvProfileFault(profile)).toBeNull()
    const sample = samples[name]
    const account = vietnamese.includes(name) ? dong : baht
    const statement = await read(sample?.bytes ?? '', profile, account)
    expect(statement.accountNo).toBe(sample?.accountNo)
    expect(statement.entries).toMatchObject(sample?.entries ?? [])
  },
)

test.each([
  ['mb', 'MBVCB.1.SX4Q', 'Transaction date'],
  ['vietcombank', ',t\n', ',Tổng cộng thanks\n'],
])('a payer’s own words make no line of %s disappear', async (name, text, word) => {
  const profile = builtInCsvProfiles.find((each) => each.name === name)?.profile
  const sample = samples[name]
  const written = Buffer.from(sample?.bytes ?? '').toString()
  expect(written).toContain(text)
  if (!profile) throw new Error(`there is no profile ${name}`)
  const { entries } = await read(bytesOf(written.replace(text, word)), profile, dong)
  expect(entries).toHaveLength(sample?.entries.length ?? 0)
  expect(entries[0]?.texts[0]).toContain(word.replaceAll(/[,\n]/g, ''))
})

test('lines of two accounts in one file refuse it', async () => {
  const scb = builtInCsvProfiles.find(({ name }) => name === 'scb-business')
  const bytes = Buffer.from(samples['scb-business']?.bytes ?? [])
  const other = Buffer.from(
    bytes.toString('latin1').replace(/1110001112(?!.*\n1110001112)/, '999'),
    'latin1',
  )
  await expect(read(other, scb?.profile)).rejects.toThrow('more than one account')
})

test.each([
  ['an unknown member', { ...plain, script: 'x' }],
  ['no columns', { ...plain, columns: {} }],
  ['an unknown encoding', { ...plain, encoding: 'klingon' }],
  ['the same marks', { ...plain, groupingMark: '.' }],
  ['amount and debit', { ...plain, columns: { ...plain.columns, debit: 'D' } }],
  ['debit without credit', { ...plain, columns: { date: 'D', debit: 'D', texts: [] } }],
  ['a direction without words', { ...plain, sign: 'direction' }],
  ['no year', { ...plain, dateFormat: 'DD/MM' }],
  ['a time without its format', { ...plain, columns: { ...plain.columns, time: 'T' } }],
  ['names and numbers mixed', { ...plain, columns: { ...plain.columns, date: 1 } }],
  ['an unknown zone', { ...plain, zone: 'Moon/Base' }],
])('a profile with %s is refused in words', (_, profile) => {
  expect(csvProfileFault(profile)).toMatch(/\.$/)
})

test('whatever the file is, it is read or refused, never anything else', async () => {
  const cell = fc.oneof(
    fc.constantFrom('02/11/2026', '1.00', '"1,000.00"', '-5', '"', ',', '\n', '\r\n', 'Date', 'x'),
    fc.string({ maxLength: 10 }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(cell, { maxLength: 60 }), async (cells) => {
      const result = await read(`Date,Amount,Balance,Text,Ref\n${cells.join(',')}\n`).catch(
        (fault: unknown) => fault,
      )
      expect(result instanceof BankFileFault || (result as BankStatement).format === 'csv').toBe(
        true,
      )
    }),
    { numRuns: 500 },
  )
})

test('made-up tables come back as they were written', async () => {
  const row = fc.record({
    amount: fc.bigInt(1n, 99_999_999n),
    isCredit: fc.boolean(),
    text: fc.string({ unit: 'grapheme-ascii', maxLength: 30 }).map((text) => `x${text.trim()}`),
  })
  const decimal = (minor: bigint) => {
    const absolute = minor < 0n ? -minor : minor
    const units = (absolute / 100n).toLocaleString('en')
    return `"${minor < 0n ? '-' : ''}${units}.${String(absolute % 100n).padStart(2, '0')}"`
  }
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 10 }), async (rows) => {
      let balance = 0n
      const signed = rows.map(({ amount, isCredit }) => (isCredit ? amount : -amount))
      const lines = rows.map(({ text }, index) => {
        balance += signed[index] ?? 0n
        return `02/11/2026,${decimal(signed[index] ?? 0n)},${decimal(balance)},"${text.replaceAll('"', '""')}",`
      })
      const statement = await read(`Date,Amount,Balance,Text,Ref\n${lines.join('\n')}\n`)
      expect(statement.entries.map((entry) => entry.amountMinor)).toEqual(signed)
      expect(statement.entries.map((entry) => entry.texts[0])).toEqual(rows.map(({ text }) => text))
      expect(statement.closing?.amountMinor).toBe(balance)
    }),
    { numRuns: 200 },
  )
})
