import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createAgent, defaultTerms } from '../../src/agents/save-agent.ts'
import { openPool, type Pool } from '../../src/db/pool.ts'
import type { OrderKind } from '../../src/ledger/book.ts'
import { newOrderId } from '../../src/lib/ids.ts'
import { localTimeIn } from '../../src/lib/local-time.ts'
import { proveOnward, verify } from '../../src/proof/verify.ts'
import { Teller } from '../../src/teller/teller.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { newOrder } from '../support/naive-model.ts'

/** Longer: `PROOF_LOAD=20000 npx vitest run server/test/proof/proof-under-load.test.ts` */
const stories = Number(process.env.PROOF_LOAD ?? 600)

let database: TestDatabase
let pool: Pool
let owner: Pool
const tellers: Teller[] = []
const agentIds = [1n, 2n]

beforeAll(async () => {
  database = await testDatabase()
  const options = { url: database.url, onError: () => {} }
  pool = openPool({ ...options, max: 6, name: 'test', pipeline: true })
  owner = openPool({ ...options, url: database.ownerUrl, max: 2, name: 'owner', as: 'owner' })
  const terms = { ...defaultTerms, name: 'Busy', currency: 'THB' } as const
  for (const _ of agentIds) await createAgent(owner, [Buffer.alloc(32, 7)], terms, new Date())
  // Two of them, as two processes would be: their batches come in between each other's.
  for (let process = 0; process < 2; process++) {
    tellers.push(
      new Teller({
        pool,
        localTime: localTimeIn('UTC'),
        writers: 2,
        maxBatch: 50,
        maxQueue: 10_000,
        patienceMs: 30_000,
      }),
    )
  }
  await Promise.all(agentIds.map((agentId) => adjust(agentId, 'funds', 10_000_000_000n)))
})
afterAll(async () => {
  await pool.end()
  await owner.end()
  await database.close()
})

it('the proof finds nothing while everything changes under it', async () => {
  let isBusy = true
  const busy = playStories().finally(() => {
    isBusy = false
  })
  const found: string[] = []
  let rounds = 0
  while (isBusy) {
    found.push(...(await verify(owner, {})).flatMap(({ finding }) => finding ?? []))
    found.push(...(await proveOnward(owner, new Date())).findings)
    rounds++
  }
  await busy
  expect(found).toEqual([])
  expect(rounds).toBeGreaterThan(1)
  const proofs = await verify(owner, {})
  expect(proofs).toMatchObject([{ finding: null }, { finding: null }])
  expect(proofs.reduce((sum, { orders }) => sum + orders, 0)).toBe(stories)
})

it('a proof holds no snapshot for longer than a page of rows takes', async () => {
  await Promise.all(Array.from({ length: 5_000 }, (_, n) => adjust(1n, `a-${n}`, 1n)))
  const rowsRead: number[] = []
  const { finding } = (await verify(counting(owner, rowsRead), {}))[0] ?? {}
  expect(finding).toBe(null)
  expect(rowsRead.reduce((sum, rows) => sum + rows, 0)).toBeGreaterThan(5_000)
  expect(Math.max(...rowsRead)).toBeLessThan(5 * 2_000)
  expect(rowsRead.length).toBeGreaterThan(8)
})

/** Every order lives through something, many at once. */
async function playStories(): Promise<void> {
  let story = 0
  const play = async () => {
    while (story < stories) await playStory(story++)
  }
  await Promise.all(Array.from({ length: 20 }, play))
}

async function playStory(number: number): Promise<void> {
  const agentId = agentIds[number % 2] ?? 1n
  const ways = [pay, pay, expire, takeBack, payOut, payOut, fail, revert]
  await ways[number % ways.length]?.(agentId, number)
}

async function open(agentId: bigint, kind: OrderKind, number: number): Promise<string> {
  const createdAt = new Date()
  const orderId = newOrderId(createdAt)
  const order = newOrder({
    agentId,
    orderId,
    kind,
    createdAt,
    refId: `r-${number}`,
    feeMinor: 150n,
    feeRule: '1.5%',
  })
  await teller(number).do({ type: 'create', agentId, at: createdAt, order })
  return orderId
}

async function pay(agentId: bigint, number: number): Promise<string> {
  const orderId = await open(agentId, 'deposit', number)
  const paidAt = new Date()
  const payment = {
    paymentId: `bank:${agentId}-${number}`,
    amountMinor: 10_000n,
    paidAt,
    payer: null,
  }
  await teller(number + 1).do({
    type: 'receive_payment',
    provider: null,
    agentId,
    at: paidAt,
    orderId,
    payment,
  })
  return orderId
}

async function takeBack(agentId: bigint, number: number): Promise<void> {
  const orderId = await pay(agentId, number)
  const paymentId = `bank:${agentId}-${number}`
  await teller(number).do({
    type: 'take_back_payment',
    agentId,
    at: new Date(),
    orderId,
    paymentId,
  })
}

async function expire(agentId: bigint, number: number): Promise<void> {
  await outcome(agentId, await open(agentId, 'deposit', number), number, 'EXPIRED')
}

function outcome(
  agentId: bigint,
  orderId: string,
  number: number,
  to: 'EXPIRED' | 'PAID' | 'FAILED' | 'REVERT',
) {
  return teller(number).do({ type: 'outcome', agentId, at: new Date(), orderId, to })
}

async function payOut(agentId: bigint, number: number): Promise<string> {
  const orderId = await handOver(agentId, number)
  await outcome(agentId, orderId, number + 1, 'PAID')
  await savePayout(agentId, orderId, 'paid')
  return orderId
}

async function fail(agentId: bigint, number: number): Promise<void> {
  const orderId = await handOver(agentId, number)
  await outcome(agentId, orderId, number, 'FAILED')
  await savePayout(agentId, orderId, 'rejected')
}

async function revert(agentId: bigint, number: number): Promise<void> {
  const orderId = await payOut(agentId, number)
  await outcome(agentId, orderId, number, 'REVERT')
  await savePayout(agentId, orderId, 'returned')
}

async function handOver(agentId: bigint, number: number): Promise<string> {
  const orderId = await open(agentId, 'withdraw', number)
  const at = new Date()
  await teller(number).do({
    type: 'hand_over',
    agentId,
    at,
    orderId,
    provider: 'bank',
    references: [`p-${number}`],
    insteadOf: null,
    token: randomUUID(),
    askAt: at,
  })
  return orderId
}

/** As the service does: after the order, in a transaction of its own. */
async function savePayout(agentId: bigint, orderId: string, state: string): Promise<void> {
  await pool.query(
    'update payouts set state = $3, ask_at = null where agent_id = $1 and order_id = $2',
    [agentId, orderId, state],
  )
}

async function adjust(agentId: bigint, ref: string, amountMinor: bigint): Promise<void> {
  const at = new Date()
  await teller(0).do({ type: 'adjust', agentId, at, amountMinor, reason: 'test', ref })
}

function teller(number: number): Teller {
  const own = tellers[number % tellers.length]
  if (!own) throw new Error('there is no teller')
  return own
}

/** The pool, with how many rows each transaction read from the beginning to its end. */
function counting(pool: Pool, rowsRead: number[]): Pool {
  const connect = async () => {
    const client = await pool.connect()
    const query = async (...args: [string | { text: string }, unknown[]?]) => {
      const text = typeof args[0] === 'string' ? args[0] : args[0].text
      if (text.startsWith('begin')) rowsRead.push(0)
      const result = await client.query(args[0] as string, args[1])
      rowsRead.push((rowsRead.pop() ?? 0) + result.rows.length)
      return result
    }
    return { query, release: (broken?: boolean) => client.release(broken) }
  }
  return { query: pool.query.bind(pool), connect } as unknown as Pool
}
