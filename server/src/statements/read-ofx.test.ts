import { expect, test } from 'vitest'
import { bytesOf, euro } from '../../test/support/bank-files.ts'
import { readBankFile } from './read-bank-file.ts'
import { BankFileFault } from './statement.ts'

const options = { ...euro, currency: null }

async function read(text: string) {
  return readBankFile(bytesOf(text), options)
}

const sgml = `OFXHEADER:100
DATA:OFXSGML
VERSION:102
CHARSET:1252

<OFX>
<SIGNONMSGSRSV1><SONRS><STATUS><CODE>0<SEVERITY>INFO</STATUS><DTSERVER>20261102<LANGUAGE>ENG</SONRS></SIGNONMSGSRSV1>
<BANKMSGSRSV1><STMTTRNRS><TRNUID>1<STATUS><CODE>0<SEVERITY>INFO</STATUS>
<STMTRS><CURDEF>EUR
<BANKACCTFROM><BANKID>TESTXX00<ACCTID>12-345<ACCTTYPE>CHECKING</BANKACCTFROM>
<BANKTRANLIST><DTSTART>20261101<DTEND>20261102
<STMTTRN>
<TRNTYPE>CREDIT
<DTPOSTED>20261102101500[-3:BRT]
<TRNAMT>74,40
<FITID>N2026110200001
<REFNUM>R1
<NAME>Ada &amp; Tester
<MEMO>SX4Q order
</STMTTRN>
<STMTTRN>
<TRNTYPE>DEBIT
<DTPOSTED>20261102120000[-3:BRT]
<TRNAMT>-3.34
<FITID>1
<MEMO>
<BANKACCTTO><BANKID>TESTXX11<ACCTID>99<ACCTTYPE>CHECKING</BANKACCTTO>
</STMTTRN>
</BANKTRANLIST>
<LEDGERBAL><BALAMT>-71.06<DTASOF>20261102</LEDGERBAL>
<AVAILBAL><BALAMT>5.00<DTASOF>20261102</AVAILBAL>
</STMTRS></STMTTRNRS></BANKMSGSRSV1>
</OFX>
`

test('SGML without closing tags', async () => {
  const [statement, ...others] = await read(sgml)
  expect(others).toEqual([])
  expect(statement).toMatchObject({
    kind: 'statement',
    format: 'ofx',
    accountNo: '12-345',
    currency: 'EUR',
    from: '2026-11-01',
    to: '2026-11-02',
    opening: null,
    closing: { type: 'LDGR', amountMinor: -7_106n, day: '2026-11-02', booked: true },
  })
  expect(statement?.entries).toMatchObject([
    {
      line: 12,
      entryNo: 1,
      bookedOn: '2026-11-02',
      bookedAt: new Date('2026-11-02T13:15:00Z'),
      amountMinor: 7_440n,
      ids: { feedId: 'N2026110200001', ownerRef: 'R1' },
      texts: ['SX4Q order', 'Ada & Tester', 'R1', 'N2026110200001'],
      counterparty: { accountNo: null, name: 'Ada & Tester', bank: null },
      typeCode: 'CREDIT',
    },
    {
      entryNo: 2,
      bookedAt: null,
      amountMinor: -334n,
      ids: { feedId: null },
      counterparty: { accountNo: '99', name: null, bank: 'TESTXX11' },
    },
  ])
})

const xml = `<?xml version="1.0" encoding="UTF-8"?><?OFX OFXHEADER="200" VERSION="211"?><OFX><CREDITCARDMSGSRSV1><CCSTMTTRNRS><TRNUID>1</TRNUID><CCSTMTRS><CURDEF>EUR</CURDEF><CCACCTFROM><ACCTID>4-1</ACCTID></CCACCTFROM><BANKTRANLIST><STMTTRN><TRNTYPE>OTHER</TRNTYPE><DTPOSTED>20261102083000.000[+7:ICT]</DTPOSTED><TRNAMT>12.5</TRNAMT><FITID>AB-1234</FITID><PAYEE><NAME>Payee</NAME><CITY>X</CITY></PAYEE><MEMO><![CDATA[a & b]]></MEMO></STMTTRN></BANKTRANLIST><LEDGERBAL><BALAMT>+1</BALAMT><DTASOF>20261102</DTASOF></LEDGERBAL></CCSTMTRS></CCSTMTTRNRS></CREDITCARDMSGSRSV1></OFX>`

test('XML on one line', async () => {
  const [statement] = await read(xml)
  expect(statement).toMatchObject({ accountNo: '4-1', closing: { amountMinor: 100n } })
  expect(statement?.entries[0]).toMatchObject({
    amountMinor: 1_250n,
    bookedAt: new Date('2026-11-02T01:30:00Z'),
    counterparty: { name: 'Payee' },
    texts: ['a & b', 'AB-1234'],
  })
})

test.each(['', '.', '$120', '1.234,56', '1,234', '1.000', '1 2', '--1', '1e3', '12,345678'])(
  '%j is no amount, and refuses the file',
  async (amount) => {
    await expect(read(sgml.replace('74,40', amount))).rejects.toThrow(/^Line 12: The bank wrote/)
  },
)

test.each([
  ['a declaration', '<!DOCTYPE OFX [<!ENTITY a "b">]>', 'declaration'],
  ['a bare angle', 'a < b', 'is no tag of OFX'],
  ['a group that closes another', '</STMTRS>', 'closes what is not open'],
  ['another currency', '<CURRENCY><CURRATE>1.1<CURSYM>USD</CURRENCY>', 'is in “USD”'],
])('%s refuses the file', async (_, part, words) => {
  await expect(read(sgml.replace('<MEMO>SX4Q order', part))).rejects.toThrow(words)
})

test('a debit with a positive amount contradicts itself', async () => {
  await expect(read(sgml.replace('-3.34', '3.34'))).rejects.toThrow('contradict each other')
  await expect(read(sgml.replace('74,40', '-74,40'))).rejects.toThrow('contradict each other')
})

test('a day that does not exist refuses the file', async () => {
  await expect(read(sgml.replace('20261102101500', '20260230101500'))).rejects.toThrow('for a day')
})

test('the account’s currency is checked', async () => {
  const result = readBankFile(bytesOf(sgml), { ...options, currency: 'USD' })
  await expect(result).rejects.toThrow('This is in “EUR”, but the account is in USD.')
})

test.each([
  ['SGML', sgml],
  ['XML', xml],
])('%s cut off at any byte is refused', async (_, whole) => {
  const end = whole.lastIndexOf('</OFX>') + '</OFX>'.length
  for (let length = 0; length < end; length++) {
    const result = await read(whole.slice(0, length)).catch((fault: unknown) => fault)
    expect(result).toBeInstanceOf(BankFileFault)
  }
  await expect(read(`${whole}<OFX></OFX>`)).rejects.toThrow('goes on after its end')
  await expect(read(`${whole} rubbish`)).rejects.toThrow('goes on after its end')
})
