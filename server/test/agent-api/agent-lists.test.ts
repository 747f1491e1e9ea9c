import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Pool } from '../../src/db/pool.ts'
import { listOrders, ordersLookedAt } from '../../src/orders/list-orders.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

let s: TestService
let agent: AgentClient
beforeAll(async () => {
  s = await startTestService()
  agent = await s.agent()
})
afterEach(() => s.prove())
afterAll(() => s.close())

/** Deposits that wait, made by SQL, newer than everything before them. */
async function manyDeposits({ agentId }: AgentClient, count: number): Promise<void> {
  await s.sql(
    `insert into orders (agent_id, order_id, kind, ref_id, user_id, amount, fee, fee_rule,
       account_name, account_no, bank_code, status, version, answer, created_at, expires_at, currency,
       late_money)
     select $1::bigint, id::uuid, 'deposit', 'made-' || n, 'user', 10000, 0, '0%', 'Somchai', '1234567890',
       'SCB', 'WAITING', 1, json_build_object('txn_id', $1::bigint || '-' || id, 'ref_id', 'made-' || n,
         'amount', 100, 'fee', 0, 'expires_in', 86400,
         'created_at', to_char($3::timestamptz at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS'))::text,
       $3::timestamptz, $3::timestamptz + interval '1 day', 'THB', 'review'
     from generate_series(1, $4::bigint) n
     cross join lateral (select lpad(to_hex($2 + n), 12, '0') || '7' || repeat('0', 19)) made(id)`,
    [agentId, s.clock().getTime() + 1_000, s.clock(), count],
  )
  await s.sql('analyze orders')
}

interface Plan {
  'Node Type': string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: Plan[]
}

/** Rows that the scans of a plan have met. */
function rowsMet(plan: Plan): number {
  const met = (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops']
  const isScan = /Scan$/.test(plan['Node Type']) && plan['Node Type'] !== 'Subquery Scan'
  return (isScan ? met : 0) + (plan.Plans ?? []).reduce((sum, each) => sum + rowsMet(each), 0)
}

/** A pool that tells how many rows its statements met. */
function watched(): { pool: Pool; met: () => number } {
  let met = 0
  const { pool } = s.backend
  const query = async (text: string, values: unknown[]) => {
    const { rows } = await pool.query(`explain (analyze, format json) ${text}`, values)
    met += rowsMet(rows[0]['QUERY PLAN'][0].Plan)
    return pool.query(text, values)
  }
  return { pool: Object.assign(Object.create(pool), { query }), met: () => met }
}

describe('a list of orders', () => {
  const statuses = ['WAITING', 'PAID', 'FAILED', 'EXPIRED', 'VOID', 'CANCEL', 'REVERT'] as const
  let paid: string

  beforeAll(async () => {
    await agent.fund(1_000)
    const { json } = await agent.withdraw({ amount: 10 })
    paid = json.txn_id
    await agent.trigger(paid, 'PAID')
    await manyDeposits(agent, 50_000)
  })

  test('looks at a bounded number of orders, whatever it is asked for', async () => {
    for (const kind of [undefined, 'deposit', 'withdraw'] as const) {
      for (const status of [undefined, ...statuses]) {
        const { pool, met } = watched()
        await listOrders(pool, agent.agentId, {
          limit: 50,
          after: undefined,
          from: undefined,
          to: undefined,
          kind,
          status,
        })
        expect([kind, status, met() <= 2 * ordersLookedAt + 51]).toEqual([kind, status, true])
      }
    }
  })

  test('is found to its end by following next, over pages that have nothing', async () => {
    const found: string[] = []
    const pages: number[] = []
    let next: string | null = ''
    while (next !== null) {
      const path = `/payment/orders?kind=withdraw&status=PAID${next && `&after=${next}`}`
      const { status, json } = await agent.get(path)
      expect(status).toBe(200)
      pages.push(json.data.length)
      found.push(...json.data.map(({ txn_id }: { txn_id: string }) => txn_id))
      next = json.next
    }
    expect(found).toEqual([paid])
    expect(pages).toEqual([0, 0, 1])
  })

  test('with what is common has full pages', async () => {
    const { json } = await agent.get('/payment/orders?kind=deposit&status=WAITING&limit=200')
    expect(json.data).toHaveLength(200)
    expect(json.next).toMatch(/^[0-9a-f]{32}$/)
  })

  test('ends exactly where the orders end', async () => {
    const one = await s.agent()
    await manyDeposits(one, ordersLookedAt)
    const first = await one.get('/payment/orders?kind=withdraw')
    expect(first.json.data).toEqual([])
    expect(first.json.next).toMatch(/^[0-9a-f]{32}$/)
    const last = await one.get(`/payment/orders?kind=withdraw&after=${first.json.next}`)
    expect(last.json).toEqual({ data: [], next: null })
  })
})

test("an agent's lists that do not come to an end hold up nothing but its own", async () => {
  const [greedy, also, other] = [await s.agent(), await s.agent(), await s.agent()]
  const paths = Array.from({ length: 40 }, () => '/payment/wallet/entries')
  // Whoever reads the journal waits from here on; creating a deposit does not read it.
  const holder = new pg.Client(s.database.ownerUrl)
  await holder.connect()
  await holder.query('begin; lock table sluice.journal in access exclusive mode')
  const refused: Awaited<ReturnType<AgentClient['get']>>[] = []
  const ask = async (each: AgentClient, path: string) => {
    const answer = await each.get(path)
    if (each === greedy && answer.status === 503) refused.push(answer)
    return answer.status
  }
  const asked = [greedy, also].flatMap((each) => paths.map((path) => ask(each, path)))
  try {
    // All but those that are read or wait for it.
    await expect.poll(() => refused.length).toBeGreaterThanOrEqual(paths.length - 22)
    for (const answer of refused) {
      expect(answer.json.code).toBe('overloaded')
      expect(answer.headers.get('retry-after')).toBe('1')
    }
    expect((await other.deposit()).status).toBe(201)
    expect((await other.get('/payment/wallet')).status).toBe(200)
    expect((await greedy.deposit()).status).toBe(201)
  } finally {
    await holder.end()
  }
  for (const status of await Promise.all(asked)) expect([200, 503]).toContain(status)
})
