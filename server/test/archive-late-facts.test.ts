import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { archive } from '../src/archive/archive.ts'
import { openPool, type Pool } from '../src/db/pool.ts'
import { handOver, submit } from '../src/payouts/pay-out.ts'
import { parseTxnId } from '../src/lib/ids.ts'
import { creditPayment, listWaitingPayments } from '../src/payments/payments.ts'
import { findPayment } from '../src/payments/search-payments.ts'
import type { ProviderEvent } from '../src/providers/provider.ts'
import { eventId, FakeProvider, fundedAgent, orderOf, paymentEvent, payoutEvent, statusOf } from './support/fake-provider.ts'
import { type AgentClient, startTestService, type TestService } from './support/service.ts'

const bank = new FakeProvider('bank')
let s: TestService
let owner: Pool
let folder: string

beforeAll(async () => {
  s = await startTestService({ outside: { providers: [bank], paysOut: false } })
  owner = openPool({ url: s.database.url, max: 1, name: 'test', as: 'owner', onError: () => {} })
  folder = await mkdtemp(join(tmpdir(), 'sluice-archive-'))
})
afterEach(() => s.prove())
afterAll(async () => {
  await owner.end()
  await s.close()
  await rm(folder, { recursive: true })
})

const tell = (...events: ProviderEvent[]) => bank.tell(s.service.url, ...events)

/** Archives all of an agent's that has ended; the last order stays. */
async function archiveAll(agent: AgentClient): Promise<void> {
  await tell(paymentEvent((await agent.deposit()).json.txn_id, s.clock()))
  await s.sql(`update callbacks set state = 'delivered' where agent_id = $1`, [agent.agentId])
  s.clock.advance(3_600_000)
  await archive(owner, { before: s.clock(), folder, now: s.clock, appId: agent.appId })
}

const gone = async (agent: AgentClient, txnId: string) =>
  expect((await agent.get(`/payment/orders/${txnId}`)).json.detail).toContain('archived')

const waiting = async (reference: string) =>
  (await s.sql(`select state from unmatched_payments where reference = $1`, [reference])).rows

it('a payment that was archived credits nobody again, whatever it is reported for', async () => {
  const agent = await s.agent()
  const id: string = (await agent.deposit()).json.txn_id
  const event = paymentEvent(id, s.clock())
  await tell(event)
  expect(await statusOf(agent, id)).toBe('PAID')
  await archiveAll(agent)
  await gone(agent, id)
  const balance = await agent.balance()

  await tell({ ...event, id: eventId() })
  const other: string = (await agent.deposit()).json.txn_id
  await tell({ ...event, id: eventId(), reference: other })
  expect(await agent.balance()).toBe(balance)
  expect(await statusOf(agent, other)).toBe('WAITING')
  expect(await waiting(id)).toEqual([])
  // Another order or amount contradicts what was said then.
  expect(await waiting(other)).toEqual([{ state: 'waiting' }])
  await tell({ ...event, id: eventId(), amountMinor: 90_00n })
  expect(await waiting(id)).toEqual([{ state: 'waiting' }])
})

it('a payment that was nobody’s, credited and archived waits for nobody', async () => {
  const agent = await s.agent()
  const order = parseTxnId((await agent.deposit()).json.txn_id)
  if (!order) throw new Error('no order')
  const event = paymentEvent('nobody knows', s.clock())
  await tell(event)
  const paymentId = `bank:${event.paymentId}`
  await creditPayment(s.service.desk, paymentId, order, 'the payer called')
  await archiveAll(agent)
  const { pool } = s.backend
  const filter = { agentId: null, paymentId, limit: 1 }
  expect(await listWaitingPayments(pool, filter)).toEqual([])
  expect(await findPayment(pool, paymentId)).toBeUndefined()
})

it('money that comes in for an archived order waits for a person', async () => {
  const agent = await s.agent()
  const id: string = (await agent.deposit()).json.txn_id
  await tell(paymentEvent(id, s.clock()))
  await archiveAll(agent)
  await gone(agent, id)
  const balance = await agent.balance()
  await tell(paymentEvent(id, s.clock()))
  expect(await waiting(id)).toEqual([{ state: 'waiting' }])
  expect(await agent.balance()).toBe(balance)
})

it('what a provider says of an archived payout stays open, and moves no money', async () => {
  const agent = await fundedAgent(s)
  const id: string = (await agent.withdraw()).json.txn_id
  const order = await orderOf(s.service.desk, id)
  const attempt = await handOver(s.service.desk, order, bank)
  if (!attempt) throw new Error('it was not handed over')
  await submit(s.service.desk, attempt, order)
  await tell(payoutEvent(attempt.reference, { type: 'paid' }))
  expect(await statusOf(agent, id)).toBe('PAID')
  await archiveAll(agent)
  await gone(agent, id)
  const balance = await agent.balance()
  const answer = await tell(payoutEvent(attempt.reference, { type: 'returned' }))
  expect(JSON.stringify(answer)).not.toContain('refused')
  expect(await agent.balance()).toBe(balance)
})
