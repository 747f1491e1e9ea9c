import { afterAll, beforeAll, expect, it } from 'vitest'
import { houseBook } from '../../src/ledger/house.ts'
import { newOrderId } from '../../src/lib/ids.ts'
import { newOrder } from '../support/naive-model.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { printedIn } from '../support/printed-text.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

/** What the house's books do to an agent's wallet, as operators and as the agent's own users see it. */

let s: TestService
let admin: OperatorClient
let user: OperatorClient
let shop: AgentClient

beforeAll(async () => {
  s = await startTestService()
  shop = await s.agent()
  admin = await signIn(s, 'admin')
  user = await signIn(s, 'agent', shop)
})
afterAll(async () => {
  await s.prove()
  await s.close()
})

const sweep = (day: string) =>
  s.service.desk.teller.do({
    type: 'sweep',
    agentId: shop.agentId,
    houseId: houseBook('THB'),
    day,
    at: s.clock(),
  })

/** A deposit of 100 with a fee of 2, paid, and charged for by its provider. */
async function paidDeposit(): Promise<void> {
  const { agentId } = shop
  const at = s.clock()
  const orderId = newOrderId(at)
  const fee = { feeRule: '2%', feeMinor: 200n }
  const order = newOrder({ agentId, orderId, kind: 'deposit', createdAt: at, ...fee })
  const { teller } = s.service.desk
  await teller.do({ type: 'create', agentId, at, order })
  const payment = { paymentId: `bank:${orderId}`, amountMinor: 10_000n, paidAt: at, payer: null }
  await teller.do({ type: 'receive_payment', agentId, at, orderId, provider: null, payment })
  const cost = { provider: 'bank', costId: orderId, amountMinor: 50n }
  await teller.do({ type: 'charge_cost', agentId, at, orderId, ...cost })
}

it('a printed statement comes to the fees that its rows charge, though they were moved to the house', async () => {
  const from = s.clock().toISOString()
  await paidDeposit()
  await sweep('2026-01-01')
  await paidDeposit()
  s.clock.advance(60_000)
  const query = new URLSearchParams({ from, to: s.clock().toISOString() })
  const answer = await fetch(
    `${admin.url}/console/api/wallets/${shop.appId}/statement.pdf?${query}`,
    { headers: { cookie: admin.cookie } },
  )
  const pieces = printedIn(Buffer.from(await answer.arrayBuffer()))
  const sums = pieces.find(({ text }) => text === 'and what the rows come to')
  const line = pieces.filter(({ y }) => y === sums?.y).map(({ text }) => text)
  expect(line).toContain('4.00')
  const { text } = await admin.get(`/wallets/${shop.appId}/statement.csv?${query}`)
  expect(text).toContain('swept')
})

it('what the provider charges the house is not for the agent’s users to see', async () => {
  await paidDeposit()
  const path = `/wallets/${shop.appId}`
  const [{ json: ours }, { json: theirs }] = [await admin.get(path), await user.get(path)]
  expect(ours.costs).toBeLessThan(0)
  expect(theirs).toMatchObject({ balance: ours.balance, costs: 0, transfers: 0, suspense: 0 })
  const sumOf = (wallet: Record<string, number>) =>
    ['balance', 'held', 'suspense', 'clearing', 'fees', 'costs', 'adjustments', 'transfers']
      .map((name) => Math.round((wallet[name] ?? Number.NaN) * 100))
      .reduce((sum, each) => sum + each, 0)
  expect([sumOf(ours), sumOf(theirs)]).toEqual([0, 0])
  for (const format of ['journal', 'statement.csv']) {
    const span = 'from=2000-01-01T00:00:00Z&to=2100-01-01T00:00:00Z'
    const { text } = await user.get(`${path}/${format}${format === 'journal' ? '' : `?${span}`}`)
    expect(text).not.toContain('0.5,')
  }
})
