import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findOrderByRefId } from '../../src/ledger/find-order.ts'
import { newOrderId } from '../../src/lib/ids.ts'
import { money, queued, said, utc } from '../support/order-answers.ts'
import { AgentClient, startTestService, type TestService } from '../support/service.ts'

let s: TestService
beforeAll(async () => {
  s = await startTestService()
})
afterAll(async () => {
  await s.prove()
  await s.close()
})

describe.each(['deposit', 'withdraw'] as const)('repeating a %s', (kind) => {
  const path = `/payment/${kind}`
  const rich = async () => {
    const agent = await s.agent()
    await agent.fund(10_000)
    return agent
  }
  const ordersOf = async (agent: AgentClient) =>
    (await agent.get(`/payment/orders?kind=${kind}&status=WAITING`)).json.data

  test('the same refId twice returns the same order, byte for byte', async () => {
    const agent = await rich()
    const order = agent.order(queued)
    const first = await agent.post(path, order)
    expect(first.status).toBe(201)
    expect(first.headers.get('idempotent-replayed')).toBeNull()
    for (let count = 0; count < 3; count++) {
      const again = await agent.post(path, order)
      expect([again.status, again.text]).toEqual([200, first.text])
      expect(again.headers.get('idempotent-replayed')).toBe('true')
      expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'))
    }
    expect(await ordersOf(agent)).toHaveLength(1)
  })

  test('what would be refused is not created instead, should the first order be gone meanwhile', async () => {
    const agent = await rich()
    const order = agent.order(queued)
    await agent.post(path, order)
    const first = await findOrderByRefId(s.backend.pool, agent.agentId, String(order.refId))
    if (!first) throw new Error('there is no such order')
    const at = s.clock()
    const gone = { ...first, orderId: newOrderId(at), refId: 'gone' }
    const { agentId } = agent
    const again = { type: 'create', agentId, at, order: gone, onlyRepeat: true } as const
    await expect(s.service.desk.teller.do(again)).rejects.toMatchObject({ code: 'not_found' })
    const repeat = await s.service.desk.teller.do({ ...again, order: first })
    expect([repeat.changed, repeat.order?.orderId]).toEqual([false, first.orderId])
    expect(await ordersOf(agent)).toHaveLength(1)
  })

  test('a repeat is answered as the first time, whatever has become of the order', async () => {
    const agent = await rich()
    const order = agent.order(queued)
    const first = await agent.post(path, order)
    await agent.trigger(first.json.txn_id, 'PAID')
    s.clock.advance(86_400_000)
    const again = await agent.post(path, { ...order, timestamp: s.clock().toISOString() })
    expect([again.status, again.text]).toEqual([200, first.text])
  })

  test('a repeat has the first answer also from a service with another address and zone', async () => {
    const agent = await rich()
    const order = agent.order(queued)
    const first = await agent.post(path, order)
    const other = await startTestService({
      beside: s,
      env: { PUBLIC_URL: 'https://other.example', TIME_ZONE: 'Asia/Bangkok' },
    })
    try {
      const { appId, secret, agentId } = agent
      const there = new AgentClient(other.service.url, appId, secret, agentId, s.clock)
      const again = await there.post(path, order)
      expect([again.status, again.text]).toEqual([200, first.text])
      expect(again.headers.get('idempotent-replayed')).toBe('true')
      // It is the other service that answered: its own orders look different.
      const own = (await there.deposit()).json
      expect(own.link).toMatch(/^https:\/\/other\.example\/pay\//)
      expect(own.created_at).toBe(utc(new Date(s.clock().getTime() + 7 * 3_600_000)))
    } finally {
      await other.close()
    }
  })

  test('a repeat keeps the fee of the first answer though the terms have changed', async () => {
    const agent = await rich()
    const order = agent.order(queued)
    const first = await agent.post(path, order)
    await s.sql(`update agents set deposit_fee = '9%', withdraw_fee = '9%' where agent_id = $1`, [
      agent.agentId,
    ])
    expect((await agent.post(path, order)).text).toBe(first.text)
  })

  test.each([
    [
      'a later timestamp',
      { timestamp: () => new Date(s.clock().getTime() + 60_000).toISOString() },
    ],
    ['an alias of the bank', { bankCode: () => '014' }],
    ['the bank in lower case', { bankCode: () => 'scb' }],
    ['an account number in groups', { accountNo: () => '123-4-56789 0' }],
    [
      'a timestamp written otherwise',
      { timestamp: () => s.clock().toISOString().replace('Z', '+00') },
    ],
  ])('%s makes no other order', async (_what, changes) => {
    const agent = await rich()
    const order = agent.order(queued)
    const first = await agent.post(path, order)
    const changed = Object.entries(changes).map(([field, value]) => [field, value()])
    const again = await agent.post(path, { ...order, ...Object.fromEntries(changed) })
    expect([again.status, again.text]).toEqual([200, first.text])
  })

  test.each([
    ['userId', 'user-2'],
    ['userId', 'USER-1'],
    ['amount', 101],
    ['accountName', 'Somchai jaidee'],
    ['accountNo', '1234567891'],
    ['bankCode', 'KBANK'],
    ['bankCode', 'NOPE'],
    ['extraParams', { note: 'as it comes', more: 1 }],
    ['extraParams', undefined],
  ])('with another %s (%j) the refId is refused', async (field, value) => {
    const agent = await rich()
    const order = agent.order(queued)
    const first = await agent.post(path, order)
    const before = await money(s, agent)
    const conflict = await agent.post(path, { ...order, [field]: value })
    expect(said(conflict)).toEqual([409, 'ref_id_conflict'])
    expect(conflict.headers.get('idempotent-replayed')).toBeNull()
    expect(await money(s, agent)).toEqual(before)
    expect((await agent.post(path, order)).text).toBe(first.text)
  })

  test.each<[what: string, first: string | undefined, again: string | undefined, status: number]>([
    ['in another order', '{"a":1,"b":{"c":2,"d":3}}', '{"b":{"d":3,"c":2},"a":1}', 200],
    ['with other spacing', '{"a":[1,2]}', ' { "a" : [ 1 , 2 ] } ', 200],
    ['with escapes', '{"a":"é/"}', '{"\\u0061":"\\u00e9\\/"}', 200],
    ['with a number spelled otherwise', '{"a":100}', '{"a":1e2}', 200],
    ['left out for {}', '{}', undefined, 200],
    ['{} for none', undefined, '{}', 200],
    ['null for none', undefined, 'null', 200],
    ['null for {}', '{}', 'null', 200],
    ['none for null', 'null', undefined, 200],
    ['null for something', '{"a":1}', 'null', 409],
    ['with a list in another order', '{"a":[1,2]}', '{"a":[2,1]}', 409],
    ['with a string for a number', '{"a":1}', '{"a":"1"}', 409],
    ['with null for nothing', '{"a":null}', '{}', 409],
    ['with {} for []', '{"a":[]}', '{"a":{}}', 409],
    ['with a key more', '{"a":1}', '{"a":1,"b":1}', 409],
    ['with a key in another case', '{"a":1}', '{"A":1}', 409],
    ['with another __proto__', '{"__proto__":{"a":1}}', '{"__proto__":{"a":2}}', 409],
    ['with __proto__ for nothing', '{"__proto__":{"a":1}}', '{}', 409],
    [
      'with a number that differs beyond doubles',
      '{"a":9007199254740993}',
      '{"a":9007199254740992}',
      409,
    ],
  ])('extraParams are compared by value: %s', async (_what, firstText, againText, status) => {
    const agent = await rich()
    const order = JSON.stringify(agent.order())
    const withText = (text: string | undefined) =>
      text === undefined ? order : order.replace(/\}$/, `,"extraParams":${text}}`)
    const first = await agent.send('POST', path, withText(firstText))
    expect(first.status).toBe(201)
    const again = await agent.send('POST', path, withText(againText))
    expect(said(again)).toEqual([status, status === 200 ? 'none' : 'ref_id_conflict'])
    if (status === 200) expect(again.text).toBe(first.text)
  })

  test('the refId of the other kind is taken too', async () => {
    const agent = await rich()
    const order = agent.order(queued)
    await agent.post(path, order)
    const other = kind === 'deposit' ? '/payment/withdraw' : '/payment/deposit'
    expect(said(await agent.post(other, order))).toEqual([409, 'ref_id_conflict'])
  })

  test('the refId of another agent is free', async () => {
    const [one, other] = [await rich(), await rich()]
    const order = one.order(queued)
    const [first, second] = [await one.post(path, order), await other.post(path, order)]
    expect([first.status, second.status]).toEqual([201, 201])
    expect(first.json.txn_id).not.toBe(second.json.txn_id)
  })

  test('a refId whose first request was refused is free', async () => {
    const agent = await rich()
    const order = agent.order(queued)
    expect((await agent.post(path, { ...order, bankCode: 'NOPE' })).status).toBe(422)
    expect((await agent.post(path, order)).status).toBe(201)
  })

  test.each([10, 100])('%i at once with one refId make one order', async (count) => {
    const agent = await rich()
    const order = agent.order(queued)
    const answers = await Promise.all(Array.from({ length: count }, () => agent.post(path, order)))
    const created = answers.filter(({ status }) => status === 201)
    expect(created).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(count - 1)
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    const replayed = answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')
    expect(replayed).toHaveLength(count - 1)
    expect(await ordersOf(agent)).toHaveLength(1)
    expect(await money(s, agent)).toEqual(kind === 'deposit' ? [10_000, 0, 0] : [9_900, 100, 0])
  })

  test('ten different orders at once under one refId: one wins', async () => {
    const agent = await rich()
    const order = agent.order(queued)
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, at) => agent.post(path, { ...order, amount: 100 + at })),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    const others = answers.filter(({ status }) => status !== 201)
    expect(others.map(said)).toEqual(Array(9).fill([409, 'ref_id_conflict']))
    expect(await ordersOf(agent)).toHaveLength(1)
  })

  test('a hundred at once over two services on one database make one order', async () => {
    const agent = await rich()
    const other = await startTestService({ beside: s })
    try {
      const { appId, secret, agentId } = agent
      const there = new AgentClient(other.service.url, appId, secret, agentId, s.clock)
      const order = agent.order(queued)
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, at) => (at % 2 ? agent : there).post(path, order)),
      )
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(99)
      const ids = new Set(answers.map(({ json }) => json.txn_id))
      expect(ids.size).toBe(1)
      expect(await ordersOf(agent)).toHaveLength(1)
    } finally {
      await other.close()
    }
  })
})

describe('the picture of a QR code', () => {
  const stored = async (agent: AgentClient): Promise<string> =>
    (await s.sql('select answer from orders where agent_id = $1', [agent.agentId])).rows[0].answer
  const store = (agent: AgentClient, answer: string) =>
    s.sql('update orders set answer = $2 where agent_id = $1', [agent.agentId, answer])

  test('is drawn again for every answer: the order keeps its text and the version of the encoder', async () => {
    const agent = await s.agent()
    const order = agent.order({ refId: 'a "qrcode_date_url":{"encoder":9} \\' })
    const first = await agent.post('/payment/deposit', order)
    expect(first.json.qrcode.qrcode_date_url).toMatch(/^data:image\/png;base64,iVBOR/)
    const kept = await stored(agent)
    expect(kept).not.toContain('base64')
    expect(JSON.parse(kept).qrcode).toEqual({
      ...first.json.qrcode,
      qrcode_date_url: { encoder: 1 },
    })
    expect((await agent.post('/payment/deposit', order)).text).toBe(first.text)
    const { json } = await agent.get(`/payment/orders/${first.json.txn_id}`)
    expect(json.qrcode).toEqual(first.json.qrcode)
  })

  test('by an encoder that a later release has is answered with 503, never with other bytes', async () => {
    const agent = await s.agent()
    const order = agent.order()
    const first = await agent.post('/payment/deposit', order)
    const kept = await stored(agent)
    await store(agent, kept.replace('"encoder":1', '"encoder":4711'))
    for (const answer of [
      await agent.post('/payment/deposit', order),
      await agent.get(`/payment/orders/${first.json.txn_id}`),
    ]) {
      expect([answer.status, answer.json.code]).toEqual([503, 'overloaded'])
      expect(answer.headers.get('retry-after')).toBe('5')
    }
    await store(agent, kept)
    expect((await agent.post('/payment/deposit', order)).text).toBe(first.text)
  })

  test('is stored while processes of the release before may have to answer with it', async () => {
    const { desk } = s.service
    const usual = desk.picturesDrawnSince
    desk.picturesDrawnSince = new Date(s.clock().getTime() + 1_000)
    const agent = await s.agent()
    const order = agent.order()
    const first = await agent.post('/payment/deposit', order)
    desk.picturesDrawnSince = usual
    expect(await stored(agent)).toBe(first.text)
    expect((await agent.post('/payment/deposit', order)).text).toBe(first.text)
  })

  test('that was stored with an older order is answered as it is', async () => {
    const agent = await s.agent()
    const order = agent.order()
    await agent.post('/payment/deposit', order)
    const old = (await stored(agent)).replace(
      '{"encoder":1}',
      '"data:image/png;base64,iVBORw0KGgo="',
    )
    await store(agent, old)
    expect((await agent.post('/payment/deposit', order)).text).toBe(old)
  })
})
