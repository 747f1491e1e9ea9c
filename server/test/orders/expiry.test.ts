import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Command } from '../../src/ledger/commands.ts'
import { newOrderId } from '../../src/lib/ids.ts'
import { expireOrders, expiryPage } from '../../src/orders/expire-orders.ts'
import { usually } from '../support/long.ts'
import { newOrder } from '../support/naive-model.ts'
import { startTestService, type TestService } from '../support/service.ts'

/** Two services on one database and one clock, each with its own worker. */
let s: TestService
let t: TestService

beforeAll(async () => {
  s = await startTestService()
  t = await startTestService({ beside: s })
})
afterEach(() => s.prove())
afterAll(async () => {
  await t.close()
  await s.close()
})

it('deposits that fall due at once by the page each expire once, and none before its time', async () => {
  const agents = await Promise.all([s.agent(), s.agent(), s.agent()])
  const agentIds = agents.map(({ agentId }) => agentId)
  const due = 900_000
  // More than one look finds.
  const many = usually(2 * expiryPage, { long: 3 * expiryPage })
  await Promise.all(
    Array.from({ length: many + 60 }, (_, n) => {
      const agentId = agentIds[n % 3] ?? 0n
      // The last sixty have a millisecond more.
      const own = n < many ? { refId: `due-${n}` } : { refId: `later-${n}` }
      return s.service.desk.teller.do(deposit(agentId, own.refId, n < many ? due : due + 1))
    }),
  )

  s.clock.advance(due - 1)
  expect(await Promise.all([expireOrders(s.service.desk), expireOrders(t.service.desk)])).toEqual([
    0, 0,
  ])
  expect(await statuses(agentIds)).toEqual({ WAITING: many + 60 })

  s.clock.advance(1)
  await until(async () => (await statuses(agentIds)).EXPIRED === many)
  expect(await statuses(agentIds)).toEqual({ EXPIRED: many, WAITING: 60 })
  const { rows } = await s.sql(
    `select count(*)::int as orders, bool_and(o.ref_id like 'due-%') as due,
       min(o.version) as least, max(o.version) as most,
       count(distinct o.completed_at)::int as moments, max(e.rows)::int as rows,
       sum(e.rows)::int as all_rows, sum(e.callbacks)::int as callbacks
     from orders o, lateral (
       select count(*) as rows, count(c.seq) as callbacks
       from journal j left join callbacks c using (agent_id, seq)
       where j.agent_id = o.agent_id and j.order_id = o.order_id and j.event = 'deposit_expired'
     ) e
     where o.agent_id = any($1) and o.status = 'EXPIRED'`,
    [agentIds],
  )
  expect(rows).toEqual([
    {
      orders: many,
      due: true,
      least: 2,
      most: 2,
      moments: 1,
      rows: 1,
      all_rows: many,
      callbacks: many,
    },
  ])

  s.clock.advance(1)
  await until(async () => (await statuses(agentIds)).EXPIRED === many + 60)
})

it('what several look for at the same time still expires once', async () => {
  const { agentId } = await s.agent()
  await Promise.all(
    Array.from({ length: 200 }, (_, n) =>
      s.service.desk.teller.do(deposit(agentId, `d-${n}`, 1_000)),
    ),
  )
  s.clock.advance(1_000)
  await Promise.all([s, t, s, t].map(({ service }) => expireOrders(service.desk)))
  await until(async () => (await statuses([agentId])).EXPIRED === 200)
  const { rows } = await s.sql('select seq from wallets where agent_id = $1', [agentId])
  expect(rows).toEqual([{ seq: '200' }])
})

it('an agent whose wallet is held does not keep the deposits of others from expiring', async () => {
  const [held, other] = [await s.agent(), await s.agent()]
  const { teller } = s.service.desk
  // What is due of it fills a whole look.
  await Promise.all(
    Array.from({ length: expiryPage }, (_, n) =>
      teller.do(deposit(held.agentId, `held-${n}`, 1_000)),
    ),
  )
  await teller.do(deposit(other.agentId, 'other', 2_000))
  const owner = new pg.Client(s.database.ownerUrl)
  await owner.connect()
  await owner.query('begin')
  await owner.query('select from sluice.wallets where agent_id = $1 for update', [held.agentId])
  s.clock.advance(2_000)
  await until(async () => (await statuses([other.agentId])).EXPIRED === 1)
  expect(await statuses([held.agentId])).toEqual({ WAITING: expiryPage })
  await owner.query('rollback')
  await owner.end()
  await until(async () => (await statuses([held.agentId])).EXPIRED === expiryPage)
})

it('money that came in time pays an expired deposit, told however late', async () => {
  const { agentId } = await s.agent()
  const { teller } = s.service.desk
  const { order } = await teller.do(deposit(agentId, 'in time', 1_000))
  const orderId = order?.orderId ?? ''
  const expiresAt = order?.expiresAt ?? s.clock()
  s.clock.advance(86_400_000)
  await until(async () => (await statuses([agentId])).EXPIRED === 1)
  const done = await teller.do(payment(agentId, orderId, 'bank:1', expiresAt))
  expect(done.order).toMatchObject({ status: 'PAID', version: 3, paidAmountMinor: 10_000n })
  expect(await bodiesOf(agentId)).toMatchObject([
    { status: 'EXPIRED', wallet: { balance: 0 } },
    { status: 'PAID', wallet: { balance: 100 } },
  ])
})

it('money that came too late leaves a deposit expired, and waits', async () => {
  const { agentId } = await s.agent()
  const { teller } = s.service.desk
  const { order } = await teller.do(deposit(agentId, 'too late', 1_000))
  const orderId = order?.orderId ?? ''
  s.clock.advance(1_001)
  await until(async () => (await statuses([agentId])).EXPIRED === 1)
  const done = await teller.do(payment(agentId, orderId, 'bank:2', s.clock()))
  expect(done.order?.status).toBe('EXPIRED')
  const { rows } = await s.sql('select state, why from payments where agent_id = $1', [agentId])
  expect(rows).toEqual([{ state: 'waiting', why: 'late' }])
})

it('a deposit that was paid or cancelled in time does not expire', async () => {
  const { agentId } = await s.agent()
  const { teller } = s.service.desk
  const [paid, cancelled, open] = await Promise.all(
    ['paid', 'cancelled', 'open'].map(async (refId) => {
      const { order } = await teller.do(deposit(agentId, refId, 1_000))
      return order?.orderId ?? ''
    }),
  )
  await teller.do(payment(agentId, paid ?? '', 'bank:3', s.clock()))
  await teller.do({ type: 'cancel', agentId, at: s.clock(), orderId: cancelled ?? '' })
  s.clock.advance(1_000)
  await until(async () => (await statuses([agentId])).EXPIRED === 1)
  expect(await statuses([agentId])).toEqual({ PAID: 1, VOID: 1, EXPIRED: 1 })
  expect((await bodiesOf(agentId)).at(-1)?.transactionId).toBe(`${agentId}-${open}`)
})

function deposit(agentId: bigint, refId: string, expiresInMs: number): Command {
  const at = s.clock()
  const expiresAt = new Date(at.getTime() + expiresInMs)
  const orderId = newOrderId(at)
  const order = newOrder({ agentId, orderId, kind: 'deposit', createdAt: at, refId, expiresAt })
  return { type: 'create', agentId, at, order }
}

function payment(agentId: bigint, orderId: string, paymentId: string, paidAt: Date): Command {
  return {
    type: 'receive_payment',
    agentId,
    at: s.clock(),
    orderId,
    provider: null,
    payment: { paymentId, amountMinor: 10_000n, paidAt, payer: null },
  }
}

async function statuses(agentIds: bigint[]): Promise<Record<string, number>> {
  const { rows } = await s.sql(
    'select status, count(*)::int as n from orders where agent_id = any($1) group by status',
    [agentIds],
  )
  return Object.fromEntries(rows.map(({ status, n }) => [status, n]))
}

async function bodiesOf(agentId: bigint) {
  const { rows } = await s.sql(
    'select body from callback_bodies where agent_id = $1 order by seq',
    [agentId],
  )
  return rows.map(({ body }) => JSON.parse(body))
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 120_000
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error('what was waited for did not come')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
