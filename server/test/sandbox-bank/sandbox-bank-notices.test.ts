import { createHmac } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import type { Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  aDeposit,
  aPayout,
  applied,
  bankKey,
  makeTestBank,
  type TestBank,
  type Told,
} from '../support/bank.ts'
import { startRawReceiver } from '../support/receiver.ts'

const { signal } = new AbortController()
setMaxListeners(0, signal)

let bank: TestBank

beforeAll(async () => {
  bank = await makeTestBank()
})
afterAll(() => bank.close())
afterEach(async () => {
  await bank.startAfresh()
  expect(bank.errors.splice(0)).toEqual([])
})

const told = (reference: string) => bank.told().filter((event) => event.reference === reference)
const distinct = (events: Told[]) => new Set(events.map(({ id }) => id)).size

function transferTo(reference: string, once?: string) {
  return {
    reference,
    amountMinor: 12_345n,
    currency: 'THB' as const,
    payer: { accountNo: '5550001234', accountName: null, bankCode: null },
    ...(once !== undefined && { once }),
  }
}

describe('a notice', () => {
  it('is signed over its very bytes, and the provider reads it', async () => {
    const counter = await bank.open()
    await counter.client.transfer(transferTo('order-1'))
    const [received] = bank.receiver.received
    if (!received) throw new Error('nothing was told')
    const { body, headers } = received
    const t = Math.floor(bank.clock.now().getTime() / 1000)
    const v1 = createHmac('sha256', bankKey).update(`${t}.${body}`).digest('hex')
    expect(headers['x-bank-signature']).toBe(`t=${t},v1=${v1}`)
    expect(headers['content-type']).toBe('application/json')
    expect(counter.provider.readNotice(Buffer.from(body), headers, bank.clock.now())).toEqual([
      {
        id: 'evt-1',
        type: 'payment',
        paymentId: 'pay-1',
        reference: 'order-1',
        amountMinor: 12_345n,
        currency: 'THB',
        paidAt: bank.clock.now(),
        payer: { accountNo: '5550001234', accountName: null, bankCode: null },
      },
    ])
  })

  it('is repeated until it is answered with 200, less and less often', async () => {
    const counter = await bank.open()
    bank.receiver.answer = (_received, response) => response.writeHead(503).end()
    const { txnId, ...deposit } = aDeposit(bank.clock.now(), 'failed')
    await counter.provider.expectDeposit?.({ txnId, ...deposit }, signal)
    bank.clock.advance(1_000)
    expect(await counter.tick()).toBe(2)
    // Half a second, one, two, four, eight, sixteen, and then every thirty.
    for (const seconds of [0.5, 1, 2, 4, 8, 16, 30, 30]) {
      bank.clock.advance(seconds * 1_000 - 1)
      expect(await counter.tick()).toBe(0)
      bank.clock.advance(1)
      expect(await counter.tick()).toBe(1)
    }
    bank.receiver.answer = ({ json }, response) => response.end(JSON.stringify(applied(json)))
    bank.clock.advance(30_000)
    expect(await counter.tick()).toBe(1)
    expect(distinct(told(txnId))).toBe(1)
    expect(told(txnId)).toHaveLength(10)
  })

  it('is repeated after every answer that is not 200', async () => {
    for (const [n, answer] of [
      'HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n',
      'HTTP/1.1 307 T\r\nlocation: /x\r\ncontent-length: 0\r\n\r\n',
      'hello\r\n\r\n',
      undefined,
    ].entries()) {
      const receiver = await startRawReceiver((socket) =>
        answer === undefined ? socket.resetAndDestroy() : socket.end(answer),
      )
      const counter = await bank.open({ noticeUrl: () => receiver.url })
      const answered = await counter.client.transfer(transferTo(`order-${n}`))
      expect(answered).toMatchObject({ type: 'told', events: [{ told: false }] })
      const before = receiver.requests.length
      bank.clock.advance(500)
      await counter.tick()
      expect(receiver.requests.length, answer).toBeGreaterThan(before)
      await receiver.close()
    }
  })

  it('waits while there is nobody to tell, and for what came before it about its reference', async () => {
    let url: string | undefined
    const counter = await bank.open({ noticeUrl: () => url })
    for (const reference of ['order-1', 'order-2']) {
      await counter.client.transfer(transferTo(reference))
      await counter.client.takeBack({ reference })
    }
    bank.clock.advance(60_000)
    expect(await counter.tick()).toBe(0)

    url = bank.receiver.url
    // The first notice about order-1 is refused: what is told about order-2 does not wait for it.
    bank.receiver.answer = ({ json }, response) =>
      json.events[0].reference === 'order-1' && json.events[0].type === 'payment'
        ? response.writeHead(500).end()
        : response.end(JSON.stringify(applied(json)))
    await counter.tick()
    expect(told('order-1').map(({ type }) => type)).toEqual(['payment'])
    expect(told('order-2').map(({ type }) => type)).toEqual(['payment', 'payment_taken_back'])

    bank.receiver.answer = ({ json }, response) => response.end(JSON.stringify(applied(json)))
    bank.clock.advance(500)
    await counter.tick()
    const order1 = told('order-1').map(({ type }) => type)
    expect(order1.slice(0, 3)).toEqual(['payment', 'payment', 'payment_taken_back'])
  })
})

describe('the book', () => {
  it('a story goes on after a restart, and its payment keeps the time it was to be made', async () => {
    const first = await bank.open()
    const start = bank.clock.now().getTime()
    const deposit = aDeposit(bank.clock.now(), 'taken-back')
    await first.provider.expectDeposit?.(deposit, signal)
    bank.clock.advance(1_700)
    await first.tick()
    await first.close()
    bank.clock.advance(60_000)
    const second = await bank.open()
    await second.tick()
    const [paid, takenBack] = told(deposit.txnId).filter(
      ({ id }, n, all) => all.findIndex((other) => other.id === id) === n,
    )
    expect(paid.paidAt).toBe(new Date(start + 1_000).toISOString())
    expect(takenBack).toMatchObject({ type: 'payment_taken_back', paymentId: paid.paymentId })
  })

  it('after a restart both acts of an overdue story are played in their order', async () => {
    const first = await bank.open()
    const payout = aPayout('revert')
    await first.provider.submitPayout(payout, signal)
    await first.close()
    bank.clock.advance(60_000)
    const second = await bank.open()
    // While another process plays the first act, the second one waits.
    const elsewhere = await bank.pool.connect()
    await elsewhere.query('begin')
    await elsewhere.query('select 1 from sandbox_bank.acts where step = 0 for update')
    expect(await second.tick()).toBe(0)
    await elsewhere.query('rollback')
    elsewhere.release()
    await second.tick()
    const outcomes = told(payout.reference).map(({ outcome }) => outcome.type)
    expect([...new Set(outcomes)]).toEqual(['paid', 'returned'])
    expect(distinct(told(payout.reference))).toBe(2)
  })

  it('several counters over one book play each act once', async () => {
    const counters = await Promise.all([1, 2, 3].map(() => bank.open()))
    const deposits = Array.from({ length: 30 }, () => aDeposit(bank.clock.now(), 'duplicate'))
    await Promise.all(
      deposits.map((deposit, n) => counters[n % 3]?.provider.expectDeposit?.(deposit, signal)),
    )
    bank.clock.advance(1_000)
    await Promise.all(counters.map((counter) => counter.tick()))
    bank.clock.advance(2_000)
    await Promise.all(counters.map((counter) => counter.tick()))
    await counters[0]?.tick()
    for (const { txnId } of deposits) expect(distinct(told(txnId))).toBe(2)
    const { rows } = await bank.pool.query('select count(*) as n from sandbox_bank.payments')
    expect(rows).toEqual([{ n: 60n }])
  })

  it.each([
    ['nothing', undefined],
    ['200', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'],
  ])(
    'what a process was sending that is taken for dead is sent by another one, and that it hears %s in the end changes nothing',
    async (_name, late) => {
      const sockets: Socket[] = []
      const hung = await startRawReceiver((socket) => sockets.push(socket))
      const dying = await bank.open({ noticeUrl: () => hung.url })
      const deposit = aDeposit(bank.clock.now(), 'void')
      await dying.provider.expectDeposit?.(deposit, signal)
      bank.clock.advance(1_000)
      const ticking = dying.tick()
      await expect.poll(() => sockets.length).toBe(1)

      // Under way elsewhere: left alone until the lease ends.
      const other = await bank.open()
      expect(await other.tick()).toBe(0)
      bank.clock.advance(10_000)
      await other.tick()
      expect(distinct(told(deposit.txnId))).toBe(1)

      const book = async () => (await bank.pool.query('select * from sandbox_bank.notices')).rows
      const before = await book()
      expect(before).toMatchObject([{ accepted_at: bank.clock.now(), lease_until: null }])
      if (late === undefined) sockets[0]?.resetAndDestroy()
      else sockets[0]?.end(late)
      await ticking
      expect(await book()).toEqual(before)
      await hung.close()
    },
  )

  it('closing breaks off what is under way, held calls too, and it is told again', async () => {
    const hung = await startRawReceiver(() => {})
    const first = await bank.open({ noticeUrl: () => hung.url })
    const held = first.provider.submitPayout(aPayout('timeout-then-paid'), signal)
    const triggered = first.client.transfer(transferTo('order-1'))
    await expect.poll(() => hung.requests.length).toBe(1)
    await first.close()
    expect(await held).toMatchObject({ type: 'unknown' })
    await triggered.catch(() => {})
    await hung.close()
    bank.clock.advance(10_000)
    const second = await bank.open()
    await second.tick()
    expect(distinct(told('order-1'))).toBe(1)
  })

  it('stories go on by themselves where that is asked for', async () => {
    const counter = await bank.open({ tellStories: true })
    const payout = aPayout('paid')
    await counter.provider.submitPayout(payout, signal)
    bank.clock.advance(1_000)
    await bank.receiver.until(1)
    expect(told(payout.reference)).toMatchObject([{ outcome: { type: 'paid' } }])
  })
})

describe('a trigger', () => {
  it('answers with what the service made of the event', async () => {
    const counter = await bank.open()
    bank.receiver.answer = ({ json }, response) => {
      const { id } = json.events[0]
      const results = [{ id, result: 'refused', detail: 'The order is VOID.' }]
      response.end(JSON.stringify({ results }))
    }
    expect(await counter.client.endDeposit('order-1', 'EXPIRED')).toEqual({
      type: 'told',
      events: [{ id: 'evt-1', told: true, result: 'refused', detail: 'The order is VOID.' }],
    })
    expect(told('order-1')).toMatchObject([{ type: 'deposit_ended', status: 'EXPIRED' }])
  })

  it('that is answered with 200 counts as told, whatever else the answer says', async () => {
    const counter = await bank.open()
    for (const [n, answer] of [
      '',
      'hello',
      '{"results":[]}',
      '{"results":[{"id":"evt-4","result":"great"}]}',
      'null',
    ].entries()) {
      bank.receiver.answer = (_received, response) => response.end(answer)
      expect(await counter.client.transfer(transferTo(`order-${n}`))).toEqual({
        type: 'told',
        events: [{ id: `evt-${n + 1}`, told: true }],
      })
    }
  })

  it('first tells what was to be told about the reference before', async () => {
    const counter = await bank.open()
    const payout = aPayout('slow')
    await counter.provider.submitPayout(payout, signal)
    bank.receiver.answer = (_received, response) => response.writeHead(500).end()
    const failed = await counter.client.setPayout(payout.reference, 'paid')
    expect(failed).toEqual({ type: 'told', events: [{ id: 'evt-1', told: false }] })
    bank.receiver.answer = ({ json }, response) => response.end(JSON.stringify(applied(json)))
    const done = await counter.client.setPayout(payout.reference, 'returned')
    expect(done).toMatchObject({ events: [{ id: 'evt-2', told: true, result: 'applied' }] })
    expect(told(payout.reference).map(({ outcome }) => outcome.type)).toEqual([
      'paid',
      'paid',
      'returned',
    ])
  })

  it('with the same key is the same transfer, also ten times at once', async () => {
    const counter = await bank.open()
    const ten = await Promise.all(
      Array.from({ length: 10 }, () => counter.client.transfer(transferTo('order-1', 'key-1'))),
    )
    for (const one of ten) {
      expect(one).toEqual({
        type: 'told',
        events: [{ id: 'evt-1', told: true, result: 'applied' }],
      })
    }
    expect(distinct(told('order-1'))).toBe(1)
    expect(await counter.client.transfer(transferTo('order-2', 'key-1'))).toMatchObject({
      type: 'refused',
      because: 'conflict',
    })
    await counter.client.transfer(transferTo('order-1', 'key-2'))
    await counter.client.transfer(transferTo('order-1'))
    expect(new Set(told('order-1').map(({ paymentId }) => paymentId)).size).toBe(3)
  })

  it('takes back the latest payment first, each once, or the one that is named', async () => {
    const counter = await bank.open()
    for (let n = 0; n < 3; n++) await counter.client.transfer(transferTo('order-1'))
    const takenBack = () =>
      told('order-1').flatMap((event) =>
        event.type === 'payment_taken_back' ? [event.paymentId] : [],
      )
    await counter.client.takeBack({ paymentId: 'pay-2' })
    await counter.client.takeBack({ reference: 'order-1' })
    await counter.client.takeBack({ reference: 'order-1' })
    expect(takenBack()).toEqual(['pay-2', 'pay-3', 'pay-1'])
    for (const which of [
      { reference: 'order-1' },
      { reference: 'order-2' },
      { paymentId: 'pay-2' },
      { paymentId: 'pay-99' },
      { paymentId: 'order-1' },
    ]) {
      const refused = { type: 'refused', because: 'not_found' }
      expect(await counter.client.takeBack(which)).toMatchObject(refused)
    }
  })

  it('moves a payout only where it can go, and says again where it is', async () => {
    const counter = await bank.open()
    const states = ['paid', 'rejected', 'returned', 'cancelled'] as const
    const allowed: Record<string, string[]> = {
      accepted: ['paid', 'rejected', 'cancelled'],
      paid: ['paid', 'returned'],
      rejected: ['rejected'],
      returned: ['returned'],
      cancelled: ['cancelled'],
    }
    for (const [from, ways] of Object.entries({
      accepted: [],
      paid: ['paid'],
      rejected: ['rejected'],
      returned: ['paid', 'returned'],
      cancelled: ['cancelled'],
    } as Record<string, (typeof states)[number][]>)) {
      for (const to of states) {
        const payout = aPayout('slow')
        await counter.provider.submitPayout(payout, signal)
        for (const step of ways) await counter.client.setPayout(payout.reference, step)
        const before = told(payout.reference).length
        const answer = await counter.client.setPayout(payout.reference, to)
        const isAllowed = allowed[from]?.includes(to)
        expect(answer, `${from} to ${to}`).toMatchObject(
          isAllowed ? { events: [{ told: true }] } : { type: 'refused', because: 'conflict' },
        )
        expect(told(payout.reference)).toHaveLength(before + (isAllowed ? 1 : 0))
      }
    }
    expect(await counter.client.setPayout('nobody', 'paid')).toEqual({
      type: 'refused',
      because: 'not_found',
      reason: 'There is no such payout.',
    })
  })

  it('that overtakes a story is the last word on it', async () => {
    const counter = await bank.open()
    const payout = aPayout('paid')
    await counter.provider.submitPayout(payout, signal)
    await counter.client.setPayout(payout.reference, 'cancelled')
    bank.clock.advance(60_000)
    await counter.tick()
    expect(distinct(told(payout.reference))).toBe(1)
    expect(await counter.provider.askPayout(payout, signal)).toEqual({ type: 'cancelled' })
  })
})
