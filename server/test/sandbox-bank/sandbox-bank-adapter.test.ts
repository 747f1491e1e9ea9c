import { createHmac } from 'node:crypto'
import type { Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeSandboxProvider } from '../../src/providers/sandbox/sandbox.ts'
import {
  aDeposit,
  aPayout,
  bankKey,
  type Counter,
  makeTestBank,
  type TestBank,
} from '../support/bank.ts'
import { sandboxByDocument } from '../support/connector.ts'
import { freePort } from '../support/process.ts'
import { startRawReceiver } from '../support/receiver.ts'

const now = new Date('2026-01-01T00:00:00Z')

function json(status: number, body: string): string {
  return `HTTP/1.1 ${status} X\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`
}

const unreadable = 'the bank answered what cannot be read'

/** The same bank, spoken to by code and by a connector's document. */
const ways = [
  ['by code', makeSandboxProvider],
  ['by a document', sandboxByDocument],
] as const

/** What a bank may do to a call, and what is made of it. */
const hostile: [what: string, onCall: (socket: Socket) => void, reason: string][] = [
  ['never answers', () => {}, 'the bank did not answer in time'],
  [
    'stops in the middle of its answer',
    (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\n{"state":'),
    'the bank did not answer in time',
  ],
  [
    'resets the connection',
    (socket) => socket.resetAndDestroy(),
    'the bank closed the connection without an answer',
  ],
  [
    'closes the connection',
    (socket) => socket.end(),
    'the bank closed the connection without an answer',
  ],
  ['answers 500', (socket) => socket.end(json(500, '{"state":"rejected"}')), 'answered 500'],
  ['answers 503', (socket) => socket.end(json(503, '')), 'answered 503'],
  ['answers 202', (socket) => socket.end(json(202, '{"state":"paid"}')), 'answered 202'],
  ['answers 401', (socket) => socket.end(json(401, '{"reason":"who?"}')), 'answered 401: who?'],
  ['answers 404 of its own', (socket) => socket.end(json(404, '<html>')), 'answered 404'],
  ['redirects', (socket) => socket.end(json(302, '')), 'answered 302'],
  ['answers no HTTP', (socket) => socket.end('hello\r\n\r\n'), 'the bank could not be asked: '],
  ['answers no JSON', (socket) => socket.end(json(200, 'paid')), unreadable],
  ['answers nothing', (socket) => socket.end(json(200, '')), unreadable],
  ['answers null', (socket) => socket.end(json(200, 'null')), unreadable],
  ['answers a list', (socket) => socket.end(json(200, '["paid"]')), unreadable],
  ['has no state', (socket) => socket.end(json(200, '{"reason":"x"}')), unreadable],
  ['has an unknown state', (socket) => socket.end(json(200, '{"state":"PAID"}')), unreadable],
  [
    'rejects without a reason',
    (socket) => socket.end(json(200, '{"state":"rejected"}')),
    unreadable,
  ],
  [
    'answers without an end',
    (socket) => {
      socket.on('error', () => {})
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      const more = () => {
        while (!socket.destroyed && socket.write(' '.repeat(65_536)));
      }
      socket.on('drain', more)
      more()
    },
    'the bank answered more than can be read',
  ],
]

describe.each(ways)('what a bank does to a call is unknown, never rejected, %s', (_way, make) => {
  it.each(hostile)('it %s', async (what, onCall, reason) => {
    const raw = await startRawReceiver((socket) => onCall(socket))
    const provider = make({ bankUrl: () => raw.url, key: bankKey })
    const limitMs = reason.includes('in time') ? 100 : 20_000
    const payout = aPayout(null)
    const expected = { type: 'unknown', reason: expect.stringContaining(reason) }
    expect(await provider.submitPayout(payout, AbortSignal.timeout(limitMs)), what).toEqual(
      expected,
    )
    expect(await provider.askPayout(payout, AbortSignal.timeout(limitMs)), what).toEqual(expected)
    const deposit = aDeposit(now, 'paid')
    const collected = await provider.expectDeposit?.(deposit, AbortSignal.timeout(limitMs))
    expect(collected, what).toEqual(expected)
    await raw.close()
  })

  it('it is not there', async () => {
    const nowhere = `http://127.0.0.1:${await freePort()}`
    const provider = make({ bankUrl: () => nowhere, key: bankKey })
    expect(await provider.submitPayout(aPayout(null), AbortSignal.timeout(60_000))).toEqual({
      type: 'unknown',
      reason: 'the bank cannot be reached',
    })
  })
})

describe.each(ways)('the real bank, %s', (_way, make) => {
  let bank: TestBank
  let counter: Counter
  const { signal } = new AbortController()

  beforeAll(async () => {
    bank = await makeTestBank()
    counter = await bank.open()
    counter.provider = make({ bankUrl: () => counter.url, key: bankKey })
  })
  afterAll(async () => {
    await bank.close()
    expect(bank.errors).toEqual([])
  })

  it('has never heard of a payout that was not submitted', async () => {
    expect(await counter.provider.askPayout(aPayout(null), signal)).toMatchObject({
      type: 'not_found',
    })
  })

  it('books the same reference once, and other contents under it are unknown, not rejected', async () => {
    const payout = aPayout('slow')
    for (let n = 0; n < 3; n++) {
      expect(await counter.provider.submitPayout(payout, signal)).toEqual({ type: 'accepted' })
    }
    await counter.client.setPayout(payout.reference, 'paid')
    expect(await counter.provider.submitPayout(payout, signal)).toEqual({ type: 'paid' })
    for (const other of [
      { amountMinor: 1n },
      { currency: 'VND' as const },
      { payee: { ...payout.payee, accountNo: '1111' } },
      { extraParams: null },
    ]) {
      expect(await counter.provider.submitPayout({ ...payout, ...other }, signal)).toEqual({
        type: 'unknown',
        reason: 'the bank answered 409: Another payout has this reference.',
      })
    }
  })

  it('announces the same deposit once, and rejects other contents under its reference', async () => {
    const deposit = aDeposit(bank.clock.now(), 'paid')
    for (let n = 0; n < 2; n++) {
      const outcome = await counter.provider.expectDeposit?.(deposit, signal)
      expect(outcome).toMatchObject({ type: 'accepted' })
    }
    const acts = await bank.pool.query('select 1 from sandbox_bank.acts where reference = $1', [
      deposit.txnId,
    ])
    expect(acts.rowCount).toBe(1)
    const changed = { ...deposit, amountMinor: 1n }
    expect(await counter.provider.expectDeposit?.(changed, signal)).toEqual({
      type: 'rejected',
      reason: expect.stringContaining('Another deposit has this reference.'),
    })
  })

  it('takes references that need escaping', async () => {
    const payout = { ...aPayout('slow'), reference: '7/ä ?#%' }
    await counter.provider.submitPayout(payout, signal)
    expect(await counter.provider.askPayout(payout, signal)).toEqual({ type: 'accepted' })
  })

  it('answers nobody without the key, and tells the reason to nobody', async () => {
    const path = '/payouts/nobody'
    const wrong = ['Bearer', `Bearer ${'0'.repeat(64)}`, `Bearer ${'0'.repeat(63)}`, 'Basic x']
    for (const authorization of wrong) {
      const answer = await counter.send('GET', path, undefined, { authorization })
      expect(answer).toEqual({ status: 401, json: { reason: 'The bank does not know you.' } })
    }
    expect((await counter.send('GET', path, undefined, {})).status).toBe(401)
    const anywhere = await counter.send('GET', '/', undefined, {})
    expect(anywhere.status).toBe(401)
  })

  const payer = { accountNo: '1234', accountName: 'A', bankCode: 'SCB' }
  const deposit = {
    amount: '100.50',
    currency: 'THB',
    expiresAt: '2026-01-01T00:00:00.000Z',
    payer,
    story: 'paid',
  }
  const payout = { amount: '1', currency: 'VND', payee: payer, story: null }
  const transfer = { reference: 'r', amount: '1', currency: 'THB', payer: null }

  it.each([
    ['PUT', '/deposits/d', { ...deposit, more: 1 }],
    ['PUT', '/deposits/d', { ...deposit, story: 'slow' }],
    ['PUT', '/deposits/d', { ...deposit, story: null }],
    ['PUT', '/deposits/d', { ...deposit, story: 'toString' }],
    ['PUT', '/deposits/d', { ...deposit, amount: 100 }],
    ['PUT', '/deposits/d', { ...deposit, amount: '0' }],
    ['PUT', '/deposits/d', { ...deposit, amount: '-1' }],
    ['PUT', '/deposits/d', { ...deposit, amount: '1.001' }],
    ['PUT', '/deposits/d', { ...deposit, amount: '9007199254740992' }],
    ['PUT', '/deposits/d', { ...deposit, currency: 'VND' }],
    ['PUT', '/deposits/d', { ...deposit, currency: 'XXX' }],
    ['PUT', '/deposits/d', { ...deposit, expiresAt: '2026-13-01T00:00:00Z' }],
    ['PUT', '/deposits/d', { ...deposit, expiresAt: 'tomorrow' }],
    ['PUT', '/deposits/d', { ...deposit, payer: { ...payer, more: 1 } }],
    ['PUT', `/deposits/${'x'.repeat(129)}`, deposit],
    ['PUT', '/payouts/p', { ...payout, story: 'late' }],
    ['PUT', '/payouts/p', { ...payout, payee: undefined }],
    ['PUT', '/payouts/p', { ...payout, amount: '1.5' }],
    ['PUT', '/payouts/p', 'hello'],
    ['PUT', '/payouts/p', []],
    ['POST', '/transfers', { ...transfer, reference: '' }],
    ['POST', '/transfers', { ...transfer, payer: {} }],
    ['POST', '/transfers', { ...transfer, once: '' }],
    ['POST', '/transfers', { ...transfer, paidAt: 'now' }],
    ['POST', '/deposits/d/end', { status: 'PAID' }],
    ['POST', '/payouts/p/outcome', { state: 'accepted' }],
  ])('refuses %s %s with %j', async (method, path, body) => {
    expect((await counter.send(method, path, body)).status).toBe(400)
  })
})

describe.each(ways)('a notice, %s', (way, make) => {
  const provider = make({ bankUrl: () => 'http://127.0.0.1:9', key: bankKey })
  const seconds = now.getTime() / 1000

  const read = (body: string, { t = seconds, key = bankKey, at = now } = {}) => {
    const v1 = createHmac('sha256', key).update(`${t}.${body}`).digest('hex')
    return provider.readNotice(Buffer.from(body), { 'x-bank-signature': `t=${t},v1=${v1}` }, at)
  }
  const ended = { id: 'evt-1', type: 'deposit_ended', reference: 'r', status: 'FAILED' }
  const paid = {
    id: 'evt-1',
    type: 'payment',
    paymentId: 'pay-1',
    reference: 'r',
    amount: '100.50',
    currency: 'THB',
    paidAt: '2026-01-01T00:00:00.000Z',
    payer: null,
  }
  const payout = { id: 'evt-1', type: 'payout', reference: 'r', outcome: { type: 'paid' } }
  const rejected = { type: 'rejected', reason: 'no', mayTryAnother: true }
  const taken = { id: 'evt-1', type: 'payment_taken_back', paymentId: 'pay-1', reference: 'r' }
  const body = JSON.stringify({ events: [ended] })

  it('is read as what it says', () => {
    expect(read(body)).toEqual([ended])
    expect(read(JSON.stringify({ events: [taken, ended] }))).toEqual([taken, ended])
    expect(read(JSON.stringify({ events: [payout] }))).toEqual([payout])
    const refused = { ...payout, outcome: rejected }
    expect(read(JSON.stringify({ events: [refused] }))).toEqual([refused])
    const { amount: _, ...rest } = paid
    expect(read(JSON.stringify({ events: [paid] }))).toEqual([
      { ...rest, amountMinor: 10_050n, paidAt: now },
    ])
    const untimed = { ...paid, paidAt: null }
    expect(read(JSON.stringify({ events: [untimed] }))).toMatchObject([{ paidAt: null }])
  })

  it('of another, tampered with, or stale is not read', () => {
    expect(read(body, { key: Buffer.alloc(32, 4) })).toBeUndefined()
    for (const off of [300, -300]) expect(read(body, { t: seconds + off })).toEqual([ended])
    for (const off of [301, -301]) expect(read(body, { t: seconds + off })).toBeUndefined()
    const v1 = createHmac('sha256', bankKey).update(`${seconds}.${body}`).digest('hex')
    const with_ = (header: string | string[] | undefined, sent = body) =>
      provider.readNotice(Buffer.from(sent), { 'x-bank-signature': header }, now)
    expect(with_(`t=${seconds},v1=${v1}`)).toEqual([ended])
    expect(with_(`t=${seconds},v1=${v1}`, `${body} `)).toBeUndefined()
    expect(with_(`t=${seconds + 1},v1=${v1}`)).toBeUndefined()
    expect(with_(`t=${seconds},v1=${v1.toUpperCase()}`)).toBeUndefined()
    expect(with_(`t=${seconds},v1=${v1.slice(2)}`)).toBeUndefined()
    expect(with_(`v1=${v1}`)).toBeUndefined()
    expect(with_('')).toBeUndefined()
    expect(with_(undefined)).toBeUndefined()
    expect(with_([`t=${seconds},v1=${v1}`])).toBeUndefined()
  })

  it.each([
    'hello',
    'null',
    '[]',
    '{}',
    '{"events":[]}',
    '{"events":[null]}',
    JSON.stringify({ events: Array.from({ length: 101 }, () => ended) }),
    ...[
      { ...ended, status: 'PAID' },
      { ...ended, id: '' },
      { ...ended, reference: 'x'.repeat(201) },
      { ...ended, type: 'other' },
      { ...paid, amount: '0' },
      { ...paid, amount: '-1' },
      { ...paid, amount: '1.001' },
      { ...paid, currency: 'XXX' },
      { ...paid, paidAt: 'yesterday' },
      { ...payout, outcome: { type: 'unknown', reason: 'x' } },
      { ...payout, outcome: { type: 'rejected' } },
      { ...taken, paymentId: undefined },
    ].map((event) => JSON.stringify({ events: [event] })),
    JSON.stringify({ events: [ended, { ...paid, amount: '0' }] }),
  ])('%s is not read', (text) => {
    const events = read(text)
    if (way === 'by code') expect(events).toBeUndefined()
    // What a document cannot read is kept for a person, and acts on nothing else.
    else expect(events?.map(({ type }) => type)).toContain('unread')
  })

  const { amount: _amount, ...unpriced } = paid
  const payment = { ...unpriced, amountMinor: 10_000n, paidAt: now }
  it.each([
    [{ events: [ended], more: 1 }, ended],
    [{ events: [{ ...ended, more: 1 }] }, ended],
    [{ events: [{ ...ended, id: 1 }] }, { ...ended, id: '1' }],
    [{ events: [{ ...paid, amount: 100 }] }, payment],
    [{ events: [{ ...paid, amount: '100.00', payer: {} }] }, { ...payment, payer: null }],
    [{ events: [{ ...payout, outcome: { type: 'paid', more: 1 } }] }, payout],
  ])(
    '%j is refused by code, and read by a document, which looks only at what it names',
    (body, says) => {
      const events = read(JSON.stringify(body))
      if (way === 'by code') expect(events).toBeUndefined()
      else expect(events).toEqual([says])
    },
  )
})
