import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { releaseExpected } from '../../src/bank-accounts/expected-deposits.ts'
import { fullAccounts } from '../../src/bank-accounts/full-accounts.ts'
import { makeAccount, push, type TestAccount } from '../support/bank-accounts.ts'
import {
  type AgentClient,
  type Answer,
  startTestService,
  type TestService,
} from '../support/service.ts'

/** Where the amount alone names an order, no two open orders have the same, and nobody uses all of them up. */

let s: TestService
let account: TestAccount
let agent: AgentClient

beforeAll(async () => {
  s = await startTestService({ outside: { providers: [] } })
})
beforeEach(async () => {
  await s.sql(
    `insert into providers (name, state, updated_at) select name, 'off', now() from bank_accounts
     on conflict (name) do update set state = 'off'`,
  )
  agent = await s.agent({ expiresInS: 900 })
})
afterEach(() => s.prove())
afterAll(() => s.close())

const ofNewUser = (fields: Record<string, unknown> = {}) => ({ userId: randomUUID(), ...fields })

/**
 * The answers to so many creations by one agent, each for a user of its own. What a busy service did not
 * take is sent again, as an agent would.
 */
function flood(by: AgentClient, count: number, fields: Record<string, unknown> = {}) {
  const one = async (order: Record<string, unknown>): Promise<Answer> => {
    const answer = await by.deposit(order)
    const isBusy = answer.status === 503 && answer.json.code !== 'provider_unavailable'
    return isBusy ? one(order) : answer
  }
  return Promise.all(
    Array.from({ length: count }, () => one({ refId: randomUUID(), ...ofNewUser(fields) })),
  )
}

async function places(of = account) {
  const { rows } = await s.sql(
    `select payable::text, state from expected_deposits where account = $1 and state <> 'released'`,
    [of.account.name],
  )
  return rows.map((row) => row.payable as string)
}

async function releaseAll(): Promise<void> {
  // First what has an order becomes open, then what is over is released.
  for (let round = 0; round < 3; round++) {
    while ((await releaseExpected(s.backend.pool, s.clock())) === 'more');
  }
}

describe('the places of an amount', () => {
  it('fifty creations at once never share an amount, in two processes as in one', async () => {
    account = await makeAccount(s, { match: 'amount' })
    const other = await startTestService({ beside: s, outside: { providers: [] } })
    try {
      const there = Object.assign(Object.create(agent), { url: other.service.url })
      const answers = (await Promise.all([flood(agent, 25), flood(there, 25)])).flat()
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
      const amounts = answers.map(({ json }) => json.transfer.amount)
      expect(new Set(amounts).size).toBe(50)
      for (const amount of amounts) {
        expect(amount).toBeGreaterThan(100)
        expect(amount).toBeLessThan(101)
      }
    } finally {
      await other.close()
    }
  })

  it('ninety-nine are open, then the next account takes the order, and then nobody', async () => {
    // Nobody else is there that places could be left for.
    await s.sql(`update agents set status = 'suspended' where agent_id <> $1`, [agent.agentId])
    // The hundredth is 101.00, which whoever forgets the surplus of an order of 101 pays: nobody is known by it.
    account = await makeAccount(s, { match: 'amount', surplusSteps: 100 })
    const answers = await flood(agent, 40)
    for (const more of [40, 30]) answers.push(...(await flood(agent, more)))
    const taken = answers.filter(({ status }) => status === 201)
    expect(taken).toHaveLength(99)
    expect(new Set(await places()).size).toBe(99)
    expect(await places()).not.toContain('10100')
    for (const { status, json } of answers.filter((each) => each.status !== 201)) {
      expect([status, json.code]).toEqual([503, 'provider_unavailable'])
    }
    // Another amount is another matter.
    expect((await agent.deposit(ofNewUser({ amount: 300 }))).status).toBe(201)
    const second = await makeAccount(s, { match: 'amount', accountNo: '7770001111' })
    const next = await flood(agent, 5)
    expect(next.map(({ json }) => json.transfer?.account_number)).toEqual(
      next.map(() => '7770001111'),
    )
    expect(await places(second)).toHaveLength(5)
  })

  it('of a hundred thousand open ones, the last free amount is found, paid and then gone, all at once', async () => {
    account = await makeAccount(s, { match: 'amount' })
    const { name } = account.account
    // 1010 amounts with all their places taken, but for one place of the first amount.
    await s.sql(
      `insert into expected_deposits (account, code, agent_id, order_id, user_id, amount, payable,
         by_amount, payer_account_no, created_at, expires_at, held_until, state)
       select $1, 'SX' || lpad(n::text, 11, '0'), 1000000 + n % 50, gen_random_uuid(), 'u' || n,
         10000 + n / 99 * 100, 10000 + n / 99 * 100 + n % 99 + 1, true, '1234567890',
         $2::timestamptz, $2::timestamptz + interval '15 minutes',
         $2::timestamptz + interval '135 minutes', 'open'
       from generate_series(0, 100000) n where n <> 57`,
      [name, s.clock()],
    )
    const begunAt = performance.now()
    expect((await agent.deposit(ofNewUser({ amount: 5_000 }))).status).toBe(201)
    const usualMs = performance.now() - begunAt
    const startedAt = performance.now()
    const last = await agent.deposit(ofNewUser())
    expect([last.status, last.json.transfer?.amount]).toEqual([201, 100.58])
    const none = await agent.deposit(ofNewUser())
    expect([none.status, none.json.code]).toEqual([503, 'provider_unavailable'])
    const paid = await push(s, account, { id: 'last', amount: '100.58' })
    const tookMs = performance.now() - startedAt
    expect(paid.status).toBe(200)
    await expect.poll(() => agent.balance()).toBe(100.58)
    // Three requests, on a machine that may be busy, beside one for an amount that nobody else has.
    expect(tookMs).toBeLessThan(3_000 + 20 * usualMs)
    const second = await makeAccount(s, { match: 'amount', accountNo: '7770002222' })
    const next = await agent.deposit(ofNewUser())
    expect(next.json.transfer?.account_number).toBe(second.account.accountNo)
    await s.sql(`delete from expected_deposits where account = $1 and code like 'SX00000%'`, [name])
  })

  it('those of another amount are others', async () => {
    account = await makeAccount(s, { match: 'amount', surplusSteps: 3 })
    expect((await flood(agent, 3)).map(({ status }) => status)).toEqual([201, 201, 201])
    expect((await agent.deposit(ofNewUser())).status).toBe(503)
    expect((await agent.deposit(ofNewUser({ amount: 101 }))).status).toBe(201)
  })

  it('is free again when the order and its hold are over, and not before', async () => {
    account = await makeAccount(s, { match: 'amount', surplusSteps: 1, holdS: 7_200 })
    expect((await agent.deposit(ofNewUser())).status).toBe(201)
    s.clock.advance(900_000 + 7_200_000 - 60_000)
    await releaseAll()
    expect((await agent.deposit(ofNewUser())).status).toBe(503)
    s.clock.advance(120_000)
    await releaseAll()
    expect((await agent.deposit(ofNewUser())).status).toBe(201)
  })

  it('of an order that was never created is free after a minute', async () => {
    account = await makeAccount(s, { match: 'amount', surplusSteps: 1 })
    const { recognises } = s.service.desk.providers.find(account.account.name) ?? {}
    if (!recognises) throw new Error('the account recognises nothing')
    const deposit = {
      agentId: agent.agentId,
      orderId: randomUUID().replaceAll('-', ''),
      userId: 'u',
      currency: 'THB' as const,
      amountMinor: 100_00n,
      accountNo: '1234567890',
      createdAt: s.clock(),
      expiresAt: new Date(s.clock().getTime() + 900_000),
    }
    expect(
      await s.service.desk.expected.expect(account.account.name, recognises, deposit),
    ).toBeDefined()
    expect((await agent.deposit(ofNewUser())).status).toBe(503)
    s.clock.advance(61_000)
    await releaseAll()
    expect((await agent.deposit(ofNewUser())).status).toBe(201)
  })

  it('prefers amounts that nobody has paid for long', async () => {
    account = await makeAccount(s, { match: 'amount', surplusSteps: 4 })
    const amountOf = async () => (await agent.deposit(ofNewUser())).json.transfer.amount as number
    const first = [await amountOf(), await amountOf()]
    s.clock.advance(900_000 + 7_200_000 + 60_000)
    await releaseAll()
    const second = [await amountOf(), await amountOf()]
    expect(new Set([...first, ...second]).size).toBe(4)
    s.clock.advance(900_000 + 7_200_000 + 60_000)
    await releaseAll()
    expect([await amountOf(), await amountOf()].sort()).toEqual([...first].sort())
  })
})

describe('who may have them', () => {
  it('one user has three unpaid ones at most, however many are asked for at once', async () => {
    account = await makeAccount(s, { match: 'amount' })
    const answers = await flood(agent, 20, { userId: 'greedy' })
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3)
    expect(answers.filter(({ status }) => status === 503)).toHaveLength(17)
    expect((await agent.deposit(ofNewUser())).status).toBe(201)
    // Another amount has places of its own; and who pays may go on.
    expect((await agent.deposit({ userId: 'greedy', amount: 200 })).status).toBe(201)
    const paid = answers.find(({ status }) => status === 201)?.json
    await push(s, account, { id: randomUUID(), amount: paid.transfer.amount.toFixed(2) })
    await expect.poll(() => agent.balance()).toBe(paid.transfer.amount)
    expect((await agent.deposit({ userId: 'greedy' })).status).toBe(201)
    expect((await agent.deposit({ userId: 'greedy' })).status).toBe(503)
  })

  it('one agent has a quarter at most while another uses the account, which still gets its QR code', async () => {
    account = await makeAccount(s, { match: 'amount' })
    const quiet = await s.agent()
    expect((await quiet.deposit(ofNewUser({ amount: 500 }))).status).toBe(201)
    const answers = await flood(agent, 60)
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(24)
    const theirs = await quiet.deposit(ofNewUser())
    expect(theirs.status).toBe(201)
    expect(theirs.json.qrcode.qrcode_text).toContain(theirs.json.transfer.amount.toFixed(2))
  })
})

describe('while nobody else uses the account', () => {
  it('an agent who floods it leaves a quarter, and whoever comes next gets a QR code', async () => {
    account = await makeAccount(s, { match: 'amount' })
    const quiet = await s.agent()
    const answers = await flood(agent, 50)
    answers.push(...(await flood(agent, 60)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(75)
    const theirs = await flood(quiet, 30)
    expect(theirs.filter(({ status }) => status === 201)).toHaveLength(24)
    // Another amount is another matter, and there the quarter counts from now on.
    const others = await flood(agent, 30, { amount: 300 })
    expect(others.filter(({ status }) => status === 201)).toHaveLength(24)
  })
})

describe('the ceiling of a day', () => {
  it('counts what is to be paid; then the next account takes the order, and then nobody', async () => {
    account = await makeAccount(s, { match: 'amount', dayLimitMinor: 200_50n })
    const { name } = account.account
    // The first may be paid with up to 100.99, the second would go beyond.
    const answers = [await agent.deposit(ofNewUser()), await agent.deposit(ofNewUser())]
    const due = answers
      .filter(({ status }) => status === 201)
      .map(({ json }) => json.transfer.amount)
    const sum = due.reduce((total, each) => total + each, 0)
    expect(sum).toBeLessThanOrEqual(200.5)
    expect((await agent.deposit(ofNewUser({ amount: 150 }))).status).toBe(503)
    const second = await makeAccount(s, { match: 'amount', accountNo: '7770003333' })
    const next = await agent.deposit(ofNewUser({ amount: 150 }))
    expect(next.json.transfer.account_number).toBe(second.account.accountNo)
    const { rows } = await s.sql(
      'select coalesce(sum(payable), 0)::int as used from expected_deposits where account = $1',
      [name],
    )
    expect(rows[0].used).toBeLessThanOrEqual(200_50)
  })
})

it('an account whose places run out is told of, in the metrics and by an alert, from 70 % on', async () => {
  account = await makeAccount(s, { match: 'amount', surplusSteps: 10 })
  const { name } = account.account
  const isTold = async () =>
    (await fullAccounts(s.backend.pool)).some(({ words }) => words.startsWith(`${name} expects`))
  const share = async () => {
    const text = await (await fetch(`${s.service.url}/metrics`)).text()
    return text.match(new RegExp(`sluice_bank_places_used_share\\{.*${name}.*\\} (.*)`))?.[1]
  }
  await flood(agent, 6)
  expect([await isTold(), await share()]).toEqual([false, '0.6'])
  await flood(agent, 1)
  expect([await isTold(), await share()]).toEqual([true, '0.7'])
})

it('a new account takes deposits in every process, without a restart', async () => {
  const other = await startTestService({ beside: s, outside: { providers: [] } })
  try {
    const there = Object.assign(Object.create(agent), { url: other.service.url })
    expect((await there.deposit(ofNewUser())).status).toBe(503)
    account = await makeAccount(s, { match: 'amount', accountNo: '7770005551' })
    for (const each of [agent, there]) {
      const takenAt = async () => (await each.deposit(ofNewUser())).json.transfer?.account_number
      await expect.poll(takenAt).toBe('7770005551')
    }
  } finally {
    await other.close()
  }
})

it('several accounts share the orders', async () => {
  const accounts = [
    await makeAccount(s, { match: 'amount', accountNo: '7770004441' }),
    await makeAccount(s, { match: 'amount', accountNo: '7770004442' }),
  ]
  const answers = await flood(agent, 40)
  for (const { account: of } of accounts) {
    const own = answers.filter(({ json }) => json.transfer?.account_number === of.accountNo)
    expect(own.length).toBeGreaterThan(5)
  }
})

describe('a request that is repeated', () => {
  it('takes no second place', async () => {
    account = await makeAccount(s, { match: 'amount' })
    const order = agent.order()
    const first = await agent.post('/payment/deposit', order)
    const again = await agent.post('/payment/deposit', order)
    expect([first.status, again.status, again.text]).toEqual([201, 200, first.text])
    expect(await places()).toHaveLength(1)
  })

  it('ten times at once makes one order and leaves one place', async () => {
    account = await makeAccount(s, { match: 'amount' })
    const order = agent.order()
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => agent.post('/payment/deposit', order)),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(9).fill(200), 201])
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(await places()).toHaveLength(1)
  })

  it('is answered as the first time when no amount is free any more', async () => {
    account = await makeAccount(s, { match: 'amount', surplusSteps: 1 })
    const order = agent.order()
    const first = await agent.post('/payment/deposit', order)
    expect((await agent.deposit(ofNewUser())).status).toBe(503)
    const again = await agent.post('/payment/deposit', order)
    expect([again.status, again.text]).toEqual([200, first.text])
  })
})
