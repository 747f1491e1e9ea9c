import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adjust, money, queued, said, utc } from '../support/order-answers.ts'
import {
  type AgentClient,
  type Answer,
  startTestService,
  type TestService,
} from '../support/service.ts'

let s: TestService
beforeAll(async () => {
  s = await startTestService()
})
afterAll(async () => {
  await s.prove()
  await s.close()
})

describe('reading an order', () => {
  test('a deposit is what its creation was answered with, and what became of it', async () => {
    const agent = await s.agent({ depositFee: '1%' })
    const created = (await agent.deposit({ userId: 'u-7' })).json
    const since = { kind: 'deposit', status: 'WAITING', user_id: 'u-7' }
    const read = () => agent.get(`/payment/orders/${created.txn_id}`)
    expect((await read()).json).toEqual({
      ...created,
      ...since,
      completed_at: null,
      paid_amount: null,
    })
    s.clock.advance(60_000)
    await agent.trigger(created.txn_id, 'PAID')
    expect((await read()).json).toEqual({
      ...created,
      ...since,
      status: 'PAID',
      completed_at: utc(s.clock()),
      paid_amount: 100,
    })
  })

  test('a withdrawal is too', async () => {
    const agent = await s.agent({ withdrawFee: '1%' })
    await agent.fund(500)
    const created = (await agent.withdraw({ userId: 'u-7', ...queued })).json
    const read = () => agent.get(`/payment/orders/${created.txn_id}`)
    const since = { kind: 'withdraw', status: 'WAITING', user_id: 'u-7' }
    expect((await read()).json).toEqual({
      ...created,
      ...since,
      completed_at: null,
      paid_amount: null,
    })
    await agent.trigger(created.txn_id, 'PAID')
    expect((await read()).json).toMatchObject({ status: 'PAID', paid_amount: 100 })
  })

  test('a refId finds the same order, whatever characters it has', async () => {
    const agent = await s.agent()
    for (const refId of ['a b', '100%', 'a+b', 'a&b=c', 'รหัส-๑', '😀', '"status":"WAITING",']) {
      const created = (await agent.deposit({ refId })).json
      const found = await agent.get(`/payment/orders?refId=${encodeURIComponent(refId)}`)
      const byId = await agent.get(`/payment/orders/${created.txn_id}`)
      expect(found.text).toBe(byId.text)
      expect(found.json).toMatchObject({ ref_id: refId, status: 'WAITING' })
    }
  })

  test("another agent's order does not exist", async () => {
    const [owner, stranger] = [await s.agent(), await s.agent()]
    await owner.fund(500)
    await stranger.fund(500)
    for (const created of [await owner.deposit(), await owner.withdraw(queued)]) {
      const { txn_id, ref_id } = created.json
      const disguised = txn_id.replace(/^\d+/, String(stranger.agentId))
      for (const id of [txn_id, disguised]) {
        const tries = [
          await stranger.get(`/payment/orders/${id}`),
          await stranger.post(`/payment/orders/${id}/cancel`),
          await stranger.trigger(id, 'PAID'),
          await stranger.trigger(id, 'FAILED'),
        ]
        expect(tries.map(said)).toEqual(Array(4).fill([404, 'order_not_found']))
      }
      const byRefId = await stranger.get(`/payment/orders?refId=${ref_id}`)
      expect(said(byRefId)).toEqual([404, 'order_not_found'])
      expect((await owner.get(`/payment/orders/${txn_id}`)).json.status).toBe('WAITING')
    }
    const listed = (await stranger.get('/payment/orders')).json.data
    expect(listed).toHaveLength(1)
    expect(await stranger.balance()).toBe(500)
  })
})

describe('lists', () => {
  type Listed = { txn_id: string; ref_id: string; status: string; kind: string }
  const pages = async (agent: AgentClient, query: string, between = async () => {}) => {
    const found: Listed[][] = []
    let next: string | null = ''
    while (next !== null && found.length < 50) {
      const { json } = await agent.get(`/payment/orders?${query}${next && `&after=${next}`}`)
      found.push(json.data)
      next = json.next
      await between()
    }
    return found
  }
  const refIds = (orders: Listed[]) => orders.map(({ ref_id }) => ref_id)

  test('orders come newest first, in pages without gaps or repeats', async () => {
    const agent = await s.agent()
    const made: string[] = []
    for (let count = 0; count < 7; count++) {
      s.clock.advance(1)
      made.unshift((await agent.deposit()).json.ref_id)
    }
    for (const limit of [1, 2, 3, 6, 7, 8, 200]) {
      const found = await pages(agent, `limit=${limit}`)
      expect(refIds(found.flat())).toEqual(made)
      expect(found).toHaveLength(Math.ceil(7 / limit))
      expect(found.slice(0, -1).every((page) => page.length === limit)).toBe(true)
    }
  })

  test('orders that come in while somebody turns pages do not disturb', async () => {
    const agent = await s.agent()
    const made: string[] = []
    for (let count = 0; count < 6; count++) {
      s.clock.advance(1)
      made.unshift((await agent.deposit()).json.ref_id)
    }
    const found = await pages(agent, 'limit=2', async () => {
      s.clock.advance(1)
      await agent.deposit()
    })
    expect(refIds(found.flat())).toEqual(made)
  })

  test('fifty are shown unless more are asked for', async () => {
    const agent = await s.agent()
    await Promise.all(Array.from({ length: 51 }, () => agent.deposit()))
    const first = (await agent.get('/payment/orders')).json
    expect(first.data).toHaveLength(50)
    const second = (await agent.get(`/payment/orders?after=${first.next}`)).json
    expect([second.data.length, second.next]).toEqual([1, null])
    expect(new Set(refIds([...first.data, ...second.data])).size).toBe(51)
    const all = (await agent.get('/payment/orders?limit=200')).json
    expect([all.data.length, all.next]).toEqual([51, null])
  })

  test('filters by kind, status and time hold together and over pages', async () => {
    const agent = await s.agent()
    const times: string[] = []
    const make = async (refId: string, kind: 'deposit' | 'withdraw', outcome?: string) => {
      s.clock.advance(1000)
      times.push(s.clock().toISOString())
      const { txn_id } = (await agent[kind]({ refId, amount: 10, ...queued })).json
      if (outcome !== undefined) await agent.trigger(txn_id, outcome)
    }
    await make('d1', 'deposit', 'PAID')
    await make('w2', 'withdraw')
    await make('d3', 'deposit', 'FAILED')
    await make('d4', 'deposit', 'PAID')
    await make('w5', 'withdraw', 'PAID')
    const [t1, t2, t3, t4, t5] = times
    for (const [query, expected] of [
      ['', 'w5 d4 d3 w2 d1'],
      ['kind=deposit', 'd4 d3 d1'],
      ['kind=withdraw', 'w5 w2'],
      ['status=PAID', 'w5 d4 d1'],
      ['status=WAITING', 'w2'],
      ['status=VOID', ''],
      ['status=PAID&kind=deposit', 'd4 d1'],
      [`from=${t3}`, 'w5 d4 d3'],
      [`to=${t3}`, 'w2 d1'],
      [`from=${t2}&to=${t4}`, 'd3 w2'],
      [`from=${t1}&to=${t1}`, ''],
      [`from=${t5}`, 'w5'],
      [`from=${t2}&status=PAID&kind=withdraw`, 'w5'],
    ] as const) {
      const found = await pages(agent, `limit=2&${query}`)
      expect([query, refIds(found.flat()).join(' ')]).toEqual([query, expected])
    }
  })

  test('an order in a list is as it is when read alone', async () => {
    const agent = await s.agent()
    await agent.fund(500)
    await agent.withdraw(queued)
    const { data } = (await agent.get('/payment/orders')).json
    for (const order of data) {
      expect((await agent.get(`/payment/orders/${order.txn_id}`)).json).toEqual(order)
    }
    expect(data).toHaveLength(2)
  })

  test('the journal is gapless, and its rows add up to the wallet', async () => {
    const agent = await s.agent({ depositFee: '1%', withdrawFee: '2' })
    await agent.fund(1000)
    await agent.fund(333)
    const paid = (await agent.withdraw(queued)).json
    await agent.trigger(paid.txn_id, 'PAID')
    const failed = (await agent.withdraw(queued)).json
    await agent.trigger(failed.txn_id, 'FAILED')
    await adjust(s, agent, -550n, 'fine')
    await agent.trigger((await agent.deposit()).json.txn_id, 'EXPIRED')
    const { json: all } = await agent.get('/payment/wallet/entries')
    type Entry = (typeof all.data)[number]
    expect(all.next).toBeNull()
    expect(all.data.map(({ seq }: Entry) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    expect(all.data.map(({ event }: Entry) => event)).toEqual([
      'deposit_paid',
      'deposit_paid',
      'withdraw_held',
      'withdraw_paid',
      'withdraw_held',
      'withdraw_failed',
      'adjustment',
      'deposit_expired',
    ])
    expect(all.data[2]).toEqual({
      seq: 3,
      at: utc(s.clock()),
      event: 'withdraw_held',
      txn_id: paid.txn_id,
      amount: -102,
      held_change: 102,
      fee: 0,
      balance: 1217.67,
      held: 102,
      reason: null,
    })
    expect(all.data[6]).toMatchObject({ txn_id: null, amount: -5.5, reason: 'to the bound' })
    const cents = (pick: (entry: Entry) => number) =>
      all.data.reduce((sum: number, entry: Entry) => sum + Math.round(pick(entry) * 100), 0) / 100
    const wallet = (await agent.get('/payment/wallet')).json
    expect(wallet).toMatchObject({ balance: cents((entry) => entry.amount), held: 0, seq: 8 })
    expect(cents((entry) => entry.held_change)).toBe(0)
    expect((await money(s, agent))[2]).toBe(cents((entry) => entry.fee))
    const paged: Entry[] = []
    for (let next: number | null = 0; next !== null; ) {
      const page: Answer = await agent.get(`/payment/wallet/entries?after=${next}&limit=3`)
      paged.push(...page.json.data)
      next = page.json.next
    }
    expect(paged).toEqual(all.data)
  })

  test('events leave out the numbers of holds and adjustments, and page by the rest', async () => {
    const agent = await s.agent()
    await agent.fund(1000)
    const first = (await agent.withdraw(queued)).json
    await agent.trigger(first.txn_id, 'PAID')
    await adjust(s, agent, 100n, 'gift')
    await agent.trigger((await agent.deposit()).json.txn_id, 'VOID')
    const { json: all } = await agent.get('/payment/events')
    type Event = (typeof all.data)[number]
    expect(all.data.map(({ seq }: Event) => seq)).toEqual([1, 3, 5])
    expect(all.next).toBeNull()
    const { json: page } = await agent.get('/payment/events?limit=2')
    expect([page.data.map(({ seq }: Event) => seq), page.next]).toEqual([[1, 3], 3])
    const { json: rest } = await agent.get(`/payment/events?after=${page.next}`)
    expect([rest.data.map(({ seq }: Event) => seq), rest.next]).toEqual([[5], null])
    expect((await agent.get('/payment/events?after=5')).json).toEqual({ data: [], next: null })
  })
})
