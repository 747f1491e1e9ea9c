import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { vectors } from '../../../sdk/test/vectors.ts'
import { explainSignature, firstDifference } from './explain-signature.ts'

const secret = `sk_${'5f1c7a0b'.repeat(8)}`
const now = new Date('2026-01-01T00:00:00Z')
const t = String(now.getTime() / 1000)
const method = 'POST'
const path = '/payment/deposit'
const body = '{"refId":"order-1","userId":"สมชาย","amount":500,"note":"a/b"}'
const hex = (text: string | Buffer, key: string | Buffer = secret) =>
  createHmac('sha256', key).update(text).digest('hex')

/** A request that is sent with this signature, as a mistaken program would make it. */
const request = (
  signed: string,
  more: { key?: string | Buffer; path?: string; body?: string; header?: string } = {},
) =>
  explainSignature(
    {
      request: { method, path: more.path ?? path },
      headers: {
        Host: 'pay.example',
        'X-Signature': more.header ?? `t=${t},v1=${hex(signed, more.key)}`,
      },
      body: Buffer.from(more.body ?? body),
    },
    [secret],
    now,
  )

const codes = ({ causes }: { causes: { code: string }[] }) => causes.map(({ code }) => code)

test('a right signature holds, and the exact bytes and the header are told', () => {
  const signed = `${t}.POST ${path}.${body}`
  const explained = request(signed)
  expect(explained).toMatchObject({ ok: true, causes: [], signedInstead: undefined })
  expect(explained.signed.toString()).toBe(signed)
  expect(explained.expected).toBe(explained.got)
})

test.each(vectors.signed)('the shared vector holds: $kind, $name', (vector) => {
  const { kind, secrets, method = '', path = '', body, header } = vector
  const message = {
    request: kind === 'request' ? { method, path } : undefined,
    headers: { 'x-signature': header },
    body: Buffer.from(body),
  }
  for (const known of [secrets, ...secrets.map((each) => [each])]) {
    expect(explainSignature(message, known, now)).toMatchObject({ ok: true, causes: [] })
  }
  expect(explainSignature(message, secrets, now).expected).toBe(header)
})

/** Where this says more than the reason of the SDK. */
const closer: Record<string, string> = {
  'no time': 'time_missing',
  'upper-case digits': 'header_upper_case',
  'a space after the comma': 'header_spaces',
  'a body with a line break at its end': 'trailing_newline',
}

test.each(vectors.refused.filter(({ reason }) => reason !== 'body_malformed'))(
  'the shared vector is refused for what it is: $name',
  (vector) => {
    const { name, reason, secrets, header, body } = vector
    const message = { headers: { 'x-signature': header }, body: Buffer.from(body) }
    const explained = explainSignature(message, secrets, new Date(vector.now))
    expect(explained.ok).toBe(false)
    expect(codes(explained)[0]).toBe(closer[name] ?? reason)
  },
)

describe('a mistake is found by the signature it leads to', () => {
  const query = '/payment/orders?limit=2&status=PAID'
  const prefix = `${t}.POST ${path}.`
  test.each<[string, ReturnType<typeof explainSignature>]>([
    ['query_missing', request(`${t}.POST /payment/orders.`, { path: query, body: '' })],
    ['wrong_path', request(`${t}.POST /payment/withdraw.${body}`)],
    ['wrong_path', request(`${t}.POST ${path}/.${body}`)],
    ['wrong_path', request(`${prefix}${body}`, { path: `/pay${path}` })],
    ['wrong_path', request(`${t}.POST https://pay.example${path}.${body}`)],
    [
      'path_escaping',
      request(`${t}.POST /payment/orders?refId=ก.`, {
        path: '/payment/orders?refId=%E0%B8%81',
        body: '',
      }),
    ],
    ['wrong_method', request(`${t}.post ${path}.${body}`)],
    ['wrong_method', request(`${t}.GET ${path}.${body}`)],
    ['signed_as_callback', request(`${t}.${body}`)],
    ['separators', request(`${t}${method}${path}${body}`)],
    ['separators', request(body)],
    ['time_differs', request(`${Number(t) - 1}.POST ${path}.${body}`)],
    ['body_left_out', request(prefix)],
    ['trailing_newline', request(`${prefix}${body}\n`)],
    ['trailing_newline', request(prefix + body, { body: `${body}\n` })],
    ['body_line_ends', request(`${prefix}{\n}`, { body: '{\r\n}' })],
    ['body_reserialised', request(prefix + JSON.stringify(JSON.parse(body), null, 2))],
    ['body_reserialised', request(prefix + body.replaceAll('":', '": ').replaceAll(',"', ', "'))],
    ['body_reserialised', request(prefix + body.replaceAll('/', '\\/'))],
    ['body_reserialised', request(`${prefix}{"a":"\\u00e9"}`, { body: '{"a":"é"}' })],
    ['secret_whitespace', request(prefix + body, { key: `${secret}\n` })],
    ['secret_decoded', request(prefix + body, { key: secret.slice(3) })],
    ['secret_decoded', request(prefix + body, { key: Buffer.from(secret.slice(3), 'hex') })],
    ['wrong_secret', request(prefix + body, { key: 'sk_other' })],
    ['wrong_secret', request(`${prefix}{"amount":501}`)],
    ['header_upper_case', request('', { header: `t=${t},v1=${hex(prefix + body).toUpperCase()}` })],
    [
      'header_base64',
      request('', {
        header: `t=${t},v1=${Buffer.from(hex(prefix + body), 'hex').toString('base64')}`,
      }),
    ],
    ['header_spaces', request('', { header: `t=${t}, v1=${hex(prefix + body)}` })],
    ['header_prefix', request('', { header: `t=${t},sha256=${hex(prefix + body)}` })],
    [
      'time_in_milliseconds',
      request('', { header: `t=${t}000,v1=${hex(`${t}000.POST ${path}.${body}`)}` }),
    ],
    ['header_malformed', request('', { header: `t=${t},v1=abc` })],
  ])('%s', (code, explained) => {
    expect(codes(explained)).toEqual([code])
    expect(explained.ok).toBe(false)
    expect(explained.causes[0]?.message).toMatch(/[.?]$/)
    expect(JSON.stringify(explained)).not.toContain(secret.slice(3))
  })

  test('two mistakes at once are both named', () => {
    const explained = request(`${t}.post ${path}.${body}\n`)
    expect(codes(explained)).toEqual(['wrong_method', 'trailing_newline'])
  })

  test('what was signed instead is told, up to where it differs', () => {
    const { signed, signedInstead } = request(`${prefix}${body}\n`)
    expect(signedInstead?.toString()).toBe(`${prefix}${body}\n`)
    const at = Buffer.byteLength(prefix + body)
    expect(firstDifference(signed, signedInstead ?? signed)).toMatchObject({ at })
    expect(firstDifference(signed, signed)).toBeUndefined()
  })
})

test('a callback whose fields were sorted is told from one with another secret', () => {
  const original =
    '{"refId":"r","transactionId":"1-a","userId":"u","amount":5,"fee":0,"status":"PAID","extParams":{},"successAt":"2026-01-01 00:00:00","wallet":{"balance":5}}'
  const sorted = Object.fromEntries(Object.entries(JSON.parse(original)).sort())
  const headers = { 'x-signature': `t=${t},v1=${hex(`${t}.${original}`)}` }
  const explained = explainSignature(
    { headers, body: Buffer.from(JSON.stringify(sorted)) },
    [secret],
    now,
  )
  expect(codes(explained)).toEqual(['body_reserialised'])
  expect(explained.signedInstead?.toString()).toBe(`${t}.${original}`)
})

test.each<[string, Record<string, string>]>([
  ['header_missing', { 'x-appid': 'app_1' }],
  ['header_misspelt', { 'x-signatur': `t=${t},v1=${hex(`${t}.{}`)}` }],
  ['header_misspelt', { 'X-App-Id': 'app_1', 'x-signature': `t=${t},v1=${hex(`${t}.{}`)}` }],
  ['header_misspelt', { authorization: `t=${t},v1=${hex(`${t}.{}`)}` }],
])('%s', (code, headers) => {
  const explained = explainSignature({ headers, body: Buffer.from('{}') }, [secret], now)
  expect(explained).toMatchObject({ ok: false })
  expect(codes(explained)).toEqual([code])
})

test.each([
  [300, []],
  [-300, []],
  [301, ['clock_off']],
  [-4000, ['clock_off']],
])('%i seconds late', (lateS, expected) => {
  const at = new Date(now.getTime() + lateS * 1000)
  const headers = { 'x-signature': `t=${t},v1=${hex(`${t}.{}`)}` }
  const explained = explainSignature({ headers, body: Buffer.from('{}') }, [secret], at)
  expect(codes(explained)).toEqual(expected)
  if (expected.length > 0) {
    expect(explained.causes[0]?.message).toContain(`off by ${Math.abs(lateS)} seconds`)
    expect(explained.causes[0]?.message).toContain(lateS > 0 ? 'ago' : 'in the future')
  }
})
