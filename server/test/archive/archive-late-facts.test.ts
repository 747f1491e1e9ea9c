import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { archive } from '../../src/archive/archive.ts'
import { proveWithBooks } from '../../src/archive/prove-with-books.ts'
import { openPool, type Pool } from '../../src/db/pool.ts'
import { parseTxnId } from '../../src/lib/ids.ts'
import { explainMovement } from '../../src/payments/explain-movement.ts'
import { closeEvent, countOpenEvents, listOpenEvents } from '../../src/payments/open-events.ts'
import { creditPayment } from '../../src/payments/payments.ts'
import { allToDecide, findPayment, searchPayments } from '../../src/payments/search-payments.ts'
import { handOver, submit } from '../../src/payouts/pay-out.ts'
import type { ProviderEvent } from '../../src/providers/provider.ts'
import {
  camt,
  dayAt,
  daysOf,
  importFile,
  makeAccount,
  movementsOf,
} from '../support/bank-accounts.ts'
import {
  eventId,
  FakeProvider,
  fundedAgent,
  orderOf,
  paymentEvent,
  payoutEvent,
  statusOf,
} from '../support/fake-provider.ts'
import { deliverCallbacks } from '../support/sender.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

const bank = new FakeProvider('bank')
let s: TestService
let owner: Pool
let folder: string

beforeAll(async () => {
  s = await startTestService({ outside: { providers: [bank], paysOut: false } })
  owner = openPool({
    url: s.database.ownerUrl,
    max: 1,
    name: 'test',
    as: 'owner',
    onError: () => {},
  })
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
  await deliverCallbacks(s, agent)
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
  expect(await searchPayments(pool, { ...allToDecide, paymentId })).toEqual([])
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

it('what a provider charges for an archived order stays open until a person has looked', async () => {
  const agent = await s.agent()
  const id: string = (await agent.deposit()).json.txn_id
  await tell(paymentEvent(id, s.clock()))
  await archiveAll(agent)
  await gone(agent, id)
  const costId = eventId()
  const charged = {
    type: 'cost',
    reference: id,
    costId,
    amountMinor: 125n,
    currency: 'THB',
  } as const
  const { json } = await tell({ ...charged, id: costId })
  expect(json.results).toMatchObject([{ result: 'open' }])
  const { pool } = s.backend
  const [open] = await listOpenEvents(pool, s.clock(), { eventId: costId, limit: 1 })
  if (!open) throw new Error('it is not open')
  expect(open.detail).toContain('archived')
  await closeEvent(pool, open, 'The charge was booked by hand.')
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
  const event = payoutEvent(attempt.reference, { type: 'returned' })
  const answer = await tell(event)
  expect(JSON.stringify(answer)).not.toContain('refused')
  expect(await agent.balance()).toBe(balance)
  const { pool } = s.backend
  const isOpen = async () => (await countOpenEvents(pool, s.clock())).count === 1
  expect(await isOpen()).toBe(true)
  // Until a person has found out what it means.
  const [open] = await listOpenEvents(pool, s.clock(), { eventId: event.id, limit: 1 })
  if (!open) throw new Error('it is not open')
  expect(open).toMatchObject({
    orderId: order.orderId,
    detail: expect.stringContaining('archived'),
  })
  await closeEvent(pool, open, 'The money was booked by hand.')
  expect(await isOpen()).toBe(false)
  await expect(closeEvent(pool, open, 'Twice')).rejects.toThrow('not open any more')
})

it('another payment under the id of an archived one waits for a person', async () => {
  const agent = await s.agent()
  const id: string = (await agent.deposit()).json.txn_id
  const event = paymentEvent(id, s.clock())
  await tell(event)
  await archiveAll(agent)
  await gone(agent, id)
  const balance = await agent.balance()
  const other: string = (await agent.deposit()).json.txn_id
  const again = await tell(
    { ...event, id: eventId(), reference: other },
    { ...event, id: eventId(), reference: other },
    { ...event, id: eventId(), amountMinor: event.amountMinor + 1n },
    { ...event, id: eventId() },
  )
  expect(again.json.results.map(({ result }: { result: string }) => result)).toEqual([
    'waiting',
    'unchanged',
    'waiting',
    'unchanged',
  ])
  expect(await agent.balance()).toBe(balance)
  expect(await statusOf(agent, other)).toBe('WAITING')
  expect(await waiting(other)).toEqual([{ state: 'waiting' }])
  expect(await waiting(id)).toEqual([{ state: 'waiting' }])
})

it('an order stays in the books while what a provider said of it is still to be acted on', async () => {
  const agent = await s.agent()
  const id: string = (await agent.deposit()).json.txn_id
  const event = paymentEvent(id, s.clock())
  await tell(event)
  const back: ProviderEvent = {
    id: eventId(),
    type: 'payment_taken_back',
    paymentId: event.paymentId,
    reference: id,
  }
  await tell(back)
  expect(await statusOf(agent, id)).toBe('VOID')
  // As it is where nobody could act on it yet.
  const open = (isOpen: boolean) =>
    s.sql(
      `update notice_events set result = $2, act_at = $3 where event_id = $1`,
      isOpen ? [back.id, null, '2999-01-01'] : [back.id, 'applied', null],
    )
  await open(true)
  await archiveAll(agent)
  expect(await statusOf(agent, id)).toBe('VOID')
  await open(false)
  await archiveAll(agent)
  await gone(agent, id)
})

it('a payment of more than a number of JSON can hold is archived, and proves', async () => {
  const agent = await s.agent()
  const id: string = (await agent.deposit()).json.txn_id
  const event = paymentEvent(id, s.clock(), { amountMinor: 2n ** 62n + 1n })
  await tell(event, paymentEvent(id, s.clock()))
  await s.sql(
    `update payments set state = 'returned', why = null, evidence = 'test'
     where agent_id = $1 and state = 'waiting'`,
    [agent.agentId],
  )
  await archiveAll(agent)
  await gone(agent, id)
  const [proof] = await proveWithBooks(s.backend.pool, folder, { appId: agent.appId })
  expect(proof).toMatchObject({ finding: null, orders: 1 })
})

it("money that was nobody's and was credited does not wait again once its order is archived", async () => {
  const agent = await s.agent()
  const id: string = (await agent.deposit()).json.txn_id
  const event = paymentEvent('nobody knows', s.clock())
  await tell(event)
  const paymentId = `bank:${event.paymentId}`
  const { agentId, orderId } = await orderOf(s.service.desk, id)
  await creditPayment(s.service.desk, paymentId, { agentId, orderId }, 'It was for this one.')
  await archiveAll(agent)
  await gone(agent, id)
  expect(await findPayment(s.backend.pool, paymentId)).toBe(undefined)
  const toDecide = await searchPayments(s.backend.pool, allToDecide)
  expect(toDecide.map((each) => each.paymentId)).not.toContain(paymentId)
})

it('a return of money whose order is archived waits for a person, who can explain it, and the books agree', async () => {
  const agent = await s.agent()
  const account = await makeAccount(s, {}, { isOff: true })
  const { account: of } = account
  const day = dayAt(s.clock())
  const line = { amount: '100.00', ref: 'BANK-5' }
  await importFile(s, account, camt({ account: of, day, lines: [line] }))
  const [paid] = await movementsOf(s, account)
  const order = parseTxnId((await agent.deposit()).json.txn_id)
  if (!order) throw new Error('no order')
  const { desk } = s.service
  await creditPayment(desk, `${of.name}:${paid?.movementId}`, order, 'the payer called')
  await archiveAll(agent)
  const { rows } = await s.sql('select 1 from payments where order_id = $1', [order.orderId])
  expect(rows).toEqual([])

  const back = { amount: '-100.00', ref: 'BANK-5', isReturn: true }
  const later = dayAt(s.clock())
  await importFile(s, account, camt({ account: of, day: later, lines: [back] }))
  const debit = (await movementsOf(s, account)).find(({ amountMinor }) => amountMinor < 0n)
  expect(debit).toMatchObject({ state: 'unexplained', detail: expect.stringContaining('archived') })
  expect((await daysOf(s, account)).at(-1)).toContain('unexplained_debit')
  await s.prove()
  await explainMovement(desk, of, debit?.movementId ?? '', 'correction', 'the house bears it')
  expect((await daysOf(s, account)).join()).not.toMatch(/red/)
})
