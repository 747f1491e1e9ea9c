import { createHmac } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RawRequest, sendRaw } from '../support/raw-http.ts'
import {
  type AgentClient,
  type Answer,
  startTestService,
  type TestService,
} from '../support/service.ts'

let s: TestService
/** Only ever sends what is refused. */
let refused: AgentClient
let agent: AgentClient
beforeAll(async () => {
  s = await startTestService()
  refused = await s.agent()
  agent = await s.agent()
})
afterAll(async () => {
  // Whatever was refused has left nothing behind, and nothing is in the way of the same refId.
  expect((await refused.get('/payment/orders')).json).toEqual({ data: [], next: null })
  expect((await refused.get('/payment/wallet')).json).toMatchObject({ balance: 0, held: 0, seq: 0 })
  await s.prove()
  await s.close()
})

const kinds = ['/payment/deposit', '/payment/withdraw'] as const

const said = ({ status, json }: Answer) => [status, json?.code ?? 'none']
const fieldsOf = ({ json }: Answer) => json.errors?.map((error: { field: string }) => error.field)

/** An order as JSON text whose named members are these texts; undefined leaves a member out. */
function orderText(members: Record<string, string | undefined>): string {
  const texts: Record<string, string | undefined> = Object.fromEntries(
    Object.entries(agent.order()).map(([name, value]) => [name, JSON.stringify(value)]),
  )
  const shown = Object.entries({ ...texts, ...members }).filter(([, text]) => text !== undefined)
  return `{${shown.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`
}

const inString = (text: string) => JSON.stringify(text)
const isoAt = (offMs: number) => new Date(s.clock().getTime() + offMs).toISOString()

/** An object whose text has so many bytes. */
const ofBytes = (bytes: number) => `{"k":"${'x'.repeat(bytes - 8)}"}`
/** An object of so many levels, itself included. */
const ofLevels = (levels: number) => `${'{"k":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`

/** One bad field at a time: the field and the text it is sent as. */
const badFields: [field: string, what: string, text: string | undefined][] = [
  ...['refId', 'userId', 'amount', 'accountName', 'accountNo', 'bankCode', 'timestamp'].flatMap(
    (field): [string, string, string | undefined][] => [
      [field, 'missing', undefined],
      [field, 'null', 'null'],
      [field, 'true', 'true'],
      [field, 'an array', '[]'],
      [field, 'an object', '{}'],
      [field, 'an empty string', '""'],
    ],
  ),
  ...['refId', 'userId', 'accountName', 'accountNo', 'bankCode', 'timestamp'].map(
    (field): [string, string, string] => [field, 'a number', '12345'],
  ),
  ...['refId', 'userId', 'accountName'].flatMap((field): [string, string, string][] => [
    [field, 'blank', '"  "'],
    [field, 'blank in other widths', inString('\u00a0\u3000')],
    [field, 'a control character', '"a\\u0007b"'],
    [field, 'NUL', '"a\\u0000b"'],
    [field, 'a line break', '"a\\nb"'],
    [field, 'a line break at its end', '"ab\\n"'],
    [field, 'a delete character', '"a\\u007fb"'],
    [field, 'a line separator', '"a\\u2028b"'],
    [field, 'a lone high surrogate', '"a\\ud83db"'],
    [field, 'a lone low surrogate', '"a\\ude00b"'],
    [field, 'surrogates the wrong way round', '"\\ude00\\ud83d"'],
    [field, 'a zero width space', '"a\\u200bb"'],
    [field, 'a text that turns direction', '"a\\u202eb"'],
  ]),
  ...['refId', 'userId'].flatMap((field): [string, string, string][] => [
    [field, '65 letters', inString('x'.repeat(65))],
    [field, '65 emoji', inString('😀'.repeat(65))],
    [field, '65 Thai characters', inString('ก'.repeat(65))],
  ]),
  ['accountName', '129 letters', inString('x'.repeat(129))],
  ['accountName', '129 Thai characters', inString('ก'.repeat(129))],
  ['accountNo', '3 digits', '"123"'],
  ['accountNo', '35 digits', inString('1'.repeat(35))],
  ['accountNo', '3 digits with dashes', '"1-2-3"'],
  ['accountNo', 'dashes alone', '"- - - - -"'],
  ['accountNo', 'a hundred spaces', inString(`1234${' '.repeat(100)}`)],
  ['accountNo', 'a tab', '"1234\\t5678"'],
  ['accountNo', 'a dash of another kind', '"1234\\u20135678"'],
  ['accountNo', 'a line break at its end', '"123456\\n"'],
  ['accountNo', 'Thai digits', inString('๑๒๓๔๕')],
  ['accountNo', 'an asterisk', '"1234*6789"'],
  ['bankCode', '33 letters', inString('S'.repeat(33))],
  ['amount', 'a number in a string', '"100"'],
  ['amount', 'zero', '0'],
  ['amount', 'minus zero', '-0'],
  ['amount', 'a negative number', '-100'],
  ['amount', 'a fraction', '100.5'],
  ['amount', 'a small fraction', '0.99'],
  ['amount', 'a satang', '100.01'],
  ['amount', 'what a double rounds to 100', '99.99999999999999999'],
  ['amount', 'what a double rounds to the bound', '1000000000000.00000000001'],
  ['amount', 'a fraction by its exponent', '1e-1'],
  ['amount', 'one above the bound', '1000000000001'],
  ['amount', '1e13', '1e13'],
  ['amount', 'a number beyond doubles', '1e400'],
  ['amount', 'a number of 400 digits', '9'.repeat(400)],
  ['amount', '2^63', '9223372036854775808'],
  ['timestamp', 'no zone', '"2026-01-31T08:30:00"'],
  ['timestamp', 'no zone, nor seconds', '"2026-01-31T08:30"'],
  ['timestamp', 'a date alone', '"2026-01-31"'],
  ['timestamp', 'an impossible date', '"2026-02-30T08:30:00Z"'],
  ['timestamp', 'an impossible hour', '"2026-01-31T25:00:00Z"'],
  ['timestamp', 'unix seconds', '"1767225600"'],
  ['timestamp', 'words', '"yesterday"'],
  ['timestamp', '100 characters', inString('2'.repeat(100))],
  ['extraParams', 'an array', '[]'],
  ['extraParams', 'an array of objects', '[{}]'],
  ['extraParams', 'a string', '"{}"'],
  ['extraParams', 'a number', '1'],
  ['extraParams', 'false', 'false'],
  ['extraParams', '4097 bytes', ofBytes(4097)],
  ['extraParams', '4097 bytes in fewer characters', `{"k":"${'ก'.repeat(1363)}"}`],
  ['extraParams', '4097 bytes that are mostly spacing', `{${' '.repeat(4095)}}`],
  ['extraParams', '6 levels', ofLevels(6)],
  ['extraParams', '6 levels of arrays', '{"k":[[[[[]]]]]}'],
  ['extraParams', '2000 levels', ofLevels(2000)],
]

describe.each(kinds)('%s refuses', (path) => {
  test.each(badFields)('%s: %s', async (field, _what, text) => {
    const answer = await refused.send('POST', path, orderText({ [field]: text }))
    expect(said(answer)).toEqual([422, 'invalid_request'])
    expect(fieldsOf(answer)).toEqual([field])
    expect(answer.json.detail).toContain(field)
    expect(answer.json.errors[0].message).toMatch(/^(must be |is required)/)
  })

  test.each([
    [-301_000, false],
    [-300_001, false],
    [-300_000, true],
    [300_000, true],
    [300_001, false],
    [301_000, false],
  ])('a timestamp that is %i ms off, unless it is within 300 s', async (offMs, fits) => {
    const body = orderText({ timestamp: inString(isoAt(offMs)), bankCode: '"NOPE"' })
    const answer = await refused.send('POST', path, body)
    expect(said(answer)).toEqual(fits ? [422, 'unknown_bank_code'] : [422, 'invalid_request'])
    if (!fits) expect(fieldsOf(answer)).toEqual(['timestamp'])
  })

  test('a field that is none, by its name', async () => {
    const answer = await refused.send('POST', path, orderText({ extParams: '{}', Amount: '1' }))
    expect(said(answer)).toEqual([422, 'invalid_request'])
    expect(answer.json.errors).toEqual([
      { field: 'extParams', message: 'is not a field of this request' },
      { field: 'Amount', message: 'is not a field of this request' },
    ])
  })

  test('all bad fields at once', async () => {
    const answer = await refused.send(
      'POST',
      path,
      '{"refId":"","userId":1,"amount":"x","accountName":" ","accountNo":"1","bankCode":"","timestamp":"now","extraParams":[],"more":1}',
    )
    expect(said(answer)).toEqual([422, 'invalid_request'])
    expect(fieldsOf(answer).toSorted()).toEqual([
      'accountName',
      'accountNo',
      'amount',
      'bankCode',
      'extraParams',
      'more',
      'refId',
      'timestamp',
      'userId',
    ])
  })

  test('what the shape alone does not tell, together with what it does', async () => {
    const body = orderText({
      refId: '""',
      amount: '99.99999999999999999',
      timestamp: '"2026-02-30T00:00:00Z"',
      extraParams: ofLevels(6),
    })
    const answer = await refused.send('POST', path, body)
    expect(fieldsOf(answer).toSorted()).toEqual(['amount', 'extraParams', 'refId', 'timestamp'])
  })

  test('an empty object, naming all that is required', async () => {
    const answer = await refused.send('POST', path, '{}')
    expect(said(answer)).toEqual([422, 'invalid_request'])
    expect(fieldsOf(answer)).toEqual([
      'refId',
      'userId',
      'amount',
      'accountName',
      'accountNo',
      'bankCode',
      'timestamp',
    ])
  })

  test.each(['[]', 'null', 'true', '1', '"text"', `[${'{}'}]`])(
    'JSON that is not an object: %s',
    async (body) => {
      const answer = await refused.send('POST', path, body)
      expect(said(answer)).toEqual([422, 'invalid_request'])
      expect(answer.json.errors).toEqual([{ field: '', message: 'must be a JSON object' }])
    },
  )

  test.each([
    ['__proto__', '{"amount":1}'],
    ['constructor', '{"prototype":{"amount":1}}'],
    ['toString', '1'],
    ['hasOwnProperty', 'null'],
  ])('a field named %s, which changes nothing for anybody', async (name, text) => {
    const body = orderText({ amount: undefined }).replace('{', `{"${name}":${text},`)
    const answer = await refused.send('POST', path, body)
    expect(said(answer)).toEqual([422, 'invalid_request'])
    expect(fieldsOf(answer)).toEqual(['amount', name])
    expect(Object.keys(Object.prototype)).toEqual([])
    expect((await agent.get('/payment/wallet')).status).toBe(200)
  })
})

describe('bodies that are not JSON', () => {
  const order = () => Buffer.from(JSON.stringify(agent.order()))
  const broken: [what: string, body: () => Buffer | string, code: string][] = [
    ['empty', () => '', 'malformed_json'],
    ['blank', () => '   ', 'malformed_json'],
    ['cut short', () => order().subarray(0, -1), 'malformed_json'],
    ['with something behind it', () => `${order()}x`, 'malformed_json'],
    ['two objects', () => `${order()}${order()}`, 'malformed_json'],
    ['with a trailing comma', () => `${order()}`.replace(/\}$/, ',}'), 'malformed_json'],
    ['with a comment', () => `/**/${order()}`, 'malformed_json'],
    ['in single quotes', () => `${order()}`.replaceAll('"', "'"), 'malformed_json'],
    ['with NaN', () => orderText({ amount: 'NaN' }), 'malformed_json'],
    ['with Infinity', () => orderText({ amount: 'Infinity' }), 'malformed_json'],
    ['with a plus sign', () => orderText({ amount: '+1' }), 'malformed_json'],
    ['with a zero in front', () => orderText({ amount: '0100' }), 'malformed_json'],
    ['with hex', () => orderText({ amount: '0x64' }), 'malformed_json'],
    ['with a point and no digits', () => orderText({ amount: '100.' }), 'malformed_json'],
    ['with a raw line break in a string', () => orderText({ refId: '"a\nb"' }), 'malformed_json'],
    ['with a raw NUL in a string', () => orderText({ refId: '"a\0b"' }), 'malformed_json'],
    ['with a bad escape', () => orderText({ refId: '"\\x61"' }), 'malformed_json'],
    ['with half an escape', () => orderText({ refId: '"\\u00"' }), 'malformed_json'],
    ['behind a byte order mark', () => `\ufeff${order()}`, 'malformed_json'],
    ['a form', () => 'refId=1&amount=100', 'malformed_json'],
    ['in UTF-16', () => Buffer.from(`${order()}`, 'utf16le'), 'malformed_json'],
    ['with a byte that is no UTF-8', () => cutIn(0xff), 'malformed_json'],
    ['with an overlong NUL', () => cutIn(0xc0, 0x80), 'malformed_json'],
    ['with a surrogate in UTF-8', () => cutIn(0xed, 0xa0, 0xbd), 'malformed_json'],
    ['with a character beyond Unicode', () => cutIn(0xf4, 0x90, 0x80, 0x80), 'malformed_json'],
    ['with half a character', () => cutIn(0xe0, 0xb8), 'malformed_json'],
    ['8000 levels deep and unclosed', () => '['.repeat(8000), 'malformed_json'],
    ['with a key twice', () => `${order()}`.replace('{', '{"refId":"x",'), 'duplicate_json_key'],
    [
      'with the amount twice, alike',
      () => `${order()}`.replace('{', '{"amount":100,'),
      'duplicate_json_key',
    ],
    [
      'with a key twice by an escape',
      () => `${order()}`.replace('{', '{"\\u0061mount":1,'),
      'duplicate_json_key',
    ],
    [
      'with a key twice in extraParams',
      () => orderText({ extraParams: '{"a":1,"a":1}' }),
      'duplicate_json_key',
    ],
    [
      'with a key twice by an escape in extraParams',
      () => orderText({ extraParams: '{"a":1,"\\u0061":1}' }),
      'duplicate_json_key',
    ],
    [
      'with a key twice in an array in extraParams',
      () => orderText({ extraParams: '{"x":[[{"a":{},"b":0,"a":[]}]]}' }),
      'duplicate_json_key',
    ],
    [
      'with a key twice in a field that is none',
      () => orderText({ more: '{"a":1,"a":2}' }),
      'duplicate_json_key',
    ],
    ['an array with a key twice', () => '[{"a":1,"a":2}]', 'duplicate_json_key'],
  ]

  /** An order with these bytes in its account name. */
  function cutIn(...bytes: number[]): Buffer {
    const [before = '', after = ''] = orderText({ accountName: '"a~b"' }).split('~')
    return Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)])
  }

  test.each(broken)('a body %s', async (_what, makeBody, code) => {
    const body = Buffer.from(makeBody())
    const answer = await signedRaw({ body })
    expect(said(answer)).toEqual([400, code])
    expect(answer.json.errors).toBeUndefined()
  })

  test('the problem names the key that stands twice', async () => {
    const answer = await refused.send('POST', kinds[0], orderText({ extraParams: '{"k":1,"k":2}' }))
    expect(answer.json.detail).toContain('"k"')
  })
})

/** Signs whatever bytes there are. */
async function signedRaw(request: Partial<RawRequest>, sender = refused): Promise<Answer> {
  const { method = 'POST', path = '/payment/deposit', body = '' } = request
  const t = Math.floor(s.clock().getTime() / 1000)
  const v1 = createHmac('sha256', sender.secret)
    .update(`${t}.${method} ${path}.`)
    .update(body)
    .digest('hex')
  return sendRaw(s.service.url, {
    method,
    path,
    body,
    headers: [
      ['x-appid', sender.appId],
      ['x-signature', `t=${t},v1=${v1}`],
      ...(request.headers ?? [['content-type', 'application/json']]),
    ],
  })
}

describe('sizes and media types', () => {
  const padded = (bytes: number) => {
    const text = JSON.stringify(agent.order())
    return text + ' '.repeat(bytes - Buffer.byteLength(text))
  }
  const json: [string, string] = ['content-type', 'application/json']
  const chunked = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`

  test('a body of 16 KiB is taken', async () => {
    expect((await signedRaw({ body: padded(16_384) }, agent)).status).toBe(201)
  })

  test('a body of 16 KiB and a byte is refused', async () => {
    expect(said(await signedRaw({ body: padded(16_385) }))).toEqual([413, 'body_too_large'])
  })

  test('a body that does not say how long it is, is refused at the same size', async () => {
    const answer = await sendRaw(s.service.url, {
      method: 'POST',
      path: '/payment/deposit',
      headers: [json, ['transfer-encoding', 'chunked']],
      body: chunked(padded(16_385)),
    })
    expect(said(answer)).toEqual([413, 'body_too_large'])
  })

  test.each<[string, [string, string][], number]>([
    ['application/json', [json], 201],
    ['application/json with a charset', [['content-type', 'application/json; charset=utf-8']], 201],
    ['application/json in upper case', [['content-type', 'Application/JSON']], 201],
    ['no content type', [], 415],
    ['text/plain', [['content-type', 'text/plain']], 415],
    ['a form', [['content-type', 'application/x-www-form-urlencoded']], 415],
    ['a multipart form', [['content-type', 'multipart/form-data; boundary=x']], 415],
    ['something that begins alike', [['content-type', 'application/json-seq']], 415],
    ['another kind of JSON', [['content-type', 'application/problem+json']], 415],
    ['an unreadable type', [['content-type', 'json']], 415],
    ['content-encoding identity', [json, ['content-encoding', 'identity']], 415],
    ['content-encoding gzip', [json, ['content-encoding', 'gzip']], 415],
  ])('a body sent as %s', async (_what, headers, status) => {
    const body = JSON.stringify(agent.order())
    const answer = await signedRaw({ body, headers }, status === 201 ? agent : refused)
    expect(said(answer)).toEqual(status === 201 ? [201, 'none'] : [415, 'unsupported_media_type'])
  })

  test('a body that really is compressed is refused, not unpacked', async () => {
    const body = gzipSync(JSON.stringify(agent.order()))
    const answer = await signedRaw({ body, headers: [json, ['content-encoding', 'gzip']] })
    expect(said(answer)).toEqual([415, 'unsupported_media_type'])
  })
})

describe('what is just right', () => {
  test.each([
    ['refId', '64 letters', inString('r'.repeat(64))],
    ['refId', '64 emoji', inString('😀'.repeat(64))],
    ['refId', '64 emoji by their escapes', `"${'\\ud83d\\ude01'.repeat(64)}"`],
    ['refId', '64 Thai characters', inString('ก'.repeat(64))],
    ['refId', 'one character', '"1"'],
    ['refId', 'quotes and backslashes', '"\\"status\\":\\"WAITING\\",\\\\"'],
    ['refId', 'a percent sign and a slash', '"100%/x?y#z"'],
    ['userId', '64 emoji', inString('😀'.repeat(64))],
    ['accountName', '128 letters', inString('n'.repeat(128))],
    ['accountName', '128 Thai characters', inString('ก'.repeat(128))],
    ['accountNo', '4 digits', '"1234"'],
    ['accountNo', '34 characters', inString('A1'.repeat(17))],
    ['accountNo', 'spaces and dashes', '" 123-4 56789--0 "'],
    ['accountNo', '34 characters, each behind a dash', inString('-1'.repeat(34))],
    ['amount', '1', '1'],
    ['amount', '1e2', '1e2'],
    ['amount', '1E+2', '1E+2'],
    ['amount', '100.0', '100.0'],
    ['amount', '10000e-2', '10000e-2'],
    ['amount', '10^12', '1000000000000'],
    ['amount', '1e12', '1e12'],
    ['extraParams', 'nothing in it', '{}'],
    ['extraParams', 'null', 'null'],
    ['extraParams', '4096 bytes', ofBytes(4096)],
    ['extraParams', '4096 bytes of Thai', `{"k":"${'ก'.repeat(1362)}xx"}`],
    ['extraParams', '5 levels', ofLevels(5)],
    ['extraParams', '5 levels of arrays', '{"k":[[[[1]]]]}'],
    ['extraParams', '__proto__', '{"__proto__":{"polluted":true}}'],
  ])('%s: %s is taken', async (field, _what, text) => {
    const body = orderText({ [field]: text })
    const answer = await agent.send('POST', '/payment/deposit', body)
    expect(answer.status).toBe(201)
    const sent = JSON.parse(body)
    expect([answer.json.ref_id, answer.json.amount]).toEqual([sent.refId, sent.amount])
    const found = await agent.get(`/payment/orders?refId=${encodeURIComponent(sent.refId)}`)
    expect(found.json).toMatchObject({
      txn_id: answer.json.txn_id,
      user_id: sent.userId,
      kind: 'deposit',
      status: 'WAITING',
    })
    expect('polluted' in {}).toBe(false)
  })
})

test.each([
  ['without a colon', (iso: string) => iso.replace('Z', '+0000')],
  ['in hours alone', (iso: string) => iso.replace('Z', '-00')],
  ['in lower case', (iso: string) => iso.toLowerCase()],
  ['with a comma', (iso: string) => iso.replace('.', ',')],
  ['without seconds', (iso: string) => iso.replace(/:\d\d\.\d+/, '')],
])('a timestamp is taken as people write it: its zone or seconds %s', async (_what, write) => {
  const timestamp = write(s.clock().toISOString())
  const { status, text } = await agent.deposit({ timestamp })
  expect(status, text).toBe(201)
})

describe('terms of the agent', () => {
  test.each([
    ['deposit', 9, false],
    ['deposit', 10, true],
    ['deposit', 20, true],
    ['deposit', 21, false],
    ['withdraw', 29, false],
    ['withdraw', 30, true],
    ['withdraw', 40, true],
    ['withdraw', 41, false],
  ] as const)('a %s of %i within the limits: %s', async (kind, amount, fits) => {
    const limited = await s.agent({
      minDeposit: 10n,
      maxDeposit: 20n,
      minWithdraw: 30n,
      maxWithdraw: 40n,
    })
    for (let count = 0; count < 2; count++) await limited.fund(20)
    const answer = await limited[kind]({ amount })
    expect(said(answer)).toEqual(fits ? [201, 'none'] : [422, 'amount_out_of_range'])
    if (!fits) expect(answer.json.detail).toContain(kind === 'deposit' ? '10 to 20' : '30 to 40')
  })

  test.each([
    ['5', 5, [422, 'amount_out_of_range']],
    ['5', 4, [422, 'amount_out_of_range']],
    ['5', 6, [201, 'none']],
    ['100%', 100, [422, 'amount_out_of_range']],
    ['99.9999%', 1, [422, 'amount_out_of_range']],
    ['99%', 1, [201, 'none']],
    ['50%+0.5', 1, [422, 'amount_out_of_range']],
    ['50%+0.49', 1, [201, 'none']],
  ])(
    'a deposit fee of %s on %i is answered %j: it must leave something',
    async (depositFee, amount, expected) => {
      expect(said(await (await s.agent({ depositFee })).deposit({ amount }))).toEqual(expected)
    },
  )

  test.each([
    ['SCB', 'SCB'],
    ['scb', 'SCB'],
    ['014', 'SCB'],
    ['tmb', 'TTB'],
    ['076', 'TTB'],
  ])('the bank code %s is kept as %s', async (sent, code) => {
    const { json } = await agent.deposit({ bankCode: sent })
    const { rows } = await s.sql('select bank_code from orders where ref_id = $1', [json.ref_id])
    expect(rows).toEqual([{ bank_code: code }])
  })

  test.each([
    'NOPE',
    '999',
    'BIDV',
    'constructor',
    '__proto__',
    '-',
    'S C B',
    'SCB/',
    'ธนาคาร',
    'ß',
    'ﬁ',
  ])('the bank code %s is not known', async (bankCode) => {
    for (const path of kinds) {
      const answer = await refused.post(path, refused.order({ bankCode }))
      expect(said(answer)).toEqual([422, 'unknown_bank_code'])
    }
  })

  test.each(['RBS', 'TBANK', 'tbank', '065'])('the closed bank %s is refused', async (bankCode) => {
    for (const path of kinds) {
      const answer = await refused.post(path, refused.order({ bankCode }))
      expect(said(answer)).toEqual([422, 'unknown_bank_code'])
      expect(answer.json.detail).toContain('closed')
    }
  })

  test('the same code is another bank in the other currency', async () => {
    const vnd = await s.agent({ currency: 'VND' })
    expect((await vnd.deposit({ bankCode: 'BIDV' })).status).toBe(201)
    expect(said(await vnd.deposit({ bankCode: 'KTB' }))).toEqual([422, 'unknown_bank_code'])
  })

  test.each([
    [100, 0, false],
    [99, 1, false],
    [99, 0, true],
    [98, 1, true],
  ])('of 99 in the wallet, %i with a fee of %i can be withdrawn: %s', async (amount, fee, fits) => {
    const payer = await s.agent({ withdrawFee: String(fee) })
    await payer.fund(99)
    const answer = await payer.withdraw({ amount })
    expect(said(answer)).toEqual(fits ? [201, 'none'] : [422, 'insufficient_balance'])
    expect(await payer.balance()).toBe(fits ? 99 - amount - fee : 99)
  })

  test('what is held cannot be withdrawn again', async () => {
    const payer = await s.agent()
    await payer.fund(100)
    expect((await payer.withdraw({ amount: 60 })).status).toBe(201)
    expect(said(await payer.withdraw({ amount: 41 }))).toEqual([422, 'insufficient_balance'])
    expect((await payer.withdraw({ amount: 40 })).status).toBe(201)
  })
})

describe('queries', () => {
  test.each([
    ['/payment/wallet?currency=THB', ['currency']],
    ['/payment/wallet/reserve?currency=THB', ['currency']],
    ['/payment/banks?currency=VND', ['currency']],
    ['/payment/orders/x?expand=1', ['expand']],
    ['/payment/orders?limit=0', ['limit']],
    ['/payment/orders?limit=201', ['limit']],
    ['/payment/orders?limit=-1', ['limit']],
    ['/payment/orders?limit=1.5', ['limit']],
    ['/payment/orders?limit=ten', ['limit']],
    ['/payment/orders?limit=', ['limit']],
    ['/payment/orders?limit=1&limit=2', ['limit']],
    ['/payment/orders?limit=99999999999999999999', ['limit']],
    ['/payment/orders?after=x', ['after']],
    ['/payment/orders?after=', ['after']],
    ['/payment/orders?after=0190A1B2C3D4700080000123456789AB', ['after']],
    ['/payment/orders?after=%27%20or%201=1', ['after']],
    ['/payment/orders?status=paid', ['status']],
    ['/payment/orders?status=DONE', ['status']],
    ['/payment/orders?status=', ['status']],
    ['/payment/orders?kind=refund', ['kind']],
    ['/payment/orders?from=2026-01-31', ['from']],
    ['/payment/orders?from=2026-02-30T00:00:00Z', ['from']],
    ['/payment/orders?to=2026-01-31T08:30:00', ['to']],
    ['/payment/orders?to=now', ['to']],
    ['/payment/orders?refId=', ['refId']],
    ['/payment/orders?refId=%00', ['refId']],
    [`/payment/orders?refId=${'x'.repeat(65)}`, ['refId']],
    ['/payment/orders?refId=a&refId=b', ['refId']],
    ['/payment/orders?refid=a', ['refid']],
    ['/payment/orders?page=2', ['page']],
    ['/payment/orders?__proto__=1', ['__proto__']],
    [
      '/payment/orders?limit=0&after=x&status=x&kind=x&page=2',
      ['limit', 'after', 'status', 'kind', 'page'],
    ],
    ['/payment/orders?from=x&to=y', ['from', 'to']],
    ['/payment/orders?limit=0&from=x&to=y', ['limit', 'from', 'to']],
    ['/payment/wallet/entries?limit=0', ['limit']],
    ['/payment/wallet/entries?limit=201', ['limit']],
    ['/payment/wallet/entries?after=-1', ['after']],
    ['/payment/wallet/entries?after=x', ['after']],
    ['/payment/wallet/entries?after=1e3', ['after']],
    ['/payment/wallet/entries?before=1', ['before']],
    ['/payment/events?limit=0', ['limit']],
    ['/payment/events?after=x&limit=x', ['after', 'limit']],
    ['/payment/events?after=99999999999999999999', ['after']],
    ['/payment/events?txn_id=1', ['txn_id']],
  ])('GET %s names %j', async (path, fields) => {
    const answer = await refused.get(path)
    expect(said(answer)).toEqual([422, 'invalid_request'])
    expect(fieldsOf(answer)).toEqual(fields)
  })

  test.each([
    ['/payment/orders?limit=1', 200],
    ['/payment/orders?limit=200', 200],
    ['/payment/orders?from=1970-01-01T00:00:00Z&to=9999-12-31T23:59:59Z', 200],
    ['/payment/orders?from=0001-01-01T00:00:00Z', 200],
    ['/payment/orders?from=2026-01-31T08:30:00%2B07:00', 200],
    ['/payment/wallet/entries?after=0&limit=200', 200],
    ['/payment/events?after=999999999999999', 200],
  ])('GET %s is answered %i', async (path, status) => {
    expect((await refused.get(path)).status).toBe(status)
  })
})

describe('paths', () => {
  test.each([
    ['GET', '/nothing', 404, 'not_found'],
    ['GET', '/', 404, 'not_found'],
    ['POST', '/payment', 404, 'not_found'],
    ['POST', '/payment/refund', 404, 'not_found'],
    ['POST', '/payment/deposit/', 404, 'not_found'],
    ['POST', '/Payment/Deposit', 404, 'not_found'],
    ['POST', '//payment/deposit', 404, 'not_found'],
    ['GET', '/payment/orders/x', 404, 'order_not_found'],
    ['GET', '/payment/orders/0', 404, 'order_not_found'],
    ['GET', `/payment/orders/1-${'0'.repeat(32)}`, 404, 'order_not_found'],
    ['GET', "/payment/orders/1'%20or%20'1'='1", 404, 'order_not_found'],
    ['GET', '/payment/orders/%00', 404, 'order_not_found'],
    ['GET', '/payment/orders?refId=unknown', 404, 'order_not_found'],
    ['POST', '/payment/orders/x/cancel', 404, 'order_not_found'],
    ['POST', `/payment/orders/1-${'f'.repeat(32)}/cancel`, 404, 'order_not_found'],
    ['GET', '/payment/deposit', 405, 'method_not_allowed'],
    ['PUT', '/payment/deposit', 405, 'method_not_allowed'],
    ['DELETE', '/payment/orders/x', 405, 'method_not_allowed'],
    ['PATCH', '/payment/wallet', 405, 'method_not_allowed'],
    ['POST', '/payment/wallet', 405, 'method_not_allowed'],
    ['OPTIONS', '/payment/withdraw', 405, 'method_not_allowed'],
    ['POST', '/healthz', 405, 'method_not_allowed'],
  ])('%s %s is answered %i %s', async (method, path, status, code) => {
    expect(said(await refused.send(method, path))).toEqual([status, code])
  })

  test.each([
    ['/payment/deposit', 'POST'],
    ['/payment/orders/x', 'GET'],
    ['/payment/orders/x/cancel', 'POST'],
    ['/payment/wallet', 'GET'],
  ])('another method on %s is told to use %s', async (path, allow) => {
    const answer = await sendRaw(s.service.url, { method: 'DELETE', path })
    expect(said(answer)).toEqual([405, 'method_not_allowed'])
    expect(answer.headers.get('allow')).toBe(allow)
  })

  test.each(['/payment/orders/%', '/payment/orders/%zz', '/payment/orders/%ff', '/%c0%ae'])(
    'the badly encoded path %s leads nowhere',
    async (path) => {
      const answer = await signedRaw({ method: 'GET', path, headers: [] })
      expect(said(answer)).toEqual([404, 'not_found'])
    },
  )
})

describe('the sandbox', () => {
  test.each([
    ['no outcome', {}, ['outcome']],
    ['an outcome that is none', { outcome: 'DONE' }, ['outcome']],
    ['an outcome in lower case', { outcome: 'paid' }, ['outcome']],
    ['WAITING', { outcome: 'WAITING' }, ['outcome']],
    ['an amount in a string', { outcome: 'PAID', paidAmount: '1' }, ['paidAmount']],
    ['an amount of zero', { outcome: 'PAID', paidAmount: 0 }, ['paidAmount']],
    ['a negative amount', { outcome: 'PAID', paidAmount: -1 }, ['paidAmount']],
    ['an amount finer than a satang', { outcome: 'PAID', paidAmount: 1.005 }, ['paidAmount']],
    ['an amount above the bound', { outcome: 'PAID', paidAmount: 1e13 }, ['paidAmount']],
    ['an amount with FAILED', { outcome: 'FAILED', paidAmount: 1 }, ['paidAmount']],
    ['an amount with VOID', { outcome: 'VOID', paidAmount: 100 }, ['paidAmount']],
    ['a payer with EXPIRED', { outcome: 'EXPIRED', payerAccountNo: '1234' }, ['payerAccountNo']],
    ['a payer that is no account', { outcome: 'PAID', payerAccountNo: 'x y' }, ['payerAccountNo']],
    ['a field that is none', { outcome: 'PAID', amount: 1 }, ['amount']],
    [
      'all of it',
      { paidAmount: null, payerAccountNo: 1, x: 1 },
      ['outcome', 'paidAmount', 'payerAccountNo', 'x'],
    ],
  ])('does not take %s', async (_what, body, fields) => {
    const { json } = await agent.deposit()
    const answer = await agent.post(`/sandbox/orders/${json.txn_id}`, body)
    expect(said(answer)).toEqual([422, 'invalid_request'])
    expect(fieldsOf(answer)).toEqual(fields)
    expect((await agent.get(`/payment/orders/${json.txn_id}`)).json.status).toBe('WAITING')
  })

  test.each([
    ['[]', 422, 'invalid_request'],
    ['', 400, 'malformed_json'],
    ['{"outcome":"PAID","outcome":"FAILED"}', 400, 'duplicate_json_key'],
  ])('does not take the body %j', async (body, status, code) => {
    const { json } = await agent.deposit()
    const path = `/sandbox/orders/${json.txn_id}`
    expect(said(await signedRaw({ path, body }, agent))).toEqual([status, code])
  })

  test('an unknown order stays unknown', async () => {
    expect(said(await refused.trigger('x', 'PAID'))).toEqual([404, 'order_not_found'])
    expect(said(await refused.trigger(`${refused.agentId}-${'0'.repeat(32)}`, 'PAID'))).toEqual([
      404,
      'order_not_found',
    ])
  })
})
