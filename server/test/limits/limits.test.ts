import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inTransaction } from '../../src/db/in-transaction.ts'
import type { Payer } from '../../src/ledger/book.ts'
import { countForLimits } from '../../src/ledger/limit-counting.ts'
import { readLimits } from '../../src/ledger/limits-store.ts'
import { parseTxnId } from '../../src/lib/ids.ts'
import { findLimitRule, type SetRule, saveLimitRule } from '../../src/limits/limit-rules.ts'
import { tryRule } from '../../src/limits/try-rule.ts'
import type { ProofTx } from '../../src/proof/proof-failure.ts'
import { inSnapshot } from '../../src/proof/proof-snapshot.ts'
import { beforeAllLimits, type LimitPlace, proveLimitPage } from '../../src/proof/prove-limits.ts'
import { RoundProof } from '../../src/proof/verify.ts'
import { FakeProvider, fundedAgent, patient, paymentEvent } from '../support/fake-provider.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { goToMorning } from '../support/payout-files.ts'
import { AgentClient, type Answer, startTestService, type TestService } from '../support/service.ts'

/** Limits are exact: under concurrency, on several processes, and from the moment that they are set. */

const bank = new FakeProvider('bank', { currencies: ['THB', 'EUR', 'INR'] })
bank.onSubmit = async () => ({ type: 'paid' })
let s: TestService
let second: TestService
let admin: OperatorClient

beforeAll(async () => {
  const outside = { paysOut: true, moreProviders: [bank] }
  s = await startTestService({ realTime: true, outside })
  // Every code moves the clock on: no hour and no day ends before a test wants it to.
  goToMorning(s.clock)
  second = await startTestService({ beside: s, outside: { paysOut: false, moreProviders: [bank] } })
  await s.sql(`insert into providers (name, state, updated_at) values ('sandbox', 'off', now())
    on conflict (name) do update set state = 'off'`)
  admin = await signIn(s, 'admin')
})
afterAll(async () => {
  await s?.prove()
  expect(await s.findings()).toEqual([])
  await second?.close()
  await s?.close()
})

/** Proves what limits count, and nothing else. */
async function proveLimits(from = beforeAllLimits): Promise<void> {
  for (let place: LimitPlace | null = from; place !== null; ) {
    const after: LimitPlace = place
    place = await inSnapshot(s.backend.pool, (tx) => proveLimitPage(tx, after, 1_000))
  }
}

type Rule = Record<string, unknown>

async function set(agent: AgentClient | null, rule: Rule): Promise<Answer> {
  const body = { app_id: agent?.appId ?? null, outcome: 'refuse', ...rule }
  const answer = await admin.put('/limits', { ...body, reason: 'a test', code: admin.code() })
  expect(answer.status, answer.text).toBe(200)
  return answer
}

async function remove(agent: AgentClient | null, name: string): Promise<void> {
  const body = { app_id: agent?.appId ?? null, name, reason: 'a test', code: admin.code() }
  const { status, text } = await admin.post('/limits/remove', body)
  expect(status, text).toBe(200)
}

const idOf = (txnId: string) => parseTxnId(txnId)?.orderId ?? ''

/** The same agent, at the other service. */
function beside(agent: AgentClient): AgentClient {
  return new AgentClient(second.service.url, agent.appId, agent.secret, agent.agentId, s.clock)
}

async function shop(): Promise<AgentClient> {
  return fundedAgent(s, { name: 'Shop' })
}

describe('what is refused', () => {
  it('an order beyond a limit says which and when it frees; a repeat of an earlier one is answered', async () => {
    const agent = await shop()
    const rule = { kind: 'withdraw', measure: 'amount', per: 'user', period: 'day', most: '250' }
    await set(agent, { name: 'user-day', ...rule })
    const first = agent.order({ amount: 200 })
    expect((await agent.post('/payment/withdraw', first)).status).toBe(201)
    const refused = await agent.withdraw({ amount: 51 })
    expect(refused.status).toBe(422)
    expect(refused.json).toMatchObject({
      code: 'limit_exceeded',
      limit: { name: 'user-day', frees_at: expect.stringMatching(/ 00:00:00$/) },
    })
    expect(refused.json.detail).toMatch(
      /^user-day: at most 250 THB a day for one user, of which 200 THB is used\. It frees at /,
    )
    expect((await agent.post('/payment/withdraw', first)).status).toBe(200)
    expect((await agent.withdraw({ amount: 51, userId: 'user-2' })).status).toBe(201)
    expect((await agent.withdraw({ amount: 50 })).status).toBe(201)
    const { json } = await agent.withdraw({ amount: 251, userId: 'user-3' })
    expect(json.limit.frees_at).toBeNull()
  })

  it('one order may be limited, and what came to nothing gives back', async () => {
    const agent = await shop()
    const common = { kind: 'deposit', per: 'agent' }
    await set(agent, { name: 'one', ...common, measure: 'amount', period: 'order', most: '100.5' })
    await set(agent, { name: 'few', ...common, measure: 'orders', period: 'hour', most: '2' })
    expect((await agent.deposit({ amount: 101 })).json.limit.name).toBe('one')
    const [one] = [await agent.deposit(), await agent.deposit()]
    expect((await agent.deposit()).json.limit.name).toBe('few')
    expect((await agent.post(`/payment/orders/${one?.json.txn_id}/cancel`)).status).toBe(200)
    expect((await agent.deposit()).status).toBe(201)
    expect((await agent.deposit()).status).toBe(422)
  })

  it('lists block and allow, by account with or without its bank, name, bank and user', async () => {
    const agent = await shop()
    const list = { kind: 'withdraw', measure: 'blocked' }
    await set(agent, {
      name: 'accounts',
      ...list,
      field: 'account',
      values: ['9998-8', 'scb:77777'],
    })
    await set(agent, { name: 'names', ...list, field: 'name', values: [' MALLORY   Doe '] })
    await set(agent, {
      name: 'banks',
      ...list,
      measure: 'allowed',
      field: 'bank',
      values: ['014', 'KBANK'],
    })
    // In a rule for each agent, too, banks go by any of their codes.
    await set(null, { name: 'everywhere', ...list, field: 'account', values: ['014:666-66'] })
    const tries: [Rule, string | undefined][] = [
      [{ accountNo: '99988', bankCode: 'KBANK' }, 'accounts'],
      [{ accountNo: '77777' }, 'accounts'],
      [{ accountNo: '77777', bankCode: 'KBANK' }, undefined],
      [{ accountNo: '66666' }, 'everywhere'],
      [{ accountNo: '66666', bankCode: 'KBANK' }, undefined],
      [{ accountName: 'mallory doe' }, 'names'],
      [{ bankCode: 'BBL' }, 'banks'],
      [{}, undefined],
    ]
    for (const [fields, name] of tries) {
      const { json } = await agent.withdraw({ amount: 10, ...fields })
      expect(json.limit?.name, JSON.stringify(fields)).toBe(name)
    }
    await remove(null, 'everywhere')
  })

  it('an account is one, whichever branch of its bank is named', async () => {
    const once = { kind: 'withdraw', measure: 'orders', per: 'account', period: 'day', most: '2' }
    const iban = 'DE89370400440532013000'
    const tries: ['EUR' | 'INR', [string, string][]][] = [
      [
        'EUR',
        [
          ['COBADEFF', iban],
          ['COBADEFFXXX', iban],
          ['DEUTDEFF500', iban],
        ],
      ],
      [
        'INR',
        [
          ['HDFC0000001', '501-00'],
          ['HDFC0000002', '50100'],
          ['HDFC0ABC123', '50100'],
        ],
      ],
    ]
    for (const [currency, accounts] of tries) {
      const agent = await fundedAgent(s, { name: 'Shop', currency })
      const send = async ([bankCode, accountNo]: [string, string]) =>
        (await agent.withdraw({ amount: 10, bankCode, accountNo })).status
      const [first, ...others] = accounts
      if (first) expect(await send(first)).toBe(201)
      await set(agent, { name: 'one', ...once })
      const statuses = []
      for (const account of others) statuses.push(await send(account))
      expect(statuses, currency).toEqual([201, 422])
    }
    await proveLimits()
  })

  it('a rule for each agent holds for all in its currency, unless an agent has one of its name', async () => {
    const [one, other] = [await shop(), await shop()]
    const rule = { name: 'each', kind: 'withdraw', measure: 'orders', per: 'agent', period: 'day' }
    await set(null, { ...rule, most: '1' })
    await set(other, { ...rule, most: '2' })
    for (const [agent, most] of [
      [one, 1],
      [other, 2],
    ] as const) {
      for (let n = 0; n < most; n++) expect((await agent.withdraw()).status).toBe(201)
      expect((await agent.withdraw()).json.code).toBe('limit_exceeded')
    }
    await remove(null, 'each')
    expect((await one.withdraw()).status).toBe(201)
    expect(await s.findings()).toEqual([])
  })
})

describe('what is counted', () => {
  it('orders of two services at once never go beyond a limit, and none is refused without need', async () => {
    const agent = await shop()
    const doors = [agent, beside(agent)]
    const limits = [
      {
        name: 'w-user',
        kind: 'withdraw',
        measure: 'amount',
        per: 'user',
        period: 'day',
        most: 500n,
      },
      {
        name: 'w-account',
        kind: 'withdraw',
        measure: 'orders',
        per: 'account',
        period: 'month',
        most: 6n,
      },
      {
        name: 'd-agent',
        kind: 'deposit',
        measure: 'amount',
        per: 'agent',
        period: 'hour',
        most: 2_000n,
      },
      { name: 'd-user', kind: 'deposit', measure: 'orders', per: 'user', period: 'day', most: 9n },
    ] as const
    // What was made before a rule counts as well.
    interface Made {
      kind: string
      userId: string
      accountNo: string
      amount: number
      txnId: string
    }
    const made: Made[] = []
    const send = async (at: number) => {
      const kind = at % 2 === 0 ? 'deposit' : 'withdraw'
      const asked = {
        userId: `user-${chance(3)}`,
        accountNo: `100${chance(4)}`,
        amount: 10 + chance(120),
      }
      const answer = await (doors[chance(2)] ?? agent)[kind](asked)
      return { ...asked, kind, answer }
    }
    const subject = (per: string, each: Omit<Made, 'txnId'>) =>
      per === 'agent' ? '' : per === 'user' ? each.userId : each.accountNo
    const used = (limit: (typeof limits)[number], like: Omit<Made, 'txnId'>) =>
      made
        .filter(({ kind }) => kind === limit.kind)
        .filter((each) => subject(limit.per, each) === subject(limit.per, like))
        .reduce((sum, { amount }) => sum + BigInt(limit.measure === 'amount' ? amount : 1), 0n)
    const funded = { kind: 'deposit', userId: 'user-1', accountNo: '1234567890', txnId: '' }
    const { rows } = await s.sql(
      'select amount, user_id, account_no from orders where agent_id = $1',
      [agent.agentId],
    )
    for (const row of rows)
      made.push({
        ...funded,
        userId: row.user_id,
        accountNo: row.account_no,
        amount: Number(row.amount) / 100,
      })
    const before = await Promise.all(Array.from({ length: 8 }, (_, at) => send(at)))
    for (const { answer, ...each } of before) {
      expect(answer.status).toBe(201)
      made.push({ ...each, txnId: answer.json.txn_id })
    }
    for (const limit of limits) {
      const most =
        limit.kind === 'deposit' && limit.per === 'agent'
          ? made
              .filter(({ kind }) => kind === 'deposit')
              .reduce((sum, { amount }) => sum + amount, 2_000)
          : Number(limit.most)
      await set(agent, { ...limit, most: `${most}` })
      Object.assign(limit, { most: BigInt(most) })
    }
    for (let round = 0; round < 3; round++) {
      const sent = await Promise.all(Array.from({ length: 50 }, (_, at) => send(at)))
      for (const { answer, ...each } of sent) {
        if (answer.status === 201) made.push({ ...each, txnId: answer.json.txn_id })
      }
      for (const limit of limits) {
        for (const each of made) {
          const isOwn = each.kind === limit.kind
          if (isOwn && each.txnId !== '')
            expect(used(limit, each), limit.name).toBeLessThanOrEqual(limit.most)
        }
      }
      const refused = sent.filter(({ answer }) => answer.status !== 201)
      expect(refused.length).toBeGreaterThan(0)
      for (const { answer, ...each } of refused) {
        expect(answer.json.code).toBe('limit_exceeded')
        const limit = limits.find(({ name }) => name === answer.json.limit.name)
        if (!limit) throw new Error(answer.text)
        const asked = BigInt(limit.measure === 'amount' ? each.amount : 1)
        expect(used(limit, each) + asked, answer.text).toBeGreaterThan(limit.most)
      }
      // Some come to nothing, at once, at either service.
      const ended = await Promise.all(
        made
          .filter(({ txnId }, at) => txnId !== '' && at % 3 === round % 3)
          .map(async (each) => {
            const { status } = await (doors[chance(2)] ?? agent).post(
              `/payment/orders/${each.txnId}/cancel`,
            )
            return status === 200 ? each : undefined
          }),
      )
      for (const each of ended) if (each) made.splice(made.indexOf(each), 1)
      expect(await s.findings()).toEqual([])
    }
  })

  it('no deposit slips past a rule that is set while deposits come in', async () => {
    const agent = await shop()
    const doors = [agent, beside(agent)]
    let isSet = false
    const late: number[] = []
    const load = async (door: AgentClient) => {
      for (let n = 0; n < 25; n++) {
        const wasSet = isSet
        const { status } = await door.deposit({ amount: 20, userId: 'fast' })
        if (wasSet) late.push(status)
      }
    }
    const loads = doors.flatMap((door) => [load(door), load(door), load(door)])
    const rule = { kind: 'deposit', measure: 'orders', per: 'user', period: 'month', most: '0' }
    await set(agent, { name: 'none', ...rule })
    isSet = true
    await Promise.all(loads)
    expect(late.length).toBeGreaterThan(0)
    expect(new Set(late)).toEqual(new Set([422]))
    expect(await s.findings()).toEqual([])
    await remove(agent, 'none')
    expect((await agent.deposit({ userId: 'fast' })).status).toBe(201)
    expect(await s.findings()).toEqual([])
  })

  it('a lie about what counts is found, also by the background proof', async () => {
    const agent = await shop()
    await set(agent, {
      name: 'mo',
      kind: 'withdraw',
      measure: 'amount',
      per: 'account',
      period: 'month',
      most: '900',
    })
    await agent.withdraw({ amount: 10 })
    const lies = [
      'update limit_uses set amount = amount - 1 where agent_id = $1 and amount > 0',
      'update limit_uses set orders = orders + 1 where agent_id = $1',
      `update limit_uses set subject = 'SCB:1' where agent_id = $1`,
      `update limit_uses set starts_at = starts_at - interval '15 minutes' where agent_id = $1`,
      'delete from limit_uses where agent_id = $1',
    ]
    const { rows } = await s.sql('select * from limit_uses where agent_id = $1', [agent.agentId])
    for (const lie of lies) {
      await s.sql(lie, [agent.agentId])
      expect(await s.findings(), lie).toEqual([expect.stringContaining('counts for limits')])
      const background = new RoundProof()
      const seen: string[] = []
      for (let n = 0; n < 40 && seen.length === 0; n++)
        seen.push(...(await background.step(s.backend.pool)))
      expect(seen.length, lie).toBeGreaterThan(0)
      await s.sql('delete from limit_uses where agent_id = $1', [agent.agentId])
      for (const row of rows) {
        await s.sql(
          `insert into limit_uses select * from json_populate_record(null::limit_uses, $1)`,
          [JSON.stringify(row)],
        )
      }
    }
    expect(await s.findings()).toEqual([])
  })
})

describe('what waits', () => {
  it('beyond a limit that holds, a payout waits for a person, and the agent may cancel it', async () => {
    const agent = await shop()
    const rule = { kind: 'withdraw', measure: 'amount', per: 'account', period: 'day', most: '100' }
    await set(agent, { name: 'payee', ...rule, outcome: 'hold' })
    const [free, held, other] = [
      await agent.withdraw(),
      await agent.withdraw({ amount: 10 }),
      await agent.withdraw({ amount: 11 }),
    ]
    const statusOf = async (txnId: string) =>
      (await agent.get(`/payment/orders/${txnId}`)).json.status
    await expect.poll(() => statusOf(free.json.txn_id), patient).toBe('PAID')
    await expect
      .poll(async () => (await admin.get(`/approvals/${idOf(held.json.txn_id)}`)).status)
      .toBe(200)
    const shown = (await admin.get(`/approvals/${idOf(held.json.txn_id)}`)).json
    expect(shown).toMatchObject({
      action: 'pay_out',
      reason: expect.stringContaining('payee: at most 100 THB a day'),
    })
    expect(await statusOf(held.json.txn_id)).toBe('WAITING')
    const { json: order } = await admin.get(`/orders/${held.json.txn_id}`)
    expect(order.order.limits).toMatchObject({ outcome: 'hold' })
    await admin.post(`/approvals/${shown.id}/approve`, { digest: shown.digest, code: admin.code() })
    await expect.poll(() => statusOf(held.json.txn_id), patient).toBe('PAID')
    expect((await agent.post(`/payment/orders/${other.json.txn_id}/cancel`)).status).toBe(200)
  })

  it('a note stops nothing', async () => {
    const agent = await shop()
    await set(agent, {
      name: 'look',
      kind: 'deposit',
      measure: 'blocked',
      field: 'user',
      values: ['odd'],
      outcome: 'note',
    })
    const { json } = await agent.deposit({ userId: 'odd' })
    expect((await admin.get(`/orders/${json.txn_id}`)).json.order.limits).toMatchObject({
      outcome: 'note',
      words: 'look: the user is on a list that blocks it',
    })
  })
})

describe('for people', () => {
  it('the list shows what is used now, and a dry run what a rule would have done', async () => {
    const agent = await shop()
    const rule = { kind: 'withdraw', measure: 'amount', per: 'user', period: 'day', most: '150' }
    for (const amount of [100, 40, 20, 10]) await agent.withdraw({ amount })
    const { json: tried } = await admin.post('/limits/try', {
      app_id: agent.appId,
      name: 'tried',
      outcome: 'refuse',
      ...rule,
    })
    expect(tried).toMatchObject({ orders: 4, hits: 1, amount: '20', whole: true })
    expect(tried.first[0].words).toContain('140 THB is used')
    // A rule for each agent by itself: two that reach it, and one that has its own rule of that name.
    const [second, apart] = [await shop(), await shop()]
    for (const each of [second, apart]) await each.withdraw({ amount: 151 })
    await set(apart, { name: 'tried', ...rule, most: '9999' })
    const body = { app_id: null, name: 'tried', outcome: 'refuse', currency: 'THB', ...rule }
    const { json: all } = await admin.post('/limits/try', body)
    const hits = all.agents.map((each: { app_id: string; hits: number }) => [
      each.app_id,
      each.hits,
    ])
    expect(hits).toEqual(
      expect.arrayContaining([
        [agent.appId, 1],
        [second.appId, 1],
      ]),
    )
    expect(hits.flat()).not.toContain(apart.appId)
    const counted = hits.reduce((sum: number, [, each]: [string, number]) => sum + each, 0)
    expect([all.currency, all.hits, all.whole]).toEqual(['THB', counted, true])
    const { json } = await set(agent, { name: 'shown', ...rule, most: '340' })
    const own = json.data.find((each: { name: string }) => each.name === 'shown')
    expect(own).toMatchObject({
      words: 'Withdrawals: at most 340 THB a day for one user; others are refused',
      counting: false,
      used: [{ subject: 'user-1', used: '170', share: 0.5 }],
    })
  })

  it('a rule that makes no sense is refused, field by field', async () => {
    const bad = {
      app_id: null,
      name: 'x',
      kind: 'deposit',
      measure: 'amount',
      per: 'user',
      period: 'day',
      outcome: 'hold',
      most: '1',
      reason: 'a test',
      code: admin.code(),
    }
    const { status, json } = await admin.put('/limits', { ...bad, name: 'bad' })
    expect(status).toBe(422)
    expect(json.errors.map(({ field }: { field: string }) => field).sort()).toEqual([
      'currency',
      'most',
      'outcome',
    ])
  })
})

describe('refunds', () => {
  let made = 0
  /** A deposit that was paid, by somebody whom the bank names or not. */
  const paidBy = async (agent: AgentClient, payer: Payer | null = null) => {
    const { json } = await agent.deposit({ amount: 900, accountNo: '1112223334', bankCode: 'SCB' })
    const { json: said } = await bank.tell(
      s.service.url,
      paymentEvent(json.txn_id, s.clock(), { amountMinor: 90_000n, payer }),
    )
    expect(said.results).toMatchObject([{ result: 'applied' }])
    return json.txn_id as string
  }
  const refund = (agent: AgentClient, txnId: string, amount: number) =>
    agent.post(`/payment/orders/${txnId}/refund`, {
      ...{ refId: `limited-${++made}`, amount, timestamp: s.clock().toISOString() },
    })
  const payer = { accountNo: '9998887776', accountName: 'Wichai', bankCode: 'BBL' }

  it('count against every limit of withdrawals, and lists hold for where they go', async () => {
    const agent = await shop()
    const txnId = await paidBy(agent, payer)
    const common = { kind: 'withdraw', measure: 'amount' }
    const limitOf = async (amount: number) => (await refund(agent, txnId, amount)).json.limit?.name
    await set(agent, { name: 'one', ...common, per: 'agent', period: 'order', most: '100' })
    expect(await limitOf(101)).toBe('one')
    await remove(agent, 'one')
    for (const per of ['agent', 'user', 'account']) {
      const name = `${per}-day`
      await set(agent, { name, ...common, per, period: 'day', most: '100' })
      expect(await limitOf(100), per).toBe(per === 'agent' ? undefined : name)
      expect(await limitOf(1), per).toBe(name)
      await remove(agent, name)
    }
    await set(agent, {
      ...common,
      name: 'few',
      measure: 'orders',
      per: 'agent',
      period: 'day',
      most: '1',
    })
    expect(await limitOf(1)).toBe('few')
    await remove(agent, 'few')
    const list = { kind: 'withdraw', measure: 'blocked' }
    await set(agent, { name: 'acc', ...list, field: 'account', values: [payer.accountNo] })
    expect(await limitOf(1)).toBe('acc')
    await remove(agent, 'acc')
    await set(agent, { name: 'banks', ...list, field: 'bank', values: ['SCB'] })
    expect((await refund(agent, txnId, 1)).status).toBe(201)
    expect((await refund(agent, await paidBy(agent), 1)).json.limit.name).toBe('banks')
  })

  const newAccount = { name: 'new', kind: 'withdraw', measure: 'new_account', outcome: 'hold' }
  /** What limits said about an order that was taken. */
  const saidOf = async ({ status, json, text }: Answer) => {
    expect(status, text).toBe(201)
    return (await admin.get(`/orders/${json.txn_id}`)).json.order.limits?.outcome ?? null
  }

  it('go to a new account, unless it is the one that the bank reported as the payer’s', async () => {
    const agent = await shop()
    await set(agent, newAccount)
    expect(await saidOf(await refund(agent, await paidBy(agent, payer), 1))).toBeNull()
    // It came from there, but nothing else has been paid to it.
    const { accountNo, bankCode } = payer
    expect(await saidOf(await agent.withdraw({ accountNo, bankCode }))).toBe('hold')
    // The agent's word for who paid is no bank's.
    expect(await saidOf(await refund(agent, await paidBy(agent), 1))).toBe('hold')
    const masked = { ...payer, accountNo: 'XXX-X-X7776-X' }
    expect(await saidOf(await refund(agent, await paidBy(agent, masked), 1))).toBe('hold')
    const body = { app_id: agent.appId, ...newAccount, name: 'try' }
    const { status, json } = await admin.post('/limits/try', body)
    expect([status, json.orders, json.hits, json.whole]).toEqual([200, 4, 3, true])
    // Who may read only a little, as of one of very many agents, reads no more to find out who was paid before.
    const { pool } = s.backend
    const rule = await findLimitRule(pool, agent.agentId, newAccount.name)
    if (!rule) throw new Error('there is no such rule')
    const who = { agentId: agent.agentId, appId: agent.appId, currency: 'THB' } as const
    const few = await tryRule(pool, rule, who, s.clock(), s.service.desk.localTime, 4)
    expect([few.read, few.isWhole]).toEqual([4, false])
  })

  it('to an account that two people chose go to a new account, too', async () => {
    const agent = await shop()
    await set(agent, newAccount)
    const txnId = await paidBy(agent, payer)
    const to = { account_no: '5556667778', account_name: 'Her Mother', bank_code: 'KTB' }
    const asked = await admin.post(`/orders/${txnId}/refund`, {
      ...{ reason: 'a test', ref: `to-${++made}`, amount: '1', to, code: admin.code() },
    })
    expect(asked.status, asked.text).toBe(202)
    const other = await signIn(s, 'admin')
    const { id, digest } = (await other.get(`/approvals/${asked.json.proposal}`)).json
    const done = await other.post(`/approvals/${id}/approve`, { digest, code: other.code() })
    expect(done.json).toMatchObject({ state: 'done' })
    const [refunded] = (await admin.get(`/orders/${txnId}`)).json.refunds
    const { order } = (await admin.get(`/orders/${refunded.txn_id}`)).json
    expect(order.limits.outcome).toBe('hold')
  })
})

// The last one, because sessions end while the clock goes on.
describe('a new account', () => {
  it('a payout to an account that was never paid waits for its hours; then the account is known', async () => {
    const agent = await shop()
    await set(agent, {
      name: 'new',
      kind: 'withdraw',
      measure: 'new_account',
      outcome: 'wait',
      hours: 2,
    })
    const first = await agent.withdraw({ accountNo: '5550001' })
    const statusOf = async (txnId: string) =>
      (await agent.get(`/payment/orders/${txnId}`)).json.status
    const { json } = await admin.get(`/orders/${first.json.txn_id}`)
    expect(json.order.limits.outcome).toBe('wait')
    const submitted = bank.submitted.length
    s.clock.advance(3_600_000)
    const probe = await shop()
    const other = await probe.withdraw()
    await expect
      .poll(
        async () => (await probe.get(`/payment/orders/${other.json.txn_id}`)).json.status,
        patient,
      )
      .toBe('PAID')
    expect(await statusOf(first.json.txn_id)).toBe('WAITING')
    s.clock.advance(3_600_000)
    await expect.poll(() => statusOf(first.json.txn_id), patient).toBe('PAID')
    expect(bank.submitted.length).toBe(submitted + 2)
    const again = await agent.withdraw({ accountNo: '5550001' })
    await expect.poll(() => statusOf(again.json.txn_id), patient).toBe('PAID')
    expect(await s.findings()).toEqual([])
  })
})

it('a process that stops while it sets a rule holds up no order', async () => {
  const agent = await shop()
  let letGo = () => {}
  let isHeld = false
  const rule: SetRule = {
    ...{ agentId: agent.agentId, name: 'frozen', kind: 'withdraw', measure: 'orders', per: 'user' },
    ...{ period: 'day', most: 5n, currency: null, hours: null, field: null, outcome: 'refuse' },
    ...{ values: [], updatedAt: s.clock(), updatedBy: 'test@example.com' },
  }
  const setting = saveLimitRule(s.backend.pool, rule, () => {
    isHeld = true
    return new Promise<void>((resolve) => (letGo = resolve))
  })
  const ended = expect(setting).rejects.toThrow()
  await expect.poll(() => isHeld, patient).toBe(true)
  const { status } = await agent.withdraw()
  expect([status, isHeld]).toEqual([201, true])
  letGo()
  await ended
  expect(await findLimitRule(s.backend.pool, agent.agentId, 'frozen')).toBeUndefined()
})

describe('a rule for an agent with many orders', () => {
  const byUser = {
    name: 'later',
    kind: 'withdraw',
    measure: 'orders',
    per: 'user',
    period: 'month',
    most: 1_000n,
    currency: null,
    hours: null,
    field: null,
    outcome: 'refuse',
  } as const

  async function aged(): Promise<AgentClient> {
    const agent = await shop()
    for (let day = 0; day < 4; day++) {
      for (const userId of ['a', 'a', 'b']) await agent.withdraw({ amount: 10, userId })
      s.clock.advance(86_400_000)
    }
    const by = { updatedAt: s.clock(), updatedBy: 'test@example.com' }
    const known = { name: 'known', measure: 'new_account', outcome: 'note' } as const
    const rules: SetRule[] = [
      { ...byUser, agentId: agent.agentId, values: [], ...by },
      {
        ...{ ...byUser, ...known, per: null, period: null, most: null },
        ...{ agentId: agent.agentId, values: [], ...by },
      },
    ]
    for (const rule of rules) await saveLimitRule(s.backend.pool, rule, async () => {})
    return agent
  }

  const usesOf = async (agent: AgentClient) =>
    (
      await s.sql(
        `select subject, sum(orders)::int as orders from limit_uses where agent_id = $1
         group by 1 order by 1`,
        [agent.agentId],
      )
    ).rows

  it('the teller adds up nothing of before; what is counted apart counts each order once, beside new ones', async () => {
    const agent = await aged()
    const { agentId } = agent
    expect(await usesOf(agent)).toEqual([
      { subject: 'a', orders: 8 },
      { subject: 'b', orders: 4 },
    ])
    const stop = async (sql: (text: string, values: unknown[]) => Promise<unknown>) => {
      for (const table of ['limit_counting', 'limit_uses', 'limit_payees']) {
        await sql(`delete from ${table} where agent_id = $1`, [agentId])
      }
    }
    const rule = await findLimitRule(s.backend.pool, agentId, 'later')
    const undone = inTransaction(s.backend.pool, async (tx) => {
      await tx.query('select 1 from wallets where agent_id = $1 for update', [agentId])
      await stop((text, values) => tx.query(text, values))
      const at = s.clock()
      const limits = await readLimits(
        tx,
        [{ type: 'adjust', agentId, at, amountMinor: 1n, reason: 'a test', ref: 'a-test' }],
        rule ? [rule] : [],
        new Map([[agentId, { currency: 'THB' }]]),
        s.service.desk.localTime,
      )
      const from = limits.get(agentId)?.counting.get('withdraw user')
      expect(from?.getTime()).toBeGreaterThan(at.getTime())
      const { rowCount } = await tx.query('select from limit_uses where agent_id = $1', [agentId])
      expect(rowCount).toBe(0)
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')

    await stop(s.sql)
    const doors = [agent, beside(agent)]
    const load = async (door: AgentClient) => {
      for (let n = 0; n < 12; n++) {
        const { json } = await door.withdraw({ amount: 10, userId: n % 2 ? 'a' : 'b' })
        if (n % 3 === 0) await door.post(`/payment/orders/${json.txn_id}/cancel`)
      }
    }
    const count = async () => {
      // One step at a time, of a day or so.
      const step = { agentId, mostMs: 0, orders: 2 }
      for (;;) {
        const { rows } = await s.sql('select 1 from limit_counting where agent_id = $1', [agentId])
        const left = await countForLimits(s.backend.pool, s.clock(), step)
        await proveLimits()
        if (left === 'done' && rows.length === 2) return
      }
    }
    await Promise.all([...doors.map(load), count()])
    const { rows } = await s.sql(
      `select user_id as subject, count(*)::int as orders from orders
       where agent_id = $1 and status in ('WAITING', 'PAID', 'REVERT') group by 1 order by 1`,
      [agentId],
    )
    expect(await usesOf(agent)).toEqual(rows)
    const { rows: counting } = await s.sql(
      'select per, counts_from from limit_counting where agent_id = $1 order by per',
      [agentId],
    )
    expect(counting[0]).toEqual({ per: 'payee', counts_from: new Date(0) })
    expect(Number(counting[1]?.counts_from)).toBeLessThan(s.clock().getTime() - 32 * 86_400_000)
    expect(await s.findings()).toEqual([])
  })

  it('a lie about when counting began, or about who was paid, is found', async () => {
    const agent = await aged()
    const known = async () =>
      (await s.sql('select 1 from limit_payees where agent_id = $1', [agent.agentId])).rowCount
    await expect.poll(known, patient).toBe(1)
    const lies: [string, string, string][] = [
      [
        `update limit_payees set account = 'SCB:1' where agent_id = $1`,
        `update limit_payees p set account = 'SCB:1234567890' where agent_id = $1`,
        'is said to have paid',
      ],
      [
        `update limit_payees set order_id = gen_random_uuid() where agent_id = $1`,
        `update limit_payees p set order_id = (select order_id from orders o
           where o.agent_id = p.agent_id and o.status = 'PAID' limit 1) where agent_id = $1`,
        'is said to have paid',
      ],
      [
        `delete from limit_payees where agent_id = $1`,
        `insert into limit_payees select agent_id, 'SCB:1234567890', order_id from orders
         where agent_id = $1 and status = 'PAID' limit 1`,
        'is not known',
      ],
    ]
    // A worker puts this one right, so it is not left there.
    const began = inTransaction(s.backend.pool, async (tx) => {
      await tx.query(
        `update limit_counting set counts_from = counts_from + interval '30 days'
         where agent_id = $1 and per = 'user'`,
        [agent.agentId],
      )
      const place = { ...beforeAllLimits, agentId: agent.agentId, kind: 'withdraw', per: 'payee' }
      await proveLimitPage(tx as ProofTx, place, 1_000)
    })
    await expect(began).rejects.toThrow('began earlier than it says')
    for (const [lie, undo, found] of lies) {
      await s.sql(lie, [agent.agentId])
      expect(await s.findings(), lie).toEqual([expect.stringContaining(found)])
      await s.sql(undo, [agent.agentId])
      expect(await s.findings(), undo).toEqual([])
    }
  })
})

/** A number below a bound, the same in every run. */
let seed = 7
function chance(below: number): number {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
  return Math.floor((seed / 2_147_483_648) * below)
}
