import { expect, test } from 'vitest'
import { matchesAny, parseSignatureHeader, signCallback, signRequest } from './signature.ts'

/** The published vector. */
const secret = 'sk_test_5f1c7a0b9d3e4c2f8a6b1d0e7c9f3a5b'
const t = '1767225600'
const body =
  '{"orderId":"A-1001","status":"PAID","amount":"100.50","currency":"USD","timestamp":"2026-01-01T00:00:00.000Z"}'
const asCallback = 'dd4b3ec46fbfbd11e102053a57363bc3f78366413b9a8a07980193229de8d3bd'
const asRequest = 'de00bb3264ea98c6005d0f074e1680bfa717ec9da030830203e99fc66ed71c67'

test('the vector holds as a callback, as text and as bytes', () => {
  expect(signCallback(secret, t, body)).toBe(asCallback)
  expect(signCallback(secret, t, Buffer.from(body))).toBe(asCallback)
})

test('the vector holds as a request, as text and as bytes', () => {
  expect(signRequest(secret, t, 'POST', '/v1/orders', body)).toBe(asRequest)
  expect(signRequest(secret, t, 'POST', '/v1/orders', Buffer.from(body))).toBe(asRequest)
})

test.each([
  ['secret', () => signRequest(`${secret}x`, t, 'POST', '/v1/orders', body)],
  ['time', () => signRequest(secret, '1767225601', 'POST', '/v1/orders', body)],
  ['method', () => signRequest(secret, t, 'PUT', '/v1/orders', body)],
  ['path', () => signRequest(secret, t, 'POST', '/v1/order', body)],
  ['query', () => signRequest(secret, t, 'POST', '/v1/orders?a=1', body)],
  ['body', () => signRequest(secret, t, 'POST', '/v1/orders', `${body} `)],
])('another %s gives another signature', (_what, sign) => {
  expect(sign()).not.toBe(asRequest)
})

const a = 'a'.repeat(64)
const b = 'b'.repeat(64)

test.each([
  ['one signature', `t=1,v1=${a}`, { t: '1', signatures: [a] }],
  ['two signatures', `t=1,v1=${a},v1=${b}`, { t: '1', signatures: [a, b] }],
  ['the time last', `v1=${a},t=1`, { t: '1', signatures: [a] }],
  ['four signatures', `t=1${`,v1=${a}`.repeat(4)}`, { t: '1', signatures: [a, a, a, a] }],
])('a header with %s is read', (_what, header, parsed) => {
  expect(parseSignatureHeader(header)).toEqual(parsed)
})

test.each([
  ['nothing', ''],
  ['no time', `v1=${a}`],
  ['two times', `t=1,t=1,v1=${a}`],
  ['no signature', 't=1'],
  ['five signatures', `t=1${`,v1=${a}`.repeat(5)}`],
  ['more than 512 bytes', `t=1,v1=${a}${','.repeat(512)}`],
  ['upper-case hex', `t=1,v1=${a.toUpperCase()}`],
  ['a space after the comma', `t=1, v1=${a}`],
  ['a space at its end', `t=1,v1=${a} `],
  ['a line break at its end', `t=1,v1=${a}\n`],
  ['another version alone', `t=1,v2=${a}`],
  ['another version beside v1', `t=1,v1=${a},v2=${a}`],
  ['a signature that is too short', `t=1,v1=${a.slice(1)}`],
  ['a signature that is too long', `t=1,v1=${a}a`],
  ['a signature that is not hex', `t=1,v1=${'g'.repeat(64)}`],
  ['an empty part', `t=1,,v1=${a}`],
  ['a negative time', `t=-1,v1=${a}`],
  ['a zero in front of the time', `t=01,v1=${a}`],
  ['a fraction in the time', `t=1.5,v1=${a}`],
  ['a time in milliseconds', `t=1767225600000,v1=${a}`],
  ['a time that is no number', `t=now,v1=${a}`],
])('a header with %s is refused', (_what, header) => {
  expect(parseSignatureHeader(header)).toBeUndefined()
})

test('the right signature counts wherever it stands', () => {
  expect(matchesAny(a, [a])).toBe(true)
  expect(matchesAny(a, [a, b])).toBe(true)
  expect(matchesAny(a, [b, b, b, a])).toBe(true)
  expect(matchesAny(a, [b, b])).toBe(false)
  expect(matchesAny(a, [])).toBe(false)
})
