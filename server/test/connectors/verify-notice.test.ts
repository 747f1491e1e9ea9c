import { createHash, createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { parseExactJson } from '../../src/lib/exact-json.ts'
import type { NoticeAt } from '../../src/providers/http/connector-document.ts'
import { eventsIn, noticeFault, type SentNotice } from '../../src/providers/http/verify-notice.ts'

const now = new Date('2026-01-31T08:30:00Z')
const t = String(now.getTime() / 1000)
const body = '{"id":"1","amount":100.07}'
const hmac = (text: string, key: string | Buffer = 'k') =>
  createHmac('sha256', key).update(text).digest('hex')

type Change = Omit<Partial<SentNotice>, 'body'> & { body?: string; at?: Date; secret?: string }

/** Whether a notice counts as the company's. */
function isTaken(verify: object, change: Change, more: Partial<NoticeAt> = {}): boolean {
  const { body: text = body, at = now, secret, ...rest } = change
  const notice = { verify, rules: [], ...more } as unknown as NoticeAt
  const sent: SentNotice = {
    body: Buffer.from(text),
    headers: {},
    method: 'POST',
    path: '/providers/company/notices?a=1',
    url: 'https://sluice.example/providers/company/notices?a=1',
    ip: '203.0.113.9',
    ...rest,
  }
  return noticeFault(notice, sent, () => secret ?? 'k', at) === undefined
}

describe('a composite header, as Stripe has it', () => {
  const verify = {
    kind: 'hmac',
    hash: 'sha256',
    key: { secret: 'hook' },
    over: ['timestamp', { text: '.' }, 'body'],
    encode: 'hex',
    signature: { header: 'Stripe-Signature', field: 'v1' },
    timestamp: { in: { header: 'Stripe-Signature', field: 't' }, as: 'unix', toleranceS: 300 },
  }
  const with_ = (header: string | string[] | undefined, more: Change = {}) =>
    isTaken(verify, { headers: { 'stripe-signature': header }, ...more })
  const good = hmac(`${t}.${body}`)

  it('is taken with one right signature among several, whatever else stands there', () => {
    expect(with_(`t=${t},v1=${good}`)).toBe(true)
    expect(with_(`t=${t}, v1=${'0'.repeat(64)}, v1=${good},v0=x`)).toBe(true)
  })

  it('is not taken forged, changed, stale or cut', () => {
    const wrong: [string | string[] | undefined, Change?][] = [
      [`t=${t},v1=${good}`, { body: `${body} ` }],
      [`t=${t},v1=${good}`, { body: body.replace('100.07', '900.07') }],
      [`t=${t},v1=${good}`, { secret: 'other' }],
      [`t=${t},v1=${good}`, { secret: '' }],
      [`t=${Number(t) + 1},v1=${good}`],
      [`t=${t},t=${t},v1=${good}`],
      [`v1=${good}`],
      [`t=${t}`],
      [`t=${t},v1=`],
      [`t=${t},v1=${good.slice(1)}`],
      [`t=${t},v1=${good.toUpperCase()}`],
      [`t=${t},v0=${good}`],
      [[`t=${t},v1=${good}`, `t=${t},v1=${good}`]],
      [undefined],
      [''],
      [`t=${t}${',v1=0'.repeat(9)},v1=${good}`],
      [`t=${t},v1=${good}${' '.repeat(5000)}`],
      [`t=${t},v1=${good}`, { at: new Date(now.getTime() + 301_000) }],
      [`t=${t},v1=${good}`, { at: new Date(now.getTime() - 301_000) }],
    ]
    for (const [header, change] of wrong)
      expect([header, with_(header, change)]).toEqual([header, false])
    expect(with_(`t=${t},v1=${good}`, { at: new Date(now.getTime() + 300_000) })).toBe(true)
  })
})

it('a signature is over method, path, query and address as the company knows them', () => {
  const verify = {
    kind: 'hmac',
    hash: 'sha256',
    key: { secret: 'hook', decode: 'hex' },
    over: ['method', 'path', 'query', 'url', 'bodySha256', { header: 'x-id' }],
    encode: 'base64',
    signature: { header: 'x-sign', prefix: 'sha256=' },
  }
  const path = '/providers/company/notices'
  const url = `https://sluice.example${path}?a=1`
  const sha = createHash('sha256').update(body).digest('hex')
  const signature = createHmac('sha256', Buffer.from('6b'.repeat(16), 'hex'))
    .update(`POST${path}a=1${url}${sha}7`)
    .digest('base64')
  const headers = { 'x-sign': `sha256=${signature}`, 'x-id': '7' }
  expect(isTaken(verify, { headers, secret: '6b'.repeat(16) })).toBe(true)
  expect(isTaken(verify, { headers: { ...headers, 'x-id': '8' }, secret: '6b'.repeat(16) })).toBe(
    false,
  )
  expect(
    isTaken(verify, { headers: { 'x-sign': headers['x-sign'] }, secret: '6b'.repeat(16) }),
  ).toBe(false)
  expect(isTaken(verify, { headers, secret: '6b'.repeat(16), path: '/other' })).toBe(false)
  expect(
    isTaken(verify, { headers: { ...headers, 'x-sign': signature }, secret: '6b'.repeat(16) }),
  ).toBe(false)
})

describe('a key that cannot be decoded signs nothing', () => {
  const verify = (decode: string) => ({
    kind: 'hmac',
    hash: 'sha256',
    key: { secret: 'hook', decode },
    over: ['body'],
    encode: 'hex',
    signature: { header: 'x-sign' },
  })

  it.each([
    ['hex', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    ['hex', `${'ab'.repeat(16)}c`],
    ['hex', `${'ab'.repeat(16)} `],
    ['hex', 'ab'.repeat(15)],
    ['base64', '____----____----____----____----'],
    ['base64', '!'.repeat(40)],
    ['base64', Buffer.alloc(15, 7).toString('base64')],
    ['base64', ` ${Buffer.alloc(32, 7).toString('base64')}`],
  ] as const)('%s: %j', (decode, secret) => {
    // What it would be if it were decoded as far as that goes.
    const signature = hmac(body, Buffer.from(secret, decode))
    expect(isTaken(verify(decode), { headers: { 'x-sign': signature }, secret })).toBe(false)
    expect(isTaken(verify(decode), { headers: { 'x-sign': hmac(body, '') }, secret })).toBe(false)
  })

  it.each(['hex', 'base64'] as const)('but one in %s does', (decode) => {
    const key = Buffer.alloc(17, 200)
    const signature = hmac(body, key)
    const texts = [key.toString(decode), decode === 'hex' ? key.toString('hex').toUpperCase() : '']
    for (const secret of [...texts.filter(Boolean), key.toString(decode).replace(/=+$/, '')]) {
      expect(isTaken(verify(decode), { headers: { 'x-sign': signature }, secret })).toBe(true)
    }
  })

  it('and a token of nothing is no token', () => {
    const token = { kind: 'token', header: 'x-token', key: { secret: 'hook', decode: 'hex' } }
    expect(isTaken(token, { headers: {}, secret: 'whsec_1' })).toBe(false)
    expect(isTaken(token, { headers: { 'x-token': '' }, secret: 'whsec_1' })).toBe(false)
  })
})

it.each(['rsa', 'ed25519'] as const)('%s is checked by the public key', (kind) => {
  const { privateKey, publicKey } =
    kind === 'rsa'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : generateKeyPairSync('ed25519')
  const secret = publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const verify = {
    kind,
    key: { secret: 'hook' },
    over: ['body'],
    encode: 'base64',
    signature: { header: 'x-sign' },
  }
  const bytes = Buffer.from(body)
  const signature = sign(kind === 'rsa' ? 'sha256' : null, bytes, privateKey).toString('base64')
  expect(isTaken(verify, { headers: { 'x-sign': signature }, secret })).toBe(true)
  expect(isTaken(verify, { headers: { 'x-sign': signature }, secret, body: `${body} ` })).toBe(
    false,
  )
  expect(isTaken(verify, { headers: { 'x-sign': 'rubbish' }, secret })).toBe(false)
  expect(isTaken(verify, { headers: { 'x-sign': signature }, secret: 'no key' })).toBe(false)
})

describe('sorted fields', () => {
  const verify = {
    kind: 'sorted',
    with: 'hmac-sha256',
    key: { secret: 'hook' },
    skipEmpty: true,
    encode: 'hex',
    signature: { at: '/sign' },
  }
  const signature = hmac('a=1&amount=100.07&b=x')

  it('are taken in JSON and in a form, with numbers as they were written', () => {
    const json = `{"b":"x","amount":100.07,"a":"1","empty":"","none":null,"sign":"${signature}"}`
    expect(isTaken(verify, { body: json })).toBe(true)
    expect(isTaken(verify, { body: json.replace('100.07', '100.070') })).toBe(false)
    const form = `sign=${signature}&b=x&amount=100.07&a=1&empty=`
    expect(isTaken(verify, { body: form }, { format: 'form' })).toBe(true)
    expect(isTaken(verify, { body: `${form}&a=2` }, { format: 'form' })).toBe(false)
  })

  it('are not taken with a field that is not signed', () => {
    const json = `{"b":"x","amount":100.07,"a":"1","sign":"${signature}"`
    expect(isTaken(verify, { body: `${json},"c":1}` })).toBe(false)
    expect(isTaken(verify, { body: `${json},"more":{"amount":900}}` })).toBe(false)
    expect(isTaken(verify, { body: `${json},"amount":900}` })).toBe(false)
    expect(isTaken(verify, { body: `[${json}}]` })).toBe(false)
  })

  it('are not taken if they were split otherwise', () => {
    const isOne = (fields: object) =>
      isTaken(verify, { body: JSON.stringify({ ...fields, sign: signature }) })
    expect(isOne({ a: '1', amount: '100.07', b: 'x' })).toBe(true)
    expect(isOne({ a: '1&amount=100.07', b: 'x' })).toBe(false)
    expect(isOne({ a: '1', 'amount=100.07&b': 'x' })).toBe(false)
    expect(isOne({ 'a=1&amount': '100.07', b: 'x' })).toBe(false)
    const padded = hmac('a=eA==&b=x')
    const body = JSON.stringify({ a: 'eA==', b: 'x', sign: padded })
    expect(isTaken(verify, { body })).toBe(true)
    expect(isTaken(verify, { body: body.replace('"a":"eA=="', '"a=eA":"="') })).toBe(false)
  })
})

it('a token or a password is taken if it is the one', () => {
  const token = { kind: 'token', header: 'X-Callback-Token', key: { secret: 'hook' } }
  expect(isTaken(token, { headers: { 'x-callback-token': 'k' } })).toBe(true)
  for (const wrong of ['', 'K', 'kk', undefined]) {
    expect(isTaken(token, { headers: { 'x-callback-token': wrong } })).toBe(false)
  }
  expect(isTaken(token, { headers: { 'x-callback-token': '' }, secret: '' })).toBe(false)
  const basic = { kind: 'basic', user: { text: 'u' }, password: { secret: 'hook' } }
  const header = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
  expect(isTaken(basic, { headers: { authorization: header('u:k') } })).toBe(true)
  expect(isTaken(basic, { headers: { authorization: header('u:x') } })).toBe(false)
})

it('a list of addresses is a list of addresses', () => {
  const token = { kind: 'token', header: 'x-token', key: { secret: 'hook' } }
  const headers = { 'x-token': 'k' }
  const from = ['203.0.113.0/29', '198.51.100.7', '2001:db8::/32']
  const isFrom = (ip: string | undefined) => isTaken(token, { headers, ip }, { from })
  expect(['203.0.113.1', '198.51.100.7', '2001:db8::1', '::ffff:203.0.113.1'].map(isFrom)).toEqual([
    true,
    true,
    true,
    true,
  ])
  expect(['203.0.113.9', '198.51.100.8', '2001:db9::1', '', 'x', undefined].map(isFrom)).toEqual([
    false,
    false,
    false,
    false,
    false,
    false,
  ])
})

describe('the events of a notice', () => {
  const count = (text: string, events?: string) =>
    eventsIn({ events } as NoticeAt, parseExactJson(Buffer.from(text)) ?? null)?.length

  it('are the body, a list in it, or a body that is the list', () => {
    expect(count('{"id":1}')).toBe(1)
    expect(count('{"events":[{},{}]}', '/events')).toBe(2)
    expect(count('[{},{},{}]', '')).toBe(3)
  })

  it('are not read where they should not be', () => {
    expect(count('[{}]')).toBeUndefined()
    expect(count('{"id":1}', '')).toBeUndefined()
    expect(count('[]', '')).toBeUndefined()
    expect(count(`[${Array(101).fill('{}')}]`, '')).toBeUndefined()
  })
})
