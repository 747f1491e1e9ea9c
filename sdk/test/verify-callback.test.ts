import { describe, expect, test } from 'vitest'
import { makeCallback } from '../src/make-callback.ts'
import {
  isSignedCallback,
  parseSignatureHeader,
  signCallback,
  signRequest,
  utf8,
} from '../src/signature.ts'
import {
  type CallbackHeaders,
  CallbackRefused,
  type RefusalReason,
  verifyCallback,
} from '../src/verify-callback.ts'
import { vectors } from './vectors.ts'

const secret = 'sk_test_5f1c7a0b9d3e4c2f8a6b1d0e7c9f3a5b'
const other = 'sk_test_0a1b2c3d4e5f60718293a4b5c6d7e8f9'

async function refusalOf(...args: Parameters<typeof verifyCallback>): Promise<CallbackRefused> {
  const refusal = await verifyCallback(...args).then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(refusal instanceof CallbackRefused)) throw new Error(`not refused: ${String(refusal)}`)
  return refusal
}

describe('the shared vectors', () => {
  test.each(vectors.signed)(
    '$kind: $name',
    async ({ kind, secrets, t, method, path, body, header }) => {
      const made =
        kind === 'callback'
          ? signCallback(secrets, t, utf8(body))
          : signRequest(secrets[0] ?? '', t, method ?? '', path ?? '', body)
      expect(await made).toBe(header)
    },
  )

  test.each(vectors.signed.filter(({ kind }) => kind === 'callback'))(
    'every secret of "$name" verifies it',
    async ({ secrets, body, header }) => {
      const parsed = parseSignatureHeader(header)
      if (!parsed) throw new Error('the header has another shape')
      for (const one of secrets)
        expect(await isSignedCallback([one], parsed, utf8(body))).toBe(true)
      expect(await isSignedCallback(['sk_other'], parsed, utf8(body))).toBe(false)
    },
  )

  test.each(vectors.refused)(
    '$name is refused as $reason',
    async ({ reason, secrets, now, header, body }) => {
      const headers = { 'x-signature': header }
      const refusal = await refusalOf(body, headers, secrets, { now: new Date(now) })
      expect(refusal.reason).toBe(reason)
      for (const one of secrets.filter((each) => each !== '')) {
        expect(refusal.message).not.toContain(one.trim())
      }
    },
  )

  test('no two of them have the same signature', () => {
    const headers = vectors.signed.map(({ header }) => header)
    expect(new Set(headers).size).toBe(headers.length)
  })
})

describe('a callback is believed', () => {
  test.each<[string, (body: string) => string | Uint8Array | ArrayBuffer]>([
    ['text', (body) => body],
    ['bytes', (body) => utf8(body)],
    ['a Buffer', (body) => Buffer.from(body)],
    ['a part of larger bytes', (body) => utf8(`__${body}__`).subarray(2, -2)],
    ['an ArrayBuffer', (body) => utf8(body).slice().buffer as ArrayBuffer],
  ])('as %s', async (_what, given) => {
    const { body, headers } = await makeCallback({ refId: 'หนึ่ง 🍜', status: 'REVERT' }, secret)
    const callback = await verifyCallback(given(body), headers, secret)
    expect(callback).toEqual(JSON.parse(body))
    expect(callback.status).toBe('REVERT')
  })

  test.each<[string, (headers: Record<string, string>) => CallbackHeaders]>([
    ['an object', (headers) => headers],
    ['Headers', (headers) => new Headers(headers)],
    ['names in another case', (headers) => ({ 'X-Signature': headers['x-signature'] })],
    ['lists of values', (headers) => ({ 'x-signature': [headers['x-signature'] ?? ''] })],
  ])('with headers as %s', async (_what, given) => {
    const { body, headers } = await makeCallback({}, secret)
    expect(await verifyCallback(body, given(headers), secret)).toMatchObject({ status: 'PAID' })
  })

  test('with any of the live secrets, signed with any of them', async () => {
    for (const signedWith of [[secret], [other], [other, secret]]) {
      const { body, headers } = await makeCallback({}, signedWith)
      for (const known of [
        [secret, other],
        [other, secret],
      ]) {
        expect(await verifyCallback(body, headers, known)).toMatchObject({ refId: 'ref-1' })
      }
    }
  })

  test.each([-300, 300])('with a clock that is off by %i seconds', async (offS) => {
    const at = new Date()
    const { body, headers } = await makeCallback({}, secret, { at })
    const now = new Date((Math.floor(at.getTime() / 1000) + offS) * 1000)
    expect(await verifyCallback(body, headers, secret, { now })).toMatchObject({ refId: 'ref-1' })
  })
})

describe('a refusal says why', () => {
  const at = new Date('2026-01-01T00:00:00Z')
  const good = () => makeCallback({}, secret, { at })
  const parsed = (body: string) => JSON.parse(body) as string

  test.each<[RefusalReason, string, (body: string) => unknown[], RegExp]>([
    ['header_missing', 'no header', (body) => [body, {}, secret], /x-signature is missing/],
    ['header_missing', 'no Headers', (body) => [body, new Headers(), secret], /is missing/],
    ['secret_missing', 'no secret', (body) => [body, {}, undefined], /no secret/],
    ['secret_missing', 'no secrets', (body) => [body, {}, []], /no secret/],
    ['secret_missing', 'one of two is empty', (body) => [body, {}, [secret, ' ']], /no secret/],
  ])('%s: %s', async (reason, _what, given, words) => {
    const { body } = await good()
    const args = given(body) as Parameters<typeof verifyCallback>
    const refusal = await refusalOf(...args)
    expect([refusal.reason, refusal.name]).toEqual([reason, 'CallbackRefused'])
    expect(refusal.message).toMatch(words)
  })

  test.each<[RefusalReason, string, (body: string) => unknown, RegExp]>([
    ['body_parsed', 'an object', parsed, /parsed before it came here/],
    ['body_missing', 'nothing', () => undefined, /body is empty/],
    ['body_missing', 'no bytes', () => new Uint8Array(), /body is empty/],
    [
      'body_reserialised',
      'spaces',
      (body) => JSON.stringify(parsed(body), null, 1),
      /written again/,
    ],
    ['body_reserialised', 'Python', (body) => body.replaceAll('":', '": '), /written again/],
    ['wrong_secret', 'another body', (body) => body.replace('ref-1', 'ref-2'), /No secret matches/],
    ['wrong_secret', 'no JSON', () => 'hello', /No secret matches/],
  ])('%s: %s', async (reason, _what, given, words) => {
    const { body, headers } = await good()
    const refusal = await refusalOf(given(body) as string, headers, secret, { now: at })
    expect(refusal.reason).toBe(reason)
    expect(refusal.message).toMatch(words)
  })

  test('body_reserialised: a body that was read as Latin-1', async () => {
    const { body, headers } = await makeCallback({ userId: 'José' }, secret, { at })
    const misread = Buffer.from(body).toString('latin1')
    expect((await refusalOf(misread, headers, secret, { now: at })).reason).toBe(
      'body_reserialised',
    )
  })

  test('clock_off: by how many seconds, and in which direction', async () => {
    const { body, headers } = await good()
    const late = await refusalOf(body, headers, secret, { now: new Date(at.getTime() + 412_000) })
    expect(late.message).toMatch(/off by 412 seconds.*that long ago/)
    const early = await refusalOf(body, headers, secret, {
      now: new Date(at.getTime() - 9_000_000),
    })
    expect(early.message).toMatch(/off by 9000 seconds.*in the future/)
  })

  test('a clock that is off is told only to who has the secret', async () => {
    const { body, headers } = await good()
    expect((await refusalOf(body, headers, other)).reason).toBe('wrong_secret')
  })

  test.each([
    ['a field is missing', { wallet: undefined }, /wallet is missing/],
    ['an unknown status', { status: 'DONE' }, /status/],
    ['an amount as text', { amount: '100' }, /amount/],
  ])('body_malformed: %s', async (_what, fields, words) => {
    const { body, headers } = await makeCallback(fields as object, secret)
    const refusal = await refusalOf(body, headers, secret)
    expect(refusal.reason).toBe('body_malformed')
    expect(refusal.message).toMatch(words)
  })
})
