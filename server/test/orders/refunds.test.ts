import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Payer } from '../../src/ledger/book.ts'
import { newOrderId, parseTxnId } from '../../src/lib/ids.ts'
import { verify } from '../../src/proof/verify.ts'
import { lastCallback, money, said } from '../support/order-answers.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

let s: TestService
beforeAll(async () => {
  s = await startTestService()
})
afterEach(() => s.prove())
afterAll(() => s.close())

const idOf = (txnId: string) => parseTxnId(txnId)?.orderId ?? ''

let refs = 0
const refund = (agent: AgentClient, txnId: string, fields: Record<string, unknown> = {}) =>
  agent.post(`/payment/orders/${txnId}/refund`, {
    refId: `refund-${++refs}`,
    amount: 1000,
    timestamp: s.clock().toISOString(),
    ...fields,
  })

const statusOf = async (agent: AgentClient, txnId: string) =>
  (await agent.get(`/payment/orders/${txnId}`)).json.status

/** A deposit of 1000 that is paid, and money enough for fees and debts besides. */
async function paidDeposit(terms: object = {}, funds = 0) {
  const agent = await s.agent(terms)
  if (funds > 0) await agent.fund(funds)
  const { txn_id } = (await agent.deposit({ amount: 1000, userId: 'payer-7' })).json
  expect((await agent.trigger(txn_id, 'PAID')).json.status).toBe('PAID')
  return { agent, txn_id: txn_id as string }
}

/** A deposit that somebody else has paid, as the bank says. */
async function paidBy(payer: Payer | null) {
  const agent = await s.agent()
  const { txn_id } = (await agent.deposit({ amount: 1000 })).json
  const [agentId, at] = [agent.agentId, s.clock()]
  const payment = { paymentId: `bank:${randomUUID()}`, amountMinor: 100_000n, paidAt: at, payer }
  const received = { type: 'receive_payment', provider: null, payment } as const
  await s.service.desk.teller.do({ ...received, agentId, at, orderId: idOf(txn_id) })
  return { agent, txn_id: txn_id as string }
}

async function handOver(agent: AgentClient, txnId: string, insteadOf: string | null = null) {
  const [agentId, at, orderId] = [agent.agentId, s.clock(), idOf(txnId)]
  const reference = `r-${newOrderId(at)}`
  await s.service.desk.teller.do({
    ...{ type: 'hand_over', agentId, at, orderId, provider: 'other', references: [reference] },
    ...{ insteadOf, token: randomUUID(), askAt: at },
  })
  return reference
}

async function takeBack(agent: AgentClient, txnId: string) {
  expect((await agent.trigger(txnId, 'VOID')).json).toMatchObject({ status: 'VOID' })
}

const itemsOf = async (agent: AgentClient) =>
  (
    await s.sql(
      `select i.kind, i.provider_said, i.order_status, o.ref_id from open_items i
       join orders o using (agent_id, order_id) where i.agent_id = $1 order by o.ref_id`,
      [agent.agentId],
    )
  ).rows

describe('a refund', () => {
  it('of the whole is a withdrawal to who paid, with the fee of one, and the deposit stays PAID', async () => {
    const { agent, txn_id } = await paidDeposit({ withdrawFee: '5', depositFee: '1%' }, 100)
    const answer = await refund(agent, txn_id, {
      refId: 'back-1',
      extraParams: { why: 'returned' },
    })
    expect(answer.status).toBe(201)
    expect(answer.json).toEqual({
      txn_id: expect.stringMatching(/^\d+-[0-9a-f]{32}$/),
      ref_id: 'back-1',
      amount: 1000,
      fee: 5,
      status: 'WAITING',
      wallet: { balance: 84 },
      created_at: expect.any(String),
    })
    const view = (await agent.get(`/payment/orders/${answer.json.txn_id}`)).json
    expect(view).toMatchObject({ kind: 'withdraw', user_id: 'payer-7', refundOf: txn_id })
    expect((await agent.get(`/payment/orders/${txn_id}`)).json).not.toHaveProperty('refundOf')
    await agent.trigger(answer.json.txn_id, 'PAID')
    expect((await lastCallback(agent)).json).toMatchObject({
      refId: 'back-1',
      amount: 1000,
      fee: 5,
      status: 'PAID',
      extParams: { why: 'returned' },
    })
    expect((await lastCallback(agent)).event.kind).toBe('withdraw')
    expect(await statusOf(agent, txn_id)).toBe('PAID')
    expect(await money(s, agent)).toEqual([84, 0, 16])
  })

  it('in parts adds up to what was paid and no further, to the last satang', async () => {
    const { agent, txn_id } = await paidDeposit({}, 5000)
    expect((await refund(agent, txn_id, { amount: 400.25 })).status).toBe(201)
    const second = await refund(agent, txn_id, { amount: 599.74 })
    expect(second.json.amount).toBe(599.74)
    const third = await refund(agent, txn_id, { amount: 1 })
    expect(said(third)).toEqual([422, 'refund_exceeds_payment'])
    expect(third.json.detail).toBe('Of the deposit, 0.01 THB is left to refund.')
    expect(await money(s, agent)).toEqual([5000.01, 999.99, 0])
  })

  it('counts against what was really paid, not what was asked for', async () => {
    const agent = await s.agent({ lateMoney: 'credit' })
    await agent.fund(2000)
    const { txn_id } = (await agent.deposit({ amount: 1000 })).json
    await agent.trigger(txn_id, 'PAID', { paidAmount: 900.5 })
    expect(said(await refund(agent, txn_id))).toEqual([422, 'refund_exceeds_payment'])
    expect((await refund(agent, txn_id, { amount: 900.5 })).status).toBe(201)
  })

  it('never exceeds what was paid, however many are asked for at once', async () => {
    const { agent, txn_id } = await paidDeposit({}, 100_000)
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => refund(agent, txn_id, { amount: 70 })),
    )
    expect(answers.map(said).toSorted()).toEqual([
      ...Array(14).fill([201, 'none']),
      ...Array(36).fill([422, 'refund_exceeds_payment']),
    ])
    expect(await money(s, agent)).toEqual([100_020, 980, 0])
  })

  it('never exceeds it from two services either', async () => {
    const { agent, txn_id } = await paidDeposit({}, 100_000)
    const other = await startTestService({ beside: s })
    try {
      const there = Object.assign(Object.create(agent), { url: other.service.url }) as AgentClient
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, at) =>
          refund(at % 2 === 0 ? agent : there, txn_id, { amount: 70 }),
        ),
      )
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(14)
    } finally {
      await other.close()
    }
  })

  it.each(['FAILED', 'CANCEL', 'REVERT'])('that becomes %s can be made again', async (outcome) => {
    const { agent, txn_id } = await paidDeposit({}, 5000)
    const { json } = await refund(agent, txn_id)
    if (outcome === 'REVERT') await agent.trigger(json.txn_id, 'PAID')
    expect(said(await refund(agent, txn_id))).toEqual([422, 'refund_exceeds_payment'])
    await agent.trigger(json.txn_id, outcome)
    expect((await refund(agent, txn_id)).status).toBe(201)
    expect(said(await refund(agent, txn_id))).toEqual([422, 'refund_exceeds_payment'])
  })

  it('that failed and turns out to be paid counts again, and is proved', async () => {
    const { agent, txn_id } = await paidDeposit({}, 5000)
    const first = (await refund(agent, txn_id)).json.txn_id
    await agent.trigger(first, 'FAILED')
    const second = (await refund(agent, txn_id)).json.txn_id
    const [agentId, at] = [agent.agentId, s.clock()]
    const paid = { type: 'outcome', to: 'PAID', evidence: 'the statement' } as const
    await s.service.desk.teller.do({ ...paid, agentId, at, orderId: idOf(first) })
    await agent.trigger(second, 'FAILED')
    expect(said(await refund(agent, txn_id))).toEqual([422, 'refund_exceeds_payment'])
  })
})

describe('where a refund goes', () => {
  const payer = { accountNo: '987-6-54321-0', accountName: 'Malee Suk', bankCode: 'KBANK' }
  const own = { account_no: '1234567890', account_name: 'Somchai Jaidee', bank_code: 'SCB' }
  it.each<[string, Payer | null, object]>([
    [
      'the account that the bank reports',
      payer,
      { account_no: '9876543210', account_name: 'Malee Suk', bank_code: 'KBANK' },
    ],
    ["the order's own where nobody is reported", null, own],
    ["the order's own where the name is missing", { ...payer, accountName: null }, own],
    ["the order's own where the number is missing", { ...payer, accountNo: null }, own],
    ["the order's own where the bank is missing", { ...payer, bankCode: null }, own],
    ["the order's own where the bank is unknown", { ...payer, bankCode: 'NOBANK' }, own],
    ["the order's own where the number is masked", { ...payer, accountNo: 'xxx-x-x4321-x' }, own],
    ["the order's own where it is masked with stars", { ...payer, accountNo: '98765***10' }, own],
  ])('is %s', async (_name, reported, expected) => {
    const { agent, txn_id } = await paidBy(reported)
    const { json } = await refund(agent, txn_id)
    const { rows } = await s.sql(
      'select account_no, account_name, bank_code from orders where order_id = $1',
      [idOf(json.txn_id)],
    )
    expect(rows).toEqual([expected])
  })

  it('cannot be named', async () => {
    const { agent, txn_id } = await paidDeposit()
    expect(said(await refund(agent, txn_id, { accountNo: '5555555555' }))).toEqual([
      422,
      'invalid_request',
    ])
  })
})

describe('repeating a refund', () => {
  it('answers the same bytes, also at once, and makes one', async () => {
    const { agent, txn_id } = await paidDeposit()
    const asked = { refId: 'once', extraParams: { a: 1, b: 2 } }
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => refund(agent, txn_id, asked)),
    )
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    const again = await refund(agent, txn_id, { refId: 'once', extraParams: { b: 2, a: 1 } })
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(await money(s, agent)).toEqual([0, 1000, 0])
  })

  it('answers the same when the deposit has been taken back', async () => {
    const { agent, txn_id } = await paidDeposit()
    const first = await refund(agent, txn_id, { refId: 'once' })
    await takeBack(agent, txn_id)
    const again = await refund(agent, txn_id, { refId: 'once' })
    expect([again.status, again.text]).toEqual([200, first.text])
  })

  it('with other contents is refused', async () => {
    const { agent, txn_id } = await paidDeposit({}, 2000)
    const { txn_id: other } = (await agent.deposit({ amount: 1000 })).json
    await agent.trigger(other, 'PAID')
    await refund(agent, txn_id, { refId: 'once', amount: 10 })
    const conflict = [409, 'ref_id_conflict']
    expect(said(await refund(agent, txn_id, { refId: 'once', amount: 11 }))).toEqual(conflict)
    expect(said(await refund(agent, other, { refId: 'once', amount: 10 }))).toEqual(conflict)
    const more = { refId: 'once', amount: 10, extraParams: { a: 1 } }
    expect(said(await refund(agent, txn_id, more))).toEqual(conflict)
    expect(said(await agent.withdraw({ refId: 'once', amount: 10 }))).toEqual(conflict)
    const withdrawal = agent.order({ amount: 10 })
    await agent.post('/payment/withdraw', withdrawal)
    const taken = { refId: withdrawal.refId, amount: 10 }
    expect(said(await refund(agent, txn_id, taken))).toEqual(conflict)
  })
})

describe('a refund is refused', () => {
  it.each([
    ['WAITING', []],
    ['EXPIRED', ['EXPIRED']],
    ['VOID', ['PAID', 'VOID']],
  ])('for a deposit that is %s', async (_status, steps) => {
    const agent = await s.agent()
    await agent.fund(2000)
    const { txn_id } = (await agent.deposit({ amount: 1000 })).json
    for (const step of steps) await agent.trigger(txn_id, step)
    expect(said(await refund(agent, txn_id))).toEqual([409, 'order_not_refundable'])
  })

  it('for a withdrawal, and for a refund', async () => {
    const { agent, txn_id } = await paidDeposit({}, 2000)
    const { json } = await agent.withdraw({ amount: 100 })
    await agent.trigger(json.txn_id, 'PAID')
    expect(said(await refund(agent, json.txn_id))).toEqual([409, 'order_not_refundable'])
    const back = (await refund(agent, txn_id)).json
    await agent.trigger(back.txn_id, 'PAID')
    expect(said(await refund(agent, back.txn_id))).toEqual([409, 'order_not_refundable'])
  })

  it("for what is not there, and for another agent's", async () => {
    const { agent, txn_id } = await paidDeposit()
    const other = await s.agent()
    const nothing = `${agent.agentId}-${'0'.repeat(32)}`
    expect(said(await refund(agent, nothing))).toEqual([404, 'order_not_found'])
    expect(said(await refund(agent, 'what'))).toEqual([404, 'order_not_found'])
    expect(said(await refund(other, txn_id))).toEqual([404, 'order_not_found'])
  })

  it('beyond the limits of withdrawals, and without the money for it', async () => {
    const { agent, txn_id } = await paidDeposit({
      minWithdraw: 100n,
      maxWithdraw: 900n,
      withdrawFee: '150',
    })
    const few = await refund(agent, txn_id, { amount: 99.99 })
    expect(said(few)).toEqual([422, 'amount_out_of_range'])
    expect(few.json.detail).toBe(
      'A refund of this agent must be from 100 to 900, as its withdrawals.',
    )
    expect(said(await refund(agent, txn_id, { amount: 900.01 }))).toEqual([
      422,
      'amount_out_of_range',
    ])
    expect(said(await refund(agent, txn_id, { amount: 900 }))).toEqual([
      422,
      'insufficient_balance',
    ])
    expect((await refund(agent, txn_id, { amount: 850 })).status).toBe(201)
  })

  it.each([
    [{ amount: 0 }],
    [{ amount: -1 }],
    [{ amount: 0.001 }],
    [{ amount: '100' }],
    [{ refId: '' }],
    [{ timestamp: '2020-01-01T00:00:00Z' }],
    [{ extraParams: [] }],
    [{ userId: 'another' }],
  ])('with %j in it', async (fields) => {
    const { agent, txn_id } = await paidDeposit()
    expect(said(await refund(agent, txn_id, fields))).toEqual([422, 'invalid_request'])
  })

  it('to a suspended agent', async () => {
    const { agent, txn_id } = await paidDeposit()
    await s.sql(`update agents set status = 'suspended' where agent_id = $1`, [agent.agentId])
    expect(said(await refund(agent, txn_id))).toEqual([403, 'agent_suspended'])
  })
})

describe('a deposit that is taken back', () => {
  it('stops its refunds that no provider has: they are cancelled, and told', async () => {
    const { agent, txn_id } = await paidDeposit({ withdrawFee: '5' }, 100)
    const first = (await refund(agent, txn_id, { amount: 300 })).json.txn_id
    s.clock.advance(1_000)
    const parts = [first, (await refund(agent, txn_id, { amount: 200 })).json.txn_id]
    await takeBack(agent, txn_id)
    const { data } = (await agent.get('/payment/events?limit=200')).json
    expect(
      data.slice(-3).map((e: { txn_id: string; status: string }) => [e.txn_id, e.status]),
    ).toEqual([
      [txn_id, 'VOID'],
      [parts[0], 'CANCEL'],
      [parts[1], 'CANCEL'],
    ])
    expect(await money(s, agent)).toEqual([100, 0, 0])
    expect(await itemsOf(agent)).toEqual([])
    await expect(handOver(agent, parts[0])).rejects.toMatchObject({ code: 'invalid_transition' })
    expect(said(await refund(agent, txn_id))).toEqual([409, 'order_not_refundable'])
  })

  it('leaves a refund that was handed over, owes what is missing, and opens an item', async () => {
    const { agent, txn_id } = await paidDeposit()
    const handed = (await refund(agent, txn_id, { refId: 'r-handed', amount: 600 })).json.txn_id
    const waiting = (await refund(agent, txn_id, { refId: 'r-waiting', amount: 300 })).json.txn_id
    const reference = await handOver(agent, handed)
    await takeBack(agent, txn_id)
    expect(await statusOf(agent, handed)).toBe('WAITING')
    expect(await statusOf(agent, waiting)).toBe('CANCEL')
    expect(await money(s, agent)).toEqual([-600, 600, 0])
    const item = { kind: 'refunded_and_taken_back', provider_said: 'VOID', ref_id: 'r-handed' }
    expect(await itemsOf(agent)).toEqual([{ ...item, order_status: 'WAITING' }])
    // A second provider does not get what the first one refused.
    await expect(handOver(agent, handed, reference)).rejects.toThrow('was taken back')
    const [agentId, at, orderId] = [agent.agentId, s.clock(), idOf(handed)]
    const named = { provider: 'other', providerRef: reference }
    await s.service.desk.teller.do({ type: 'outcome', agentId, at, orderId, to: 'PAID', ...named })
    await s.sql(`update payouts set state = 'paid', ask_at = null where order_id = $1`, [orderId])
    expect(await money(s, agent)).toEqual([-600, 0, 0])
    expect(await itemsOf(agent)).toHaveLength(1)
    const { rows } = await s.sql('select closed_at from open_items where agent_id = $1', [agentId])
    expect(rows).toEqual([{ closed_at: null }])
  })

  it('opens an item for a refund that was paid before', async () => {
    const { agent, txn_id } = await paidDeposit()
    const { json } = await refund(agent, txn_id, { refId: 'r-paid' })
    await agent.trigger(json.txn_id, 'PAID')
    await takeBack(agent, txn_id)
    const item = { kind: 'refunded_and_taken_back', provider_said: 'VOID', ref_id: 'r-paid' }
    expect(await itemsOf(agent)).toEqual([{ ...item, order_status: 'PAID' }])
    expect(await money(s, agent)).toEqual([-1000, 0, 0])
  })

  it('and is paid again can be refunded only as far as nothing was refunded before', async () => {
    const { agent, txn_id } = await paidDeposit({ lateMoney: 'credit' }, 5000)
    const { json } = await refund(agent, txn_id, { amount: 400 })
    await agent.trigger(json.txn_id, 'PAID')
    await takeBack(agent, txn_id)
    await agent.trigger(txn_id, 'PAID', { payerAccountNo: '9999999999' })
    expect(said(await refund(agent, txn_id, { amount: 601 }))).toEqual([
      422,
      'refund_exceeds_payment',
    ])
    expect((await refund(agent, txn_id, { amount: 600 })).status).toBe(201)
  })

  it('at the same time as it is refunded leaves nothing unproved', async () => {
    for (let round = 0; round < 5; round++) {
      const { agent, txn_id } = await paidDeposit({}, 5000)
      const [, ...answers] = await Promise.all([
        takeBack(agent, txn_id),
        ...Array.from({ length: 10 }, () => refund(agent, txn_id, { amount: 90 })),
      ])
      for (const { status, json } of answers) {
        if (status === 201) expect(await statusOf(agent, json.txn_id)).toBe('CANCEL')
        else expect(json.code).toBe('order_not_refundable')
      }
      expect(await money(s, agent)).toEqual([5000, 0, 0])
    }
  })
})

describe('the proof finds', () => {
  /** Tells a lie, expects it to be found, and takes it back. */
  async function lie(agent: AgentClient, sql: string, back: string, finding: RegExp) {
    await s.sql(sql)
    const found = (await verify(s.backend.pool, { appId: agent.appId })).map((each) => each.finding)
    await s.sql(back)
    expect(found).toEqual([expect.stringMatching(finding)])
  }

  it('a refund of more than was paid, and one to somebody else', async () => {
    const { agent, txn_id } = await paidDeposit({}, 5000)
    const first = idOf((await refund(agent, txn_id, { amount: 700 })).json.txn_id)
    const withdrawal = idOf((await agent.withdraw({ amount: 400, userId: 'payer-7' })).json.txn_id)
    const set = (what: string, id: string) => `update orders set ${what} where order_id = '${id}'`
    await lie(
      agent,
      set(`refund_of = '${idOf(txn_id)}'`, withdrawal),
      set('refund_of = null', withdrawal),
      /makes the refunds of order \S+ 110000, of 100000 paid/,
    )
    await lie(
      agent,
      set(`refund_of = '${'9'.repeat(32)}'`, first),
      set(`refund_of = '${idOf(txn_id)}'`, first),
      /withdraw_held\) says once_key refund:/,
    )
    for (const [column, other, was] of [
      ['account_no', '5555555555', '1234567890'],
      ['account_name', 'Somebody Else', 'Somchai Jaidee'],
      ['bank_code', 'KTB', 'SCB'],
    ]) {
      await lie(
        agent,
        set(`${column} = '${other}'`, first),
        set(`${column} = '${was}'`, first),
        /refunds to another account/,
      )
    }
  })

  it('a refund of a deposit that was not paid', async () => {
    const agent = await s.agent()
    await agent.fund(2000)
    const deposit = idOf((await agent.deposit({ amount: 1000 })).json.txn_id)
    const withdrawal = idOf((await agent.withdraw({ amount: 400 })).json.txn_id)
    await lie(
      agent,
      `update orders set refund_of = '${deposit}' where order_id = '${withdrawal}'`,
      `update orders set refund_of = null where order_id = '${withdrawal}'`,
      /makes the refunds of order \S+ 40000, of 0 paid/,
    )
  })

  it('a refund that was not stopped when its deposit was taken back', async () => {
    const { agent, txn_id } = await paidDeposit({}, 5000)
    const withdrawal = idOf((await agent.withdraw({ amount: 400, userId: 'payer-7' })).json.txn_id)
    await takeBack(agent, txn_id)
    await lie(
      agent,
      `update orders set refund_of = '${idOf(txn_id)}' where order_id = '${withdrawal}'`,
      `update orders set refund_of = null where order_id = '${withdrawal}'`,
      /was not stopped when order \S+ was taken back/,
    )
  })

  it('a refund that nobody looks into', async () => {
    const { agent, txn_id } = await paidDeposit({}, 5000)
    const id = idOf((await refund(agent, txn_id, { amount: 100 })).json.txn_id)
    await handOver(agent, `${agent.agentId}-${id}`)
    await takeBack(agent, txn_id)
    await s.sql('create table sluice.kept as select * from open_items where order_id = $1', [id])
    await lie(
      agent,
      `delete from open_items where order_id = '${id}'`,
      'insert into open_items select * from kept; drop table kept',
      /refunds what was taken back, and there is no open item/,
    )
  })
})
