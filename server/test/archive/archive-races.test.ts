import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { archive } from '../../src/archive/archive.ts'
import { proveWithBooks } from '../../src/archive/prove-with-books.ts'
import type { ArchiveOptions } from '../../src/archive/what-to-archive.ts'
import { pruneAttempts } from '../../src/callbacks/prune-attempts.ts'
import { pauseCallbacks, resendCallbacks } from '../../src/callbacks/resend-callbacks.ts'
import { openPool, type Pool } from '../../src/db/pool.ts'
import { parseTxnId } from '../../src/lib/ids.ts'
import { deliverCallbacks } from '../support/sender.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

let s: TestService
let owner: Pool
let folder: string

beforeAll(async () => {
  s = await startTestService()
  owner = openPool({
    url: s.database.ownerUrl,
    max: 2,
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

async function archiveNow(agent: AgentClient, pool = owner, more: Partial<ArchiveOptions> = {}) {
  s.clock.advance(3_600_000)
  const [done] = await archive(pool, {
    before: s.clock(),
    folder,
    now: s.clock,
    appId: agent.appId,
    ...more,
  })
  return done
}

/** The owner's pool, which has something done once, after the first statement that matches has been answered. */
function interrupted(pattern: RegExp, act: () => Promise<void>): Pool {
  let isDone = false
  const connect = async () => {
    const client = await owner.connect()
    const query = client.query.bind(client) as (...given: unknown[]) => Promise<unknown>
    const intercepted = async (...given: unknown[]) => {
      const answer = await query(...given)
      if (!isDone && pattern.test(String(given[0]))) {
        isDone = true
        await act()
      }
      return answer
    }
    return Object.assign(client, { query: intercepted })
  }
  return { connect } as unknown as Pool
}

/** An agent with a withdrawal that was paid, and something after it. */
async function withPaid() {
  const agent = await s.agent({ depositCallbackUrl: null, withdrawCallbackUrl: null })
  await agent.fund(1_000)
  const { txn_id } = (await agent.withdraw()).json
  await agent.trigger(txn_id, 'PAID')
  await agent.fund(10)
  await deliverCallbacks(s, agent)
  return { agent, txnId: txn_id as string }
}

const filesProve = async (agent: AgentClient) => {
  const [proof] = await proveWithBooks(s.backend.pool, folder, { appId: agent.appId })
  return proof?.finding
}

it('an order that changes after it was found to be finished is written as it was, and stays', async () => {
  const { agent, txnId } = await withPaid()
  await pauseCallbacks(s.backend.pool, agent.agentId, true, s.clock)
  const pool = interrupted(/as finished/, async () => {
    expect(await agent.trigger(txnId, 'REVERT')).toMatchObject({ status: 200 })
  })
  await archiveNow(agent, pool)
  await s.prove()
  expect(await filesProve(agent)).toBe(null)
  expect(await agent.get(`/payment/orders/${txnId}`)).toMatchObject({ json: { status: 'REVERT' } })
})

it('a callback that is sent again while its order is being removed goes out, or is known to be gone', async () => {
  const { agent, txnId } = await withPaid()
  const { rows } = await s.sql('select max(seq) as seq from journal where order_id = $1', [
    parseTxnId(txnId)?.orderId,
  ])
  let resent: Promise<unknown> | undefined
  const pool = interrupted(/insert into archived_refs/, async () => {
    resent = resendCallbacks(
      s.backend.pool,
      { agentId: agent.agentId, seq: BigInt(rows[0].seq) },
      s.clock,
    )
    await Promise.race([resent, new Promise((resolve) => setTimeout(resolve, 500))])
  })
  await archiveNow(agent, pool)
  expect(await agent.get(`/payment/orders/${txnId}`)).toMatchObject({ status: 404 })
  expect(await resent).toMatchObject({ resent: 0 })
})

it('an order that stayed behind is proved before it goes', async () => {
  const { agent, txnId } = await withPaid()
  const orderId = parseTxnId(txnId)?.orderId
  await s.sql(`update callbacks set state = 'waiting' where order_id = $1`, [orderId])
  await archiveNow(agent)
  await agent.fund(10)
  await deliverCallbacks(s, agent)
  const lie = (amount: number) =>
    s.sql('update orders set paid_fee = paid_fee + $2 where order_id = $1', [orderId, amount])
  await lie(1)
  await expect(archiveNow(agent)).rejects.toThrow('does not prove, so it is not archived')
  await lie(-1)
  await archiveNow(agent)
  expect(await agent.get(`/payment/orders/${txnId}`)).toMatchObject({ status: 404 })
  expect(await filesProve(agent)).toBe(null)
})

it('a withdrawal that stayed behind and was held at the time of the row before proves without that row', async () => {
  const agent = await s.agent({ depositCallbackUrl: null, withdrawCallbackUrl: null })
  // The clock of another process is ahead.
  s.clock.advance(5_000)
  await agent.fund(1_000)
  s.clock.advance(-5_000)
  const { txn_id } = (await agent.withdraw()).json
  await agent.trigger(txn_id, 'PAID')
  await agent.fund(10)
  await deliverCallbacks(s, agent)
  const { orderId } = parseTxnId(txn_id) ?? {}
  const { rows } = await s.sql(
    `select j.seq - 1 as before, j.at > o.created_at as "isLater" from journal j
     join orders o using (agent_id, order_id) where order_id = $1 and j.event = 'withdraw_held'`,
    [orderId],
  )
  expect(rows).toEqual([{ before: expect.anything(), isLater: true }])
  await s.sql(`update callbacks set state = 'waiting' where order_id = $1`, [orderId])
  await archiveNow(agent)
  const left = await s.sql('select 1 from journal where agent_id = $1 and seq = $2', [
    agent.agentId,
    rows[0].before,
  ])
  expect(left.rowCount).toBe(0)
  await s.prove()
  await deliverCallbacks(s, agent)
  await agent.fund(10)
  await deliverCallbacks(s, agent)
  await archiveNow(agent)
  expect(await agent.get(`/payment/orders/${txn_id}`)).toMatchObject({ status: 404 })
  expect(await filesProve(agent)).toBe(null)
})

it('archiving and forgetting old attempts do not wait for each other', async () => {
  const { agent } = await withPaid()
  const until = new Date('2031-01-01T00:00:00Z')
  const during: unknown[] = []
  const done = await archiveNow(agent, owner, {
    onStep: (step) => {
      if (step === 'journal') during.push(pruneAttempts(s.backend.pool, until, 10))
    },
  })
  expect(done).toMatchObject({ parts: 1 })
  expect(await Promise.all(during)).toEqual(['more'])
})

it('an order that is gone from the books though it never left for a file is missed', async () => {
  const { agent, txnId } = await withPaid()
  const orderId = parseTxnId(txnId)?.orderId
  await s.sql(`update callbacks set state = 'waiting' where order_id = $1`, [orderId])
  await archiveNow(agent)
  expect(await filesProve(agent)).toBe(null)
  const tables = ['callbacks', 'payouts', 'journal', 'orders']
  const kept = new Map<string, string>()
  for (const table of tables) {
    const { rows } = await s.sql(
      `select json_agg(row_to_json(t))::text as rows from ${table} t where order_id = $1`,
      [orderId],
    )
    kept.set(table, rows[0].rows)
    await s.sql(`delete from ${table} where order_id = $1`, [orderId])
  }
  expect(await filesProve(agent)).toContain(txnId)
  for (const table of tables.toReversed()) {
    await s.sql(
      `insert into ${table} select * from json_populate_recordset(null::${table}, $1::json)`,
      [kept.get(table) ?? '[]'],
    )
  }
  expect(await filesProve(agent)).toBe(null)
})
