import { createHash, createHmac, createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Currency } from '../../src/lib/money.ts'
import { payoutValues } from '../../src/providers/http/order-values.ts'
import { renderRequest } from '../../src/providers/http/render-request.ts'
import type { Payout } from '../../src/providers/provider.ts'
import { company, documentOf } from '../support/connector.ts'

const now = new Date('2026-01-31T08:30:00.500Z')
const around = {
  now,
  nonce: 'abc123',
  noticeUrl: 'https://sluice.example/providers/company/notices',
  publicUrl: 'https://sluice.example',
}
const payout: Payout = {
  reference: 'SX0123456789A',
  amountMinor: 10_050n,
  currency: 'THB',
  payee: { accountNo: '1234567890', accountName: 'Somchai Jaidee', bankCode: 'KBANK' },
  extraParams: '{"shop":"a b&c"}',
}

/** The request that a document makes of a payout. */
function rendered(
  request: object,
  { doc = {}, of = payout, secrets = {} }: { doc?: object; of?: Payout; secrets?: object } = {},
) {
  const names = Object.fromEntries(Object.keys(secrets).map((name) => [name, 'somewhere']))
  const submitPayout = { ...company.submitPayout, request }
  const document = documentOf({ ...company, secrets: names, ...doc, submitPayout })
  if (!document.submitPayout) throw new Error('no call')
  const values = payoutValues(document, of, around)
  const known = new Map<string, string>(Object.entries(secrets))
  return renderRequest(document, document.submitPayout.request, values, {
    secrets: (name) => known.get(name),
    now,
    nonce: around.nonce,
  })
}

const ref = '{reference}'

describe('a request', () => {
  it('is JSON with each value in its own leaf', () => {
    const request = rendered(
      {
        method: 'POST',
        path: '/v1/payouts',
        headers: { 'Idempotency-Key': ref },
        json: {
          ref,
          amounts: ['{amount.decimal}', '{amount.fixed}', { $number: 'amount.minor' }],
          decimal: { $number: 'amount.decimal' },
          text: 'Payout {reference} in {currency.lower}',
          account: '{payee.accountNo}',
          payee: { name: '{payee.accountName}', bank: '{payee.bank}', no: '{payee.bankNumber}' },
          shop: '{extra.shop}',
          missing: '{extra.other}',
          kept: [1, true, null, { a: 'x' }],
          setting: '{setting.shop}',
          to: '{noticeUrl}',
        },
      },
      { doc: { banks: { KBANK: '004x' }, settings: { shop: 'S-1' } } },
    )
    expect(request).toMatchObject({
      method: 'POST',
      url: 'https://api.imaginary.example/v1/payouts',
      headers: {
        'idempotency-key': payout.reference,
        'content-type': 'application/json',
      },
    })
    expect(request.body).toContain('"amounts":["100.5","100.50",10050],"decimal":100.5')
    expect(JSON.parse(request.body ?? '')).toEqual({
      ref: payout.reference,
      amounts: ['100.5', '100.50', 10_050],
      decimal: 100.5,
      text: 'Payout SX0123456789A in thb',
      account: '1234567890',
      payee: { name: 'Somchai Jaidee', bank: '004x', no: '004' },
      shop: 'a b&c',
      missing: null,
      kept: [1, true, null, { a: 'x' }],
      setting: 'S-1',
      to: around.noticeUrl,
    })
  })

  it('is a form or a query with each value in its own field', () => {
    const fields = {
      ref,
      account: '{payee.accountNo}',
      'metadata[name]': '{payee.accountName}',
      'types[]': ['a', 'b'],
      none: '{extra.other}',
    }
    const of = { ...payout, payee: { ...payout.payee, accountName: 'A&ref=X+#é' } }
    const request = rendered({ method: 'POST', path: '/p', query: fields, form: fields }, { of })
    const text = `ref=SX0123456789A&account=1234567890&metadata%5Bname%5D=A%26ref%3DX%2B%23%C3%A9&types%5B%5D=a&types%5B%5D=b`
    expect(request.url).toBe(`https://api.imaginary.example/p?${text}`)
    expect(request.body).toBe(text)
    expect(request.headers['content-type']).toBe('application/x-www-form-urlencoded')
  })

  it.each([
    '","amount":1,"x":"',
    '{amount.minor}',
    '{secret.api}',
    '$ {reference}'.replace(' ', ''),
    '\u0000\u2028</script>',
    '\ud800',
    'x'.repeat(5_000),
  ])('keeps a payee called %j a name', (accountName) => {
    const of = { ...payout, payee: { ...payout.payee, accountName } }
    const json = { ref, name: '{payee.accountName}', amount: { $number: 'amount.minor' } }
    const { body } = rendered({ method: 'POST', path: '/p', json }, { of })
    expect(JSON.parse(body ?? '')).toEqual({
      ref: payout.reference,
      name: accountName,
      amount: 10_050,
    })
  })

  it.each(['..', '.', '%2e%2e', ''])('is not made if %j would climb in its path', (name) => {
    const of = { ...payout, payee: { ...payout.payee, accountName: name } }
    const request = { method: 'POST', path: '/p/{payee.accountName}/q', json: { ref } }
    const make = () => rendered(request, { of })
    if (name === '%2e%2e') expect(make().url).toContain('/p/%252e%252e/q')
    else expect(make).toThrow('climb')
  })

  it('adds no slash to its path', () => {
    const of = { ...payout, reference: '7/ä ?#%' }
    const { url } = rendered({ method: 'PUT', path: '/p/{reference}' }, { of })
    expect(url).toBe('https://api.imaginary.example/p/7%2F%C3%A4%20%3F%23%25')
  })

  it.each(['a\r\nx: y', 'é', '\t'])('is not made with %j in a header', (accountName) => {
    const of = { ...payout, payee: { ...payout.payee, accountName } }
    const headers = { 'x-name': '{payee.accountName}' }
    expect(() => rendered({ method: 'POST', path: '/p', headers, json: { ref } }, { of })).toThrow(
      'a header',
    )
  })

  it('is not made of what has no value', () => {
    const of = (bankCode: string, amountMinor = 10_050n) => ({
      ...payout,
      amountMinor,
      payee: { ...payout.payee, bankCode },
    })
    const bank = { method: 'POST', path: '/p', json: { ref, bank: '{payee.bank}' } }
    const doc = { banks: { KBANK: '004', constructor: 'x' } }
    expect(() => rendered(bank, { of: of('SCB'), doc })).toThrow('does not serve the bank SCB')
    expect(() => rendered(bank, { of: of('toString'), doc })).toThrow('does not serve')
    const whole = { method: 'POST', path: '/p', json: { ref, a: '{amount.integer}' } }
    expect(() => rendered(whole)).toThrow('whole amounts only')
    expect(rendered(whole, { of: of('SCB', 10_000n) }).body).toContain('"a":"100"')
    const json = { ref, to: '{payee.accountNo}', a: 'x{extra.none}' }
    const text = { method: 'POST', path: '/p', json }
    expect(() => rendered(text)).toThrow('has no value')
  })

  it('has exact amounts beyond doubles', () => {
    const of = { ...payout, amountMinor: 9_007_199_254_740_993n, currency: 'THB' as Currency }
    const json = { ref, a: { $number: 'amount.decimal' }, b: { $number: 'amount.minor' } }
    const { body } = rendered({ method: 'POST', path: '/p', json }, { of })
    expect(body).toContain('"a":90071992547409.93,"b":9007199254740993')
  })
})

describe('who asks', () => {
  const request = { method: 'POST', path: '/p', query: { q: '1' }, json: { ref, n: 1 } }
  const body = '{"ref":"SX0123456789A","n":1}'

  it('is told by a token, a header or a password', () => {
    const auth = (scheme: object) =>
      rendered(request, { doc: { auth: scheme }, secrets: { api: 's3cret' } }).headers
    expect(auth({ kind: 'bearer', token: { secret: 'api' } })).toMatchObject({
      authorization: 'Bearer s3cret',
    })
    expect(auth({ kind: 'header', header: 'X-Api-Key', value: { secret: 'api' } })).toMatchObject({
      'x-api-key': 's3cret',
    })
    const basic = { kind: 'basic', user: { secret: 'api' }, password: { text: '' } }
    expect(auth(basic)).toMatchObject({
      authorization: `Basic ${Buffer.from('s3cret:').toString('base64')}`,
    })
  })

  it('is not asked without the secret', () => {
    const doc = { secrets: { api: '' }, auth: { kind: 'bearer', token: { secret: 'api' } } }
    expect(() => rendered(request, { doc })).toThrow('the secret "api" is not set')
  })

  it('signs parts in their order', () => {
    const sign = {
      kind: 'hmac',
      hash: 'sha512',
      key: { secret: 'api', decode: 'base64' },
      over: [
        'timestamp',
        { text: '.' },
        'method',
        ' ',
        'path',
        'query',
        'body',
        { header: 'x-a' },
      ].map((part) => (part === ' ' ? { text: ' ' } : part)),
      encode: 'base64',
      put: { header: 'X-Sign', as: 't={timestamp},s={signature}' },
      timestamp: { as: 'unix', header: 'X-Time' },
    }
    const doc = { sign, headers: { 'x-a': 'A' } }
    const { headers } = rendered(request, {
      doc,
      secrets: { api: Buffer.from('secret of the company').toString('base64') },
    })
    const t = String(Math.floor(now.getTime() / 1000))
    const expected = createHmac('sha512', 'secret of the company')
      .update(`${t}.POST /pq=1${body}A`)
      .digest('base64')
    expect(headers).toMatchObject({ 'x-time': t, 'x-sign': `t=${t},s=${expected}` })
  })

  it('signs sorted fields, into the body', () => {
    const sign = {
      kind: 'sorted',
      with: 'md5',
      weak: true,
      key: { secret: 'api' },
      keyAfter: '&key=',
      skipEmpty: true,
      except: ['note'],
      encode: 'HEX',
      put: { field: 'sign' },
    }
    const fields = { ref, b: '2', a: '1', empty: '', note: 'x' }
    const secrets = { api: 'k' }
    const made = rendered({ method: 'POST', path: '/p', form: fields }, { doc: { sign }, secrets })
    // MD5 of "a=1&b=2&ref=SX0123456789A&key=k".
    expect(made.body).toMatch(/&sign=[0-9A-F]{32}$/)
    const json = rendered({ method: 'POST', path: '/p', json: fields }, { doc: { sign }, secrets })
    expect(JSON.parse(json.body ?? '').sign).toBe(made.body?.slice(-32))
    const nested = { method: 'POST', path: '/p', json: { ref, a: { b: 1 } } }
    expect(() => rendered(nested, { doc: { sign }, secrets })).toThrow('to be signed is missing')
  })

  it('signs the sorted fields of a query where there is no body, with the key where the company has it', () => {
    const hash = (text: string) => createHash('sha256').update(text).digest('hex')
    const by = (more: object, request: object) => {
      const sign = {
        kind: 'sorted',
        with: 'sha256',
        key: { secret: 'api' },
        encode: 'hex',
        ...more,
      }
      return rendered(request, { doc: { sign }, secrets: { api: 'k' } })
    }
    const question = { method: 'GET', path: '/p', query: { ref, b: 'x y', a: '1' } }
    const field = { put: { field: 'sign' } }
    const made = new URL(by(field, question).url)
    expect(made.searchParams.get('sign')).toBe(hash('a=1&b=x y&ref=SX0123456789Ak'))
    expect([...made.searchParams.keys()]).toEqual(['ref', 'b', 'a', 'sign'])
    const before = by({ ...field, keyBefore: '', weak: true }, question)
    expect(new URL(before.url).searchParams.get('sign')).toBe(hash('ka=1&b=x y&ref=SX0123456789A'))
    const both = by({ put: { header: 'x-sign' }, keyBefore: '|', keyAfter: '|' }, question)
    expect(both.headers['x-sign']).toBe(hash('k|a=1&b=x y&ref=SX0123456789A|k'))
    expect(new URL(both.url).searchParams.has('sign')).toBe(false)
    // A body is signed alone, and a list has no fields to be signed.
    const sent = by(field, { method: 'POST', path: '/p', query: { q: '1' }, form: { ref } })
    expect(sent.body).toBe(`ref=SX0123456789A&sign=${hash('ref=SX0123456789Ak')}`)
    const list = { method: 'POST', path: '/p', query: { ref }, json: [ref] }
    expect(() => by(field, list)).toThrow('to be signed is missing')
  })

  it.each(['rsa', 'ed25519'] as const)('signs with %s', (kind) => {
    const { privateKey, publicKey } =
      kind === 'rsa'
        ? generateKeyPairSync('rsa', { modulusLength: 2048 })
        : generateKeyPairSync('ed25519')
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    const sign = {
      kind,
      key: { secret: 'api' },
      over: ['body'],
      encode: 'base64',
      put: { header: 'x-sign' },
    }
    const { headers } = rendered(request, { doc: { sign }, secrets: { api: pem } })
    const bytes = Buffer.from(body)
    const signature = Buffer.from(headers['x-sign'] ?? '', 'base64')
    const key = createPublicKey(publicKey.export({ type: 'spki', format: 'pem' }))
    expect(verify(kind === 'rsa' ? 'sha256' : null, bytes, key, signature)).toBe(true)
  })
})
