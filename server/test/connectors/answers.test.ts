import { describe, expect, it } from 'vitest'
import { parseExactJson } from '../../src/lib/exact-json.ts'
import type { Currency } from '../../src/lib/money.ts'
import type { ConnectorDocument } from '../../src/providers/http/connector-document.ts'
import {
  readAskedDeposit,
  readDepositAnswer,
  readPayoutAnswer,
} from '../../src/providers/http/read-answer.ts'
import { readEvent } from '../../src/providers/http/read-events.ts'
import { company, documentOf } from '../support/connector.ts'

const reference = 'SX0123456789A'
const asked = { reference, amountMinor: 10_007n, currency: 'THB' as Currency }

const document: ConnectorDocument = documentOf(company)

function call<K extends 'submitPayout' | 'expectDeposit' | 'askDeposit' | 'askPayout'>(name: K) {
  const found = document[name]
  if (!found) throw new Error(`no ${name}`)
  return found as NonNullable<ConnectorDocument[K]>
}

const submitted = (status: number, body: string | Buffer) =>
  readPayoutAnswer(call('submitPayout'), { status, body: Buffer.from(body) }, asked, 'submitPayout')

const about = (status: number, body: string, id?: string) =>
  readPayoutAnswer(
    call('askPayout'),
    { status, body: Buffer.from(body) },
    { ...asked, theirId: id ?? null },
    'askPayout',
  )

const right = `"ref":"${reference}","currency":"THB","amount":100.07`
const done = `{"state":"DONE","flags":{"final":true},${right}}`

describe('an answer about a payout', () => {
  it('is what the first rule that fits says', () => {
    expect(submitted(201, `{"id":"po_1","state":"SENT",${right}}`)).toEqual({
      rule: 0,
      outcome: { type: 'accepted' },
      theirId: 'po_1',
    })
    expect(submitted(200, done)).toEqual({ rule: 1, outcome: { type: 'paid' }, theirId: null })
    expect(submitted(422, '{"code":4001,"message":"not served"}')).toEqual({
      rule: 2,
      outcome: { type: 'rejected', mayTryAnother: true, reason: 'not served' },
      theirId: null,
    })
  })

  it('that lists nothing says that it was not found', () => {
    const empty = { status: [200], '/data': [{ empty: true as const }] }
    const answers = [{ if: empty, means: 'not_found' as const }]
    const said = (body: string) =>
      readPayoutAnswer(
        { ...call('askPayout'), answers },
        { status: 200, body: Buffer.from(body) },
        asked,
        'askPayout',
      ).outcome.type
    expect(said('{"data":[]}')).toBe('not_found')
    for (const other of [
      '{"data":[{}]}',
      '{"data":{}}',
      '{"data":null}',
      '{"data":""}',
      '{}',
      '[]',
    ]) {
      expect(said(other)).toBe('unknown')
    }
  })

  const hostile: [what: string, status: number, body: string | Buffer][] = [
    ['HTML with 200', 200, '<html><body>DONE</body></html>'],
    ['nothing', 200, ''],
    ['half JSON', 200, done.slice(0, -1)],
    ['JSON and more', 200, `${done}{"state":"DONE"}`],
    ['null', 200, 'null'],
    ['a list', 200, `[${done}]`],
    ['a text', 200, JSON.stringify(done)],
    ['another status', 202, done],
    ['a server error', 500, done],
    ['a redirect', 302, done],
    ['the word in other letters', 200, done.replace('DONE', 'done')],
    ['the word in a list', 200, done.replace('"DONE"', '["DONE"]')],
    ['a flag that is a word', 200, done.replace('true', '"true"')],
    ['a flag that is a number', 200, done.replace('true', '1')],
    ['a state twice', 200, done.replace('{', '{"state":"NEW",')],
    ['a state twice, in other letters', 200, done.replace('{', '{"\\u0073tate":"NEW",')],
    ['deep nesting', 200, `${done.slice(0, -1)},"x":${'['.repeat(40)}${']'.repeat(40)}}`],
    ["another order's reference", 200, done.replace(reference, 'SX0123456789B')],
    ['no reference', 200, done.replace(`"ref":"${reference}",`, '')],
    ['another currency', 200, done.replace('THB', 'VND')],
    ['another amount', 200, done.replace('100.07', '100.06')],
    ['an amount beyond doubles', 200, done.replace('100.07', '100.070000000000000001')],
    ['an amount in letters of a number', 200, done.replace('100.07', '1.0007e2')],
    ['an amount that is a list', 200, done.replace('100.07', '[100.07]')],
    ['a huge amount', 200, done.replace('100.07', '9'.repeat(400))],
    ['what is not UTF-8', 200, Buffer.concat([Buffer.from(done), Buffer.from([0xff])])],
    ['a refusal with 500', 500, '{"code":4001,"message":"no"}'],
    ['a refusal without its reason', 422, '{"code":4001}'],
    ['a refusal with an empty reason', 422, '{"code":4001,"message":""}'],
    ['a refusal with another code', 422, '{"code":4002,"message":"no"}'],
    ['a refusal whose code rounds', 422, '{"code":4001.0000000000000001,"message":"no"}'],
    ['a refusal whose code is a word', 422, '{"code":"4001","message":"no"}'],
    ['a refusal of another order', 422, '{"code":4001,"message":"no","ref":"SX0123456789B"}'],
    ['a refusal by a proxy', 422, '<html>'],
  ]

  it.each(hostile)('with %s is unknown', (_what, status, body) => {
    expect(submitted(status, body).outcome.type).toBe('unknown')
  })

  it('that was too long to be read is unknown', () => {
    const answer = { status: 200, body: Buffer.from(done), isCut: true }
    const { outcome } = readPayoutAnswer(call('submitPayout'), answer, asked, 'submitPayout')
    expect(outcome.type).toBe('unknown')
  })

  it('is not found only if the company says so', () => {
    const askedFor = (status: number, body: string) => about(status, body).outcome.type
    expect(askedFor(404, '{"code":"NO_SUCH_PAYOUT"}')).toBe('not_found')
    expect(askedFor(404, '{"message":"Not Found"}')).toBe('unknown')
    expect(askedFor(404, '<html>404</html>')).toBe('unknown')
    expect(askedFor(404, '')).toBe('unknown')
    expect(askedFor(200, '{"code":"NO_SUCH_PAYOUT"}')).toBe('unknown')
  })

  it('to a question ends only the payout that it names', () => {
    expect(about(200, `{"ref":"${reference}","state":"DONE"}`).outcome.type).toBe('paid')
    expect(about(200, `{"ref":"${reference}","state":"FAILED"}`).outcome.type).toBe('rejected')
    for (const state of ['DONE', 'FAILED']) {
      for (const other of ['', '"ref":null,', '"ref":"",', '"ref":"SX0123456789B",']) {
        const body = `{${other}"state":"${state}"}`
        expect([body, about(200, body).outcome.type]).toEqual([body, 'unknown'])
      }
    }
  })

  it("to a question may name the company's own id instead", () => {
    const ask = { ...call('askPayout'), echo: { theirId: '/id' } }
    const by = (body: string, theirId: string | null) =>
      readPayoutAnswer(
        ask,
        { status: 200, body: Buffer.from(body) },
        { ...asked, theirId },
        'askPayout',
      ).outcome.type
    expect(by('{"id":"po_1","state":"FAILED"}', 'po_1')).toBe('rejected')
    expect(by('{"id":"po_2","state":"FAILED"}', 'po_1')).toBe('unknown')
    expect(by('{"state":"FAILED"}', 'po_1')).toBe('unknown')
    expect(by('{"id":"po_1","state":"FAILED"}', null)).toBe('unknown')
  })

  it.each(['paid', 'rejected', 'cancelled', 'returned'] as const)(
    'to a question that was refused is not %s, whatever an older document says',
    (means) => {
      const rule = { if: { status: [200, 422], '/state': ['X'] }, means }
      const ask = { ...call('askPayout'), answers: [rule] }
      const by = (status: number) => {
        const answer = { status, body: Buffer.from(`{"ref":"${reference}","state":"X"}`) }
        return readPayoutAnswer(ask, answer, asked, 'askPayout').outcome.type
      }
      expect(by(200)).toBe(means)
      expect(by(422)).toBe('unknown')
    },
  )

  it.each(['cancelled', 'returned', 'not_found'] as const)(
    'to a hand-over is never %s, whatever an older document says',
    (means) => {
      const rule = { if: { status: [200], '/state': ['X'] }, means }
      const submit = { ...call('submitPayout'), answers: [rule] }
      const answer = { status: 200, body: Buffer.from(`{${right},"state":"X"}`) }
      expect(readPayoutAnswer(submit, answer, asked, 'submitPayout').outcome.type).toBe('unknown')
    },
  )

  it.each(['../../other', '..', 'a/b', 'a b', 'a?b', '', 'x'.repeat(200), 'a\r\nb'])(
    "keeps no company's id that could change a path: %j",
    (id) => {
      const body = `{"id":${JSON.stringify(id)},"state":"SENT",${right}}`
      expect(submitted(201, body)).toMatchObject({ outcome: { type: 'accepted' }, theirId: null })
    },
  )
})

describe('an answer about a deposit', () => {
  const expected = (status: number, body: string) =>
    readDepositAnswer(call('expectDeposit'), { status, body: Buffer.from(body) }, asked)

  it('gives what the payer needs', () => {
    const body = `{"id":"pi_1","state":"OPEN","ref":"${reference}","url":"https://pay.example/1"}`
    expect(expected(201, body)).toEqual({
      rule: 0,
      outcome: { type: 'accepted', instructions: { link: 'https://pay.example/1' } },
      theirId: 'pi_1',
    })
    expect(expected(422, '{"code":"CLOSED","message":"at night"}').outcome).toEqual({
      type: 'rejected',
      reason: 'at night',
    })
  })

  it.each([
    'http://pay.example/1',
    'javascript:alert(1)',
    'data:text/html,x',
    '//pay.example/1',
    '',
    null,
    7,
  ])('with the link %j is unknown', (url) => {
    const body = JSON.stringify({ state: 'OPEN', ref: reference, url })
    expect(expected(201, body).outcome.type).toBe('unknown')
  })

  const aboutDeposit = (status: number, body: string) =>
    readAskedDeposit(call('askDeposit'), { status, body: Buffer.from(body) }, asked)
  const paid = `{"id":"pi_1","state":"PAID","ref":"${reference}","amount":100.07,"currency":"thb","paid_at":1767225600}`

  it('tells what was paid', () => {
    expect(aboutDeposit(200, paid)).toEqual({
      rule: 1,
      lines: [],
      events: [
        {
          id: 'pi_1:PAID',
          type: 'payment',
          paymentId: 'pi_1',
          reference,
          amountMinor: 10_007n,
          currency: 'THB',
          paidAt: new Date('2026-01-01T00:00:00Z'),
          payer: null,
        },
      ],
    })
    expect(aboutDeposit(200, `{"state":"OPEN","ref":"${reference}"}`)).toEqual({
      rule: 0,
      events: [],
      lines: [],
    })
  })

  it('tells what was paid though it is not what was asked for', () => {
    const echo = { reference: '/ref', amount: { at: '/amount', as: 'decimal' as const } }
    const ask = { ...call('askDeposit'), echo: { ...echo, currency: '/currency' } }
    const answer = { status: 200, body: Buffer.from(paid.replace('100.07', '99')) }
    expect(readAskedDeposit(ask, answer, asked).events).toMatchObject([{ amountMinor: 9_900n }])
  })

  it.each([
    ["another deposit's", paid.replace(reference, 'SX0123456789B')],
    ['an amount of no decimals', paid.replace('100.07', '0')],
    ['a negative amount', paid.replace('100.07', '-100.07')],
    ['an amount with too many decimals', paid.replace('100.07', '100.071')],
    ['an amount beyond a wallet', paid.replace('100.07', '90071992547409.92')],
    ['an amount that is true', paid.replace('100.07', 'true')],
    ['an amount in words', paid.replace('100.07', '"100,07"')],
    ['an unknown currency', paid.replace('thb', 'xyz')],
    ['no id', paid.replace('"id":"pi_1",', '')],
    ['a time that is none', paid.replace('1767225600', '"yesterday"')],
    ['a time beyond time', paid.replace('1767225600', '9'.repeat(30))],
    ['HTML', '<html>'],
    ['half of it', paid.slice(0, 40)],
  ])('with %s tells nothing', (_what, body) => {
    const { events, fault } = aboutDeposit(200, body)
    expect(events).toEqual([])
    expect(fault).toBeDefined()
  })
})

describe('an event about a payout', () => {
  const rules = [
    {
      if: { '/state': ['DONE'] },
      events: [
        {
          type: 'payout' as const,
          id: ['/id', '/state'],
          reference: '/ref',
          amount: { at: '/amount', as: 'decimal' as const },
          currency: { at: '/currency' },
          outcome: 'paid' as const,
        },
      ],
    },
  ]
  const read = (body: string) => readEvent(rules, parseExactJson(Buffer.from(body)) ?? null)
  const paid = `{"id":"po_1","state":"DONE",${right}}`

  it('says how much was paid, and nothing if that cannot be read', () => {
    expect(read(paid).events).toEqual([
      {
        id: 'po_1:DONE',
        type: 'payout',
        reference,
        amountMinor: 10_007n,
        currency: 'THB',
        outcome: { type: 'paid' },
      },
    ])
    for (const wrong of ['"100,07"', '-1', '0', 'null']) {
      const { events, fault } = read(paid.replace('100.07', wrong))
      expect([wrong, events, fault]).toEqual([wrong, [], expect.stringContaining('no amount')])
    }
  })

  it('has an id that no other has, whatever its parts hold', () => {
    const id = (of: string, state: string) =>
      readEvent(
        [{ if: { '/ref': [reference] }, events: rules[0]?.events ?? [] }],
        parseExactJson(
          Buffer.from(
            JSON.stringify({ id: of, state, ref: reference, amount: '1', currency: 'THB' }),
          ),
        ) ?? null,
      ).events[0]?.id
    expect(id('a', 'b')).toBe('a:b')
    const ids = [id('a:b', 'c'), id('a', 'b:c'), id('a~1b', 'c'), id('a', 'b~1c')]
    expect(new Set(ids).size).toBe(ids.length)
  })
})
