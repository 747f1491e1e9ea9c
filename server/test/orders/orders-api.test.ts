import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Method } from '../../src/agents/terms.ts'
import { maxBalanceMinor } from '../../src/lib/money.ts'
import { qrDataUrl } from '../../src/lib/qr-png.ts'
import { expireOrders } from '../../src/orders/expire-orders.ts'
import { AgentClient, type Answer, startTestService, type TestService } from '../support/service.ts'

let s: TestService
beforeAll(async () => {
  s = await startTestService()
})
afterAll(async () => {
  await s.prove()
  await s.close()
})

const said = ({ status, json }: Answer) => [status, json?.code ?? 'none']
const utc = (at: Date) => at.toISOString().slice(0, 19).replace('T', ' ')
/** Keeps a withdrawal from being handed to the bank before the test says so. */
const queued = { extraParams: { note: 'as it comes' } }

/** Available, held and the fees taken so far. */
async function money(agent: AgentClient): Promise<[balance: number, held: number, fees: number]> {
  const { balance, held } = (await agent.get('/payment/wallet')).json
  const { rows } = await s.sql('select fees from wallets where agent_id = $1', [agent.agentId])
  return [balance, held, Number(rows[0].fees) / 100]
}

async function lastCallback(agent: AgentClient) {
  const { data } = (await agent.get('/payment/events?limit=200')).json
  const event = data.at(-1)
  return { event, text: event.body as string, json: JSON.parse(event.body) }
}

function adjust(agent: AgentClient, amountMinor: bigint, ref: string) {
  return s.service.desk.teller.do({
    type: 'adjust',
    agentId: agent.agentId,
    at: s.clock(),
    amountMinor,
    reason: 'to the bound',
    ref,
  })
}

describe('creating a deposit', () => {
  const always = ['txn_id', 'ref_id', 'amount', 'fee', 'method', 'link', 'expires_in', 'created_at']

  test.each<[Method, string[]]>([
    ['link', []],
    ['link+qrcode', ['qrcode']],
    ['link+transfer', ['transfer']],
    ['link+qrcode+transfer', ['qrcode', 'transfer']],
  ])('by %s is answered with exactly the fields of the contract', async (method, more) => {
    const agent = await s.agent({ method, expiresInS: 600, depositFee: '1.5%+0.25' })
    const { status, json } = await agent.deposit({ refId: `r-${method}`, amount: 333 })
    expect(status).toBe(201)
    expect(Object.keys(json).toSorted()).toEqual([...always, ...more].toSorted())
    expect(json).toMatchObject({
      txn_id: expect.stringMatching(/^[1-9]\d*-[0-9a-f]{32}$/),
      ref_id: `r-${method}`,
      amount: 333,
      fee: 5.25,
      method,
      expires_in: 600,
      created_at: utc(s.clock()),
    })
    const base = s.service.desk.publicUrl()
    expect(json.link).toMatch(new RegExp(`^${base}/pay/[\\w-]{40,}$`))
    if (json.qrcode) {
      expect(Object.keys(json.qrcode)).toEqual(['qrcode_text', 'link', 'qrcode_date_url'])
      expect(json.qrcode.link).toBe(`${json.link}/qr`)
      expect(json.qrcode.qrcode_date_url).toBe(qrDataUrl(json.qrcode.qrcode_text))
      expect(json.qrcode.qrcode_text.toLowerCase()).toContain(json.txn_id)
    }
    if (json.transfer) {
      expect(Object.keys(json.transfer)).toEqual([
        'bank_code',
        'account_number',
        'account_name',
        'amount',
      ])
      expect(json.transfer.amount).toBe(333)
    }
  })

  test('an order is valid for 900 seconds unless the agent has other terms', async () => {
    expect((await (await s.agent()).deposit()).json.expires_in).toBe(900)
  })

  test.each([
    ['THB', '1.5%', 333, '"amount":333,"fee":5,'],
    ['THB', '1.5%', 331, '"amount":331,"fee":4.97,'],
    ['THB', '0.1', 1, '"amount":1,"fee":0.1,'],
    ['THB', '0%', 7, '"amount":7,"fee":0,'],
    ['THB', '0.01%', 1e12, '"amount":1000000000000,"fee":100000000,'],
    ['VND', '1.5%', 333, '"amount":333,"fee":5,'],
    ['VND', '1.5%', 331, '"amount":331,"fee":5,'],
    ['VND', '1.4%+2', 100, '"amount":100,"fee":3,'],
  ] as const)(
    'in %s with a fee of %s, %i is written %s',
    async (currency, depositFee, amount, written) => {
      const agent = await s.agent({ currency, depositFee })
      expect((await agent.deposit({ amount })).text).toContain(written)
    },
  )

  test('no two orders have the same link or id', async () => {
    const agent = await s.agent()
    const answers = await Promise.all(Array.from({ length: 20 }, () => agent.deposit()))
    expect(new Set(answers.map(({ json }) => json.link)).size).toBe(20)
    expect(new Set(answers.map(({ json }) => json.txn_id)).size).toBe(20)
  })

  test('moves no money', async () => {
    const agent = await s.agent()
    await agent.deposit()
    expect((await agent.get('/payment/wallet')).json).toEqual({
      balance: 0,
      held: 0,
      currency: 'THB',
      seq: 0,
    })
  })
})

describe('creating a withdrawal', () => {
  test('is answered with exactly the fields that were decided, after the hold', async () => {
    const agent = await s.agent({ withdrawFee: '1%+0.5' })
    await agent.fund(1000)
    const { status, json } = await agent.withdraw({ refId: 'w-1', amount: 333 })
    expect(status).toBe(201)
    expect(json).toEqual({
      txn_id: expect.stringMatching(/^[1-9]\d*-[0-9a-f]{32}$/),
      ref_id: 'w-1',
      amount: 333,
      fee: 3.83,
      status: 'WAITING',
      wallet: { balance: 663.17 },
      created_at: utc(s.clock()),
    })
    expect(await money(agent)).toEqual([663.17, 336.83, 0])
  })

  test('has no decimals in VND', async () => {
    const agent = await s.agent({ currency: 'VND', withdrawFee: '1.5%' })
    await agent.fund(1000)
    const { text } = await agent.withdraw({ amount: 333 })
    expect(text).toContain('"amount":333,"fee":5,')
    expect(text).toContain('"wallet":{"balance":662}')
  })

  test('ten at once never spend more than there is', async () => {
    const agent = await s.agent({ withdrawFee: '1' })
    await agent.fund(100)
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => agent.withdraw({ amount: 24, ...queued })),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(4)
    const refused = answers.filter(({ status }) => status !== 201)
    expect(refused.map(said)).toEqual(Array(6).fill([422, 'insufficient_balance']))
    expect(await money(agent)).toEqual([0, 100, 0])
  })
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
    const before = await money(agent)
    const conflict = await agent.post(path, { ...order, [field]: value })
    expect(said(conflict)).toEqual([409, 'ref_id_conflict'])
    expect(conflict.headers.get('idempotent-replayed')).toBeNull()
    expect(await money(agent)).toEqual(before)
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
    expect(await money(agent)).toEqual(kind === 'deposit' ? [10_000, 0, 0] : [9_900, 100, 0])
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

describe('what happens to an order', () => {
  /** Steps, the state they lead to, and the wallet then: available, held, fees. */
  test.each<[steps: string[], terms: object, status: string, wallet: [number, number, number]]>([
    [['PAID'], {}, 'PAID', [983, 0, 17]],
    [['FAILED'], {}, 'FAILED', [0, 0, 0]],
    [['EXPIRED'], {}, 'EXPIRED', [0, 0, 0]],
    [['VOID'], {}, 'VOID', [0, 0, 0]],
    [['PAID', 'VOID'], {}, 'VOID', [0, 0, 0]],
    [['PAID', 'VOID', 'PAID'], {}, 'VOID', [0, 0, 0]],
    [['PAID', 'VOID', 'PAID'], { lateMoney: 'credit' }, 'PAID', [983, 0, 17]],
    [['EXPIRED', 'PAID'], {}, 'PAID', [983, 0, 17]],
    [['FAILED', 'PAID'], {}, 'FAILED', [0, 0, 0]],
    [['FAILED', 'PAID'], { lateMoney: 'credit' }, 'PAID', [983, 0, 17]],
    [['VOID', 'PAID'], {}, 'VOID', [0, 0, 0]],
    [['VOID', 'PAID'], { lateMoney: 'credit' }, 'PAID', [983, 0, 17]],
    [['VOID', 'PAID', 'VOID'], { lateMoney: 'credit' }, 'VOID', [0, 0, 0]],
  ])('a deposit of 1000: %j with %j ends %s', async (steps, terms, status, wallet) => {
    const agent = await s.agent({ depositFee: '1.5%+2', ...terms })
    const { txn_id } = (await agent.deposit({ amount: 1000 })).json
    for (const step of steps) expect((await agent.trigger(txn_id, step)).status).toBe(200)
    expect((await agent.get(`/payment/orders/${txn_id}`)).json.status).toBe(status)
    expect(await money(agent)).toEqual(wallet)
  })

  test.each<[steps: string[], terms: object, status: string, wallet: [number, number, number]]>([
    [[], {}, 'WAITING', [894.5, 105.5, 0]],
    [['PAID'], {}, 'PAID', [894.5, 0, 5.5]],
    [['FAILED'], {}, 'FAILED', [1000, 0, 0]],
    [['CANCEL'], {}, 'CANCEL', [1000, 0, 0]],
    [['PAID', 'REVERT'], { revertFee: 'return' }, 'REVERT', [1000, 0, 0]],
    [['PAID', 'REVERT'], { revertFee: 'keep' }, 'REVERT', [994.5, 0, 5.5]],
  ])('a withdrawal of 100 from 1000: %j with %j ends %s', async (steps, terms, status, wallet) => {
    const agent = await s.agent({ withdrawFee: '5%+0.5', ...terms })
    await agent.fund(1000)
    const { txn_id } = (await agent.withdraw(queued)).json
    for (const step of steps) expect((await agent.trigger(txn_id, step)).status).toBe(200)
    expect((await agent.get(`/payment/orders/${txn_id}`)).json.status).toBe(status)
    expect(await money(agent)).toEqual(wallet)
  })

  test.each([
    ['deposit', [], ['REVERT', 'CANCEL']],
    ['deposit', ['PAID'], ['FAILED', 'EXPIRED', 'REVERT', 'CANCEL']],
    ['deposit', ['FAILED'], ['EXPIRED', 'VOID', 'REVERT', 'CANCEL']],
    ['deposit', ['EXPIRED'], ['FAILED', 'VOID', 'REVERT', 'CANCEL']],
    ['deposit', ['VOID'], ['FAILED', 'EXPIRED', 'REVERT', 'CANCEL']],
    ['withdraw', [], ['EXPIRED', 'VOID', 'REVERT']],
    ['withdraw', ['PAID'], ['FAILED', 'CANCEL', 'EXPIRED', 'VOID']],
    ['withdraw', ['FAILED'], ['PAID', 'CANCEL', 'REVERT', 'EXPIRED', 'VOID']],
    ['withdraw', ['CANCEL'], ['PAID', 'FAILED', 'REVERT', 'EXPIRED', 'VOID']],
    ['withdraw', ['PAID', 'REVERT'], ['PAID', 'FAILED', 'CANCEL', 'EXPIRED', 'VOID']],
  ] as const)('a %s after %j goes nowhere by %j', async (kind, steps, refused) => {
    const agent = await s.agent({ depositFee: '1%', withdrawFee: '1%' })
    await agent.fund(1000)
    const { txn_id } = (await agent[kind](queued)).json
    for (const step of steps) await agent.trigger(txn_id, step)
    const before = await agent.get(`/payment/orders/${txn_id}`)
    const walletBefore = await agent.get('/payment/wallet')
    for (const outcome of refused) {
      expect(said(await agent.trigger(txn_id, outcome))).toEqual([409, 'invalid_transition'])
    }
    expect((await agent.get(`/payment/orders/${txn_id}`)).text).toBe(before.text)
    expect((await agent.get('/payment/wallet')).text).toBe(walletBefore.text)
  })

  test.each([
    ['deposit', ['PAID']],
    ['deposit', ['FAILED']],
    ['deposit', ['EXPIRED']],
    ['deposit', ['VOID']],
    ['deposit', ['PAID', 'VOID']],
    ['withdraw', ['PAID']],
    ['withdraw', ['FAILED']],
    ['withdraw', ['CANCEL']],
    ['withdraw', ['PAID', 'REVERT']],
  ] as const)('a %s told %j once more changes nothing', async (kind, steps) => {
    const agent = await s.agent({ depositFee: '1%', withdrawFee: '1%' })
    await agent.fund(1000)
    const { txn_id } = (await agent[kind](queued)).json
    for (const step of steps) await agent.trigger(txn_id, step)
    const wallet = await agent.get('/payment/wallet')
    s.clock.advance(1000)
    const order = await agent.get(`/payment/orders/${txn_id}`)
    const again = await agent.trigger(txn_id, steps.at(-1) ?? '')
    expect([again.status, again.text]).toEqual([200, order.text])
    expect((await agent.get('/payment/wallet')).text).toBe(wallet.text)
  })

  test.each([
    ['1e2', 100],
    ['100.0', 100],
    ['0.01', 0.01],
  ])('a payment of %s is credited as %d', async (paidAmount, balance) => {
    const agent = await s.agent({ lateMoney: 'credit' })
    const { txn_id } = (await agent.deposit()).json
    const body = `{"outcome":"PAID","paidAmount":${paidAmount}}`
    const answer = await agent.send('POST', `/sandbox/orders/${txn_id}`, body)
    expect(answer).toMatchObject({ status: 200, json: { status: 'PAID', paid_amount: balance } })
    expect(await agent.balance()).toBe(balance)
  })

  test('ten at once tell that a deposit was paid: it is credited once', async () => {
    const agent = await s.agent()
    const { txn_id } = (await agent.deposit()).json
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => agent.trigger(txn_id, 'PAID')),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200))
    expect(await agent.balance()).toBe(100)
    expect((await agent.get('/payment/events')).json.data).toHaveLength(1)
  })

  test('a deposit that is taken back after its money was paid out leaves a debt', async () => {
    const agent = await s.agent({ depositFee: '1%' })
    const deposit = (await agent.deposit({ amount: 1000 })).json
    await agent.trigger(deposit.txn_id, 'PAID')
    const withdraw = (await agent.withdraw({ amount: 900, ...queued })).json
    await agent.trigger(withdraw.txn_id, 'PAID')
    expect((await agent.trigger(deposit.txn_id, 'VOID')).json.status).toBe('VOID')
    expect(await money(agent)).toEqual([-900, 0, 0])
    expect((await lastCallback(agent)).json.wallet).toEqual({ balance: -900 })
    expect(said(await agent.withdraw({ amount: 1 }))).toEqual([422, 'insufficient_balance'])
  })
})

describe('cancelling', () => {
  test.each([
    ['deposit', 'VOID'],
    ['withdraw', 'CANCEL'],
  ] as const)('a waiting %s becomes %s, and twice is once', async (kind, status) => {
    const agent = await s.agent({ withdrawFee: '1' })
    await agent.fund(500)
    const { txn_id } = (await agent[kind](queued)).json
    const first = await agent.post(`/payment/orders/${txn_id}/cancel`)
    expect(first.status).toBe(200)
    expect(first.json).toMatchObject({ txn_id, status, completed_at: utc(s.clock()) })
    expect(await money(agent)).toEqual([500, 0, 0])
    s.clock.advance(1000)
    const again = await agent.post(`/payment/orders/${txn_id}/cancel`)
    expect([again.status, again.text]).toEqual([200, first.text])
    expect((await lastCallback(agent)).json.status).toBe(status)
    expect((await agent.get('/payment/events')).json.data).toHaveLength(2)
  })

  test.each([
    ['deposit', ['PAID']],
    ['deposit', ['FAILED']],
    ['deposit', ['EXPIRED']],
    ['withdraw', ['PAID']],
    ['withdraw', ['FAILED']],
    ['withdraw', ['PAID', 'REVERT']],
  ] as const)('a %s that is %j stays so', async (kind, steps) => {
    const agent = await s.agent()
    await agent.fund(500)
    const { txn_id } = (await agent[kind](queued)).json
    for (const step of steps) await agent.trigger(txn_id, step)
    const wallet = await agent.get('/payment/wallet')
    const answer = await agent.post(`/payment/orders/${txn_id}/cancel`)
    expect(said(answer)).toEqual([409, 'order_not_cancellable'])
    expect((await agent.get('/payment/wallet')).text).toBe(wallet.text)
  })

  test('a withdrawal that is with a provider can no longer be cancelled', async () => {
    const agent = await s.agent()
    await agent.fund(500)
    const { txn_id } = (await agent.withdraw(queued)).json
    await s.service.desk.teller.do({
      type: 'hand_over',
      agentId: agent.agentId,
      orderId: txn_id.split('-')[1],
      at: s.clock(),
      provider: 'sandbox',
      providerRef: 'ref-1',
      insteadOf: null,
      token: randomUUID(),
      askAt: s.clock(),
    })
    const answer = await agent.post(`/payment/orders/${txn_id}/cancel`)
    expect(said(answer)).toEqual([409, 'order_not_cancellable'])
    expect(await money(agent)).toEqual([400, 100, 0])
  })

  test('ten cancellations at once give the money back once', async () => {
    const agent = await s.agent()
    await agent.fund(500)
    const { txn_id } = (await agent.withdraw(queued)).json
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => agent.post(`/payment/orders/${txn_id}/cancel`)),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200))
    expect(await money(agent)).toEqual([500, 0, 0])
  })
})

describe('money that does not fit', () => {
  const expired = async (terms: object) => {
    const agent = await s.agent({ depositFee: '1.5%+2', expiresInS: 60, ...terms })
    const { txn_id } = (await agent.deposit({ amount: 1000 })).json
    s.clock.advance(60_001)
    await expireOrders(s.service.desk)
    expect((await agent.get(`/payment/orders/${txn_id}`)).json.status).toBe('EXPIRED')
    return { agent, txn_id }
  }
  const waiting = async (agent: AgentClient) => {
    const { rows } = await s.sql(
      `select amount, why from payments where agent_id = $1 and state = 'waiting'`,
      [agent.agentId],
    )
    return rows.map(({ amount, why }) => [Number(amount), why])
  }

  test('late money waits for review, and the order stays expired', async () => {
    const { agent, txn_id } = await expired({})
    const answer = await agent.trigger(txn_id, 'PAID')
    expect([answer.status, answer.json.status]).toEqual([200, 'EXPIRED'])
    expect(await money(agent)).toEqual([0, 0, 0])
    expect(await waiting(agent)).toEqual([[100_000, 'late']])
    expect((await lastCallback(agent)).json.status).toBe('EXPIRED')
  })

  test('late money is credited where the agent has it so, with the fee of what was paid', async () => {
    const { agent, txn_id } = await expired({ lateMoney: 'credit' })
    const answer = await agent.trigger(txn_id, 'PAID', { paidAmount: 900.5 })
    expect(answer.json).toMatchObject({ status: 'PAID', amount: 1000, fee: 17, paid_amount: 900.5 })
    // 1.5 % of 900.50 is 13.5075, and 2.
    expect(await money(agent)).toEqual([884.99, 0, 15.51])
    const { text } = await lastCallback(agent)
    expect(text).toContain('"amount":900.5,"fee":15.51,"status":"PAID"')
    expect(text).toContain('"wallet":{"balance":884.99}')
  })

  test('money in the very last moment is in time', async () => {
    const agent = await s.agent({ expiresInS: 60 })
    const { txn_id } = (await agent.deposit()).json
    s.clock.advance(60_000)
    expect((await agent.trigger(txn_id, 'PAID')).json.status).toBe('PAID')
  })

  test.each([999.99, 1000.01, 1, 5000])(
    'a payment of %d for 1000 waits for review',
    async (paidAmount) => {
      const agent = await s.agent({ depositFee: '1.5%' })
      const { txn_id } = (await agent.deposit({ amount: 1000 })).json
      const answer = await agent.trigger(txn_id, 'PAID', { paidAmount })
      expect([answer.status, answer.json.status]).toEqual([200, 'WAITING'])
      expect(await money(agent)).toEqual([0, 0, 0])
      expect(await waiting(agent)).toEqual([[Math.round(paidAmount * 100), 'wrong_amount']])
      // The order goes its own way: the right amount still pays it.
      expect((await agent.trigger(txn_id, 'PAID')).json.status).toBe('PAID')
      expect(await money(agent)).toEqual([985, 0, 15])
    },
  )

  test.each([
    [999.99, '"amount":999.99,"fee":15,', [984.99, 0, 15]],
    [1234.56, '"amount":1234.56,"fee":18.52,', [1216.04, 0, 18.52]],
  ])(
    'a payment of %d for 1000 pays the order where the agent has it so',
    async (paidAmount, written, wallet) => {
      const agent = await s.agent({ depositFee: '1.5%', lateMoney: 'credit' })
      const { txn_id } = (await agent.deposit({ amount: 1000 })).json
      const { json } = await agent.trigger(txn_id, 'PAID', { paidAmount })
      expect(json).toMatchObject({ status: 'PAID', amount: 1000, fee: 15, paid_amount: paidAmount })
      expect(await money(agent)).toEqual(wallet)
      expect((await lastCallback(agent)).text).toContain(written)
    },
  )

  test('a payment that its fee would eat waits, even where late money is credited', async () => {
    const agent = await s.agent({ depositFee: '2', lateMoney: 'credit' })
    const { txn_id } = (await agent.deposit({ amount: 1000 })).json
    const answer = await agent.trigger(txn_id, 'PAID', { paidAmount: 2 })
    expect([answer.status, answer.json.status]).toEqual([200, 'WAITING'])
    expect(await waiting(agent)).toEqual([[200, 'fee']])
  })

  test('a second payment waits, even where late money is credited', async () => {
    const agent = await s.agent({ lateMoney: 'credit' })
    const { txn_id } = (await agent.deposit({ amount: 1000 })).json
    await agent.trigger(txn_id, 'PAID')
    const second = await agent.trigger(txn_id, 'PAID', { payerAccountNo: '9999999999' })
    expect([second.status, second.json.paid_amount]).toEqual([200, 1000])
    expect(await waiting(agent)).toEqual([[100_000, 'duplicate']])
    expect(await agent.balance()).toBe(1000)
  })
})

describe('callbacks', () => {
  const always = [
    'refId',
    'transactionId',
    'userId',
    'amount',
    'fee',
    'status',
    'extParams',
    'successAt',
    'wallet',
  ]

  test.each([
    ['deposit', ['PAID'], 1, 99],
    ['deposit', ['FAILED'], 0, 0],
    ['deposit', ['EXPIRED'], 0, 0],
    ['deposit', ['VOID'], 0, 0],
    ['deposit', ['PAID', 'VOID'], 0, 0],
    ['withdraw', ['PAID'], 2, 898],
    ['withdraw', ['FAILED'], 0, 1000],
    ['withdraw', ['CANCEL'], 0, 1000],
    ['withdraw', ['PAID', 'REVERT'], 0, 1000],
  ] as const)(
    'a %s that is %j tells exactly the fields of the contract',
    async (kind, steps, fee, balance) => {
      const agent = await s.agent({ depositFee: '1%', withdrawFee: '2' })
      if (kind === 'withdraw') {
        await s.sql(`update agents set deposit_fee = '0%' where agent_id = $1`, [agent.agentId])
        await agent.fund(1000)
      }
      const { txn_id, ref_id } = (await agent[kind]({ userId: 'u-9', ...queued })).json
      for (const step of steps) {
        s.clock.advance(1000)
        await agent.trigger(txn_id, step)
      }
      const { event, json } = await lastCallback(agent)
      expect(Object.keys(json)).toEqual(always)
      expect(json).toEqual({
        refId: ref_id,
        transactionId: txn_id,
        userId: 'u-9',
        amount: 100,
        fee,
        status: steps.at(-1),
        extParams: queued.extraParams,
        successAt: utc(s.clock()),
        wallet: { balance },
      })
      expect(Object.keys(event)).toEqual([
        'seq',
        'txn_id',
        'ref_id',
        'kind',
        'status',
        'at',
        'delivery',
        'body',
      ])
      expect(event).toMatchObject({
        txn_id,
        ref_id,
        kind,
        status: steps.at(-1),
        at: json.successAt,
      })
      expect([
        'waiting',
        'sending',
        'delivered',
        'exhausted',
        'no_address',
        'superseded',
        'paused',
      ]).toContain(event.delivery)
    },
  )

  test('a returned payout whose fee is kept tells that fee', async () => {
    const agent = await s.agent({ withdrawFee: '2', revertFee: 'keep' })
    await agent.fund(1000)
    const { txn_id } = (await agent.withdraw(queued)).json
    await agent.trigger(txn_id, 'PAID')
    await agent.trigger(txn_id, 'REVERT')
    expect((await lastCallback(agent)).json).toMatchObject({ fee: 2, wallet: { balance: 998 } })
  })

  test('an account number is kept without what groups its digits', async () => {
    const agent = await s.agent()
    const { json } = await agent.deposit({ accountNo: ' 123-4 56789-0 ' })
    const { rows } = await s.sql('select account_no from orders where order_id = $1', [
      json.txn_id.split('-')[1],
    ])
    expect(rows).toEqual([{ account_no: '1234567890' }])
  })

  test('an order without extraParams has extParams {}', async () => {
    const agent = await s.agent()
    await agent.fund(100)
    expect((await lastCallback(agent)).text).toContain('"extParams":{},')
  })

  test.each([
    ['spacing', '{ "a" :\t1,\n  "b": [ ] }'],
    ['an empty object with spacing', '{ \r\n }'],
    ['the order of keys', '{"b":1,"a":2,"10":3,"9":4}'],
    ['escapes', '{"\\u0061":"\\u00e9\\/\\b\\"\\\\","e":"é/"}'],
    ['an emoji and its escape', '{"a":"😀","b":"\\ud83d\\ude00"}'],
    ['a NUL escape', '{"a":"\\u0000"}'],
    ['half an emoji by its escape', '{"a":"\\ud83d"}'],
    [
      'numbers beyond doubles',
      '{"a":12345678901234567890,"b":0.1000000000000000055511151231257827}',
    ],
    ['numbers spelled oddly', '{"a":1.0,"b":1E+2,"c":-0,"d":1e400}'],
    ['__proto__', '{"__proto__":{"x":1}}'],
    ['markup', '{"a":"</script><!-- & \'"}'],
    ['Thai', '{"ชื่อ":"สมชาย"}'],
    ['a dollar pattern', '{"a":"$& $1 $$"}'],
  ])('extParams is the very text that was sent: %s', async (_what, text) => {
    const agent = await s.agent()
    await agent.fund(500)
    for (const kind of ['deposit', 'withdraw'] as const) {
      const order = JSON.stringify(agent.order()).replace(/\}$/, () => `,"extraParams": ${text} }`)
      const created = await agent.send('POST', `/payment/${kind}`, order)
      expect(created.status).toBe(201)
      await agent.trigger(created.json.txn_id, 'FAILED')
      const { text: body } = await lastCallback(agent)
      expect(body).toContain(`,"extParams":${text},"successAt":`)
    }
  })

  test.each([
    ['1234567890', false],
    ['123-4-56789-0', false],
    ['9999999999', true],
    ['***456789*', false],
    ['***456780*', true],
    ['1234', true],
  ])(
    'the payer %s is told, and whether it is another one: %s',
    async (payerAccountNo, isAnother) => {
      const agent = await s.agent()
      const { txn_id } = (await agent.deposit({ accountNo: '1234567890' })).json
      await agent.trigger(txn_id, 'PAID', { payerAccountNo })
      const { json } = await lastCallback(agent)
      expect(Object.keys(json)).toEqual([...always, 'flag_incorrect_payee', 'payee'])
      expect(json.flag_incorrect_payee).toBe(isAnother)
      expect(json.payee).toEqual({
        account_no: payerAccountNo,
        account_name: null,
        bank_code: null,
      })
      expect(json.status).toBe('PAID')
    },
  )

  test('a later outcome leaves the earlier callback as it was', async () => {
    const agent = await s.agent()
    const { txn_id } = (await agent.deposit()).json
    await agent.trigger(txn_id, 'PAID')
    const first = await lastCallback(agent)
    s.clock.advance(60_000)
    await agent.fund(500)
    await agent.trigger(txn_id, 'VOID')
    const { data } = (await agent.get('/payment/events')).json
    expect(data[0]).toMatchObject({ seq: first.event.seq, body: first.text, status: 'PAID' })
    expect(data.map(({ status }: { status: string }) => status)).toEqual(['PAID', 'PAID', 'VOID'])
  })
})

describe('the time zone', () => {
  test('TIME_ZONE is the zone of every time that leaves the service', async () => {
    const bangkok = await startTestService({ beside: s, env: { TIME_ZONE: 'Asia/Bangkok' } })
    try {
      const agent = await bangkok.agent({ expiresInS: 86_400 })
      const local = () => utc(new Date(s.clock().getTime() + 7 * 3_600_000))
      const createdAt = local()
      const created = await agent.deposit()
      s.clock.advance(3_600_000)
      const late = local()
      expect(created.json.created_at).toBe(createdAt)
      // By this very service: a notice of the bank may be taken by the other.
      const { json } = await agent.post(`/payment/orders/${created.json.txn_id}/cancel`)
      expect(json).toMatchObject({ created_at: createdAt, completed_at: late })
      const { event, json: body } = await lastCallback(agent)
      expect([event.at, body.successAt]).toEqual([late, late])
      expect((await agent.get('/payment/wallet/entries')).json.data[0].at).toBe(late)
    } finally {
      await bangkok.close()
    }
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
    await adjust(agent, -550n, 'fine')
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
    expect((await money(agent))[2]).toBe(cents((entry) => entry.fee))
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
    await adjust(agent, 100n, 'gift')
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

describe('banks', () => {
  test.each([
    ['THB', 'SCB', '014', ['RBS', 'TBANK']],
    ['VND', 'BIDV', '970418', []],
  ] as const)(
    'the table of %s has every bank once, closed ones marked',
    async (currency, code, numeric, closed) => {
      const agent = await s.agent({ currency })
      const { data } = (await agent.get('/payment/banks')).json
      type Bank = (typeof data)[number]
      for (const bank of data) {
        expect(Object.keys(bank)).toEqual([
          'code',
          'name',
          'numeric_code',
          'swift',
          'aliases',
          'closed',
        ])
      }
      expect(data.find((bank: Bank) => bank.code === code).numeric_code).toBe(numeric)
      expect(data.filter((bank: Bank) => bank.closed).map((bank: Bank) => bank.code)).toEqual(
        closed,
      )
      expect(new Set(data.map((bank: Bank) => bank.code)).size).toBe(data.length)
    },
  )

  test('every open bank of the table is taken, by its code and by each alias', async () => {
    const agent = await s.agent()
    const { data } = (await agent.get('/payment/banks')).json
    const answers = await Promise.all(
      data.flatMap((bank: { code: string; aliases: string[]; closed: boolean }) =>
        [bank.code, ...bank.aliases].map(async (bankCode) => {
          const { status } = await agent.deposit({ bankCode })
          return status === (bank.closed ? 422 : 201) ? '' : bankCode
        }),
      ),
    )
    expect(answers.filter((wrong) => wrong !== '')).toEqual([])
  })
})

describe('the bounds of money', () => {
  test.each(['THB', 'VND'] as const)(
    '10^12 %s go in and out to the last unit',
    async (currency) => {
      const agent = await s.agent({ currency })
      await agent.fund(1e12)
      expect((await agent.get('/payment/wallet')).text).toContain('"balance":1000000000000,')
      const { text, json } = await agent.withdraw({ amount: 1e12, ...queued })
      expect(text).toContain('"wallet":{"balance":0}')
      await agent.trigger(json.txn_id, 'PAID')
      expect((await lastCallback(agent)).text).toContain('"amount":1000000000000,')
    },
  )

  test('the largest balance is told to the satang, though doubles could not', async () => {
    const agent = await s.agent({ withdrawFee: '0.01' })
    await adjust(agent, maxBalanceMinor, 'all')
    expect((await agent.get('/payment/wallet')).text).toContain('"balance":90071992547409.91,')
    const { text } = await agent.withdraw({ amount: 409, ...queued })
    expect(text).toContain('"wallet":{"balance":90071992547000.9}')
    expect((await agent.get('/payment/wallet')).text).toContain('"held":409.01,')
    const entries = await agent.get('/payment/wallet/entries')
    expect(entries.text).toContain('"amount":90071992547409.91,')
    expect(entries.text).toContain('"amount":-409.01,')
  })

  test('a deposit that the wallet cannot hold waits, and nothing is lost', async () => {
    const agent = await s.agent({ currency: 'VND' })
    await adjust(agent, maxBalanceMinor - 99n, 'almost all')
    const { txn_id } = (await agent.deposit({ amount: 100 })).json
    const answer = await agent.trigger(txn_id, 'PAID')
    expect([answer.status, answer.json.status]).toEqual([200, 'WAITING'])
    expect((await agent.get('/payment/wallet')).text).toContain('"balance":9007199254740892,')
    const { rows } = await s.sql('select state, why from payments where agent_id = $1', [
      agent.agentId,
    ])
    expect(rows).toEqual([{ state: 'waiting', why: 'bound' }])
    const fits = (await agent.deposit({ amount: 99 })).json
    expect((await agent.trigger(fits.txn_id, 'PAID')).json.status).toBe('PAID')
    expect((await agent.get('/payment/wallet')).text).toContain('"balance":9007199254740991,')
  })

  test('an adjustment past the bound is refused and changes nothing', async () => {
    const agent = await s.agent()
    await adjust(agent, maxBalanceMinor, 'all')
    await expect(adjust(agent, 1n, 'more')).rejects.toMatchObject({ code: 'amount_out_of_range' })
    expect((await agent.get('/payment/wallet')).json.seq).toBe(1)
  })

  test('a return that the wallet cannot hold changes nothing until there is room for it', async () => {
    const agent = await s.agent()
    await agent.fund(100)
    const { txn_id } = (await agent.withdraw(queued)).json
    await agent.trigger(txn_id, 'PAID')
    await adjust(agent, maxBalanceMinor, 'all')
    expect(said(await agent.trigger(txn_id, 'REVERT'))).toEqual([503, 'overloaded'])
    expect((await agent.get(`/payment/orders/${txn_id}`)).json.status).toBe('PAID')
    // The money did come back: the bank says so until it is taken.
    await adjust(agent, -maxBalanceMinor, 'room')
    s.clock.advance(60_000)
    const reverted = async () =>
      (await agent.get(`/payment/orders/${txn_id}`)).json.status === 'REVERT'
    while (!(await reverted())) await new Promise((resolve) => setTimeout(resolve, 50))
  })
})
