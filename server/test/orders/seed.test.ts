import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Pool } from '../../src/db/pool.ts'
import { openBulkPool } from '../../src/seed/bulk-pool.ts'
import { seedOrders } from '../../src/seed/seed-orders.ts'
import { sluice } from '../support/process.ts'
import { startTestService, type TestService } from '../support/service.ts'

let s: TestService
let bulkPool: Pool

beforeAll(async () => {
  s = await startTestService({ outside: { providers: [] } })
  bulkPool = openBulkPool(s.backend.databaseUrl, () => {})
})
afterAll(async () => {
  await bulkPool.end()
  await s.close()
})

it('weeks of made-up business prove, and hold everything there is to look at', async () => {
  // The hour of day shapes what is made up: at noon it is the same every day.
  const day = 86_400_000
  s.clock.advance(day - ((s.clock().getTime() + day / 2) % day))
  const seen: number[] = []
  const seeded = await seedOrders(
    { ...s.service.desk, bulkPool },
    { orders: 3_000, now: s.clock(), start: 3, onProgress: (done) => seen.push(done) },
  )
  expect(seeded.orders).toBe(3_000)
  expect(seen.at(-1)).toBe(3_000)
  await s.prove()
  const { rows: orders } = await s.sql(
    'select distinct kind, status from orders order by kind, status',
  )
  expect(orders.map(({ kind, status }) => `${kind} ${status}`)).toEqual([
    'deposit EXPIRED',
    'deposit FAILED',
    'deposit PAID',
    'deposit VOID',
    'deposit WAITING',
    'withdraw CANCEL',
    'withdraw FAILED',
    'withdraw PAID',
    'withdraw REVERT',
    'withdraw WAITING',
  ])
  const { rows: counts } = await s.sql(
    `select (select count(*) from orders)::int as orders,
       (select count(distinct agent_id) from orders)::int as agents,
       (select count(distinct created_at::date) from orders)::int as days,
       (select count(*) from payments where state = 'waiting')::int as to_decide,
       (select count(*) from payments where state = 'returned')::int as returned,
       (select count(*) from callbacks where state = 'waiting' and attempts > 1)::int as failing,
       (select count(*) from callbacks where state = 'no_address')::int as no_address,
       (select count(*) from orders where created_at > $1)::int as future`,
    [s.clock()],
  )
  expect(counts[0]).toMatchObject({ orders: 3_000, agents: 6, future: 0 })
  expect(counts[0].days).toBeGreaterThan(20)
  for (const some of ['to_decide', 'returned', 'failing', 'no_address']) {
    expect(counts[0][some], some).toBeGreaterThan(0)
  }
})

it('is refused outside the sandbox', async () => {
  const env = {
    DATABASE_URL: s.database.url,
    DATABASE_OWNER_URL: s.database.ownerUrl,
    MODE: 'live',
    SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
  }
  await s.sql(`update deployment set mode = 'live'`)
  const { code, stderr } = await sluice(['seed', '--orders', '5'], env)
  await s.sql(`update deployment set mode = 'sandbox'`)
  expect(code).not.toBe(0)
  expect(stderr).toContain('in the sandbox only')
})
