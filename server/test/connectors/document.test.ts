import { fileURLToPath } from 'node:url'
import { describe, expect, it, test } from 'vitest'
import { ConnectorDocument } from '../../src/providers/http/connector-document.ts'
import { readDocument } from '../../src/providers/http/document-faults.ts'
import { runSamples, SampleSet } from '../../src/providers/http/run-samples.ts'
import { documentOf, sandboxDocument, sandboxSamples } from '../support/connector.ts'

const docs = fileURLToPath(new URL('../../../docs', import.meta.url))

test('the published schemas are those that documents and samples are checked by', async () => {
  const written = (schema: object) =>
    `${JSON.stringify({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema }, null, 2)}\n`
  await expect(written(ConnectorDocument)).toMatchFileSnapshot(`${docs}/connector.schema.json`)
  await expect(written(SampleSet)).toMatchFileSnapshot(`${docs}/connector-samples.schema.json`)
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

describe('a document is refused', () => {
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

  it('pass if each is read as it says, and add what a company may do at any time', () => {
    const { passed, missing, results } = run({})
    expect(results.filter(({ ok }) => !ok)).toEqual([])
    expect({ passed, missing }).toEqual({ passed: true, missing: [] })
    const names = results.map(({ name }) => name)
    for (const what of ['HTML with 200', 'an unknown body', 'half of it', 'the same with 502']) {
      expect(names).toContain(`paid: ${what}`)
    }
    for (const what of ['the same again', 'signed by another', 'with another body', 'much later']) {
      expect(names).toContain(`a payment: ${what}`)
    }
  })

  it.each(sandboxSamples.samples.map(({ name }) => name))(
    'do not pass without the one named %s',
    (name) => {
      const samples = sandboxSamples.samples.filter((each) => each.name !== name)
      expect(run({ samples }).passed).toBe(false)
    },
  )

  it('do not pass if one is read otherwise, or the set is none', () => {
    const [first, ...rest] = sandboxSamples.samples
    expect(run({ samples: [{ ...first, expect: ['rejected'] }, ...rest] }).passed).toBe(false)
    expect(run({ samples: [] }).passed).toBe(false)
    expect(runSamples(document, '{').passed).toBe(false)
    expect(runSamples(document, '{"order":{},"order":{}}').passed).toBe(false)
  })

  it('say which rule fired', () => {
    const refused = run({}).results.find(({ name }) => name === 'refused')
    expect(refused?.tried).toEqual([
      {
        rule: '/askPayout/answers/4',
        ruleName: 'another provider may try',
        got: ['rejected, another may try'],
        fault: null,
      },
    ])
  })
})
