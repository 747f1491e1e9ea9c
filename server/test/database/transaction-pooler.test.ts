import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { DatabaseGate, readPlace } from '../../src/db/database-gate.ts'
import { byTransaction } from '../../src/db/hosts.ts'
import { inTransaction } from '../../src/db/in-transaction.ts'
import { isConnectionLost, openPool, type Pool } from '../../src/db/pool.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { startTestService, type TestService } from '../support/service.ts'

let direct: TestService
let s: TestService
let receiver: Receiver
beforeAll(async () => {
  receiver = await startReceiver()
  // Another process, which does not send callbacks, and goes to the server itself.
  direct = await startTestService({ env: { ROLE: 'api' }, realTime: true })
  const env = { DATABASE_POOLER: 'transaction', DATABASE_DIRECT_URL: direct.database.url }
  s = await startTestService({ env, beside: direct })
})
afterAll(async () => {
  await s.prove()
  await s.close()
  await direct.close()
  await receiver.close()
})

const open = (gate?: DatabaseGate): Pool =>
  openPool({
    ...{ url: byTransaction(s.database.url), max: 1, name: 'test', gate, onError: () => {} },
    settings: { lock_timeout: '123ms' },
  })

/** What the session itself has, past what a transaction is set up with. */
async function left(pool: Pool) {
  const client = await pool.connect()
  try {
    const text = `select current_setting('search_path') as path, current_setting('lock_timeout') as waits,
      current_setting('synchronous_commit') as commits,
      (select count(*)::int from pg_prepared_statements) as prepared`
    const { rows } = await Reflect.apply(pg.Client.prototype.query, client, [text])
    return rows[0]
  } finally {
    client.release()
  }
}

it('every statement has its settings, and leaves nothing in the session', async () => {
  const pool = open()
  const before = await left(pool)
  expect(before.path).not.toBe('sluice')
  const text = `select current_setting('search_path') as path, current_setting('lock_timeout') as waits,
    current_setting('synchronous_commit') as commits, $1::int as given`
  const inForce = { path: 'sluice', waits: '123ms', commits: 'on', given: 7 }
  expect((await pool.query(text, [7])).rows).toEqual([inForce])
  expect((await pool.query({ name: 'named', text, values: [7] })).rows).toEqual([inForce])
  const inOne = await inTransaction(
    pool,
    async (tx) => (await tx.query({ name: 'named', text, values: [7] })).rows,
    'isolation level repeatable read read only',
  )
  expect(inOne).toEqual([inForce])
  // Before a statement fails: its session is not used again.
  expect(await left(pool)).toEqual({ ...before, prepared: 0 })
  await expect(pool.query('select 1 / 0')).rejects.toThrow('division by zero')
  await expect(inTransaction(pool, (tx) => tx.query('select nothing'))).rejects.toThrow('nothing')
  expect((await pool.query(text, [7])).rows).toEqual([inForce])
  expect(await left(pool)).toEqual({ ...before, prepared: 0 })
  await pool.end()
})

it('what fails is undone, and what is acknowledged is there', async () => {
  const pool = open()
  await s.sql('drop table if exists kept')
  await s.sql('create table kept (n int primary key)')
  await s.sql('grant insert, select on kept to public')
  await pool.query('insert into kept values (1)')
  await expect(
    inTransaction(pool, async (tx) => {
      await tx.query('insert into kept values (2)')
      throw new Error('no')
    }),
  ).rejects.toThrow('no')
  await expect(pool.query('insert into kept values (3), (1)')).rejects.toThrow('duplicate key')
  expect((await s.sql('select n from kept')).rows).toEqual([{ n: 1 }])

  // A server that nobody has looked at, behind the same connection: nothing reaches it.
  let strangers = 0
  const gate = new DatabaseGate()
  gate.watch(() => strangers++)
  const gated = open(gate)
  await gated.query('insert into kept values (4)')
  const { startedAt, ...place } = await readPlace(gated)
  gate.accept({ ...place, startedAt })
  await gated.query('insert into kept values (5)')
  gate.accept({ ...place, startedAt: `${Number(startedAt) - 1}` })
  const refused = await gated.query('insert into kept values (6)').catch((error) => error)
  expect(isConnectionLost(refused)).toBe(true)
  await expect(
    inTransaction(gated, (tx) => tx.query('insert into kept values (7)')),
  ).rejects.toThrow('it is looked at first')
  expect(strangers).toBe(2)
  expect((await s.sql('select n from kept order by n')).rows).toEqual([
    ...[{ n: 1 }, { n: 4 }, { n: 5 }],
  ])
  await s.sql('drop table kept')
  await Promise.all([pool.end(), gated.end()])
})

it('orders are made, paid and called back', async () => {
  const agent = await s.agent({ depositCallbackUrl: receiver.url })
  const orders = await Promise.all(Array.from({ length: 5 }, () => agent.deposit()))
  for (const order of orders) {
    expect(order.status).toBe(201)
    expect((await agent.trigger(order.json.txn_id, 'PAID')).status).toBe(200)
  }
  await receiver.until(5)
  expect(await agent.balance()).toBe(500)
  expect((await agent.get('/payment/orders?limit=5')).json.data).toHaveLength(5)
})
