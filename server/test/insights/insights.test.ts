import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { Pool } from '../../src/db/pool.ts'
import { CallbackCounter, foldInsights } from '../../src/insights/fold-insights.ts'
import { FeeSweeper } from '../../src/teller/sweep-fees.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { queued } from '../support/order-answers.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

const timeZone = 'Asia/Bangkok'

let s: TestService
let receiver: Receiver
let shop: AgentClient
let other: AgentClient

beforeAll(async () => {
  s = await startTestService({ env: { TIME_ZONE: timeZone } })
  // No day ends before a test wants it to: it is noon in Bangkok.
  const dayMs = 86_400_000
  s.clock.advance((dayMs + 5 * 3_600_000 - (s.clock().getTime() % dayMs)) % dayMs)
  receiver = await startReceiver()
  const url = `${receiver.url}/callback`
  const terms = { depositFee: '1.5%+2', withdrawFee: '5', revertFee: 'keep' as const }
  shop = await s.agent({
    ...terms,
    lateMoney: 'credit',
    depositCallbackUrl: url,
    withdrawCallbackUrl: url,
  })
  other = await s.agent({ ...terms, reserve: '10%/7' })
})
afterAll(async () => {
  await s.prove()
  await receiver.close()
  await s.close()
})

/** Makes an order and leads it to its status. */
async function order(
  agent: AgentClient,
  kind: 'deposit' | 'withdraw',
  fields: object,
  steps: string[],
): Promise<string> {
  const { txn_id } = (await agent[kind]({ ...(kind === 'withdraw' && queued), ...fields })).json
  for (const step of steps) {
    s.clock.advance(7_000)
    expect((await agent.trigger(txn_id, step)).status, step).toBe(200)
  }
  return txn_id
}

/** Folds until nothing is left, whoever else does so at the same time. */
async function fold(pool: Pool = s.backend.pool, page = 3): Promise<void> {
  for (;;) {
    await foldInsights(pool, { timeZone, now: s.clock(), page })
    const { rows } = await s.sql(`select 1 from wallets w
      left join insight_folds f using (agent_id) where w.seq > coalesce(f.seq, 0)`)
    if (rows.length === 0) return
  }
}

const bucket = (unit: string) =>
  `date_trunc('${unit}', created_at at time zone '${timeZone}') at time zone '${timeZone}'`

const facets: Record<string, string> = {
  all: `''`,
  provider: `coalesce(provider, '')`,
  bank: 'bank_code',
  amount: `case when amount < 100 then '0' else
    '1' || repeat('0', length((amount / 100)::text) - 1) end`,
}

/** Folds what there is, and again where the service's own worker has written more since. */
async function expectExact(): Promise<void> {
  await vi.waitFor(
    async () => {
      await fold()
      await expectFolded()
    },
    { timeout: 120_000, interval: 500 },
  )
}

/** What the summaries must be, straight from the orders and the journal. */
async function expectFolded(): Promise<void> {
  for (const unit of ['hour', 'day']) {
    for (const [facet, value] of Object.entries(facets)) {
      const { rows: books } = await s.sql(
        `select agent_id, ${bucket(unit)} as at, kind, status, ${value} as value, count(*) as orders,
           sum(amount) as amount,
           coalesce(sum(paid_amount) filter (where status = 'PAID'), 0) as paid
         from orders where status <> 'WAITING' group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5`,
      )
      const { rows: found } = await s.sql(
        `select agent_id, at, kind, status, value, orders, amount, paid from insight_orders
         where unit = $1 and facet = $2 and orders > 0 order by 1, 2, 3, 4, 5`,
        [unit, facet],
      )
      expect(books.length).toBeGreaterThan(0)
      expect(found, `${facet} by ${unit}`).toEqual(books)
    }
    const { rows: sums } = await s.sql(
      `select agent_id, date_trunc($1, at at time zone $2) at time zone $2 as at,
         sum(available_change) as available, sum(held_change) as held, sum(reserve_change) as reserve,
         coalesce(sum(fees_change) filter (where event <> 'swept'), 0) as fees,
         coalesce(sum(costs_change) filter (where event <> 'swept'), 0) as costs
       from journal group by 1, 2 order by 1, 2`,
      [unit, timeZone],
    )
    const { rows: found } = await s.sql(
      `select agent_id, at, sum(available) as available, sum(held) as held, sum(reserve) as reserve,
         sum(fees) as fees, sum(costs) as costs
       from insight_money where unit = $1 group by 1, 2 order by 1, 2`,
      [unit],
    )
    expect(found, `money by ${unit}`).toEqual(sums)
  }
  const { rows: folds } = await s.sql(
    'select agent_id, seq, available, held, reserve from insight_folds order by 1',
  )
  const { rows: wallets } = await s.sql(
    'select agent_id, seq, available, held, reserve from wallets where seq > 0 order by 1',
  )
  expect(folds).toEqual(wallets)
}

/** An answer that has everything that is in the books. */
async function upToDate(who: OperatorClient, path: string) {
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
  let json: any
  await expect
    .poll(async () => {
      await fold()
      json = (await who.get(path)).json
      return json.behind
    })
    .toBe(0)
  return json
}

/** A pool whose connections die at their nth statement. */
function dying(n: number): { pool: Pool; died: () => boolean } {
  let isDead = false
  const pool = new Proxy(s.backend.pool, {
    get(target, name) {
      if (name !== 'connect') return boundTo(target, name)
      return async () => {
        const client = await target.connect()
        // The connection that dies says so once more.
        client.once('error', () => {})
        let asked = 0
        return new Proxy(client, {
          get(inner, each) {
            if (each !== 'query') return boundTo(inner, each)
            return (...given: Parameters<typeof inner.query>) => {
              asked += 1
              if (asked !== n) return Reflect.apply(inner.query, inner, given)
              isDead = true
              return inner.query('select pg_terminate_backend(pg_backend_pid())')
            }
          },
        })
      }
    },
  })
  return { pool, died: () => isDead }
}

function boundTo(target: object, name: string | symbol): unknown {
  const value = Reflect.get(target, name)
  return typeof value === 'function' ? value.bind(target) : value
}

it('summaries are exact against the books: after crashes, take-backs, reverts and late money', async () => {
  await order(other, 'deposit', { amount: 5_000, bankCode: 'KBANK' }, ['PAID'])
  await order(other, 'deposit', { amount: 900 }, ['EXPIRED'])
  await order(shop, 'deposit', { amount: 20_000 }, ['PAID'])
  const toBeVoid = await order(shop, 'deposit', { amount: 500, bankCode: 'BBL' }, ['PAID'])
  const late = await order(shop, 'deposit', { amount: 70 }, ['EXPIRED'])
  await order(shop, 'deposit', { amount: 333 }, ['PAID', 'VOID', 'PAID'])
  await order(shop, 'deposit', { amount: 99 }, [])
  const toBeReverted = await order(shop, 'withdraw', { amount: 1_000 }, ['PAID'])
  await order(shop, 'withdraw', { amount: 40, bankCode: 'KTB' }, ['FAILED'])
  await order(shop, 'withdraw', { amount: 41 }, ['CANCEL'])
  await order(shop, 'withdraw', { amount: 42 }, [])

  // Wherever a process dies in the middle, nothing of what it was at counts.
  for (let n = 2; ; n++) {
    const { pool, died } = dying(n)
    await foldInsights(pool, { timeZone, now: s.clock(), page: 3 }).catch(() => {})
    if (!died()) break
  }
  // Any number of processes fold at the same time.
  await Promise.all([fold(), fold(), fold()])
  await expectExact()

  // What was counted before moves on; what nobody paid has expired.
  s.clock.advance(3 * 3_600_000)
  await expect
    .poll(async () => {
      const waiting = `select 1 from orders where kind = 'deposit' and status = 'WAITING'`
      return (await s.sql(waiting)).rowCount
    })
    .toBe(0)
  for (const [txnId, step] of [
    [toBeVoid, 'VOID'],
    [late, 'PAID'],
    [toBeReverted, 'REVERT'],
  ] as const) {
    expect((await shop.trigger(txnId, step)).status).toBe(200)
  }
  await s.service.desk.teller.do({
    type: 'charge_cost',
    agentId: shop.agentId,
    at: s.clock(),
    orderId: late.split('-')[1] ?? '',
    provider: 'sandbox',
    costId: 'one',
    amountMinor: 150n,
  })
  await expectExact()

  // In another time zone days begin at other times: everything is folded anew, and what it comes to is the same.
  await s.sql(`update insight_folds set time_zone = 'America/Lima', seq = seq - 1`)
  await expectExact()
})

it('orders whose callback was accepted are counted once it was, about the status they have', async () => {
  const counter = new CallbackCounter(s.backend.pool, timeZone, s.clock)
  const books = `select o.kind, o.status, count(*) as called from orders o
    cross join lateral (
      select c.state from callbacks c where c.agent_id = o.agent_id and c.order_id = o.order_id
      order by c.seq desc limit 1) c
    where c.state = 'delivered' group by 1, 2 order by 1, 2`
  // The service sends them by itself: seven orders of the shop have ended, and two of them changed twice more.
  await expect
    .poll(async () => {
      const { rows } = await s.sql(
        `select 1 from callbacks where agent_id = $1 and state <> 'delivered'`,
        [shop.agentId],
      )
      return rows.length
    })
    .toBe(0)
  await counter.look(2)
  while ((await counter.look(2)) === 'more');
  const { rows: found } = await s.sql(
    `select kind, status, sum(called) as called from insight_orders
     where unit = 'day' and facet = 'all' group by 1, 2 having sum(called) > 0 order by 1, 2`,
  )
  expect(found).toEqual((await s.sql(books)).rows)
  const { rows: open } = await s.sql('select agent_id from insight_callbacks')
  // The other agent has no address.
  expect(open.map(({ agent_id }) => BigInt(agent_id))).toEqual([other.agentId, other.agentId])
})

it('the page has the figures of the books, and an agent’s users those of their agent', async () => {
  const admin = await signIn(s, 'admin')
  const user = await signIn(s, 'agent', shop)
  const json = await upToDate(admin, '/insights?period=24h')
  const { rows } = await s.sql(
    `select kind, count(*)::int as created, (count(*) filter (where status = 'WAITING'))::int as waiting,
       (count(*) filter (where status <> 'WAITING'))::int as ended,
       (count(*) filter (where status = 'PAID'))::int as paid
     from orders group by 1 order by 1`,
  )
  expect(
    json.totals.map(({ kind, now }: { kind: string; now: object }) => ({ kind, ...now })),
  ).toEqual(
    rows.map((row) => ({
      ...row,
      called_back: row.kind === 'deposit' ? row.paid - 1 : row.paid,
      success_rate: Math.round((row.paid / row.ended) * 10_000) / 10_000,
    })),
  )
  const { rows: volumes } = await s.sql(
    `select (sum(paid_amount) filter (where kind = 'deposit') / 100.0)::float as in,
       (coalesce(sum(paid_amount) filter (where kind = 'withdraw'), 0) / 100.0)::float as out
     from orders where status = 'PAID'`,
  )
  const { rows: earned } = await s.sql(
    `select (sum(fees_change) / 100.0)::float as fees, (-sum(costs_change) / 100.0)::float as costs
     from journal where event <> 'swept'`,
  )
  expect(json.money).toEqual([
    {
      currency: 'THB',
      now: { ...volumes[0], ...earned[0] },
      before: { in: 0, out: 0, fees: 0, costs: 0 },
    },
  ])
  expect(json.series).toHaveLength(48)
  const volume = json.series.reduce((sum: number, each: { volume: number }) => sum + each.volume, 0)
  expect(volume).toBeCloseTo(volumes[0].in + volumes[0].out, 2)
  const { rows: wallets } = await s.sql(
    `select (sum(available) / 100.0)::float as available, (sum(held) / 100.0)::float as held,
       (sum(reserve) / 100.0)::float as reserve from wallets where agent_id > 0`,
  )
  expect(json.balances.at(-1)).toMatchObject(wallets[0])
  expect(json.league.map(({ app_id }: { app_id: string }) => app_id)).toEqual([
    shop.appId,
    other.appId,
  ])
  for (const period of ['7d', '30d', '12m']) {
    const longer = (await admin.get(`/insights?period=${period}`)).json
    expect(longer.totals[0].now, period).toEqual(json.totals[0].now)
    expect(longer.money, period).toEqual(json.money)
    expect(longer.balances.at(-1), period).toMatchObject(wallets[0])
  }

  const own = (await user.get('/insights?period=24h')).json
  expect(own).toMatchObject({ costs: null, league: null })
  expect(own.money[0].now.costs).toBeNull()
  expect(JSON.stringify(own)).not.toContain('sandbox')
  expect(JSON.stringify(own)).not.toContain(other.appId)
  expect((await user.get(`/insights?period=24h&agent=${other.appId}`)).status).toBe(404)
  expect((await admin.get('/insights?period=1y')).status).toBe(422)
})

it('little plots have a value a day from the books, zero where nothing happened', async () => {
  const before = (await s.sql('select agent_id, available from wallets where agent_id > 0')).rows
  s.clock.advance(2 * 86_400_000)
  await order(other, 'deposit', { amount: 100 }, ['PAID'])
  // The worker does so at its own time, and finds it done.
  const sweeper = new FeeSweeper(s.service.desk, timeZone)
  while ((await sweeper.poll()) === 'more');
  const admin = await signIn(s, 'admin')
  interface Trend {
    name: string
    currency: string | null
    values: number[]
  }
  const trends = async (of: string, who = admin) => {
    const json = await upToDate(who, `/trends?of=${of}`)
    expect(json.days).toHaveLength(30)
    for (const { values } of json.data) expect(values).toHaveLength(30)
    return new Map<string, Trend>(json.data.map((each: Trend) => [each.name, each]))
  }
  const sum = (values: number[] = []) => values.reduce((all, each) => all + each, 0)

  const agents = await trends('agents')
  const { rows: paid } = await s.sql(
    `select a.app_id, (sum(o.paid_amount) / 100.0)::float as paid from orders o join agents a using (agent_id)
     where o.status = 'PAID' group by 1`,
  )
  expect(paid).toHaveLength(2)
  for (const each of paid) {
    expect(sum(agents.get(each.app_id)?.values)).toBeCloseTo(each.paid, 2)
  }
  expect(agents.get(other.appId)).toMatchObject({ currency: 'THB' })
  // Yesterday nobody ordered anything, today one did.
  expect(agents.get(other.appId)?.values.slice(-2)).toEqual([0, 100])
  expect(agents.get(shop.appId)?.values.slice(-2)).toEqual([0, 0])
  expect(agents.get(shop.appId)?.values[0]).toBe(0)

  const wallets = await trends('wallets')
  for (const agent of [shop, other]) {
    const { rows } = await s.sql('select available from wallets where agent_id = $1', [
      agent.agentId,
    ])
    const then = before.find(({ agent_id }) => BigInt(agent_id) === agent.agentId)
    expect(wallets.get(agent.appId)?.values.slice(-2)).toEqual([
      Number(then?.available) / 100,
      Number(rows[0].available) / 100,
    ])
    expect(wallets.get(agent.appId)?.values[0]).toBe(0)
  }

  const { rows: at } = await s.sql(
    `select coalesce(provider, '') as name, count(*)::int as paid from orders where status = 'PAID' group by 1`,
  )
  const providers = await trends('providers')
  expect([...providers.keys()].sort()).toEqual(at.map(({ name }) => name).sort())
  for (const { name, paid: orders } of at) expect(sum(providers.get(name)?.values)).toBe(orders)
  const lanes = await trends('lanes')
  expect(sum(lanes.get(shop.appId)?.values)).toBeGreaterThan(0)
  expect(sum(lanes.get(other.appId)?.values)).toBe(0)

  const user = await signIn(s, 'agent', shop)
  expect([...(await trends('wallets', user)).keys()]).toEqual([shop.appId])
  expect((await user.get('/trends?of=providers')).status).toBe(404)
  expect((await admin.get('/trends?of=nothing')).status).toBe(422)
})
