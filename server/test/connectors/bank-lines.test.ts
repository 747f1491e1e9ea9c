import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { camt, dayAt, importFile, makeAccount, movementsOf } from '../support/bank-accounts.ts'
import { companyDocument, connect, prepare, tell, use } from '../support/company.ts'
import { startTestService, type TestService } from '../support/service.ts'

/** A connector that reports the lines of a bank account here: the same money counts once, whoever reports it. */

let s: TestService

beforeAll(async () => {
  s = await startTestService({ outside: { providers: [] } })
})
afterEach(() => s.prove())
afterAll(() => s.close())

const line = (direction: string) => ({
  type: 'line',
  id: ['/id'],
  direction,
  amount: { at: '/amount', as: 'decimal' },
  currency: { is: 'THB' },
  bookedAt: { at: '/at', as: 'iso' },
  texts: ['/text'],
  accountNo: '/account',
})

/** How somebody who reads the account at its bank reports its lines. */
function linesDocument(account: string) {
  const { notice } = companyDocument({ url: 'https://reader.example' })
  return {
    format: 1,
    company: 'Account Reader',
    currencies: ['THB'],
    account,
    secrets: { hook: 'of notices' },
    notice: {
      ...notice,
      rules: [
        { if: { '/direction': ['in'] }, events: [line('credit')] },
        { if: { '/direction': ['out'] }, events: [line('debit')] },
      ],
    },
  }
}

const samples = {
  order: { reference: 'x', amount: '1', currency: 'THB' },
  samples: [
    {
      name: 'a line',
      call: 'notice',
      body: { id: '1', direction: 'in', amount: '100.07', at: '2026-01-31T08:30:00Z', text: 'a' },
      expect: ['line 100.07 THB as 1'],
    },
    {
      name: 'a line out',
      call: 'notice',
      body: { id: '2', direction: 'out', amount: '5', at: '2026-01-31T08:30:00Z', text: 'b' },
      expect: ['line -5 THB as 2'],
    },
  ],
}
const hooked = { secrets: { hook: 'hook-1' } as never, samples }

it('a push by the connector and the statement are one credit', async () => {
  const shop = await makeAccount(s, { match: 'code', feed: 'none' })
  const { account } = shop
  await connect(s, 'reader', linesDocument(account.name), hooked)
  const agent = await s.agent()
  const { status, json } = await agent.deposit({ amount: 100 })
  expect(status).toBe(201)
  const { rows } = await s.sql('select code from expected_deposits where order_id = $1', [
    json.txn_id.split('-')[1],
  ])
  const { code } = rows[0]
  const pushed = {
    id: 'line-1',
    direction: 'in',
    amount: '100.00',
    at: s.clock().toISOString(),
    text: `transfer ${code}`,
    account: account.accountNo,
  }
  // Twenty times at once, and again after the statement.
  const told = await Promise.all(Array.from({ length: 20 }, () => tell(s, 'reader', pushed)))
  expect(new Set(told.map(({ status: each }) => each))).toEqual(new Set([200]))
  const day = dayAt(s.clock())
  const lines = [{ amount: '100.00', text: `TRF ${code}` }]
  await importFile(s, shop, camt({ account, day, lines }))
  await tell(s, 'reader', pushed)
  expect(await movementsOf(s, shop)).toHaveLength(1)
  expect(await agent.balance()).toBe(100)
})

it('lines of another account, in another currency or forged are refused', async () => {
  const shop = await makeAccount(s, { match: 'code', feed: 'none' }, { isOff: true })
  await connect(s, 'strict', linesDocument(shop.account.name), hooked)
  const pushed = {
    id: 'line-2',
    direction: 'in',
    amount: '5.00',
    at: s.clock().toISOString(),
    text: 'x',
  }
  expect((await tell(s, 'strict', pushed, { key: 'other' })).status).toBe(401)
  const end = shop.account.accountNo.slice(-4)
  for (const account of [
    '9999999999',
    undefined,
    'xxx-x-x9999-x',
    `xxxxxxxxxxxxxxxxxxxx${end}`,
    'xx',
  ]) {
    expect((await tell(s, 'strict', { ...pushed, account })).status).toBe(422)
  }
  for (const change of [{ amount: '5.001' }, { amount: 'x' }, { at: 'now' }, { direction: 'up' }]) {
    // It is the bank's word, and cannot be read: a person has to look into it.
    const { status, json } = await tell(s, 'strict', { ...pushed, ...change })
    expect([status, json]).toEqual([200, { movements: [], unread: 1 }])
  }
  const open = await s.sql(
    `select 1 from notice_events where provider = 'strict' and result is null`,
  )
  expect(open.rowCount).toBe(4)
  expect(await movementsOf(s, shop)).toEqual([])
})

it('a line may hide a part of the account that it is of', async () => {
  const shop = await makeAccount(
    s,
    { match: 'code', feed: 'none', accountNo: '1234567890' },
    { isOff: true },
  )
  await connect(s, 'masked', linesDocument(shop.account.name), hooked)
  const line = { direction: 'in', amount: '5.00', at: s.clock().toISOString(), text: 'x' }
  for (const account of ['xxx-x-x6789-0', 'x7890', '123-4-56789-0']) {
    expect((await tell(s, 'masked', { ...line, id: account, account })).status).toBe(200)
  }
})

it('an account is reported by one alone', async () => {
  const fed = await makeAccount(s, { match: 'code' }, { isOff: true })
  await prepare(s, 'beside-feed', linesDocument(fed.account.name), hooked)
  await expect(use(s, 'beside-feed')).rejects.toThrow('has a feed')
  const shop = await makeAccount(s, { match: 'code', feed: 'none' }, { isOff: true })
  await connect(s, 'first-reader', linesDocument(shop.account.name), hooked)
  await prepare(s, 'second-reader', linesDocument(shop.account.name), hooked)
  await expect(use(s, 'second-reader')).rejects.toThrow('first-reader reports the lines')
  await prepare(s, 'nowhere', linesDocument('no-account'), hooked)
  await expect(use(s, 'nowhere')).rejects.toThrow('There is no bank account')
})
