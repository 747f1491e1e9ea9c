import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expireOrders } from '../../src/orders/expire-orders.ts'
import { lastCallback, money, queued, said, utc } from '../support/order-answers.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

let s: TestService
beforeAll(async () => {
  s = await startTestService()
})
afterAll(async () => {
  await s.prove()
  await s.close()
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
    expect(await money(s, agent)).toEqual(wallet)
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
    expect(await money(s, agent)).toEqual(wallet)
  })

  const changeTerms = (agent: AgentClient, terms: string) =>
    s.sql(`update agents set ${terms} where agent_id = $1`, [agent.agentId])

  test.each([
    ['return', 'keep', [1000, 0, 0]],
    ['keep', 'return', [994.5, 0, 5.5]],
  ] as const)(
    'a withdrawal made under revert_fee %s is not moved by a later %s',
    async (revertFee, later, wallet) => {
      const agent = await s.agent({ withdrawFee: '5%+0.5', revertFee })
      await agent.fund(1000)
      const { txn_id } = (await agent.withdraw(queued)).json
      await changeTerms(agent, `revert_fee = '${later}'`)
      await agent.trigger(txn_id, 'PAID')
      await agent.trigger(txn_id, 'REVERT')
      expect(await money(s, agent)).toEqual(wallet)
      await s.prove()
    },
  )

  test.each([
    ['review', 'credit', 'WAITING', [0, 0, 0]],
    ['credit', 'review', 'PAID', [900, 0, 0]],
  ] as const)(
    'a deposit made under late_money %s is not moved by a later %s',
    async (lateMoney, later, status, wallet) => {
      const agent = await s.agent({ lateMoney })
      const { txn_id } = (await agent.deposit({ amount: 1000 })).json
      await changeTerms(agent, `late_money = '${later}'`)
      const { json } = await agent.trigger(txn_id, 'PAID', { paidAmount: 900 })
      expect(json.status).toBe(status)
      expect(await money(s, agent)).toEqual(wallet)
      await s.prove()
    },
  )

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
    expect(await money(s, agent)).toEqual([-900, 0, 0])
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
    expect(await money(s, agent)).toEqual([500, 0, 0])
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
      references: ['ref-1'],
      insteadOf: null,
      token: randomUUID(),
      askAt: s.clock(),
    })
    const answer = await agent.post(`/payment/orders/${txn_id}/cancel`)
    expect(said(answer)).toEqual([409, 'order_not_cancellable'])
    expect(await money(s, agent)).toEqual([400, 100, 0])
  })

  test('ten cancellations at once give the money back once', async () => {
    const agent = await s.agent()
    await agent.fund(500)
    const { txn_id } = (await agent.withdraw(queued)).json
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => agent.post(`/payment/orders/${txn_id}/cancel`)),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200))
    expect(await money(s, agent)).toEqual([500, 0, 0])
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
    expect(await money(s, agent)).toEqual([0, 0, 0])
    expect(await waiting(agent)).toEqual([[100_000, 'late']])
    expect((await lastCallback(agent)).json.status).toBe('EXPIRED')
  })

  test('late money is credited where the agent has it so, with the fee of what was paid', async () => {
    const { agent, txn_id } = await expired({ lateMoney: 'credit' })
    const answer = await agent.trigger(txn_id, 'PAID', { paidAmount: 900.5 })
    expect(answer.json).toMatchObject({ status: 'PAID', amount: 1000, fee: 17, paid_amount: 900.5 })
    // 1.5 % of 900.50 is 13.5075, and 2.
    expect(await money(s, agent)).toEqual([884.99, 0, 15.51])
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
      expect(await money(s, agent)).toEqual([0, 0, 0])
      expect(await waiting(agent)).toEqual([[Math.round(paidAmount * 100), 'wrong_amount']])
      // The order goes its own way: the right amount still pays it.
      expect((await agent.trigger(txn_id, 'PAID')).json.status).toBe('PAID')
      expect(await money(s, agent)).toEqual([985, 0, 15])
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
      expect(await money(s, agent)).toEqual(wallet)
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
