import { monitorEventLoopDelay } from 'node:perf_hooks'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bytesOf, camt053, euro, mt940 } from '../../test/support/bank-files.ts'
import { sample, usually } from '../../test/support/long.ts'
import { readBankFile } from './read-bank-file.ts'
import { BankFileFault } from './statement.ts'

const small = camt053({
  opening: '10.00',
  closing: '12.50',
  day: '2026-11-02',
  entries: [
    {
      amount: '2.50',
      direction: 'CRDT',
      day: '2026-11-02',
      servicerRef: 'B1',
      payments: [{ endToEndId: 'E1', amount: '2.50', text: 'Müller สมชาย SX4Q' }],
    },
  ],
})

async function faultOf(bytes: Parameters<typeof readBankFile>[0]): Promise<string> {
  const result = await readBankFile(bytes, euro).catch((fault: unknown) => fault)
  expect(result).toBeInstanceOf(BankFileFault)
  return String(result)
}

test('a camt file cut off at any byte is refused', async () => {
  const bytes = bytesOf(small)
  const end = bytes.length - 1
  const lengths = Array.from({ length: end }, (_, length) => length)
  for (const length of sample(lengths, 300)) await faultOf(bytes.subarray(0, length))
  expect(await faultOf(bytes.subarray(0, end - 5))).toContain('as if it were cut off')
})

function large(entries: number): string {
  return camt053({
    opening: '0.00',
    closing: `${entries}.00`,
    day: '2026-11-02',
    entries: Array.from({ length: entries }, (_, index) => ({
      amount: '1.00',
      direction: 'CRDT',
      day: '2026-11-02',
      servicerRef: `B${index}`,
      payments: [{ endToEndId: `E${index}`, amount: '1.00', text: `text ${index}` }],
    })),
  })
}

test('a camt file cut off at any kilobyte is refused', async () => {
  const bytes = bytesOf(large(300))
  const lengths = Array.from({ length: bytes.length >> 10 }, (_, at) => (at + 1) << 10)
  for (const length of sample(lengths, 20)) await faultOf(bytes.subarray(0, length))
})

test('what follows the end of the document refuses the file', async () => {
  expect(await faultOf(bytesOf(`${small}<Document/>`))).toContain('no well-formed XML')
  expect(await faultOf(bytesOf(`${small}rubbish`))).toContain('no well-formed XML')
})

const entities = Array.from(
  { length: 20 },
  (_, index) => `<!ENTITY a${index + 1} "&a${index};&a${index};">`,
).join('')

/** Files that would take a careless reader long or much memory, with what they are refused for. */
const hostile: [string, () => Uint8Array, string][] = [
  [
    'a DOCTYPE',
    () => bytesOf(`<!DOCTYPE x SYSTEM "file:///etc/passwd">${small.slice(39)}`),
    'DOCTYPE',
  ],
  [
    'entities within entities',
    () => bytesOf(`<!DOCTYPE x [<!ENTITY a0 "ha">${entities}]><Document>&a20;</Document>`),
    'DOCTYPE',
  ],
  [
    'a DOCTYPE of many megabytes',
    () => bytesOf(`<!DOCTYPE x [${'a'.repeat(30_000_000)}`),
    'longer than',
  ],
  ['depth', () => bytesOf('<a>'.repeat(1_000_000)), 'nested more than 64 deep'],
  [
    'depth with namespaces',
    () => bytesOf('<a xmlns:b="urn:b">'.repeat(500_000)),
    'nested more than 64 deep',
  ],
  [
    'attributes',
    () =>
      bytesOf(`<a ${Array.from({ length: 300_000 }, (_, index) => `b${index}="1"`).join(' ')}/>`),
    'more than 64 attributes',
  ],
  ['one long text', () => bytesOf(`<Document><a>${'x'.repeat(40_000_000)}`), 'longer than'],
  ['one long comment', () => bytesOf(`<Document><!--${'x'.repeat(40_000_000)}`), 'longer than'],
  ['one long attribute', () => bytesOf(`<Document a="${'x'.repeat(40_000_000)}`), 'longer than'],
  [
    'an entry of very many elements',
    () => bytesOf(small.replace('<NtryDtls>', `<NtryDtls>${'<a/>'.repeat(500_000)}`)),
    'more than 20000 elements',
  ],
  ['size', () => new Uint8Array(64 * 1024 * 1024 + 1).fill(0x20), 'larger than 64 MiB'],
  ['an MT940 line without end', () => bytesOf(`:20:${'x'.repeat(40_000_000)}`), 'longer than'],
  [
    'an MT940 field without end',
    () => bytesOf(`:20:A\n:25:A\n${'x\n'.repeat(20_000_000)}`),
    'longer than',
  ],
  ['empty lines', () => new Uint8Array(40 * 1024 * 1024).fill(0x0a), 'is empty'],
  [
    'empty lines in MT940',
    () => Buffer.concat([bytesOf(':20:A\n-\n'), new Uint8Array(40 * 1024 * 1024).fill(0x0a)]),
    'more than 5000000 parts',
  ],
  [
    'an OFX tag without end',
    () => bytesOf(`OFXHEADER:100\n<${'A'.repeat(40_000_000)}`),
    'longer than',
  ],
  ['OFX groups', () => bytesOf(`OFXHEADER:100\n${'<OFX>'.repeat(1_000_000)}`), 'nested too deep'],
  ['an undefined entity', () => bytesOf('<Document>&xxe;</Document>'), 'no well-formed XML'],
  ['nothing', () => bytesOf(''), 'empty'],
  ['something else', () => bytesOf('hello'), 'neither camt nor MT940 nor OFX'],
  ['a PDF', () => bytesOf('%PDF-1.7'), 'This is a PDF: export the statement as CSV'],
  ['an Excel file', () => bytesOf('PK\x03\x04'), 'This is an Excel or zip file'],
  ['an old Excel file', () => Uint8Array.of(0xd0, 0xcf, 0x11, 0xe0), 'This is an old Excel file'],
  ['zeros', () => bytesOf(':20:A\n:25:\0\0\n'), 'another encoding'],
]

test.each(hostile)('%s is refused at once, and others have their turn', async (_, make, words) => {
  const bytes = make()
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  const start = process.cpuUsage()
  expect(await faultOf(bytes)).toContain(words)
  const used = process.cpuUsage(start)
  delay.disable()
  expect((used.user + used.system) / 1000).toBeLessThan(5_000)
  expect(delay.max / 1e6).toBeLessThan(5_000)
})

test('a stream that grows beyond the limit is refused', async () => {
  // White space between elements, which costs the reader least.
  const endless = Buffer.concat([bytesOf('<a/>'), Buffer.alloc(60_000, ' ')])
  async function* stream() {
    yield bytesOf('<Document>')
    for (;;) yield endless
  }
  expect(await faultOf(stream())).toContain('larger than 64 MiB')
})

test('too many entries are refused', async () => {
  const line = ':61:261102C1,NTRFX\n'
  const text = `:20:A\n:25:A\n:28C:1\n:60F:C261102EUR0,\n${line.repeat(200_001)}:62F:C261102EUR0,\n`
  expect(await faultOf(bytesOf(text))).toContain(
    'Line 200005: The file has more than 200000 entries',
  )
})

test('while a large file is read, timers go on', async () => {
  const bytes = bytesOf(large(10_000))
  let ticks = 0
  const timer = setInterval(() => ticks++, 1)
  const [statement] = await readBankFile(bytes, euro)
  clearInterval(timer)
  expect(statement?.entries).toHaveLength(10_000)
  expect(ticks).toBeGreaterThan(10)
})

test('how the bytes are cut into chunks does not matter', async () => {
  const bytes = bytesOf(small)
  const wanted = await readBankFile(bytes, euro)
  async function* chunks(size: number) {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
  }
  for (const size of [1, 2, 3, 7, 100])
    expect(await readBankFile(chunks(size), euro)).toEqual(wanted)
})

function utf16(text: string, littleEndian: boolean): Uint8Array {
  const bytes = Buffer.from(`\ufeff${text}`, 'utf16le')
  return littleEndian ? bytes : bytes.swap16()
}

/** windows-874: Thai letters stand 0x0d60 below their code points. */
function windows874(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => {
    const code = character.codePointAt(0) ?? 0
    return code >= 0x0e01 ? code - 0x0d60 : code
  })
}

const declared = (encoding: string) => small.replace('UTF-8', encoding)
test.each([
  ['UTF-8 with a mark', bytesOf(`\ufeff${small}`), 'Müller สมชาย SX4Q'],
  ['UTF-16, little end first', utf16(declared('UTF-16'), true), 'Müller สมชาย SX4Q'],
  ['UTF-16, big end first', utf16(declared('UTF-16'), false), 'Müller สมชาย SX4Q'],
  ['Latin-1', Buffer.from(declared('ISO-8859-1').replace('สมชาย', 'ß'), 'latin1'), 'Müller ß SX4Q'],
  ['windows-874', windows874(declared('windows-874').replace('ü', 'u')), 'Muller สมชาย SX4Q'],
])('camt in %s', async (_, bytes, text) => {
  const [statement] = await readBankFile(bytes, euro)
  expect(statement?.entries[0]?.texts[0]).toBe(text)
})

test('MT940 in UTF-16', async () => {
  const text = mt940({
    opening: '0.00',
    closing: '1.00',
    entries: [{ amount: '1.00', mark: 'C', text: 'สมชาย' }],
  })
  const [statement] = await readBankFile(utf16(text, true), euro)
  expect(statement?.entries[0]?.texts[0]).toBe('สมชาย')
})

test('bytes that are no text in the declared encoding refuse the file with their line', async () => {
  const bytes = Buffer.from(small.replace('สมชาย', ''), 'latin1')
  expect(await faultOf(bytes)).toContain('Line 14: Some bytes are no text in UTF-8')
  expect(await faultOf(bytesOf(declared('UTF-16')))).toContain('says that it is in UTF-16')
  expect(await faultOf(bytesOf(declared('KLINGON')))).toContain('is not known')
})

test('whatever the bytes are, they are read or refused, never anything else', async () => {
  const whole = bytesOf(small)
  const damaged = fc
    .record({ at: fc.nat(whole.length - 1), bytes: fc.uint8Array({ maxLength: 8 }) })
    .map(({ at, bytes }) =>
      Buffer.concat([whole.subarray(0, at), bytes, whole.subarray(at + bytes.length)]),
    )
  const mt = fc
    .array(
      fc.oneof(
        fc.constantFrom(
          ':61:',
          ':86:',
          ':20:',
          ':62F:',
          ':60F:',
          '-',
          '\n',
          '\r\n',
          ':28C:',
          '?20',
        ),
        fc.constantFrom(
          'C261102EUR1,',
          '261102C1,NTRF',
          '/EREF/',
          '//',
          'RCR',
          ',',
          '{4:',
          ':90C:',
        ),
        fc.string({ maxLength: 30 }),
      ),
      { maxLength: 60 },
    )
    .map((parts) => bytesOf(`:20:A\n${parts.join('')}`))
  const ofx = fc
    .array(
      fc.oneof(
        fc.constantFrom(
          '<OFX>',
          '</OFX>',
          '<STMTRS>',
          '<STMTTRN>',
          '</STMTTRN>',
          '<TRNAMT>1',
          '\n',
        ),
        fc.constantFrom(
          '<CURDEF>EUR',
          '</STMTRS>',
          '<![CDATA[x]]>',
          '&amp;',
          '<A',
          '>',
          '<DTPOSTED>',
        ),
        fc.string({ maxLength: 20 }),
      ),
      { maxLength: 60 },
    )
    .map((parts) => bytesOf(`OFXHEADER:100\n<OFX>${parts.join('')}`))
  await fc.assert(
    fc.asyncProperty(fc.oneof(damaged, mt, ofx, fc.uint8Array()), async (bytes) => {
      const result = await readBankFile(bytes, euro).catch((fault: unknown) => fault)
      expect(Array.isArray(result) || result instanceof BankFileFault).toBe(true)
    }),
    { numRuns: usually(200, { long: 1_000 }) },
  )
})

test.each([
  ['question marks', '?'],
  ['numbered subfields', '?20'],
  ['slashes', '/'],
  ['words between slashes', '/EREF'],
  ['SEPA words', 'EREF+'],
  ['blanks', ' '],
])('an :86: full of %s takes no longer than its length', async (_, part) => {
  const details = `:86:166?00${part.repeat(Math.floor(60_000 / part.length))}`
  const entries = `:61:261102C1,NTRFX\n${details}\n`.repeat(50)
  const text = `:20:A\n:25:A\n:28C:1\n:60F:C261102EUR0,\n${entries}:62F:C261102EUR50,\n-\n`
  const start = process.cpuUsage()
  await readBankFile(bytesOf(text), euro)
  expect(process.cpuUsage(start).user / 1000).toBeLessThan(2_000)
})

test('of a file with several accounts, only those that are asked for are read', async () => {
  const ofOther = 'another account, in words that are no amount'
  const ofx = (accountNo: string, amount: string) =>
    `<STMTTRNRS><TRNUID>1<STMTRS><CURDEF>${accountNo === 'own' ? 'EUR' : 'XXX'}
<BANKACCTFROM><BANKID>B<ACCTID>${accountNo}<ACCTTYPE>CHECKING</BANKACCTFROM>
<BANKTRANLIST><STMTTRN><TRNTYPE>CREDIT<DTPOSTED>20261102<TRNAMT>${amount}<FITID>1</STMTTRN></BANKTRANLIST>
<LEDGERBAL><BALAMT>${amount}<DTASOF>20261102</LEDGERBAL></STMTRS></STMTTRNRS>`
  const swift = (accountNo: string, currency: string) =>
    `:20:R\n:25:${accountNo}\n:28C:1\n:60F:C261102${currency}1,00\n:61:261102C1,00NTRFX\n:62F:C261102${currency}2,00\n-\n`
  for (const text of [
    `OFXHEADER:100\nCHARSET:1252\n\n<OFX><BANKMSGSRSV1>${ofx('other', ofOther)}${ofx('own', '1.00')}</BANKMSGSRSV1></OFX>\n`,
    swift('other', 'XXX') + swift('own', 'EUR'),
  ]) {
    await faultOf(bytesOf(text))
    const options = { ...euro, isOwn: (accountNo: string) => accountNo === 'own' }
    const statements = await readBankFile(bytesOf(text), options)
    expect(statements.map((each) => [each.accountNo, each.entries.length])).toEqual([
      ['other', 0],
      ['own', 1],
    ])
  }
})
