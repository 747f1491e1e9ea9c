import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { AgentTerms } from '../../src/agents/save-agent.ts'
import { parseTxnId } from '../../src/lib/ids.ts'
import { findDecision } from '../../src/payments/payment-decision.ts'
import { creditPayment, returnPayment } from '../../src/payments/payments.ts'
import {
  allToDecide,
  paymentsToDecide,
  searchPayments,
} from '../../src/payments/search-payments.ts'
import type { ProviderEvent } from '../../src/providers/provider.ts'
import type { Desk } from '../../src/teller/desk.ts'
import {
  eventId,
  FakeProvider,
  paymentEvent,
  startProcess,
  statusOf,
  told,
} from '../support/fake-provider.ts'
import { cleanUp, command, commandJson, tempFolder } from '../support/process.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

const bank = new FakeProvider('bank')
const outside = { providers: [bank], paysOut: false }
/** 1.5 % and 2 baht: 3.50 of 100, 2.75 of 50. */
const withFee = { depositFee: '1.5%+2' }
const minuteMs = 60_000

let s: TestService
let other: TestService

beforeAll(async () => {
  s = await startTestService({ outside })
  other = await startTestService({ beside: s, outside })
})
afterEach(() => s.prove())
afterAll(async () => {
  await other.close()
  await s.close()
  await cleanUp()
})

const tell = (...events: ProviderEvent[]) => bank.tell(s.service.url, ...events)

async function deposit(terms: Partial<AgentTerms> = {}) {
  const agent = await s.agent({ ...withFee, ...terms })
  const id: string = (await agent.deposit()).json.txn_id
  const { orderId = '' } = parseTxnId(id) ?? {}
  return { agent, id, to: { agentId: agent.agentId, orderId } }
}

const waiting = async (paymentId: string) =>
  (await searchPayments(s.backend.pool, { ...allToDecide, paymentId })).map(({ why }) => why)

const credit = (paymentId: string, to: { agentId: bigint; orderId: string | null }, at: Desk) =>
  creditPayment(at, paymentId, to, 'found on the statement')

const takeBack = (paymentId: string, reference: string) =>
  tell({ id: eventId(), type: 'payment_taken_back', paymentId, reference })

/** Says it again and again, as a bank may, until it has been acted on. */
async function takeBackSurely({ paymentId, reference }: ReturnType<typeof paymentEvent>) {
  await expect
    .poll(async () => (await takeBack(paymentId, reference)).json.results[0].result)
    .not.toBe('open')
}

async function lastCallback(agent: AgentClient) {
  const { json } = await agent.get('/payment/events?limit=200')
  return JSON.parse(json.data.at(-1).body)
}

/** A payment that waits, with the order that it was meant for and one where it could go instead. */
async function waitingPayment(why: string, terms: Partial<AgentTerms> = {}) {
  const meant = await deposit(terms)
  const expiresAt = s.clock().getTime() + 3600_000 * 24 * 365
  const more =
    why === 'wrong_amount'
      ? { amountMinor: 50_00n }
      : why === 'late'
        ? { paidAt: new Date(expiresAt) }
        : {}
  if (why === 'duplicate') await tell(paymentEvent(meant.id, s.clock()))
  const reference = why === 'unmatched' ? `unreadable ${eventId()}` : meant.id
  const event = paymentEvent(reference, s.clock(), more)
  const answer = await tell(event)
  const paymentId = `bank:${event.paymentId}`
  return { ...meant, event, paymentId, answer }
}

const reasons = ['late', 'wrong_amount', 'duplicate', 'unmatched']

describe('a payment', () => {
  it('of the exact amount for an open order pays it, and counts once', async () => {
    const { agent, id } = await deposit()
    const event = paymentEvent(id, s.clock())
    expect((await tell(event)).json.results).toMatchObject([{ result: 'applied' }])
    await tell({ ...event, id: eventId(), amountMinor: 999_00n })
    expect([await told(agent, id), await agent.balance()]).toEqual([['PAID'], 96.5])
  })

  it('in time by the bank’s own clock pays an order that has expired since', async () => {
    const { agent, id } = await deposit({ expiresInS: 60 })
    const paidAt = s.clock()
    s.clock.advance(2 * minuteMs)
    await expect.poll(() => statusOf(agent, id)).toBe('EXPIRED')
    await tell(paymentEvent(id, paidAt))
    expect(await told(agent, id)).toEqual(['EXPIRED', 'PAID'])
  })

  it('without a time of its own is as late as its notice', async () => {
    const { agent, id } = await deposit({ expiresInS: 60 })
    s.clock.advance(2 * minuteMs)
    expect((await tell(paymentEvent(id, null))).json.results).toMatchObject([{ detail: 'late' }])
    expect(await agent.balance()).toBe(0)
  })

  it.each(reasons)('that is %s waits for a decision, and moves nothing', async (why) => {
    const { agent, paymentId, answer } = await waitingPayment(why)
    expect(answer.json.results).toMatchObject([{ result: 'waiting', detail: why }])
    expect(await waiting(paymentId)).toEqual([why])
    expect(await agent.balance()).toBe(why === 'duplicate' ? 96.5 : 0)
  })

  it('is credited by the agent’s policy: what was really paid, with the fee of that', async () => {
    for (const [why, balance] of [
      ['late', 96.5],
      ['wrong_amount', 47.25],
    ] as const) {
      const { agent, id, paymentId } = await waitingPayment(why, { lateMoney: 'credit' })
      expect([await told(agent, id), await agent.balance()]).toEqual([['PAID'], balance])
      expect(await waiting(paymentId)).toEqual([])
      const amount = why === 'late' ? 100 : 50
      expect(await lastCallback(agent)).toMatchObject({ amount, fee: amount - balance })
    }
    // Whose it is, and what a second payment is for, no policy knows.
    for (const why of ['duplicate', 'unmatched']) {
      const { paymentId } = await waitingPayment(why, { lateMoney: 'credit' })
      expect(await waiting(paymentId)).toEqual([why])
    }
  })

  it('tells who paid, and flags another account as far as it can be seen', async () => {
    const accounts: [accountNo: string | null, flag: boolean | undefined][] = [
      ['1234567890', false],
      ['123-4-56789-0', false],
      ['xxx-x-x6789-x', false],
      ['xxx-x-x0000-x', undefined],
      ['9999999999', true],
      // Of another length nobody can tell which digits are masked.
      ['xxx6789', undefined],
      [null, false],
    ]
    for (const [accountNo, flag] of accounts) {
      const { agent, id } = await deposit()
      const payer = { accountNo, accountName: 'Malee', bankCode: 'KBANK' }
      await tell(paymentEvent(id, s.clock(), { payer }))
      const told = await lastCallback(agent)
      expect([accountNo, told.flag_incorrect_payee]).toEqual([accountNo, flag])
      expect(told).toMatchObject({
        payee: { account_no: accountNo, account_name: 'Malee', bank_code: 'KBANK' },
      })
    }
    const { agent, id } = await deposit()
    await tell(paymentEvent(id, s.clock()))
    expect(Object.keys(await lastCallback(agent))).not.toContain('flag_incorrect_payee')
  })
})

describe.each(reasons)('a payment that waits because it is %s', (why) => {
  /** What is on the wallet before anybody decides, and what the payment is worth. */
  const before = why === 'duplicate' ? 96.5 : 0
  const paid = why === 'wrong_amount' ? 50 : 100
  const net = why === 'wrong_amount' ? 47.25 : 96.5

  it('can be credited to an order, once, and be taken back from it', async () => {
    const { agent, id, to, event, paymentId } = await waitingPayment(why)
    const { desk } = s.service
    const second = (await agent.deposit()).json.txn_id
    const target = why === 'duplicate' ? { ...to, orderId: second.split('-')[1] } : to
    const targetId = why === 'duplicate' ? second : id
    if (why === 'duplicate') {
      await expect(credit(paymentId, to, desk)).rejects.toMatchObject({
        code: 'invalid_transition',
      })
    }
    expect(await credit(paymentId, target, desk)).toEqual({ changed: true })
    expect(await credit(paymentId, target, desk)).toEqual({ changed: false })
    await expect(credit(paymentId, { ...to, orderId: null }, desk)).rejects.toThrow(/already/)
    await expect(returnPayment(desk, paymentId, 'no')).rejects.toThrow(/waits/)
    expect([await told(agent, targetId), await agent.balance()]).toEqual([['PAID'], before + net])
    expect(await lastCallback(agent)).toMatchObject({ amount: paid, fee: paid - net })

    await takeBack(event.paymentId, event.reference)
    expect([await told(agent, targetId), await agent.balance()]).toEqual([['PAID', 'VOID'], before])
    await expect(credit(paymentId, target, desk)).rejects.toThrow(/taken_back|taken back/)
  })

  it('can be credited to the wallet, by an adjustment that names it, and be taken back', async () => {
    const { agent, to, event, paymentId } = await waitingPayment(why)
    const wallet = { ...to, orderId: null }
    expect(await credit(paymentId, wallet, s.service.desk)).toEqual({ changed: true })
    expect(await credit(paymentId, wallet, s.service.desk)).toEqual({ changed: false })
    await expect(credit(paymentId, to, s.service.desk)).rejects.toThrow(/credited/)
    expect(await agent.balance()).toBe(before + paid)
    const { rows } = await s.sql(
      `select event, reason, available_change from journal where agent_id = $1 and once_key = $2`,
      [agent.agentId, `payment:${paymentId}`],
    )
    expect(rows).toEqual([
      { event: 'adjustment', reason: 'found on the statement', available_change: `${paid}00` },
    ])
    await takeBack(event.paymentId, event.reference)
    await takeBack(event.paymentId, event.reference)
    expect(await agent.balance()).toBe(before)
  })

  it('can be given back with evidence, and then is nobody’s', async () => {
    const { agent, to, event, paymentId } = await waitingPayment(why)
    await returnPayment(s.service.desk, paymentId, 'transfer 4711')
    expect(await waiting(paymentId)).toEqual([])
    await expect(returnPayment(s.service.desk, paymentId, 'again')).rejects.toThrow(/waits/)
    await expect(credit(paymentId, to, s.service.desk)).rejects.toThrow(/returned/)
    const table = why === 'unmatched' ? 'unmatched_payments' : 'payments'
    const { rows } = await s.sql(`select state, evidence from ${table} where payment_id = $1`, [
      paymentId,
    ])
    expect(rows).toEqual([{ state: 'returned', evidence: 'transfer 4711' }])
    const late = await takeBack(event.paymentId, event.reference)
    expect(late.json.results).toMatchObject([{ result: 'unchanged' }])
    expect(await agent.balance()).toBe(before)
  })

  it('can be taken back by the bank itself', async () => {
    const { event, paymentId } = await waitingPayment(why)
    const answer = await takeBack(event.paymentId, event.reference)
    expect(answer.json.results).toMatchObject([{ result: 'applied' }])
    expect(await waiting(paymentId)).toEqual([])
  })

  it('is decided once, by whoever is first of several in two processes', async () => {
    const { agent, to, paymentId } = await waitingPayment(why)
    const second = (await agent.deposit()).json.txn_id
    const orders = [to, { ...to, orderId: second.split('-')[1] }]
    const done = await Promise.allSettled([
      ...orders.map((order) => credit(paymentId, order, s.service.desk)),
      ...orders.map((order) => credit(paymentId, order, other.service.desk)),
      credit(paymentId, { ...to, orderId: null }, other.service.desk),
      returnPayment(other.service.desk, paymentId, 'given back'),
    ])
    expect(done.some(({ status }) => status === 'fulfilled')).toBe(true)
    const gained = Math.round(((await agent.balance()) - before) * 100) / 100
    const { rows } = await s.sql(
      `select state from payments where payment_id = $1
       union all select state from unmatched_payments
       where payment_id = $1 and state = 'returned'`,
      [paymentId],
    )
    expect(rows).toHaveLength(1)
    expect(rows[0]?.state === 'returned' ? [0] : [net, paid]).toContain(gained)
  })
})

describe('money that nobody knew', () => {
  it('goes to one of two agents that are named at once', async () => {
    for (let round = 0; round < 5; round++) {
      const { paymentId } = await waitingPayment('unmatched')
      const agents = [await s.agent(), await s.agent()]
      const done = await Promise.allSettled(
        agents.map(({ agentId }, at) =>
          credit(paymentId, { agentId, orderId: null }, (at ? other : s).service.desk),
        ),
      )
      expect(done.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
      const balances = await Promise.all(agents.map((agent) => agent.balance()))
      expect(balances.toSorted()).toEqual([0, 100])
    }
  })

  it('is not given away by naming what cannot have it', async () => {
    const { paymentId } = await waitingPayment('unmatched')
    const full = await deposit()
    await tell(paymentEvent(full.id, s.clock()))
    const rich = await s.agent({ currency: 'VND' })
    const withdrawer = await deposit()
    await tell(paymentEvent(withdrawer.id, s.clock()))
    const withdrawal = (await withdrawer.agent.withdraw({ amount: 1 })).json.txn_id
    const wrong = [
      full.to,
      { agentId: rich.agentId, orderId: null },
      { ...withdrawer.to, orderId: withdrawal.split('-')[1] },
      { ...full.to, orderId: '0'.repeat(32) },
    ]
    for (const to of wrong) {
      await expect(credit(paymentId, to, s.service.desk)).rejects.toMatchObject({ status: 409 })
    }
    const right = await s.agent()
    await credit(paymentId, { agentId: right.agentId, orderId: null }, s.service.desk)
    expect(await right.balance()).toBe(100)
  })

  it('that somebody credits who does not live to see it is the agent’s, or still waits', async () => {
    const make = async () => {
      const { paymentId, event } = await waitingPayment('unmatched')
      const agent = await s.agent()
      const dying = await startProcess(s, [bank])
      // One commit assigns and credits it.
      dying.proxy.cutNextCommits(['before'], () => dying.die())
      const lost = credit(paymentId, { agentId: agent.agentId, orderId: null }, dying.desk).catch(
        () => {},
      )
      await expect.poll(() => dying.isDead).toBe(true)
      const { rows } = await s.sql('select state from unmatched_payments where payment_id = $1', [
        paymentId,
      ])
      expect(rows).toEqual([{ state: 'waiting' }])
      expect(await waiting(paymentId)).toEqual(['unmatched'])
      const over = lost.then(() => dying.close())
      return { paymentId, event, agent, over }
    }
    const all = await Promise.all([make(), make()])
    // The list, the metric and the home page count the same.
    const listed = await searchPayments(s.backend.pool, allToDecide)
    expect((await paymentsToDecide(s.backend.pool, null, null)).count).toBe(listed.length)
    const [credited, returned] = all as [(typeof all)[0], (typeof all)[0]]
    const own = { agentId: credited.agent.agentId, orderId: null }
    expect(await credit(credited.paymentId, own, s.service.desk)).toEqual({ changed: true })
    expect(await credit(credited.paymentId, own, s.service.desk)).toEqual({ changed: false })
    await returnPayment(s.service.desk, returned.paymentId, 'transfer 4712')
    expect([
      await credited.agent.balance(),
      await returned.agent.balance(),
      await waiting(credited.paymentId),
      await waiting(returned.paymentId),
    ]).toEqual([100, 0, [], []])
    await Promise.all(all.map(({ over }) => over))
  })

  it('that is taken back while it is being assigned is taken back from whoever got it', async () => {
    for (let round = 0; round < 8; round++) {
      const { paymentId, event } = await waitingPayment('unmatched')
      const agent = await s.agent()
      const crediting = credit(
        paymentId,
        { agentId: agent.agentId, orderId: null },
        other.service.desk,
      ).catch(() => {})
      await takeBackSurely(event)
      await crediting
      expect(await agent.balance()).toBe(0)
    }
  })
})

it('a payment that is taken back while it is credited elsewhere is taken back from there', async () => {
  for (let round = 0; round < 8; round++) {
    const { agent, to, event, paymentId } = await waitingPayment('wrong_amount')
    const second = (await agent.deposit()).json.txn_id
    const target = { ...to, orderId: second.split('-')[1] }
    const crediting = credit(paymentId, target, other.service.desk).catch(() => {})
    await takeBackSurely(event)
    await crediting
    expect(await agent.balance()).toBe(0)
  }
})

it('the command line lists, credits and returns, and the metrics count what is left', async () => {
  const env = {
    DATABASE_URL: s.database.url,
    DATABASE_OWNER_URL: s.database.ownerUrl,
    SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    DATA_DIR: await tempFolder(),
  }
  const next = (why: string) => {
    s.clock.advance(1_000)
    return waitingPayment(why)
  }
  const [late, lost, wrong] = [
    await next('late'),
    await next('unmatched'),
    await next('wrong_amount'),
  ]
  const count = async () => {
    const text = await (await fetch(`${s.service.url}/metrics`)).text()
    return Number(/^sluice_payments_waiting (\d+)$/m.exec(text)?.[1])
  }
  const before = await count()
  const listed = await commandJson(['payments', 'list'], env)
  expect(listed).toHaveLength(before)
  expect(listed.slice(-3)).toMatchObject([
    { payment_id: late.paymentId, why: 'late', amount: 100, txn_id: late.id },
    { payment_id: lost.paymentId, why: 'unmatched', reference: lost.event.reference },
    { payment_id: wrong.paymentId, why: 'wrong_amount', amount: 50, currency: 'THB' },
  ])
  const credited = await commandJson(
    ['payments', 'credit', wrong.paymentId, '--order', wrong.id],
    env,
  )
  expect(credited).toEqual({ payment_id: wrong.paymentId, state: 'credited', changed: true })
  await commandJson(
    [
      ...['payments', 'credit', lost.paymentId],
      ...['--wallet', lost.agent.appId, '--reason', 'letter of the bank'],
    ],
    env,
  )
  await commandJson(['payments', 'return', late.paymentId, '--evidence', 'transfer 4713'], env)
  const decided = (paymentId: string) => findDecision(s.backend.pool, paymentId)
  const by = 'command line'
  expect(await decided(wrong.paymentId)).toMatchObject({ by, txnId: wrong.id, walletOf: null })
  expect(await decided(lost.paymentId)).toMatchObject({ by, reason: 'letter of the bank' })
  expect(await decided(late.paymentId)).toMatchObject({ by, action: 'return_payment' })
  expect([await wrong.agent.balance(), await lost.agent.balance(), await count()]).toEqual([
    47.25,
    100,
    before - 3,
  ])
  const again = await command(['payments', 'return', late.paymentId, '--evidence', 'x'], env)
  expect([again.code, again.stderr]).toEqual([1, expect.stringMatching(/waits for a decision/)])
})
