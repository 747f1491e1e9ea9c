import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Pool } from '../../src/db/pool.ts'
import type { Order } from '../../src/ledger/book.ts'
import type { Command } from '../../src/ledger/commands.ts'
import { houseBook } from '../../src/ledger/house.ts'
import { readWallet } from '../../src/ledger/read-wallet.ts'
import { newOrderId } from '../../src/lib/ids.ts'
import { localTimeIn } from '../../src/lib/local-time.ts'
import { creditPayment } from '../../src/payments/payments.ts'
import { redBooks } from '../../src/proof/red-books.ts'
import { proofState, proveOnward } from '../../src/proof/verify.ts'
import { readTrialBalances } from '../../src/reports/trial-balance.ts'
import { Teller } from '../../src/teller/teller.ts'
import { openTellerPool } from '../../src/teller/teller-pool.ts'
import { chainAnew } from '../support/chain-anew.ts'
import { freezeHolding } from '../support/frozen-holder.ts'
import { newOrder } from '../support/naive-model.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'

/** The house's books beside the agents': who waits for whom, and what a move between two of them survives. */

const house = houseBook('THB')
let s: TestService
const closers: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  s = await startTestService()
})
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
  await s.prove('also across agents')
})
afterAll(() => s.close())

function tellerOn(url: string, patienceMs = 20_000): { teller: Teller; pool: Pool } {
  const pool = openTellerPool(url, () => {}, 3)
  closers.push(() => pool.end())
  const teller = new Teller({
    pool,
    localTime: localTimeIn('UTC'),
    writers: 2,
    patientWriters: 1,
    maxBatch: 100,
    maxQueue: 1_000,
    patienceMs,
  })
  return { teller, pool }
}

let payments = 0
const unmatchedPayment = (): Command & { type: 'receive_unmatched' } => ({
  type: 'receive_unmatched',
  agentId: house,
  at: s.clock(),
  unmatched: {
    paymentId: `bank:house-${++payments}`,
    reference: 'INV 1',
    amountMinor: 10_000n,
    currency: 'THB',
    paidAt: s.clock(),
    payer: null,
    why: 'unmatched',
    contradicts: null,
  },
})
const assign = (agentId: bigint, paymentId: string, orderId: string | null = null): Command => ({
  type: 'assign_payment',
  agentId,
  houseId: house,
  at: s.clock(),
  orderId,
  paymentId,
  reason: 'theirs',
})
const order = (agentId: bigint, kind: 'deposit' | 'withdraw', more: Partial<Order> = {}) =>
  newOrder({
    agentId,
    orderId: newOrderId(s.clock()),
    kind,
    createdAt: s.clock(),
    amountMinor: 10_000n,
    ...more,
  })
const create = (agentId: bigint, kind: 'deposit' | 'withdraw') => {
  const made = order(agentId, kind)
  const command: Command = { type: 'create', agentId, at: s.clock(), order: made }
  return { orderId: made.orderId, command }
}
const balancesOf = async (agentId: bigint) => (await readWallet(s.backend.pool, agentId)).balances

it('an ordinary order locks one book, the agent’s, however it ends', async () => {
  const { agentId } = await s.agent()
  const { teller, pool } = tellerOn(s.database.url)
  const locked: unknown[] = []
  const connect = pool.connect.bind(pool)
  const watched = new WeakSet<object>()
  pool.connect = (async () => {
    const client = await connect()
    if (watched.has(client)) return client
    watched.add(client)
    const query = client.query.bind(client) as (...args: unknown[]) => unknown
    client.query = ((...args: unknown[]) => {
      const [asked] = args as [{ text?: string; values?: unknown[] }]
      if (/wallets[\s\S]*for no key update/.test(asked.text ?? '')) locked.push(asked.values?.[0])
      return query(...args)
    }) as typeof client.query
    return client
  }) as typeof pool.connect
  const done = async (command: Command) => {
    locked.length = 0
    await teller.do(command)
    return [...locked]
  }
  const common = { agentId, at: s.clock() }
  const deposit = create(agentId, 'deposit')
  const receive = (orderId: string, paymentId: string, amountMinor: bigint): Command => ({
    ...common,
    type: 'receive_payment',
    orderId,
    provider: null,
    payment: { paymentId, amountMinor, paidAt: s.clock(), payer: null },
  })
  expect(await done(deposit.command)).toEqual([])
  expect(await done(receive(deposit.orderId, `bank:${agentId}-1`, 10_000n))).toEqual([agentId])
  // It is another's money, or too much: it waits in the agent's own suspense.
  expect(await done(receive(deposit.orderId, `bank:${agentId}-2`, 77n))).toEqual([agentId])
  expect((await balancesOf(agentId)).suspense).toBe(77n)
  const cost = { provider: 'bank', costId: `c-${agentId}`, amountMinor: 5n }
  const charged: Command = {
    ...common,
    type: 'charge_cost',
    orderId: deposit.orderId,
    ...cost,
  }
  expect(await done(charged)).toEqual([agentId])
  const withdrawal = create(agentId, 'withdraw')
  expect(await done(withdrawal.command)).toEqual([agentId])
  const { orderId } = withdrawal
  expect(await done({ ...common, type: 'outcome', orderId, to: 'PAID' })).toEqual([agentId])
  expect(await done({ ...common, type: 'outcome', orderId, to: 'REVERT' })).toEqual([agentId])
  // Whatever else may become of a withdrawal, a deposit or a refund.
  const own = [agentId]
  const handOver = (to: string): Command => ({
    ...{ ...common, type: 'hand_over', orderId: to, provider: 'bank', references: [`r-${to}`] },
    ...{ insteadOf: null, token: to, askAt: s.clock() },
  })
  const [failed, cancelled] = [create(agentId, 'withdraw'), create(agentId, 'withdraw')]
  expect(await done(failed.command)).toEqual(own)
  expect(await done(handOver(failed.orderId))).toEqual(own)
  expect(await done({ ...common, type: 'outcome', orderId: failed.orderId, to: 'FAILED' })).toEqual(
    own,
  )
  expect(await done(cancelled.command)).toEqual(own)
  expect(await done({ ...common, type: 'cancel', orderId: cancelled.orderId })).toEqual(own)
  const unpaid = create(agentId, 'deposit')
  expect(await done(unpaid.command)).toEqual([])
  const after = new Date(s.clock().getTime() + 3_600_000)
  expect(await done({ ...common, at: after, type: 'expire', orderId: unpaid.orderId })).toEqual(own)
  const refund = order(agentId, 'withdraw', { refundOf: deposit.orderId, amountMinor: 5_000n })
  const refunded: Command = { ...common, type: 'create', order: refund, depositVersion: 2 }
  expect(await done(refunded)).toEqual(own)
  const paymentId = `bank:${agentId}-1`
  const takenBack: Command = {
    ...{ ...common, type: 'take_back_payment', orderId: deposit.orderId, paymentId },
  }
  expect(await done(takenBack)).toEqual(own)
  // With limits and a reserve it is the same book.
  const limited = create(agentId, 'deposit').command as Command & { type: 'create' }
  expect(await done({ ...limited, isLimited: true })).toEqual(own)
  const reserved = order(agentId, 'deposit', { reserveRule: '10%/1' })
  await teller.do({ ...common, type: 'create', order: reserved })
  expect(await done(receive(reserved.orderId, `bank:${agentId}-3`, 10_000n))).toEqual(own)
  const dayAfter = new Date(s.clock().getTime() + 86_400_000)
  const { orderId: released } = reserved
  expect(await done({ agentId, at: dayAfter, type: 'release_reserve', orderId: released })).toEqual(
    own,
  )
  // Only what is about two books locks two, in the order of their ids.
  expect(await done({ ...common, type: 'sweep', houseId: house, day: '2026-01-01' })).toEqual([
    house,
    agentId,
  ])
})

it('an agent sees rows that are about the house with the fields of any other, and nothing moved', async () => {
  const agent = await s.agent({ depositFee: '1%' })
  const { agentId } = agent
  await agent.fund(100)
  const { teller } = s.service.desk
  const common = { agentId, at: s.clock() }
  const { json } = await agent.deposit()
  const [, orderId = ''] = json.txn_id.split('-')
  const payment = { paymentId: `sandbox:more-${agentId}`, amountMinor: 7n, paidAt: s.clock() }
  await teller.do({
    ...{ ...common, type: 'receive_payment', orderId, provider: null },
    payment: { ...payment, payer: null },
  })
  const cost = { provider: 'sandbox', costId: `of-${agentId}`, amountMinor: 5n }
  await teller.do({ ...common, type: 'charge_cost', orderId, ...cost })
  await teller.do({ ...common, type: 'sweep', houseId: house, day: '2026-01-02' })
  const { data } = (await agent.get('/payment/wallet/entries')).json
  const unmoved = { amount: 0, held_change: 0, fee: 0, balance: 99, held: 0, reason: null }
  const at = expect.any(String)
  expect(data.slice(1)).toEqual([
    { seq: 2, at, event: 'payment_received', txn_id: null, ...unmoved },
    { seq: 3, at, event: 'cost_charged', txn_id: json.txn_id, ...unmoved },
    { seq: 4, at, event: 'swept', txn_id: null, ...unmoved },
  ])
})

it('whoever holds the house’s book holds up nothing but what is about it', async () => {
  const agents = await Promise.all([s.agent(), s.agent(), s.agent()])
  const lost = unmatchedPayment()
  await s.service.desk.teller.do(lost)
  const { teller } = tellerOn(s.database.url)
  const release = await freezeHolding(s.database.ownerUrl, house)
  const [first] = agents
  const assigning = agents.map(({ agentId }) =>
    teller.do(assign(agentId, lost.unmatched.paymentId)).then(
      () => 'assigned',
      () => 'refused',
    ),
  )
  const orders = agents.flatMap(({ agentId }) => [
    create(agentId, 'deposit'),
    create(agentId, 'deposit'),
  ])
  await Promise.all(orders.map(({ command }) => teller.do(command)))
  await Promise.all(
    orders.map(({ command, orderId }) =>
      teller.do({
        type: 'receive_payment',
        agentId: command.agentId,
        at: s.clock(),
        orderId,
        provider: null,
        payment: {
          paymentId: `bank:beside-${orderId}`,
          amountMinor: 10_000n,
          paidAt: s.clock(),
          payer: null,
        },
      }),
    ),
  )
  expect((await balancesOf(first.agentId)).available).toBe(20_000n)
  release()
  expect((await Promise.all(assigning)).sort()).toEqual(['assigned', 'refused', 'refused'])
})

describe.each(['before', 'after'] as const)('a commit that is cut %s it arrived', (cut) => {
  it('has moved the money between two books once, or not at all', async () => {
    const { agentId } = await s.agent()
    const lost = unmatchedPayment()
    await s.service.desk.teller.do(lost)
    const before = await balancesOf(house)
    const proxy = await TcpProxy.open(s.database.url)
    closers.push(() => proxy.close())
    const { teller } = tellerOn(proxy.url)
    proxy.cutNextCommits([cut])
    const command = assign(agentId, lost.unmatched.paymentId)
    expect(await teller.do(command)).toMatchObject({ changed: true })
    expect(proxy.cuts).toBe(1)
    expect((await balancesOf(house)).suspense).toBe(before.suspense - 10_000n)
    // It is credited, and waits nowhere in between.
    expect(await balancesOf(agentId)).toMatchObject({ available: 10_000n, suspense: 0n })
    expect(await teller.do(command)).toMatchObject({ changed: false })
  })

  it.each(['wallet', 'order'])(
    'has credited what was nobody’s to the %s, or the house still has it',
    async (to) => {
      const { agentId } = await s.agent()
      const lost = unmatchedPayment()
      await s.service.desk.teller.do(lost)
      const { paymentId } = lost.unmatched
      // Of another amount, so that it does not pay by itself.
      const made = order(agentId, 'deposit', { amountMinor: 12_345n })
      const created: Command = { type: 'create', agentId, at: s.clock(), order: made }
      if (to === 'order') await s.service.desk.teller.do(created)
      const orderId = to === 'order' ? made.orderId : null
      const suspense = (await balancesOf(house)).suspense
      const proxy = await TcpProxy.open(s.database.url)
      closers.push(() => proxy.close())
      // With no patience, it ends as it is after the cut.
      const { teller } = tellerOn(proxy.url, 0)
      proxy.cutNextCommits([cut])
      const desk = { pool: s.backend.pool, teller, now: s.clock }
      await creditPayment(desk, paymentId, { agentId, orderId }, 'theirs').catch(() => undefined)
      expect(proxy.cuts).toBe(1)
      // Both in one look: the commit may be arriving.
      const { rows } = await s.sql(
        `select h.suspense as left, a.available, a.suspense from wallets h, wallets a
         where h.agent_id = $1 and a.agent_id = $2`,
        [house, agentId],
      )
      const isGone = BigInt(rows[0]?.left) !== suspense
      expect(rows).toMatchObject([{ available: isGone ? '10000' : '0', suspense: '0' }])
      const again = { ...desk, teller: s.service.desk.teller }
      await creditPayment(again, paymentId, { agentId, orderId }, 'theirs')
      expect(await balancesOf(agentId)).toMatchObject({ available: 10_000n, suspense: 0n })
    },
  )
})

it('what cannot be credited stays with the house', async () => {
  const { agentId } = await s.agent()
  const lost = unmatchedPayment()
  await s.service.desk.teller.do(lost)
  const made = order(agentId, 'deposit', {
    ...{ amountMinor: 70_000n, feeRule: '500', feeMinor: 50_000n },
  })
  await s.service.desk.teller.do({ type: 'create', agentId, at: s.clock(), order: made })
  const before = await balancesOf(house)
  const to = { agentId, orderId: made.orderId }
  await expect(
    creditPayment(s.service.desk, lost.unmatched.paymentId, to, 'theirs'),
  ).rejects.toMatchObject({ code: 'amount_out_of_range' })
  expect(await balancesOf(house)).toEqual(before)
  expect((await balancesOf(agentId)).suspense).toBe(0n)
})

it('what is assigned, returned and dismissed at once by several processes happens once', async () => {
  const [one, two] = await Promise.all([s.agent(), s.agent()])
  const tellers = [tellerOn(s.database.url), tellerOn(s.database.url)]
  for (let round = 0; round < 10; round++) {
    const lost = unmatchedPayment()
    const { paymentId } = lost.unmatched
    await s.service.desk.teller.do(lost)
    const end = (state: 'returned' | 'dismissed'): Command => ({
      type: 'end_unmatched',
      agentId: house,
      at: s.clock(),
      paymentId,
      state,
      evidence: 'a slip',
    })
    const decisions = [
      assign(one.agentId, paymentId),
      assign(two.agentId, paymentId),
      end('returned'),
      end('dismissed'),
    ]
    const done = await Promise.all(
      decisions.map((command, at) =>
        (tellers[at % 2] as (typeof tellers)[0]).teller.do(command).then(
          ({ changed }) => changed,
          () => false,
        ),
      ),
    )
    expect(done.filter((changed) => changed)).toHaveLength(1)
  }
})

describe('times', () => {
  const minutesAgo = (minutes: number) => new Date(s.clock().getTime() - minutes * 60_000)
  const adjust = (agentId: bigint, ref: string, at: Date): Command => ({
    ...{ type: 'adjust', agentId, ref, at, amountMinor: 1_000n, reason: 'a bonus' },
  })
  const timesOf = async (agentId: bigint) =>
    (await s.sql('select at from journal where agent_id = $1 order by seq', [agentId])).rows.map(
      (row) => row.at,
    )

  it('of a book never go down, whoever writes with which clock', async () => {
    const { agentId } = await s.agent()
    const tellers = [tellerOn(s.database.url).teller, tellerOn(s.database.url).teller]
    for (const [n, minutes] of [5, 9, 4, 7, 3].entries()) {
      await tellers[n % 2]?.do(adjust(agentId, `a-${n}`, minutesAgo(minutes)))
    }
    // In one batch, too.
    await Promise.all(
      [2, 8, 1].map((minutes) =>
        tellers[0]?.do(adjust(agentId, `b-${minutes}`, minutesAgo(minutes))),
      ),
    )
    expect(await timesOf(agentId)).toEqual([5, 5, 4, 4, 3, 2, 2, 1].map(minutesAgo))
  })

  it('of a move are the same in both books, so that they balance as of any moment', async () => {
    const agent = await s.agent({ depositFee: '1%' })
    const { agentId } = agent
    const { teller } = s.service.desk
    const { json } = await agent.deposit({ amount: 1_000 })
    await agent.trigger(json.txn_id, 'PAID')
    // It was asked for before the last row of the agent, and before the last one of the house.
    await teller.do(adjust(agentId, 'later', s.clock()))
    const sweep: Command = {
      ...{ type: 'sweep', agentId, houseId: house, day: '2026-01-02', at: minutesAgo(20) },
    }
    await teller.do(sweep)
    expect((await timesOf(agentId)).at(-1)).toEqual((await timesOf(house)).at(-1))
    const { rows: written } = await s.sql('select distinct at from journal order by at')
    for (const { at } of written) {
      for (const off of [-1, 0]) {
        const asOf = new Date(at.getTime() + off)
        for (const { currency, transfers } of await readTrialBalances(s.backend.pool, { asOf })) {
          expect([currency, asOf, transfers]).toEqual([currency, asOf, 0n])
        }
      }
    }
  })

  it('that go down are found, by whoever did it', async () => {
    const { agentId } = await s.agent()
    const { teller } = s.service.desk
    await teller.do(adjust(agentId, 'one', minutesAgo(2)))
    await teller.do(adjust(agentId, 'two', minutesAgo(1)))
    const say = async (seconds: number) => {
      await s.sql(
        `update journal set at = at + $2 * interval '1 second' where agent_id = $1 and seq = 1`,
        [agentId, seconds],
      )
      await chainAnew(s.sql)
    }
    await say(61)
    const [found, ...others] = await s.findings()
    expect([found, others]).toEqual([
      expect.stringMatching(/^journal row 2 is of .*, journal row 1 of/),
      [],
    ])
    await say(-61)
  })

  it('that went down before the release that keeps them from it are as they are, however new the database was', async () => {
    const { agentId } = await s.agent()
    const { teller } = s.service.desk
    await teller.do(adjust(agentId, 'one', minutesAgo(2)))
    await teller.do(adjust(agentId, 'two', minutesAgo(1)))
    await s.sql(
      `create table kept_times as select name, applied_at from schema_migrations;
       update schema_migrations set applied_at = now() + interval '1 minute';
       update journal set at = at + interval '61 seconds' where agent_id = ${agentId} and seq = 1`,
    )
    await chainAnew(s.sql)
    expect(await s.findings()).toEqual([])
    // A day later no process of that release is left.
    await s.sql(`update schema_migrations set applied_at = now() - interval '2 days'`)
    await s.sql(`update agents set created_at = created_at - interval '3 days'`)
    expect(await s.findings()).toEqual([
      expect.stringMatching(/^journal row 2 is of .*, journal row 1 of/),
    ])
    await s.sql(
      `update agents set created_at = created_at + interval '3 days';
       update schema_migrations m set applied_at = k.applied_at from kept_times k where k.name = m.name;
       drop table kept_times;
       update journal set at = at - interval '61 seconds' where agent_id = ${agentId} and seq = 1`,
    )
    await chainAnew(s.sql)
  })
})

describe('the proof', () => {
  it('finds money that the house gave to an agent who never got it', async () => {
    const { agentId } = await s.agent()
    const lost = unmatchedPayment()
    const { paymentId } = lost.unmatched
    await s.service.desk.teller.do(lost)
    await s.service.desk.teller.do({
      type: 'end_unmatched',
      agentId: house,
      at: s.clock(),
      paymentId,
      state: 'dismissed',
      evidence: 'not on the statement',
    })
    const say = async (event: string, state: string, owner: bigint | null) => {
      await s.sql(
        `update journal set event = $2, once_key = $2 || ':' || $3
         where agent_id = $1 and once_key like 'payment_%ed:' || $3 and event <> 'payment_received'`,
        [house, event, paymentId],
      )
      await chainAnew(s.sql)
      await s.sql(
        'update unmatched_payments set state = $2, assigned_to = $3 where payment_id = $1',
        [paymentId, state, owner],
      )
      await s.sql('update payment_claims set agent_id = $2 where payment_id = $1', [
        paymentId,
        owner ?? 0n,
      ])
    }
    await say('payment_assigned', 'assigned', agentId)
    expect(await s.findings()).toEqual([
      `payment ${paymentId} is claimed for agent ${agentId}, who has no such payment`,
    ])
    await say('payment_dismissed', 'dismissed', null)
  })

  it('is red, and tells people, while what left one book is in no other', async () => {
    const { pool } = s.backend
    const dong = houseBook('VND')
    const agent = await s.agent({ currency: 'VND', depositFee: '1%' })
    const { json } = await agent.deposit({ amount: 100_000, bankCode: 'VCB' })
    await agent.trigger(json.txn_id, 'PAID')
    const ofHouse = async (table: string) =>
      (await s.sql(`select to_jsonb(x) as row from ${table} x where agent_id = $1`, [dong])).rows
    const put = (wallet: { row?: unknown } | undefined) =>
      s.sql(
        `update wallets w set (seq, fees, transfers, hash) =
           (select seq, fees, transfers, hash from jsonb_populate_record(null::wallets, $2))
         where agent_id = $1`,
        [dong, JSON.stringify(wallet?.row)],
      )
    const [before] = await ofHouse('wallets')
    const sweep = { agentId: agent.agentId, houseId: dong, day: '2026-01-01' }
    await s.service.desk.teller.do({ type: 'sweep', at: s.clock(), ...sweep })
    const [after] = await ofHouse('wallets')
    const [row] = await ofHouse('journal')
    for (let rounds = 0; rounds < 8; rounds++) await proveOnward(pool, s.clock())
    expect(await proofState(pool)).toEqual({ redAgents: 0, unprovedRows: 0 })
    // As if the house had never got it.
    await put(before)
    await s.sql('delete from journal where agent_id = $1', [dong])
    const says = 'transfers between the books in VND add up to 1000, not to zero'
    // At once, although it may be a while until the proof comes by the agent's row again.
    expect((await proveOnward(pool, s.clock())).findings).toContain(says)
    expect((await proofState(pool)).redAgents).toBeGreaterThan(0)
    expect(await redBooks(pool)).toContainEqual(
      expect.objectContaining({
        subject: String(dong),
        words: expect.stringContaining('A book of the house'),
      }),
    )
    await s.sql('insert into journal select * from jsonb_populate_record(null::journal, $1)', [
      JSON.stringify(row?.row),
    ])
    await put(after)
    // Each round looks at one agent again.
    for (let rounds = 1; rounds < 100; rounds++) {
      await proveOnward(pool, new Date(s.clock().getTime() + rounds))
      if ((await proofState(pool)).redAgents === 0) break
    }
    expect(await proofState(pool)).toEqual({ redAgents: 0, unprovedRows: 0 })
  })

  it('knows what was paid from suspense, and what of it may be refunded', async () => {
    const agent = await s.agent()
    const { agentId } = agent
    await agent.fund(5_000)
    const txnId: string = (await agent.deposit({ amount: 1_000 })).json.txn_id
    const orderId = txnId.split('-')[1] ?? ''
    const paymentId = `bank:part-${orderId}`
    const payment = { paymentId, amountMinor: 90_000n, paidAt: s.clock(), payer: null }
    const common = { agentId, at: s.clock(), orderId }
    const { teller } = s.service.desk
    await teller.do({ ...common, type: 'receive_payment', provider: null, payment })
    await teller.do({ ...common, type: 'credit_payment', paymentId })
    const refund = (refId: string, amount: number) =>
      agent.post(`/payment/orders/${txnId}/refund`, {
        refId,
        amount,
        timestamp: s.clock().toISOString(),
      })
    expect(await refund('more', 901)).toMatchObject({ status: 422 })
    expect(await refund('part', 900)).toMatchObject({ status: 201 })
    expect(await s.findings()).toEqual([])
  })
})
