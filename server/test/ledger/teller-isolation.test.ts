import { once } from 'node:events'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { OrderKind } from '../../src/ledger/book.ts'
import type { Command } from '../../src/ledger/commands.ts'
import { newOrderId } from '../../src/lib/ids.ts'
import { localTimeIn } from '../../src/lib/local-time.ts'
import { type Done, Teller, type TellerOptions } from '../../src/teller/teller.ts'
import { openTellerPool } from '../../src/teller/teller-pool.ts'
import { newOrder } from '../support/naive-model.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'

let s: TestService
/** The agent that is held up, and twenty that must not notice. */
let held: bigint
let others: bigint[]
const closers: (() => Promise<unknown>)[] = []
let made = 0

beforeAll(async () => {
  s = await startTestService()
  const ids = []
  for (let n = 0; n < 21; n++) ids.push((await s.agent()).agentId)
  ;[held = 0n, ...others] = ids
  await Promise.all(ids.map((agentId) => s.service.desk.teller.do(adjust(agentId, 1_000_000n))))
})
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
  await s.prove()
})
afterAll(() => s.close())

it('a wallet that a frozen process has locked holds up its own agent alone', async () => {
  const teller = tellerOn(s.database.url)
  const unlock = await frozen('select from wallets where agent_id = $1 for update', [held])
  const waiting = many(5, (n) => answersOf(teller, [adjust(held, BigInt(n + 1))]))
  for (let round = 0; round < 10; round++) {
    waiting.push(answersOf(teller, [adjust(held, 1n)]))
    const commands = others.flatMap((agentId) => [
      adjust(agentId, 1n),
      create(agentId, 'withdraw'),
      create(agentId, 'deposit'),
    ])
    expect(await answersOf(teller, commands)).toEqual(commands.map(() => 'done'))
  }
  expect(teller.queueDepth).toBe(waiting.length)
  await unlock()
  expect((await Promise.all(waiting)).flat()).toEqual(waiting.map(() => 'done'))
  const { rows } = await s.sql(
    `select available_change from journal where agent_id = $1 and event = 'adjustment' order by seq desc limit 15`,
    [held],
  )
  const inOrder = [1, 2, 3, 4, 5, ...Array(10).fill(1)]
  expect(rows.map((row) => Number(row.available_change)).toReversed()).toEqual(inOrder)
})

it('who waits for a locked wallet for too long is refused, alone, and is not served later', async () => {
  const teller = tellerOn(s.database.url, { patienceMs: 300 })
  const unlock = await frozen('select from wallets where agent_id = $1 for update', [held])
  const refused = create(held, 'withdraw')
  const commands = [refused, ...others.map((agentId) => adjust(agentId, 1n))]
  expect(await answersOf(teller, commands)).toEqual(['overloaded', ...others.map(() => 'done')])
  await unlock()
  expect(await answersOf(teller, [adjust(held, 1n)])).toEqual(['done'])
  expect(await isThere(refused)).toBe(false)
})

it('a process that freezes while it has a wallet loses it before others lose their patience', async () => {
  const pool = openTellerPool(s.database.url, () => {}, 1)
  closers.push(() => pool.end())
  const client = await pool.connect()
  const ended = once(client, 'error')
  await client.query('begin')
  await client.query('select from wallets where agent_id = $1 for update', [held])
  const teller = tellerOn(s.database.url)
  expect(await answersOf(teller, [adjust(held, 1n)])).toEqual(['done'])
  await ended
  client.release(true)
})

it.each<OrderKind>(['deposit', 'withdraw'])(
  'a %s whose refId somebody is about to take waits by itself',
  async (kind) => {
    const teller = tellerOn(s.database.url)
    const taken = create(held, kind)
    const unlock = await frozen(
      `insert into orders (agent_id, order_id, kind, ref_id, user_id, amount, fee, fee_rule,
         account_name, account_no, bank_code, status, version, answer, created_at, currency,
         revert_fee)
       values ($1, gen_random_uuid(), 'withdraw', $2, 'u', 1, 0, '0%', 'A B', '1234567890', 'SCB',
         'WAITING', 1, '', now(), 'THB', 'return')`,
      [held, taken.order.refId],
    )
    const waiting = answersOf(teller, [taken])
    const commands = [
      ...(kind === 'deposit' ? many(10, () => create(held, 'deposit')) : []),
      ...others.map((agentId) => create(agentId, kind)),
    ]
    for (let round = 0; round < 3; round++) {
      const again = commands.map(({ agentId }) => create(agentId, kind))
      expect(await answersOf(teller, again)).toEqual(again.map(() => 'done'))
    }
    expect(teller.queueDepth).toBe(1)
    await unlock()
    expect(await waiting).toEqual(['done'])
    expect(await isThere(taken)).toBe(true)
  },
)

it("one agent's flood is refused, while others are taken", async () => {
  const teller = tellerOn(s.database.url, { maxQueue: 100, maxQueuePerAgent: 25 })
  const [flood, ...rest] = await Promise.all([
    answersOf(
      teller,
      many(60, (n) => create(held, n % 2 === 0 ? 'deposit' : 'withdraw')),
    ),
    ...others.map((agentId) => answersOf(teller, [adjust(agentId, 1n)])),
  ])
  expect(flood).toEqual([...Array(25).fill('done'), ...Array(35).fill('overloaded')])
  expect(rest.flat()).toEqual(others.map(() => 'done'))
  expect(teller.queueDepth).toBe(0)
})

it.each(['before', 'after'] as const)(
  'a batch of many agents that is cut %s its commit is found out for each of them',
  async (cut) => {
    const proxy = await TcpProxy.open(s.database.url)
    closers.push(() => proxy.close())
    const teller = tellerOn(proxy.url)
    proxy.cutNextCommits([cut])
    const commands = [held, ...others].flatMap((agentId) => [
      create(agentId, 'withdraw'),
      adjust(agentId, 1n),
      create(agentId, 'withdraw'),
    ])
    expect(await answersOf(teller, commands)).toEqual(commands.map(() => 'done'))
    expect(proxy.cuts).toBe(1)
    expect(await answersOf(teller, commands)).toEqual(commands.map(() => 'done before'))
  },
)

it('a process whose clock is ahead takes no book along: it is refused, and the others go on', async () => {
  const teller = tellerOn(s.database.url, { isOnTime: true })
  const [other = 0n, ahead = 0n] = others
  const at = (ms: number) => new Date(Date.now() + ms)
  const commands = [
    { ...adjust(other, 1n), at: at(-5_000) },
    { ...adjust(ahead, 1n), at: at(90_000) },
    { ...adjust(held, 1n), at: at(30_000) },
    { ...adjust(ahead, 1n), at: at(-5_000) },
  ]
  expect(await answersOf(teller, commands)).toEqual(['done', 'overloaded', 'done', 'done'])
  const deposits = [90_000, -5_000].map((ms) => ({ ...create(other, 'deposit'), at: at(ms) }))
  expect(await answersOf(teller, deposits)).toEqual(['overloaded', 'done'])
})

function tellerOn(url: string, options: Partial<TellerOptions> = {}): Teller {
  const pool = openTellerPool(url, () => {})
  closers.push(() => pool.end())
  return new Teller({
    pool,
    localTime: localTimeIn('UTC'),
    writers: 3,
    maxBatch: 500,
    maxQueue: 5_000,
    patienceMs: 50_000,
    ...options,
  })
}

/** A session that did something and then does nothing more, until it is let go. */
async function frozen(sql: string, values: unknown[]): Promise<() => Promise<void>> {
  const client = new pg.Client({
    connectionString: s.database.ownerUrl,
    options: '-c search_path=sluice',
  })
  await client.connect()
  await client.query('begin')
  await client.query(sql, values)
  const unlock = async () => {
    await client.query('rollback')
    await client.end()
  }
  closers.push(() => client.end())
  return unlock
}

function create(agentId: bigint, kind: OrderKind): Command & { type: 'create' } {
  const at = s.clock()
  const refId = `r-${made++}`
  const amountMinor = 100n
  const order = newOrder({
    agentId,
    orderId: newOrderId(at),
    kind,
    createdAt: at,
    refId,
    amountMinor,
  })
  return { type: 'create', agentId, at, order }
}

function adjust(agentId: bigint, amountMinor: bigint): Command {
  return { type: 'adjust', agentId, at: s.clock(), amountMinor, reason: 'test', ref: `a-${made++}` }
}

async function answersOf(teller: Teller, commands: Command[]): Promise<string[]> {
  const outcomes = await Promise.allSettled(commands.map((command) => teller.do(command)))
  const words = ({ changed }: Done) => (changed ? 'done' : 'done before')
  return outcomes.map((outcome) =>
    outcome.status === 'fulfilled' ? words(outcome.value) : String(outcome.reason.code),
  )
}

async function isThere({ agentId, order }: Command & { type: 'create' }): Promise<boolean> {
  const { rows } = await s.sql('select from orders where agent_id = $1 and ref_id = $2', [
    agentId,
    order.refId,
  ])
  return rows.length > 0
}

function many<T>(n: number, make: (index: number) => T): T[] {
  return Array.from({ length: n }, (_, index) => make(index))
}
