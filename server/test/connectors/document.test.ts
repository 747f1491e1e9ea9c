import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Compile } from 'typebox/schema'
import { describe, expect, it, test } from 'vitest'
import { ConnectorDocument, schemaParts } from '../../src/providers/http/connector-document.ts'
import { readDocument } from '../../src/providers/http/document-faults.ts'
import { runSamples, SampleSet } from '../../src/providers/http/run-samples.ts'
import { secretFault } from '../../src/providers/http/signing-faults.ts'
import { documentOf, sandboxDocument, sandboxSamples } from '../support/connector.ts'

const docs = fileURLToPath(new URL('../../../docs', import.meta.url))
const connectors = fileURLToPath(new URL('../../connectors', import.meta.url))

/** A schema as it is published: each part that has a name stands there once. */
function published(id: string, schema: object, parts: Record<string, object> = {}): string {
  const names = new Map(Object.entries(parts).map(([name, part]) => [JSON.stringify(part), name]))
  const short = (node: unknown, isPart = false): unknown => {
    if (typeof node !== 'object' || node === null) return node
    const name = isPart ? undefined : names.get(JSON.stringify(node))
    if (name !== undefined) return { $ref: `#/$defs/${name}` }
    if (Array.isArray(node)) return node.map((each) => short(each))
    return Object.fromEntries(Object.entries(node).map(([key, each]) => [key, short(each)]))
  }
  const $defs = Object.fromEntries(
    Object.entries(parts).map(([name, part]) => [name, short(part, true)]),
  )
  const whole = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: id,
    ...Object(short(schema, true)),
    ...(names.size > 0 && { $defs }),
  }
  return `${JSON.stringify(whole, null, 2)}\n`
}

test('the published schemas are those that documents and samples are checked by', async () => {
  const document = published('connector.schema.json', ConnectorDocument, schemaParts)
  await expect(document).toMatchFileSnapshot(`${docs}/connector.schema.json`)
  // It says the same, by names.
  const shipped = JSON.parse(readFileSync(`${connectors}/xendit-payouts.json`, 'utf8'))
  const checked = Compile(JSON.parse(document))
  expect(checked.Check(shipped)).toBe(true)
  expect(checked.Check({ ...shipped, notice: { ...shipped.notice, rule: [] } })).toBe(false)
  const samples = published('connector-samples.schema.json', SampleSet)
  await expect(samples).toMatchFileSnapshot(`${docs}/connector-samples.schema.json`)
})

const base = sandboxDocument('https://bank.example')

/** What is wrong with a document that differs from a good one in this. */
function faults(change: object): string[] {
  const read = readDocument(JSON.stringify({ ...base, ...change }))
  return 'faults' in read ? read.faults.map(({ at, says }) => `${at} ${says}`) : []
}

const ask = base.askPayout
const submit = base.submitPayout
const { notice } = base

describe('what is wrong with a document', () => {
  it('is said once for each thing, whatever the other shapes would need', () => {
    const { notice } = base
    expect(faults({ notice: { ...notice, verify: { ...notice.verify, hush: 'sha256' } } })).toEqual(
      ['/notice/verify/hush is not known here'],
    )
    const [rule, ...rules] = notice.rules
    const typo = { ...rule, events: [{ ...rule?.events[0], refrence: '/ref' }] }
    expect(faults({ notice: { ...notice, rules: [typo, ...rules] } })).toEqual([
      '/notice/rules/0/events/0/refrence is not known here',
    ])
    expect(faults({ sign: { kind: 'hmca' } })).toEqual([
      '/sign/kind must be one of hmac, sorted, rsa, ed25519',
    ])
    const answers = ask.answers.map((each) => ({ ...each, mean: 1 }))
    const said = faults({ askPayout: { ...ask, answers }, banks: 5, format: 2 })
    expect(said).toHaveLength(answers.length + 2)
  })

  it('is said of one that is nested without an end', () => {
    const text = JSON.stringify({ ...base, company: 'DEEP' })
    const deep = '['.repeat(100_000) + ']'.repeat(100_000)
    const read = readDocument(text.replace('"DEEP"', deep))
    expect(read).toEqual({ faults: [{ at: '', says: 'is nested too deeply' }] })
  })
})

describe('a document is refused', () => {
  it.each([
    ['ACCOUNT_DOES_NOT_EXIST', true],
    ['BANK_ACCOUNT_NOT_EXISTS', true],
    ['AccountDoesNotExist', true],
    ['NON_EXISTENT_ACCOUNT', true],
    ['ACCOUNT_ALREADY_CLOSED', true],
    ['REFERENCE_EXISTS', false],
    ['TRANSFER_ALREADY_EXISTS', false],
    ['ALREADY_PAID', false],
    ['already processed', false],
    ['DUPLICATE_REFERENCE', false],
  ])('or not, with the refusal %s', (word, isRight) => {
    const rule = { if: { status: [422], '/code': [word] }, means: 'rejected' }
    const found = faults({ submitPayout: { ...submit, answers: [...submit.answers, rule] } })
    expect(found).toEqual(isRight ? [] : [expect.stringContaining(`"${word}": a duplicate`)])
  })

  it('with a payee whom the agent chooses, and not the order', () => {
    const paying = (json: object, more: object = {}) => {
      const request = { method: 'POST', path: '/p', json: { r: '{reference}', ...json } }
      return faults({ submitPayout: { ...submit, request }, ...more })
    }
    expect(paying({ to: '{extra.recipient}' })).toEqual([
      expect.stringContaining('must hold {payee.accountNo} or {payee.id}'),
    ])
    expect(paying({ to: '{payee.id}', note: '{extra.note}' })).toEqual([
      '/payees is required by {payee.id}',
    ])
    const payees = { 'SCB:1234567890': 'recp_1' }
    expect(paying({ to: '{payee.id}', note: '{extra.note}' }, { payees })).toEqual([])
  })

  it('with a token that is believed without a limit', () => {
    const { secret } = base.notice.verify.key
    const verify = { kind: 'token', header: 'x-token', key: { secret } }
    const found = (notice: object) => faults({ notice: { ...base.notice, ...notice } })
    expect(found({ verify })).toEqual([expect.stringContaining('/notice/tokenLimits is required')])
    const limits = (payment: string) => ({ tokenLimits: { THB: { payment, day: '10' } } })
    expect(found({ verify, ...limits('10.00') })).toEqual([])
    expect(found({ verify, tokenLimits: { VND: { payment: '1.5', day: '2' } } })).toEqual([
      '/notice/tokenLimits/VND has an amount that is none in VND',
    ])
    expect(found(limits('1'))).toEqual(['/notice/tokenLimits is for notices without a signature'])
  })

  it('with a nonce that is signed and not sent, or not there, and an answer that is no header', () => {
    const sign = {
      kind: 'hmac',
      hash: 'sha256',
      key: base.notice.verify.key,
      over: ['nonce', 'body'],
      encode: 'hex',
      put: { header: 'x-sign' },
    }
    expect(faults({ sign })).toEqual(['/sign/nonce is signed, and sent nowhere'])
    expect(faults({ sign: { ...sign, nonce: { header: 'x-nonce' } } })).toEqual([])
    const verify = { ...base.notice.verify, over: ['nonce', 'body'], timestamp: undefined }
    expect(faults({ notice: { ...base.notice, verify } })).toEqual([
      expect.stringContaining('nonce is of requests'),
    ])
    const answer = { type: 'text/plain\r\nx: y', body: 'OK' }
    expect(faults({ notice: { ...base.notice, answer } })).toHaveLength(1)
  })

  it('is read if it is right', () => {
    expect(faults({})).toEqual([])
  })

  it.each([
    ['a bare 404', { if: { status: [404] }, means: 'not_found' }],
    ['a word without a status', { if: { '/code': ['NONE'] }, means: 'not_found' }],
    ['a bare refusal', { if: { status: [422] }, means: 'rejected' }],
    ['a refusal by null', { if: { status: [422], '/code': [null] }, means: 'rejected' }],
    ['paid by a status alone', { if: { status: [200] }, means: 'paid' }],
    ['nothing to look at', { if: {}, means: 'accepted' }],
    ['an outcome that is none', { if: { status: [200], '/a': ['b'] }, means: 'done' }],
    ['a word of no characters', { if: { status: [200], '/a': [''] }, means: 'paid' }],
  ])('with %s, by the schema', (_what, rule) => {
    expect(faults({ askPayout: { ...ask, answers: [rule] } })).not.toEqual([])
  })

  it.each([
    [
      'a refusal by 500',
      {
        askPayout: { ...ask, answers: [{ if: { status: [500], '/a': ['b'] }, means: 'rejected' }] },
      },
      'says nothing for sure',
    ],
    [
      'not found by a redirect',
      {
        askPayout: {
          ...ask,
          answers: [{ if: { status: [302], '/a': ['b'] }, means: 'not_found' }],
        },
      },
      'says nothing for sure',
    ],
    [
      'a duplicate as a refusal',
      {
        submitPayout: {
          ...submit,
          answers: [{ if: { status: [422], '/code': ['DUPLICATE_ID'] }, means: 'rejected' }],
        },
      },
      'the first copy may be being paid',
    ],
    [
      'a 409 as a refusal',
      {
        submitPayout: {
          ...submit,
          answers: [{ if: { status: [409], '/code': ['NO'] }, means: 'rejected' }],
        },
      },
      'the first copy may be being paid',
    ],
    [
      'not found in answer to a hand-over',
      {
        submitPayout: {
          ...submit,
          answers: [{ if: { status: [404], '/code': ['NO'] }, means: 'not_found' }],
        },
      },
      'is an answer to a question',
    ],
    ['no question about payouts', { askPayout: undefined }, 'both calls or neither'],
    [
      'a hand-over without its reference',
      { submitPayout: { ...submit, request: { method: 'POST', path: '/p', json: {} } } },
      'must hold {reference}',
    ],
    [
      'an unknown placeholder',
      {
        submitPayout: {
          ...submit,
          request: { method: 'POST', path: '/p', json: { a: '{reference}', b: '{payee.iban}' } },
        },
      },
      '{payee.iban} is not known here',
    ],
    [
      'braces that are no placeholder',
      {
        submitPayout: {
          ...submit,
          request: { method: 'POST', path: '/p', json: { a: '{reference}', b: '{{x}}' } },
        },
      },
      'braces that are no placeholder',
    ],
    [
      'the company id of nowhere',
      { askPayout: { ...ask, request: { method: 'GET', path: '/p/{theirId}' } } },
      'no call says where it stands',
    ],
    ['a secret in a header', { headers: { Authorization: 'x' } }, 'is made of auth'],
    ['a length of its own', { headers: { 'Content-Length': '1' } }, 'is made by the service'],
    [
      'a secret that is not listed',
      { secrets: { pass: '' } },
      '"hook" is used and not in the list',
    ],
    [
      'a signature without the body',
      { notice: withVerify({ over: ['timestamp'] }) },
      'the rest could',
    ],
    [
      'a time that is nowhere',
      { notice: withVerify({ timestamp: undefined }) },
      'is required by over',
    ],
    [
      'md5 that is not called weak',
      { notice: { ...notice, verify: md5(false), from: ['10.0.0.1'] } },
      'md5 is weak',
    ],
    ['md5 from anywhere', { notice: { ...notice, verify: md5(true) } }, 'md5 can be forged'],
    ['a network that is none', { notice: { ...notice, from: ['10.0.0.0/99'] } }, 'is neither'],
    ['deposits that nobody tells of', { notice: undefined, secrets: { pass: '' } }, 'tells that'],
    ['a bank account and calls', { account: 'scb' }, 'only reports its lines'],
  ])('with %s', (_what, change, says) => {
    expect(faults(change).join('\n')).toContain(says)
  })

  it.each([401, 403, 404, 422, 429])('that reads a question refused by %i as an end', (status) => {
    for (const means of ['rejected', 'cancelled', 'paid', 'returned']) {
      const rule = { if: { status: [200, status], '/code': ['NO'] }, means }
      expect(faults({ askPayout: { ...ask, answers: [rule] } }).join()).toContain('2xx is needed')
    }
  })

  it('that takes who may not ask, or too often, for not found', () => {
    const by = (status: number) => {
      const rule = { if: { status: [status], '/code': ['NO'] }, means: 'not_found' }
      return faults({ askPayout: { ...ask, answers: [rule] } })
    }
    for (const status of [401, 403, 429]) expect(by(status).join()).toContain('of who asks')
    for (const status of [200, 400, 404, 410]) expect(by(status)).toEqual([])
  })

  it('that reads a hand-over as cancelled, returned or not found', () => {
    for (const means of ['cancelled', 'returned', 'not_found']) {
      const rule = { if: { status: [409], '/code': ['ALREADY_EXISTS'] }, means }
      const found = faults({ submitPayout: { ...submit, answers: [rule] } })
      expect(found.join()).toContain('a hand-over is taken, paid or refused')
    }
  })

  it('whose answers do not say which payout they are about', () => {
    const { echo: _echo, ...silent } = ask
    expect(faults({ askPayout: silent }).join()).toContain('must hold reference or theirId')
    const money = { echo: { amount: { at: '/amount', as: 'decimal' } } }
    expect(faults({ askPayout: { ...ask, ...money } }).join()).toContain('must hold reference')
    expect(faults({ askPayout: { ...ask, echo: { theirId: '/id' } } })).toEqual([])
    const found = faults({ submitPayout: { ...submit, echo: { ...submit.echo, theirId: '/id' } } })
    expect(found.join()).toContain('is for questions about payouts')
  })

  it('that does not say how much of a payout was paid', () => {
    const silent = { ...submit, echo: { reference: '/reference' } }
    expect(faults({ submitPayout: silent }).join()).toContain('must hold amount and currency')
    const amount = { amount: { at: '/amount', as: 'decimal' } }
    const told = (more: object) => ({
      submitPayout: silent,
      notice: withEvents((event) => (event.type === 'payout' ? { ...event, ...more } : event)),
    })
    expect(faults(told({ ...amount, currency: { at: '/currency' } }))).toEqual([])
    expect(faults(told(amount)).join()).toContain('amount and currency stand together')
  })

  it.each(['id', 'paymentId', 'costId'])('whose %s is the same for all', (name) => {
    const constant = withEvents((event) =>
      name in event ? { ...event, [name]: [{ text: 'x' }] } : event,
    )
    expect(faults({ notice: constant }).join()).toContain('must hold a pointer')
  })

  it.each([
    ['a nonce as its key', { headers: { 'Idempotency-Key': '{nonce}' } }],
    ['the time as its key', { headers: { 'X-IDEMPOTENCY': '{reference}{now.unixMs}' } }],
    ['one key for all', { headers: { 'idempotency-key': 'sluice' } }],
    ['a nonce as a key in its body', { json: { r: '{reference}', idempotency_key: '{nonce}' } }],
    ['a nonce in its reference', { json: { r: { id: '{reference}-{nonce}' } } }],
    ['the time in its reference', { path: '/p/{now.unix}-{reference}' }],
  ])('that hands a payout over with %s', (_what, change) => {
    const request = { method: 'POST', path: '/p', json: { r: '{reference}' }, ...change }
    const found = faults({ submitPayout: { ...submit, request } }).join()
    expect(found).toMatch(/a repetition would be another payment|one key, one order/)
  })

  it('but not with a nonce beside its reference', () => {
    const headers = { 'Idempotency-Key': 'p-{reference}', 'x-request-id': '{nonce}' }
    const request = { method: 'POST', path: '/p', headers, json: { at: '{now.iso}' } }
    expect(faults({ submitPayout: { ...submit, request } })).toEqual([])
    expect(faults({ headers: { 'Idempotency-Key': '{nonce}' } })).not.toEqual([])
  })

  it('with a key that is decoded and does not sign', () => {
    const key = { secret: 'hook', decode: 'hex' }
    const says = 'is for keys that sign'
    const token = { kind: 'token', header: 'x-token', key }
    expect(faults({ notice: { ...notice, verify: token } }).join()).toContain(says)
    const basic = { kind: 'basic', user: { text: 'u' }, password: key }
    expect(faults({ notice: { ...notice, verify: basic } }).join()).toContain(says)
    const bearer = { kind: 'bearer', token: { secret: 'pass', decode: 'base64' } }
    expect(faults({ auth: bearer }).join()).toContain(says)
  })

  it('with a password in it', () => {
    const auth = (user: object, password: object) =>
      faults({ auth: { kind: 'basic', user, password } }).join()
    expect(auth({ secret: 'pass' }, { text: '' })).toBe('')
    expect(auth({ secret: 'pass' }, { text: 'secret' })).toContain('/auth/password is a secret')
    expect(auth({ text: 'u' }, { text: '' })).toContain('/auth/user is a secret')
  })

  it('with a signature in a header that is not its own', () => {
    const sign = (change: object) =>
      faults({
        sign: {
          kind: 'hmac',
          hash: 'sha256',
          key: { secret: 'pass' },
          over: ['body'],
          encode: 'hex',
          put: { header: 'x-sign' },
          ...change,
        },
      }).join()
    expect(sign({})).toBe('')
    for (const header of ['Content-Length', 'host']) {
      expect(sign({ put: { header } })).toContain('is made by the service')
      expect(sign({ timestamp: { as: 'unix', header } })).toContain('is made by the service')
      const auth = { kind: 'header', header, value: { secret: 'pass' } }
      expect(faults({ auth }).join()).toContain('is made by the service')
    }
    expect(sign({ put: { header: 'Authorization' } })).toContain('is made of auth')
    expect(sign({ nonce: { header: 'Idempotency-Key' } })).toContain('another payment')
  })

  it('with a time that is not signed', () => {
    const says = 'must be signed'
    const header = { in: { header: 'x-time' }, as: 'unix' }
    expect(faults({ notice: withVerify({ over: ['body'] }) }).join()).toContain(says)
    const beside = { over: ['body', { header: 'X-Time' }], timestamp: header }
    expect(faults({ notice: withVerify(beside) })).toEqual([])
    expect(faults({ notice: withVerify({ ...beside, over: ['body'] }) }).join()).toContain(says)
    const inside = { over: ['body'], timestamp: { in: { at: '/at' }, as: 'unix' } }
    expect(faults({ notice: withVerify(inside) })).toEqual([])
    const sorted = { ...md5(true), with: 'sha256' }
    const by = (change: object) =>
      faults({ notice: { ...notice, verify: { ...sorted, ...change } } })
    expect(by({ timestamp: header }).join()).toContain(says)
    expect(by({ timestamp: inside.timestamp })).toEqual([])
    expect(by({ timestamp: inside.timestamp, except: ['at'] }).join()).toContain(says)
  })

  it('with a key that anybody can go on from, or that an HMAC has anyway', () => {
    const by = (change: object, more: object = {}) => {
      const verify = { ...md5(true), with: 'sha256', ...change }
      return faults({ notice: { ...notice, ...more, verify } }).join()
    }
    const from = { from: ['203.0.113.7'] }
    expect(by({ keyBefore: '' })).toContain('/notice/from is required')
    expect(by({ keyBefore: '', weak: undefined }, from)).toContain('is weak')
    expect(by({ keyBefore: '' }, from)).toBe('')
    expect(by({ keyBefore: '', keyAfter: '', weak: undefined })).toBe('')
    expect(by({ with: 'hmac-sha256', keyAfter: '&key=' })).toContain('is for a plain hash')
  })

  it('with an empty list that means more than that nothing was found', () => {
    const empty = { status: [200], '/data': [{ empty: true }] }
    const asked = (means: string) =>
      faults({ askPayout: { ...ask, answers: [{ if: empty, means }, ...ask.answers] } }).join()
    expect(asked('not_found')).toBe('')
    for (const means of ['paid', 'cancelled', 'rejected']) {
      expect(asked(means)).toContain('an empty list may only mean not_found')
    }
  })

  it('with what is read and not signed', () => {
    const { events: _events, ...flat } = notice
    const by = (name: string) =>
      faults({ notice: { ...flat, verify: { ...md5(true), with: 'sha256', except: [name] } } })
    for (const name of ['amount', 'type', 'id', 'reference', 'payer', 'outcome', 'paidAt']) {
      expect(by(name).join()).toContain(`"${name}" is read, and could be forged`)
    }
    expect(by('note')).toEqual([])
  })

  it('with a whole number that would be rounded', () => {
    const rule = { if: { status: [200], '/code': [1] }, means: 'paid' }
    const text = JSON.stringify({ ...base, askPayout: { ...ask, answers: [rule] } })
    const written = (word: string) => readDocument(text.replace('"/code":[1]', `"/code":[${word}]`))
    expect(written('9007199254740991')).toHaveProperty('document')
    expect(written('9007199254740993')).toHaveProperty('faults')
    expect(written('-9007199254740993')).toHaveProperty('faults')
  })

  it('with a member twice, or that is too long', () => {
    const twice = JSON.stringify(base).replace('{"format":1', '{"format":1,"format":1')
    expect(readDocument(twice)).toMatchObject({
      faults: [{ says: expect.stringContaining('twice') }],
    })
    const long = JSON.stringify({ ...base, source: 'x'.repeat(300_000) })
    expect(readDocument(long)).toMatchObject({ faults: [{ says: 'is longer than 256 KiB' }] })
    expect(readDocument('{')).toHaveProperty('faults')
  })
})

function withEvents(change: (event: { type: string }) => object) {
  const rules = notice.rules.map((rule) => ({ ...rule, events: rule.events.map(change) }))
  return { ...notice, rules }
}

test('a secret that cannot be the key is told from one that can', () => {
  const document = documentOf(base)
  expect(secretFault(document, 'hook', 'ab'.repeat(16))).toBeUndefined()
  expect(secretFault(document, 'hook', 'whsec_MfKQ9r8GKYqrTwjUPD8I')).toBe('is not in hex')
  expect(secretFault(document, 'hook', 'abcd')).toBe('has less than 16 bytes')
  expect(secretFault(document, 'pass', 'whsec_x')).toBeUndefined()
  expect(secretFault(document, 'pass', '')).toBe('is empty')
  const { hash: _hash, ...verify } = notice.verify
  const kind = (name: string) =>
    documentOf({
      ...base,
      notice: { ...notice, verify: { ...verify, kind: name, key: { secret: 'hook' } } },
    })
  const { publicKey } = generateKeyPairSync('ed25519')
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
  expect(secretFault(kind('ed25519'), 'hook', pem)).toBeUndefined()
  expect(secretFault(kind('rsa'), 'hook', pem)).toBe('is not a key of rsa')
  expect(secretFault(kind('rsa'), 'hook', 'x')).toBe('is not a key in PEM')
})

function withVerify(change: object) {
  return { ...notice, verify: { ...notice.verify, ...change } }
}

function md5(isWeak: boolean) {
  return {
    kind: 'sorted',
    with: 'md5',
    key: { secret: 'hook' },
    encode: 'hex',
    signature: { at: '/sign' },
    ...(isWeak && { weak: true }),
  }
}

describe('samples', () => {
  const document = documentOf(base)
  const run = (change: object) =>
    runSamples(document, JSON.stringify({ ...sandboxSamples, ...change }))

  it('pass if each is read as it says, and add what a company may do at any time', async () => {
    const { passed, missing, results } = await run({})
    expect(results.filter(({ ok }) => !ok)).toEqual([])
    expect({ passed, missing }).toEqual({ passed: true, missing: [] })
    const names = results.map(({ name }) => name)
    for (const what of ['HTML with 200', 'an unknown body', 'half of it', 'the same with 502']) {
      expect(names).toContain(`paid: ${what}`)
    }
    for (const what of ['the same again', 'signed by another', 'with another body', 'much later']) {
      expect(names).toContain(`a payment: ${what}`)
    }
    for (const read of ['amount', 'currency', 'reference', 'paymentId', 'type']) {
      expect(names).toContain(`a payment: with another /events/0/${read}`)
    }
    for (const call of ['expectDeposit', 'submitPayout', 'askPayout']) {
      expect(names).toContain(`the request of ${call}`)
    }
  })

  it.each([
    ['reference', /another reference$|a number for its reference$/],
    ['amount', /another amount$|a little more than its amount$/],
    ['currency', /another currency$|a number for its currency$/],
  ])('do not pass if the company repeats the %s, and nobody reads it', async (name, shown) => {
    const { [name as 'reference']: _left, ...echo } = { ...ask.echo, theirId: '/theirs' }
    const samples = {
      ...sandboxSamples,
      order: { ...sandboxSamples.order, theirId: 'po_1' },
      samples: sandboxSamples.samples.map((each) =>
        each.call === 'askPayout' && typeof each.body === 'object'
          ? { ...each, body: { ...each.body, theirs: 'po_1' } }
          : each,
      ),
    }
    const run = (askPayout: object) =>
      runSamples(documentOf({ ...base, askPayout }), JSON.stringify(samples))
    expect((await run({ ...ask, echo: { ...ask.echo, theirId: '/theirs' } })).passed).toBe(true)
    const { passed, results } = await run({ ...ask, echo })
    expect(passed).toBe(false)
    const bad = results.filter(({ ok }) => !ok)
    expect(bad.length).toBeGreaterThan(0)
    for (const { name: what } of bad) expect(what).toMatch(shown)
  })

  it('do not pass if a request cannot be made', async () => {
    const made = async (json: object, more: object = {}) => {
      const request = { method: 'POST', path: '/p', json: { r: '{reference}', ...json } }
      const changed = documentOf({ ...base, ...more, submitPayout: { ...submit, request } })
      const { passed, results } = await runSamples(changed, JSON.stringify(sandboxSamples))
      const result = results.find(({ name }) => name === 'the request of submitPayout')
      return [passed, result?.tried[0]?.fault]
    }
    const to = ['{payee.bank}', '{payee.accountNo}']
    expect(await made({ to, note: 'x{extra.note}' }, { banks: { SCB: '1' } })).toEqual([true, null])
    expect(await made({ amount: '{amount.integer}' })).toEqual([
      false,
      'the company takes whole amounts only',
    ])
    const sign = {
      kind: 'sorted',
      with: 'hmac-sha256',
      key: { secret: 'pass' },
      encode: 'hex',
      put: { header: 'x-sign' },
    }
    expect((await made({ a: '1' }, { sign }))[1]).toBeNull()
    expect(await made({ payee: { name: 'x' } }, { sign })).toEqual([
      false,
      'a part that is to be signed is missing',
    ])
    expect(await made({}, { base: 'https://bank.example:port' })).toMatchObject([
      false,
      expect.stringContaining('its address is none'),
    ])
  })

  it('do not pass if an id is another each time that a notice is sent', async () => {
    const timed = {
      ...notice,
      verify: {
        ...notice.verify,
        over: ['body'],
        timestamp: { in: { at: '/events/0/at' }, as: 'unix' },
      },
      rules: notice.rules.map((rule) => ({
        ...rule,
        events: rule.events.map((event) => ({ ...event, id: ['/id', '/at'] })),
      })),
    }
    const samples = sandboxSamples.samples.map((each) => {
      const [event] = 'events' in each.body ? each.body.events : []
      return event ? { ...each, body: { events: [{ ...event, at: '1' }] } } : each
    })
    const by = (changed: object) =>
      runSamples(
        documentOf({ ...base, notice: changed }),
        JSON.stringify({ ...sandboxSamples, samples }),
      )
    const again = (await by(timed)).results.filter(({ name }) => name.endsWith('the same again'))
    expect(again.map(({ ok }) => ok)).toEqual(again.map(() => false))
    expect((await by({ ...timed, rules: notice.rules })).passed).toBe(true)
  })

  it('forge what is signed by sorted fields too', async () => {
    const { events: _events, ...flat } = notice
    const verify = { ...md5(true), with: 'sha256', key: { secret: 'hook' } }
    const payments = notice.rules.slice(0, 1).map((rule) => ({
      ...rule,
      events: rule.events.map((event) => ({ ...event, payer: undefined, paidAt: undefined })),
    }))
    const sorted = documentOf({ ...base, notice: { ...flat, verify, rules: payments } })
    const body = {
      id: 'e1',
      type: 'payment',
      paymentId: 'p1',
      reference: '7-1',
      amount: '100.50',
      currency: 'THB',
    }
    const expected = ['payment 100.5 THB for 7-1 as p1']
    const sample = { name: 'a payment', call: 'notice', body, expect: expected }
    const others = sandboxSamples.samples.filter(({ call }) => call !== 'notice')
    const set = { ...sandboxSamples, samples: [...others, sample] }
    const { passed, results } = await runSamples(sorted, JSON.stringify(set))
    expect(passed).toBe(true)
    const names = results.map(({ name }) => name)
    for (const what of ['another /amount', 'another /currency', 'two fields as one']) {
      expect(names).toContain(`a payment: with ${what}`)
    }
    // What an older document leaves out of the signature is found by forging it.
    const careless = {
      ...sorted,
      notice: { ...sorted.notice, verify: { ...verify, except: ['amount'] } },
    }
    const found = await runSamples(careless as ConnectorDocument, JSON.stringify(set))
    expect(found.results.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual([
      'a payment: with another /amount',
    ])
  })

  it('do not pass if a payment has one id in a notice and another in an answer', async () => {
    const payment = (paymentId: string) => ({
      type: 'payment',
      id: ['/id'],
      paymentId: [paymentId],
      reference: '/reference',
      amount: { at: '/amount', as: 'decimal' },
      currency: { at: '/currency' },
    })
    const asking = (paymentId: string) =>
      documentOf({
        ...base,
        askDeposit: {
          request: { method: 'GET', path: '/deposits/{txnId}' },
          rules: [{ if: { status: [200], '/state': ['paid'] }, events: [payment(paymentId)] }],
        },
      })
    const body = { ...sandboxSamples.order, id: 'a-1', paymentId: 'pay-1', state: 'paid' }
    const inNotice = { ...sandboxSamples.samples.find(({ name }) => name === 'a payment') }
    const one = {
      ...inNotice,
      name: 'told',
      body: {
        events: [{ ...body, type: 'payment', id: 'evt-9', paidAt: null, payer: null }],
      },
      expect: ['payment 100.5 THB for SX0000000000A as pay-1'],
    }
    const by = async (paymentId: string, as: string) => {
      const expected = [`payment 100.5 THB for SX0000000000A as ${as}`]
      const asked = { name: 'asked', call: 'askDeposit', body, expect: expected }
      const samples = [...sandboxSamples.samples, one, asked]
      const set = JSON.stringify({ ...sandboxSamples, samples })
      return (await runSamples(asking(paymentId), set)).missing
    }
    expect(await by('/paymentId', 'pay-1')).toEqual([])
    expect(await by('/id', 'a-1')).toEqual([
      'one payment by notice and by askDeposit, with one id: else it counts twice',
    ])
  })

  it('name the rules that they do not show', async () => {
    const samples = sandboxSamples.samples.filter(({ name }) => name !== 'refused')
    expect((await run({ samples })).missing).toEqual([
      'a sample of the rule /askPayout/answers/2 (another provider may try)',
    ])
  })

  it.each(sandboxSamples.samples.map(({ name }) => name))(
    'do not pass without the one named %s',
    async (name) => {
      const samples = sandboxSamples.samples.filter((each) => each.name !== name)
      expect((await run({ samples })).passed).toBe(false)
    },
  )

  it('do not pass if one is read otherwise, or the set is none', async () => {
    const [first, ...rest] = sandboxSamples.samples
    expect((await run({ samples: [{ ...first, expect: ['rejected'] }, ...rest] })).passed).toBe(
      false,
    )
    expect((await run({ samples: [] })).passed).toBe(false)
    expect((await runSamples(document, '{')).passed).toBe(false)
    expect((await runSamples(document, '{"order":{},"order":{}}')).passed).toBe(false)
  })

  it('are refused in words if there are too many bytes of them', async () => {
    const { missing } = await runSamples(document, JSON.stringify({ text: 'x'.repeat(2 ** 20) }))
    expect(missing).toEqual(['The samples are longer than 1 MiB.'])
  })

  it('say which rule fired', async () => {
    const refused = (await run({})).results.find(({ name }) => name === 'refused')
    expect(refused?.tried).toEqual([
      {
        rule: '/askPayout/answers/2',
        ruleName: 'another provider may try',
        got: ['rejected, another may try'],
        fault: null,
      },
    ])
  })
})
