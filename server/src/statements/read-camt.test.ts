import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bytesOf, camt053, euro } from '../../test/support/bank-files.ts'
import { readBankFile } from './read-bank-file.ts'
import type { BankEntry } from './statement.ts'

const anyCurrency = { ...euro, currency: null }

async function read(xml: string, options = anyCurrency) {
  const statements = await readBankFile(bytesOf(xml), options)
  const [statement] = statements
  if (!statement) throw new Error('there is no statement')
  return statement
}

async function only(entryXml: string, version = '053.001.08'): Promise<BankEntry> {
  const { entries } = await read(around(entryXml, version))
  expect(entries).toHaveLength(1)
  return entries[0] as BankEntry
}

const roots: Record<string, [string, string]> = {
  '052': ['BkToCstmrAcctRpt', 'Rpt'],
  '053': ['BkToCstmrStmt', 'Stmt'],
  '054': ['BkToCstmrDbtCdtNtfctn', 'Ntfctn'],
}

function around(inner: string, version: string): string {
  const [root, statement] = roots[version.slice(0, 3)] ?? ['', '']
  return `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.${version}"><${root}><${statement}><Id>S1</Id>
<Acct><Id><IBAN>XX12TEST0000000001</IBAN></Id><Ccy>EUR</Ccy></Acct>
${inner}</${statement}></${root}></Document>`
}

const dated = '<BookgDt><Dt>2026-11-02</Dt></BookgDt>'
const credit = '<Amt Ccy="EUR">12.50</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts>'

test('a statement of version 02: amounts in the details, names without a party around them', async () => {
  const statement = await read(`<?xml version="1.0" encoding="ISO-8859-1"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.02"><BkToCstmrStmt>
<GrpHdr><MsgId>M</MsgId><MsgPgntn><PgNb>1</PgNb><LastPgInd>false</LastPgInd></MsgPgntn></GrpHdr>
<Stmt><Id>2026-211</Id><ElctrncSeqNb>211</ElctrncSeqNb><LglSeqNb>9</LglSeqNb>
<FrToDt><FrDtTm>2026-11-02T00:00:00</FrDtTm><ToDtTm>2026-11-02T23:59:59</ToDtTm></FrToDt>
<Acct><Id><Othr><Id>0012345678</Id></Othr></Id><Ccy>EUR</Ccy></Acct>
<Bal><Tp><CdOrPrtry><Cd>PRCD</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">100</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2026-10-30</Dt></Dt></Bal>
<Bal><Tp><CdOrPrtry><Cd>CLBD</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">112.50</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2026-11-02</Dt></Dt></Bal>
<Ntry><NtryRef>77</NtryRef>${credit}<BookgDt><DtTm>2026-11-02T14:30:15+01:00</DtTm></BookgDt><AcctSvcrRef>B-1</AcctSvcrRef>
<BkTxCd><Prtry><Cd>NTRF+166</Cd></Prtry></BkTxCd>
<NtryDtls><TxDtls><Refs><EndToEndId>NOTPROVIDED</EndToEndId><InstrId>I-9</InstrId></Refs>
<AmtDtls><TxAmt><Amt Ccy="EUR">12.50</Amt></TxAmt></AmtDtls>
<RltdPties><Dbtr><Nm>Ada Tester</Nm></Dbtr><DbtrAcct><Id><IBAN>XX34TEST0002</IBAN></Id></DbtrAcct></RltdPties>
<RltdAgts><DbtrAgt><FinInstnId><BIC>TESTXX00</BIC></FinInstnId></DbtrAgt></RltdAgts>
<RmtInf><Ustrd>SX4Q first</Ustrd><Ustrd>second</Ustrd><Strd><CdtrRefInf><Ref>RF18000</Ref></CdtrRefInf></Strd></RmtInf>
<AddtlTxInf>more</AddtlTxInf></TxDtls></NtryDtls><AddtlNtryInf>most</AddtlNtryInf></Ntry>
</Stmt></BkToCstmrStmt></Document>`)
  expect(statement).toMatchObject({
    kind: 'statement',
    format: 'camt.053.001.02',
    accountNo: '0012345678',
    currency: 'EUR',
    id: '2026-211',
    seq: '211',
    page: { number: 1, last: false },
    from: '2026-11-02',
    to: '2026-11-02',
    opening: { type: 'PRCD', amountMinor: 10_000n, day: '2026-10-30', booked: true },
    closing: { type: 'CLBD', amountMinor: 11_250n, day: '2026-11-02', booked: true },
    notes: [],
  })
  expect(statement.entries).toEqual([
    {
      line: 9,
      entryNo: 1,
      childNo: null,
      batchCount: null,
      bookedOn: '2026-11-02',
      bookedAt: new Date('2026-11-02T13:30:15Z'),
      amountMinor: 1_250n,
      currency: 'EUR',
      status: 'booked',
      ids: {
        accountServicerRef: 'B-1',
        endToEndId: null,
        instructionId: 'I-9',
        transactionId: null,
        uetr: null,
        messageId: null,
        paymentInformationId: null,
        entryRef: '77',
        ownerRef: null,
        feedId: null,
      },
      texts: ['RF18000', 'SX4Q first second', 'more', 'I-9', 'most'],
      counterparty: { accountNo: 'XX34TEST0002', name: 'Ada Tester', bank: 'TESTXX00' },
      balanceAfterMinor: null,
      chargesMinor: 0n,
      isReturn: false,
      returnReason: null,
      typeCode: 'NTRF+166',
    },
  ])
})

test('from version 07 the status is a code and a party stands around names', async () => {
  const entry = await only(
    `<Ntry><Amt Ccy="EUR">3</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts>${dated}<NtryDtls><TxDtls>
<Refs><UETR>5b7c-1</UETR><TxId>T1</TxId><MsgId>M1</MsgId><PmtInfId>P1</PmtInfId></Refs><Amt Ccy="EUR">3</Amt>
<RltdPties><Cdtr><Pty><Nm><![CDATA[Shop & Co]]></Nm></Pty></Cdtr><CdtrAcct><Id><Othr><Id>99-1</Id></Othr></Id></CdtrAcct></RltdPties>
<RltdAgts><CdtrAgt><FinInstnId><BICFI>TESTXX11</BICFI></FinInstnId></CdtrAgt></RltdAgts>
<RltdDts><AccptncDtTm>2026-11-01T09:08:07</AccptncDtTm></RltdDts></TxDtls></NtryDtls></Ntry>`,
    '053.001.10',
  )
  expect(entry).toMatchObject({
    amountMinor: -300n,
    status: 'booked',
    bookedAt: new Date('2026-11-01T08:08:07Z'),
    counterparty: { accountNo: '99-1', name: 'Shop & Co', bank: 'TESTXX11' },
    ids: { uetr: '5b7c-1', transactionId: 'T1', messageId: 'M1', paymentInformationId: 'P1' },
  })
})

test.each([
  ['052.001.02', 'intraday'],
  ['052.001.08', 'intraday'],
  ['053.001.02', 'statement'],
  ['053.001.06', 'statement'],
  ['053.001.10', 'statement'],
  ['054.001.04', 'intraday'],
  ['054.001.09', 'intraday'],
])('camt.%s is read as %s', async (version, kind) => {
  const { format, entries, ...statement } = await read(
    around(`<Ntry>${credit}${dated}</Ntry>`, version),
  )
  expect([statement.kind, format, entries.length]).toEqual([kind, `camt.${version}`, 1])
})

test('prefixes, wrappers and an unknown namespace do not matter', async () => {
  const { format, entries } = await read(
    `<x:Envelope xmlns:x="urn:x" xmlns:c="urn:some-bank"><x:Body><c:Document Xmlns="y"><c:BkToCstmrStmt><c:Stmt><c:Ntry><c:Amt Ccy="EUR">1.00</c:Amt><c:CdtDbtInd>CRDT</c:CdtDbtInd><c:Sts>BOOK</c:Sts><c:BookgDt><c:Dt>2026-11-02</c:Dt></c:BookgDt></c:Ntry></c:Stmt></c:BkToCstmrStmt></c:Document></x:Body></x:Envelope>`,
  )
  expect([format, entries[0]?.amountMinor]).toEqual(['camt.053', 100n])
})

test.each([
  ['BOOK', 'booked'],
  ['PDNG', 'pending'],
  ['INFO', 'pending'],
  ['FUTR', 'pending'],
])('an entry with the status %s is %s', async (code, status) => {
  const entry = await only(
    `<Ntry><Amt Ccy="EUR">1</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>${code}</Sts>${dated}</Ntry>`,
  )
  expect(entry.status).toBe(status)
})

test('an entry without a status is booked in a statement only, and without a day has the balance’s', async () => {
  const bare = '<Ntry><Amt Ccy="EUR">1</Amt><CdtDbtInd>CRDT</CdtDbtInd></Ntry>'
  const balance =
    '<Bal><Tp><CdOrPrtry><Cd>CLBD</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">5</Amt><Dt><Dt>2026-11-03</Dt></Dt></Bal>'
  const { entries, closing, notes } = await read(around(bare + balance, '053.001.08'))
  expect(entries[0]).toMatchObject({ status: 'booked', bookedOn: '2026-11-03', bookedAt: null })
  expect(closing?.amountMinor).toBe(500n)
  expect(notes).toHaveLength(3)
  expect((await only(bare + balance, '052.001.08')).status).toBe('pending')
  await expect(read(around(bare, '053.001.08'))).rejects.toThrow('has no day')
})

function batch(total: string, direction: string, ...payments: string[]): string {
  return `<Ntry><Amt Ccy="EUR">${total}</Amt><CdtDbtInd>${direction}</CdtDbtInd><Sts>BOOK</Sts>${dated}<AcctSvcrRef>B</AcctSvcrRef><NtryDtls><Btch><PmtInfId>PI</PmtInfId><NbOfTxs>${payments.length}</NbOfTxs></Btch>${payments
    .map(
      (payment, index) =>
        `<TxDtls><Refs><EndToEndId>E${index}</EndToEndId></Refs>${payment}</TxDtls>`,
    )
    .join('')}</NtryDtls></Ntry>`
}

test('payments of a batch that add up are entries of their own', async () => {
  const { entries } = await read(
    around(
      `${batch(
        '30.00',
        'CRDT',
        '<Amt Ccy="EUR">10.50</Amt>',
        '<Amt Ccy="EUR">20.00</Amt><CdtDbtInd>CRDT</CdtDbtInd>',
        '<Amt Ccy="EUR">0.50</Amt><CdtDbtInd>DBIT</CdtDbtInd>',
      )}<Ntry>${credit}${dated}</Ntry>`,
      '054.001.08',
    ),
  )
  expect(
    entries.map((entry) => [entry.entryNo, entry.childNo, entry.amountMinor, entry.ids.endToEndId]),
  ).toEqual([
    [1, 1, 1_050n, 'E0'],
    [1, 2, 2_000n, 'E1'],
    [1, 3, -50n, 'E2'],
    [2, null, 1_250n, null],
  ])
  expect(entries[0]?.ids).toMatchObject({ accountServicerRef: 'B', paymentInformationId: 'PI' })
})

test.each([
  ['the total copied to each', ['<Amt Ccy="EUR">30</Amt>', '<Amt Ccy="EUR">30</Amt>']],
  ['another currency', ['<Amt Ccy="CHF">15</Amt>', '<Amt Ccy="EUR">15</Amt>']],
  ['an empty amount', ['<Amt Ccy="EUR"/>', '<Amt Ccy="EUR">30</Amt>']],
])('a batch that does not add up is one movement: %s', async (_, payments) => {
  const { entries, notes } = await read(around(batch('30.00', 'DBIT', ...payments), '053.001.08'))
  expect(entries).toHaveLength(1)
  expect(entries[0]).toMatchObject({
    amountMinor: -3_000n,
    childNo: null,
    batchCount: 2,
    ids: { endToEndId: null, accountServicerRef: 'B' },
    texts: ['E0', 'E1'],
  })
  expect(notes[0]).toContain('do not add up')
})

test('a batch that only counts its payments is one movement', async () => {
  const entry = await only(batch('30.00', 'DBIT').replace('<NbOfTxs>0', '<NbOfTxs>238'))
  expect(entry).toMatchObject({ amountMinor: -3_000n, batchCount: 238 })
})

test.each([
  [
    'a mark',
    '<Chrgs><TtlChrgsAndTaxAmt Ccy="EUR">3</TtlChrgsAndTaxAmt><Rcrd><Amt Ccy="EUR">2</Amt><CdtDbtInd>DBIT</CdtDbtInd><ChrgInclInd>true</ChrgInclInd></Rcrd><Rcrd><Amt Ccy="EUR">1</Amt><ChrgInclInd>1</ChrgInclInd></Rcrd></Chrgs>',
    300n,
  ],
  [
    'what was sent',
    '<AmtDtls><InstdAmt><Amt Ccy="EUR">15.50</Amt></InstdAmt></AmtDtls><Chrgs><Amt Ccy="EUR">3</Amt></Chrgs>',
    300n,
  ],
  [
    'their sum beside what was sent',
    '<AmtDtls><TxAmt><Amt Ccy="EUR">15.50</Amt></TxAmt></AmtDtls><Chrgs><TtlChrgsAndTaxAmt Ccy="EUR">3</TtlChrgsAndTaxAmt></Chrgs>',
    300n,
  ],
  ['nothing else', '<Chrgs><Amt Ccy="EUR">3</Amt></Chrgs>', 0n],
  [
    'a mark, in another currency',
    '<Chrgs><Rcrd><Amt Ccy="CHF">3</Amt><ChrgInclInd>true</ChrgInclInd></Rcrd></Chrgs>',
    0n,
  ],
  [
    'what was sent, which it does not come to',
    '<AmtDtls><InstdAmt><Amt Ccy="EUR">16</Amt></InstdAmt></AmtDtls><Chrgs><Amt Ccy="EUR">3</Amt></Chrgs>',
    0n,
  ],
])('charges were kept of a credit if the bank says so by %s', async (_, part, charges) => {
  const details = `${dated}<NtryDtls><TxDtls>${part}</TxDtls></NtryDtls></Ntry>`
  expect((await only(`<Ntry>${credit}${details}`)).chargesMinor).toBe(charges)
  // Of a debit they are in the amount, so what was sent is less than that.
  const debit = credit.replace('CRDT', 'DBIT')
  const sent = details.replaceAll('15.50', '9.50')
  expect((await only(`<Ntry>${debit}${sent}`)).chargesMinor).toBe(charges)
  if (sent === details) return
  expect((await only(`<Ntry>${debit}${details}`)).chargesMinor).toBe(0n)
})

test('a debit that is nothing but a charge is no payment with one', async () => {
  const debit = credit.replace('CRDT', 'DBIT')
  const charge =
    '<Chrgs><Rcrd><Amt Ccy="EUR">12.50</Amt><ChrgInclInd>true</ChrgInclInd></Rcrd></Chrgs>'
  const details = `${dated}<NtryDtls><TxDtls>${charge}</TxDtls></NtryDtls></Ntry>`
  expect((await only(`<Ntry>${debit}${details}`)).chargesMinor).toBe(0n)
})

const inner = '<NtryDtls><TxDtls><RtrInf><Rsn><Cd>AC01</Cd></Rsn></RtrInf></TxDtls></NtryDtls>'
test.each([
  ['a reason', inner, 'AC01'],
  ['a mark of reversal', '<RvslInd>true</RvslInd>', null],
  [
    'a booking code',
    '<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>ICDT</Cd><SubFmlyCd>RRTN</SubFmlyCd></Fmly></Domn></BkTxCd>',
    null,
  ],
])('a returned payment is known by %s, and keeps its sign', async (_, part, returnReason) => {
  const entry = await only(`<Ntry>${credit}${dated}${part}</Ntry>`)
  expect(entry).toMatchObject({ isReturn: true, returnReason, amountMinor: 1_250n })
})

test('the counterparty of a returned payment is the party that is not the account itself', async () => {
  const entry = await only(
    `<Ntry>${credit}${dated}<NtryDtls><TxDtls><RltdPties><DbtrAcct><Id><IBAN>XX12 TEST 0000000001</IBAN></Id></DbtrAcct><Cdtr><Nm>Payee</Nm></Cdtr><CdtrAcct><Id><IBAN>XX77</IBAN></Id></CdtrAcct></RltdPties></TxDtls></NtryDtls></Ntry>`,
  )
  expect(entry.counterparty).toEqual({ accountNo: 'XX77', name: 'Payee', bank: null })
})

test('a day written as midnight is no time of day', async () => {
  const entry = await only(
    `<Ntry>${credit}<BookgDt><DtTm>2026-11-02T00:00:00.000000000</DtTm></BookgDt></Ntry>`,
  )
  expect([entry.bookedOn, entry.bookedAt]).toEqual(['2026-11-02', null])
})

test('balances of several days: the first opens, the last closes', async () => {
  const balance = (type: string, amount: number, day: string, side = 'CRDT') =>
    `<Bal><Tp><CdOrPrtry><Cd>${type}</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>${side}</CdtDbtInd><Dt><Dt>${day}</Dt></Dt></Bal>`
  const { opening, closing, balances } = await read(
    around(
      balance('OPBD', 2, '2026-11-03') +
        balance('CLBD', 3, '2026-11-03', 'DBIT') +
        balance('OPBD', 1, '2026-11-02') +
        balance('CLBD', 2, '2026-11-02') +
        balance('CLAV', 9, '2026-11-03'),
      '053.001.08',
    ),
  )
  expect([opening?.amountMinor, closing?.amountMinor, balances.length]).toEqual([100n, -300n, 5])
  expect(balances[4]?.booked).toBe(false)
})

test.each([
  '',
  'abc',
  '-5.00',
  '+5.00',
  '1,00',
  '1e2',
  '.5',
  '5.',
  '0x10',
  '12.345',
  '100.0000000000005',
  '1234567890123456',
  '1 000.00',
])('%j is no amount, and refuses the whole file', async (amount) => {
  const wrong = `<Ntry><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts>${dated}</Ntry>`
  await expect(
    read(around(`<Ntry>${credit}${dated}</Ntry>\n${wrong}`, '053.001.08')),
  ).rejects.toThrow(/^Line 4: The bank wrote .*, which is no amount in EUR/)
})

test('zeros behind the decimals of the currency change nothing', async () => {
  const entry = await only(
    `<Ntry><Amt Ccy="EUR">18.15000</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts>${dated}</Ntry>`,
  )
  expect(entry.amountMinor).toBe(1_815n)
})

test('another currency, in the account or in one entry, refuses the file', async () => {
  const francs = '<Ntry><Amt Ccy="CHF">1</Amt><CdtDbtInd>CRDT</CdtDbtInd></Ntry>'
  await expect(readBankFile(bytesOf(around(francs, '053.001.08')), euro)).rejects.toThrow(
    'Line 3: This is in “CHF”, but the account is in EUR.',
  )
  const other = around('', '053.001.08')
  const options = { ...euro, currency: 'USD' }
  await expect(readBankFile(bytesOf(other), options)).rejects.toThrow('the account is in USD')
})

test.each([
  ['no direction', `<Ntry><Amt Ccy="EUR">1</Amt>${dated}</Ntry>`, 'credit or a debit'],
  ['no amount', `<Ntry><CdtDbtInd>CRDT</CdtDbtInd>${dated}</Ntry>`, 'wrote nothing'],
])('an entry with %s refuses the file', async (_, entry, words) => {
  await expect(read(around(entry, '053.001.08'))).rejects.toThrow(words)
})

test('other XML is refused with its name', async () => {
  await expect(read('<html><body/></html>')).rejects.toThrow('its first element is “html”')
  await expect(read('<Document><BkToCstmrStmt/></Document>')).rejects.toThrow('no statement')
})

const text = fc
  .string({ unit: 'grapheme', maxLength: 40 })
  .map((value) => `x${value.replace(/[\p{C}\s]+/gu, ' ').trim()}`)
const cents = fc.bigInt(1n, 99_999_999n)
const decimal = (minor: bigint) =>
  `${minor < 0n ? '-' : ''}${(minor < 0n ? -minor : minor) / 100n}.${String((minor < 0n ? -minor : minor) % 100n).padStart(2, '0')}`

test('made-up statements come back as they were written', async () => {
  const payment = fc.record({ endToEndId: text, amount: cents, text })
  const entry = fc.record({
    isCredit: fc.boolean(),
    servicerRef: text,
    payments: fc.array(payment, { minLength: 1, maxLength: 4 }),
  })
  const statement = fc.record({ opening: cents, entries: fc.array(entry, { maxLength: 6 }) })
  await fc.assert(
    fc.asyncProperty(statement, async ({ opening, entries }) => {
      const written = entries.flatMap(({ isCredit, payments }) =>
        payments.map((one) => ({ ...one, amount: isCredit ? one.amount : -one.amount })),
      )
      const closing = written.reduce((sum, one) => sum + one.amount, opening)
      const xml = camt053({
        opening: decimal(opening),
        closing: decimal(closing),
        day: '2026-11-02',
        entries: entries.map(({ isCredit, servicerRef, payments }) => ({
          amount: decimal(payments.reduce((sum, one) => sum + one.amount, 0n)),
          direction: isCredit ? 'CRDT' : 'DBIT',
          day: '2026-11-02',
          servicerRef,
          payments: payments.map((one) => ({ ...one, amount: decimal(one.amount) })),
        })),
      })
      const got = await read(xml)
      expect(got.opening?.amountMinor).toBe(opening)
      expect(got.closing?.amountMinor).toBe(closing)
      expect(got.entries.map((one) => one.amountMinor)).toEqual(written.map((one) => one.amount))
      expect(got.entries.map((one) => one.ids.endToEndId)).toEqual(
        written.map((one) => one.endToEndId),
      )
      for (const [index, one] of written.entries()) {
        expect(got.entries[index]?.texts).toContain(one.text)
      }
    }),
    { numRuns: 100 },
  )
})
