import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Order, OrderKind, OrderStatus } from '../../src/ledger/book.ts'
import type { Command } from '../../src/ledger/commands.ts'
import { newOrderId } from '../../src/lib/ids.ts'
import { localTimeIn } from '../../src/lib/local-time.ts'
import { Problem } from '../../src/lib/problem.ts'
import { type Done, Teller, type TellerOptions } from '../../src/teller/teller.ts'
import { openTellerPool } from '../../src/teller/teller-pool.ts'
import { newOrder } from '../support/naive-model.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'
import { type CutAtCommit, TcpProxy } from '../support/tcp-proxy.ts'

let s: TestService
const closers: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  s = await startTestService()
})
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
  await s.prove()
})
afterAll(() => s.close())

const agent = (service = s): Promise<AgentClient> => service.agent()

describe('the same refId many times at once', () => {
  it.each<[number, OrderKind]>([
    [10, 'deposit'],
    [100, 'deposit'],
    [10, 'withdraw'],
    [100, 'withdraw'],
  ])('%d creations of one %s are one order', async (times, kind) => {
    const { agentId } = await agent()
    await fund(agentId, 10_000n)
    const done = await Promise.all(
      Array.from({ length: times }, () => s.service.desk.teller.do(create(agentId, kind, 'one'))),
    )
    expect(new Set(done.map(({ order }) => order?.orderId)).size).toBe(1)
    expect(new Set(done.map(({ order }) => order?.answer)).size).toBe(1)
    expect(done.filter(({ changed }) => changed)).toHaveLength(1)
    expect(await orderCount(agentId)).toBe(1)
  })

  it.each<OrderKind>(['deposit', 'withdraw'])(
    'through two services, a hundred creations of one %s are one order',
    async (kind) => {
      const { agentId } = await agent()
      await fund(agentId, 10_000n)
      const tellers = [tellerOn(s.database.url), tellerOn(s.database.url)]
      const done = await Promise.all(
        Array.from({ length: 100 }, (_, n) => pick(tellers, n).do(create(agentId, kind, 'one'))),
      )
      expect(new Set(done.map(({ order }) => order?.orderId)).size).toBe(1)
      expect(done.filter(({ changed }) => changed)).toHaveLength(1)
      expect(await orderCount(agentId)).toBe(1)
    },
  )

  it('two services that each get one creation of a refId make one order, every time', async () => {
    const { agentId } = await agent()
    const tellers = [tellerOn(s.database.url), tellerOn(s.database.url)]
    for (let round = 0; round < 60; round++) {
      const [one, other] = await Promise.all(
        tellers.map((teller) => teller.do(create(agentId, 'deposit', `x-${round}`))),
      )
      expect(one?.order?.orderId).toBe(other?.order?.orderId)
      expect(one?.changed).toBe(!other?.changed)
    }
    expect(await orderCount(agentId)).toBe(60)
  })

  it('a deposit and a withdrawal at once with one refId are one order, and the other a conflict', async () => {
    const { agentId } = await agent()
    const rounds = 60
    await fund(agentId, 10_000n * BigInt(rounds))
    const tellers = [tellerOn(s.database.url), tellerOn(s.database.url)]
    const outcomes = await Promise.allSettled(
      many(rounds, (n) => [
        pick(tellers, 0).do(create(agentId, 'deposit', `x-${n}`)),
        pick(tellers, n).do(create(agentId, 'withdraw', `x-${n}`)),
      ]).flat(),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(rounds)
    expect(refusalsOf(outcomes)).toEqual(Array(rounds).fill('ref_id_conflict'))
    expect(await orderCount(agentId)).toBe(rounds)
  })

  it('through two services, batches that share refIds in opposite order both come to an end', async () => {
    const { agentId } = await agent()
    const tellers = [tellerOn(s.database.url), tellerOn(s.database.url)]
    for (let round = 0; round < 10; round++) {
      const refIds = Array.from({ length: 40 }, (_, n) => `${round}-${n}`)
      const both = await Promise.all(
        [refIds, refIds.toReversed()].flatMap((own, n) =>
          own.map((refId) => pick(tellers, n).do(create(agentId, 'deposit', refId))),
        ),
      )
      expect(both.filter(({ changed }) => changed)).toHaveLength(40)
    }
    expect(await orderCount(agentId)).toBe(400)
  })
})

it('withdrawals at once through two services take what there is and never more', async () => {
  const { agentId } = await agent()
  await fund(agentId, 100_000n)
  // 7.77 and 0.23 of fee: 125 of them fit into 1000.00, exactly.
  const amounts = { amountMinor: 777n, feeMinor: 23n, feeRule: '0.23' }
  const tellers = [tellerOn(s.database.url, { maxBatch: 7 }), tellerOn(s.database.url)]
  const outcomes = await Promise.allSettled(
    Array.from({ length: 200 }, (_, n) =>
      pick(tellers, n).do(create(agentId, 'withdraw', `w-${n}`, amounts)),
    ),
  )
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(125)
  expect(refusalsOf(outcomes)).toEqual(Array(75).fill('insufficient_balance'))
  expect(await walletOf(agentId)).toMatchObject({ available: 0n, held: 100_000n })
  const { rows } = await s.sql('select min(available) as lowest from journal where agent_id = $1', [
    agentId,
  ])
  expect(rows).toEqual([{ lowest: '0' }])
})

describe('handing over and cancelling exclude each other', () => {
  it('a withdrawal that was handed over cannot be cancelled, one that was cancelled not handed over', async () => {
    const { agentId } = await agent()
    await fund(agentId, 20_000n)
    const { teller } = s.service.desk
    for (const [first, second, refusal] of [
      [handOver, cancel, 'order_not_cancellable'],
      [cancel, handOver, 'invalid_transition'],
    ] as const) {
      const orderId = await made(create(agentId, 'withdraw', refusal))
      await teller.do(first(agentId, orderId))
      await expect(teller.do(second(agentId, orderId))).rejects.toMatchObject({ code: refusal })
    }
  })

  it('at once in one batch, the first one wins', async () => {
    const { agentId } = await agent()
    await fund(agentId, 20_000n)
    const { teller } = s.service.desk
    for (const [first, second] of [
      [handOver, cancel],
      [cancel, handOver],
    ] as const) {
      const orderId = await made(create(agentId, 'withdraw', first.name))
      const outcomes = await Promise.allSettled([
        teller.do(first(agentId, orderId)),
        teller.do(second(agentId, orderId)),
      ])
      expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    }
  })

  it('at once through two services, exactly one wins, every time', async () => {
    const t = await startTestService({ beside: s })
    closers.push(() => t.close())
    const { agentId } = await agent()
    const rounds = 60
    await fund(agentId, 10_000n * BigInt(rounds))
    const wins = { handOver: 0, cancel: 0 }
    for (let round = 0; round < rounds; round++) {
      const orderId = await made(create(agentId, 'withdraw', `race-${round}`))
      const [one, other] = round % 2 === 0 ? [s, t] : [t, s]
      const [handed, cancelled] = await Promise.allSettled([
        one.service.desk.teller.do(handOver(agentId, orderId)),
        other.service.desk.teller.do(cancel(agentId, orderId)),
      ])
      const order = await orderRow(agentId, orderId)
      if (handed.status === 'fulfilled') {
        wins.handOver++
        expect(refusalsOf([cancelled])).toEqual(['order_not_cancellable'])
        expect(order).toMatchObject({ status: 'WAITING', version: 2, provider_ref: `b-${orderId}` })
      } else {
        wins.cancel++
        expect(cancelled.status).toBe('fulfilled')
        expect(refusalsOf([handed])).toEqual(['invalid_transition'])
        expect(order).toMatchObject({ status: 'CANCEL', version: 2, provider_ref: null })
      }
    }
    expect(wins.handOver + wins.cancel).toBe(rounds)
  })
})

describe('a row that the database refuses', () => {
  const withNul = (c: Command): Command =>
    c.type === 'create' ? { ...c, order: { ...c.order, refId: 'nul\0byte' } } : c
  const withBadAccount = (c: Command): Command =>
    c.type === 'create' ? { ...c, order: { ...c.order, accountNo: 'no account' } } : c
  const withoutAgent = (c: Command): Command => ({ ...c, agentId: 999_999n })
  const faults = [
    [withNul, 'invalid byte sequence'],
    [withBadAccount, 'orders_account_no_check'],
    [withoutAgent, 'the wallet of agent 999999 was not read'],
  ] as const

  it.each([
    ['one with a NUL byte', 500, [137], withNul],
    ['one that breaks a check', 500, [499], withBadAccount],
    ['one of an agent that is not there', 60, [0], withoutAgent],
    ['two side by side', 500, [249, 250], withBadAccount],
    ['two far apart', 500, [0, 499], withNul],
    ['all of them', 24, Array.from({ length: 24 }, (_, n) => n), withBadAccount],
  ])('%s of %d fails by itself, and the others stand in their order', async (...row) => {
    const [, size, bad, spoil] = row
    const { agentId } = await agent()
    await fund(agentId, 10_000n * BigInt(size))
    const commands = Array.from({ length: size }, (_, n) => {
      const command = create(agentId, 'withdraw', `w-${n}`)
      return bad.includes(n) ? spoil(command) : command
    })
    const teller = tellerOn(s.database.url)
    const outcomes = await Promise.allSettled(commands.map((command) => teller.do(command)))

    const message = faults.find(([fault]) => fault === spoil)?.[1]
    outcomes.forEach((outcome, n) => {
      expect([n, outcome.status]).toEqual([n, bad.includes(n) ? 'rejected' : 'fulfilled'])
      if (outcome.status === 'fulfilled') return
      expect(outcome.reason).not.toBeInstanceOf(Problem)
      expect(outcome.reason.message).toContain(message)
    })
    const { rows } = await s.sql(
      `select o.ref_id from journal j join orders o using (agent_id, order_id)
       where j.agent_id = $1 and j.event = 'withdraw_held' order by j.seq`,
      [agentId],
    )
    const good = commands.flatMap((_, n) => (bad.includes(n) ? [] : [`w-${n}`]))
    expect(rows.map(({ ref_id }) => ref_id)).toEqual(good)
    expect(await orderCount(agentId)).toBe(good.length)
  })
})

it('deposits go ahead while the wallet of their agent is locked, though asked for at the same moment', async () => {
  const { agentId } = await agent()
  await fund(agentId, 100_000n)
  const unlock = await lockWallet(agentId)
  const { teller } = s.service.desk
  let isHeld = false
  const withdrawal = teller.do(create(agentId, 'withdraw', 'w')).then(() => {
    isHeld = true
  })
  const deposits = ['d-1', 'd-2'].map((refId) => teller.do(create(agentId, 'deposit', refId)))
  expect((await Promise.all(deposits)).map(({ changed }) => changed)).toEqual([true, true])
  expect(isHeld).toBe(false)
  await unlock()
  await withdrawal
})

describe('a full queue', () => {
  it('refuses the surplus at once and loses nothing of what it took', async () => {
    const { agentId } = await agent()
    const teller = tellerOn(s.database.url, { writers: 1, maxBatch: 2, maxQueue: 5 })
    const settled: string[] = []
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, async (_, n) => {
        try {
          await teller.do(create(agentId, 'deposit', `d-${n}`))
          settled.push('taken')
        } catch (error) {
          settled.push('refused')
          throw error
        }
      }),
    )
    expect(outcomes.map(({ status }) => status)).toEqual([
      ...Array(5).fill('fulfilled'),
      ...Array(15).fill('rejected'),
    ])
    expect(settled).toEqual([...Array(15).fill('refused'), ...Array(5).fill('taken')])
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') {
        expect(outcome.reason).toMatchObject({ code: 'overloaded', status: 503, retryAfterS: 1 })
      }
    }
    expect(await refIdsOf(agentId)).toEqual(['d-0', 'd-1', 'd-2', 'd-3', 'd-4'])
    expect(teller.queueDepth).toBe(0)
    await teller.do(create(agentId, 'deposit', 'afterwards'))
  })
})

describe('closing', () => {
  it('a service that is told to stop answers every request it has taken', async () => {
    const t = await startTestService({ beside: s })
    let closed: Promise<void> | undefined
    closers.push(() => closed ?? t.close())
    const own = await agent(t)
    await fund(own.agentId, 500_000n)
    const unlock = await lockWallet(own.agentId)
    const first = own.withdraw({ refId: 'w-0' })
    await until(() => someoneWaitsForALock())
    const others = Array.from({ length: 40 }, (_, n) => own.withdraw({ refId: `w-${n + 1}` }))
    const { teller } = t.service.desk
    await until(() => teller instanceof Teller && teller.queueDepth === 41)
    closed = t.close()
    await unlock()
    const answers = await Promise.all([first, ...others])
    expect(answers.map(({ status }) => status)).toEqual(Array(41).fill(201))
    await closed
    expect(await orderCount(own.agentId)).toBe(41)
  })

  it('a teller whose connections are taken away answers everybody who waits, and truly', async () => {
    const { agentId } = await agent()
    await fund(agentId, 500_000n)
    const unlock = await lockWallet(agentId)
    const pool = poolOn(s.database.url, 1)
    const teller = tellerWith(pool, { writers: 1, maxBatch: 10, patienceMs: 1_000 })
    const first = Array.from({ length: 10 }, (_, n) =>
      teller.do(create(agentId, 'withdraw', `first-${n}`)),
    )
    await until(() => someoneWaitsForALock())
    const rest = Array.from({ length: 30 }, (_, n) =>
      teller.do(create(agentId, 'withdraw', `rest-${n}`)),
    )
    const outcomes = Promise.allSettled([...first, ...rest])
    const ended = pool.end()
    await unlock()
    await ended
    const done = (await outcomes).filter(({ status }) => status === 'fulfilled')
    expect(refusalsOf(await outcomes)).toEqual(Array(40 - done.length).fill('overloaded'))
    expect(await orderCount(agentId)).toBe(done.length)
    expect(teller.queueDepth).toBe(0)
  })
})

describe('a connection that is lost', () => {
  /** What has to be there first, and then n commands of one kind. */
  const kinds: Record<string, (agentId: bigint, n: number) => Promise<Command[]>> = {
    deposits: async (agentId, n) => many(n, (i) => create(agentId, 'deposit', `d-${i}`)),
    withdrawals: async (agentId, n) => {
      await fund(agentId, 10_000n * BigInt(n))
      return many(n, (i) => create(agentId, 'withdraw', `w-${i}`))
    },
    'hand-overs': async (agentId, n) =>
      (await withdrawals(agentId, n)).map((orderId) => handOver(agentId, orderId)),
    cancellations: async (agentId, n) =>
      (await withdrawals(agentId, n)).map((orderId) => cancel(agentId, orderId)),
    outcomes: async (agentId, n) =>
      (await withdrawals(agentId, n)).map((orderId) => outcome(agentId, orderId, 'PAID')),
    payments: async (agentId, n) =>
      (await deposits(agentId, n)).map((orderId) => payment(agentId, orderId, 10_000n)),
    'payments that wait': async (agentId, n) =>
      (await deposits(agentId, n)).map((orderId) => payment(agentId, orderId, 10_001n)),
    expiries: async (agentId, n) =>
      (await deposits(agentId, n)).map((orderId) => ({
        type: 'expire',
        agentId,
        orderId,
        at: new Date(s.clock().getTime() + 3_600_000),
      })),
    adjustments: async (agentId, n) =>
      many(n, (i) => ({
        type: 'adjust',
        agentId,
        at: s.clock(),
        amountMinor: 100n,
        reason: 'test',
        ref: `a-${i}`,
      })),
  }
  const cuts: CutAtCommit[] = ['before', 'after']

  it.each(
    Object.keys(kinds).flatMap((kind) =>
      cuts.flatMap((cut) => [1, 40].map((size) => [size, kind, cut] as const)),
    ),
  )(
    '%d %s, cut %s the commit reached the server: each happens once and says so',
    async (...row) => {
      const [size, kind, cut] = row
      const { agentId } = await agent()
      const twin = await agent()
      const commands = (await kinds[kind]?.(agentId, size)) ?? []
      const sameWithoutLoss = (await kinds[kind]?.(twin.agentId, size)) ?? []
      const proxy = await proxied()
      const teller = tellerOn(proxy.url)
      proxy.cutNextCommits([cut])
      const done = await Promise.all(commands.map((command) => teller.do(command)))
      expect(proxy.cuts).toBe(1)

      await Promise.all(sameWithoutLoss.map((command) => s.service.desk.teller.do(command)))
      expect(await bookOf(agentId)).toEqual(await bookOf(twin.agentId))
      for (const [n, command] of commands.entries()) {
        if (command.type !== 'create') continue
        expect(done[n]).toMatchObject({ changed: true, order: { orderId: command.order.orderId } })
        expect(await orderRow(agentId, command.order.orderId)).toMatchObject({
          ref_id: command.order.refId,
          answer: done[n]?.order?.answer,
        })
      }
      const again = await Promise.all(commands.map((command) => teller.do(command)))
      expect(again.filter(({ changed }) => changed)).toEqual([])
    },
  )

  it.each(cuts)(
    'an order that goes through several states in one batch, cut %s: each step is answered as it happened',
    async (cut) => {
      const { agentId } = await agent()
      const [orderId = ''] = await withdrawals(agentId, 1)
      const [depositId = ''] = await deposits(agentId, 1)
      const proxy = await proxied()
      const teller = tellerOn(proxy.url)
      proxy.cutNextCommits([cut])
      const outcomes = await Promise.allSettled([
        teller.do(outcome(agentId, orderId, 'PAID')),
        teller.do(outcome(agentId, orderId, 'REVERT')),
        teller.do(payment(agentId, depositId, 10_000n)),
        teller.do(takenBack(agentId, depositId)),
      ])
      expect(proxy.cuts).toBe(1)
      expect(refusalsOf(outcomes)).toEqual([])
      expect((await orderRow(agentId, orderId))?.status).toBe('REVERT')
      expect((await orderRow(agentId, depositId))?.status).toBe('VOID')
    },
  )

  it.each(cuts)('twice in a row, cut %s, is still one order each', async (cut) => {
    const { agentId } = await agent()
    await fund(agentId, 400_000n)
    const proxy = await proxied()
    const teller = tellerOn(proxy.url)
    proxy.cutNextCommits([cut, 'before', cut])
    const done = await Promise.all(
      many(40, (n) => teller.do(create(agentId, n % 2 ? 'withdraw' : 'deposit', `x-${n}`))),
    )
    expect(done.every(({ changed }) => changed)).toBe(true)
    expect(await orderCount(agentId)).toBe(40)
  })

  it.each(
    cuts.flatMap((cut) => (['deposit', 'withdraw'] as const).map((kind) => [kind, cut] as const)),
  )(
    '%s, for longer than it is worth waiting, cut %s: it is unknown, and repeating it gives one order',
    async (kind, cut) => {
      const { agentId } = await agent()
      await fund(agentId, 400_000n)
      const proxy = await proxied()
      const teller = tellerOn(proxy.url, { patienceMs: 150 })
      proxy.cutNextCommits([cut], () => proxy.refuse(true))
      const commands = many(20, (n) => create(agentId, kind, `x-${n}`))
      const outcomes = await Promise.allSettled(commands.map((command) => teller.do(command)))
      expect(refusalsOf(outcomes)).toEqual(Array(20).fill('overloaded'))
      const faults = outcomes.map((o) => o.status === 'rejected' && o.reason.retryAfterS)
      expect(faults).toEqual(Array(20).fill(1))

      proxy.refuse(false)
      const again = await Promise.all(many(20, (n) => teller.do(create(agentId, kind, `x-${n}`))))
      expect(await orderCount(agentId)).toBe(20)
      expect(again.every(({ changed }) => changed === (cut === 'before'))).toBe(true)
      const firstIds = commands.map((c) => (c.type === 'create' ? c.order.orderId : ''))
      const isFirst = again.map(({ order }, n) => order?.orderId === firstIds[n])
      expect(isFirst).toEqual(Array(20).fill(cut === 'after'))
    },
  )

  it('a withdrawal whose commit was lost for good does not leave its money free for another', async () => {
    const { agentId } = await agent()
    await fund(agentId, 10_000n)
    const proxy = await proxied()
    const teller = tellerOn(proxy.url, { patienceMs: 150 })
    proxy.cutNextCommits(['after'], () => proxy.refuse(true))
    const lost = teller.do(create(agentId, 'withdraw', 'lost'))
    await expect(lost).rejects.toMatchObject({ code: 'overloaded' })
    const other = s.service.desk.teller.do(create(agentId, 'withdraw', 'other'))
    await expect(other).rejects.toMatchObject({ code: 'insufficient_balance' })
    proxy.refuse(false)
    const again = await teller.do(create(agentId, 'withdraw', 'lost'))
    expect(again).toMatchObject({ changed: false, order: { status: 'WAITING' } })
  })

  it('is refused at once where no connection can be had, and nothing happens', async () => {
    const { agentId } = await agent()
    const proxy = await proxied()
    proxy.refuse(true)
    // Whoever waited for the end of this patience would run into the time limit of the test.
    const teller = tellerOn(proxy.url, { patienceMs: 3_600_000 })
    const outcomes = await Promise.allSettled(
      many(10, (n) => teller.do(create(agentId, 'deposit', `d-${n}`))),
    )
    expect(refusalsOf(outcomes)).toEqual(Array(10).fill('overloaded'))
    expect(await orderCount(agentId)).toBe(0)
    proxy.refuse(false)
    await teller.do(create(agentId, 'deposit', 'd-0'))
    expect(await orderCount(agentId)).toBe(1)
  })

  it('between two commands is not noticed by who asks', async () => {
    const { agentId } = await agent()
    await fund(agentId, 400_000n)
    const proxy = await proxied()
    const teller = tellerOn(proxy.url)
    for (let n = 0; n < 10; n++) {
      await teller.do(create(agentId, 'withdraw', `w-${n}`))
      proxy.cutAll()
    }
    expect(await orderCount(agentId)).toBe(10)
  })

  it('again and again, at any moment and on several writers: no answer is wrong', async () => {
    const four = await Promise.all(many(4, () => agent()))
    for (const { agentId } of four) await fund(agentId, 300_000n)
    const proxy = await proxied()
    const teller = tellerOn(proxy.url, { maxBatch: 8 })
    proxy.cutNextCommits(many(12, (n) => pick(cuts, n)))
    // 40 for each agent, of which 30 can be paid for.
    const commands = many(160, (n) => create(pick(four, n).agentId, 'withdraw', `w-${n}`))
    const running = Promise.allSettled(commands.map((command) => teller.do(command)))
    for (let times = 0; times < 8; times++) {
      await until(() => proxy.cuts > times)
      proxy.cutAll()
    }
    const outcomes = await running
    for (const [n, outcome] of outcomes.entries()) {
      const command = commands[n]
      if (command?.type !== 'create') continue
      const row = await orderRow(command.agentId, command.order.orderId)
      const fate = outcome.status === 'fulfilled' ? 'done' : outcome.reason.code
      if (fate === 'done') expect(row).toMatchObject({ ref_id: command.order.refId })
      else if (fate === 'insufficient_balance') expect(row).toBeUndefined()
      else expect(fate).toBe('overloaded')
    }
    const taken = outcomes.filter(({ status }) => status === 'fulfilled').length
    expect(taken).toBeGreaterThan(0)
    expect(taken).toBeLessThanOrEqual(120)
  })

  it.each(['from the start', 'at the commit'])(
    'in silence %s: an answer that never comes is waited for only so long, and then found out',
    async (when) => {
      const { agentId } = await agent()
      await fund(agentId, 400_000n)
      const proxy = await proxied()
      const pool = poolOn(proxy.url, 3)
      pool.options.query_timeout = 300
      closers.push(() => pool.end())
      const teller = tellerWith(pool, { onFault: () => proxy.stall(false) })
      await teller.do(create(agentId, 'withdraw', 'w-0'))
      if (when === 'at the commit') proxy.cutNextCommits(['silent'])
      else proxy.stall(true)
      const commands = many(10, (n) => create(agentId, 'withdraw', `w-${n + 1}`))
      const done = await Promise.all(commands.map((command) => teller.do(command)))
      expect(done.map(({ order }) => order?.refId)).toEqual(many(10, (n) => `w-${n + 1}`))
      expect(done.every(({ changed }) => changed)).toBe(true)
      expect(await orderCount(agentId)).toBe(11)
    },
  )
})

async function proxied(): Promise<TcpProxy> {
  const proxy = await TcpProxy.open(s.database.url)
  closers.push(() => proxy.close())
  return proxy
}

function poolOn(url: string, max: number) {
  return openTellerPool(url, () => {}, max)
}

function tellerOn(url: string, options: Partial<TellerOptions> = {}): Teller {
  const pool = poolOn(url, (options.writers ?? 3) + 1)
  closers.push(() => pool.end())
  return tellerWith(pool, options)
}

function tellerWith(pool: TellerOptions['pool'], options: Partial<TellerOptions>): Teller {
  return new Teller({
    pool,
    localTime: localTimeIn('UTC'),
    writers: 3,
    maxBatch: 500,
    maxQueue: 5_000,
    patienceMs: 10_000,
    ...options,
  })
}

function create(
  agentId: bigint,
  kind: OrderKind,
  refId: string,
  fields: Partial<Order> = {},
): Command {
  const at = s.clock()
  const order = newOrder({
    agentId,
    orderId: newOrderId(at),
    kind,
    createdAt: at,
    refId,
    ...fields,
  })
  return { type: 'create', agentId, at, order }
}

function handOver(agentId: bigint, orderId: string): Command {
  const at = s.clock()
  const [provider, providerRef] = ['bank', `b-${orderId}`]
  return {
    type: 'hand_over',
    agentId,
    at,
    orderId,
    provider,
    references: [providerRef],
    insteadOf: null,
    token: randomUUID(),
    askAt: at,
  }
}

function cancel(agentId: bigint, orderId: string): Command {
  return { type: 'cancel', agentId, at: s.clock(), orderId }
}

function outcome(agentId: bigint, orderId: string, to: OrderStatus): Command {
  return { type: 'outcome', agentId, at: s.clock(), orderId, to }
}

function payment(agentId: bigint, orderId: string, amountMinor: bigint): Command {
  const paidAt = s.clock()
  return {
    type: 'receive_payment',
    agentId,
    at: paidAt,
    orderId,
    provider: null,
    payment: { paymentId: `bank:${orderId}`, amountMinor, paidAt, payer: null },
  }
}

function takenBack(agentId: bigint, orderId: string): Command {
  const paymentId = `bank:${orderId}`
  return { type: 'take_back_payment', agentId, at: s.clock(), orderId, paymentId }
}

/** Puts money into a wallet without an order, so that counts of orders stay plain. */
async function fund(agentId: bigint, amountMinor: bigint): Promise<void> {
  const what = { type: 'adjust', reason: 'funds', ref: `funds-${agentId}-${amountMinor}` } as const
  await s.service.desk.teller.do({ ...what, agentId, at: s.clock(), amountMinor })
}

async function made(command: Command): Promise<string> {
  const { order } = await s.service.desk.teller.do(command)
  return order?.orderId ?? ''
}

function deposits(agentId: bigint, n: number): Promise<string[]> {
  return Promise.all(many(n, (i) => made(create(agentId, 'deposit', `d-${i}`))))
}

async function withdrawals(agentId: bigint, n: number): Promise<string[]> {
  await fund(agentId, 10_000n * BigInt(n))
  return Promise.all(many(n, (i) => made(create(agentId, 'withdraw', `w-${i}`))))
}

function many<T>(n: number, make: (index: number) => T): T[] {
  return Array.from({ length: n }, (_, index) => make(index))
}

function pick<T>(items: readonly T[], n: number): T {
  const item = items[n % items.length]
  if (item === undefined) throw new Error('there is nothing to pick from')
  return item
}

/** The codes of the refusals; a fault that is no refusal is thrown. */
function refusalsOf(outcomes: PromiseSettledResult<Done>[]): string[] {
  return outcomes.flatMap((outcome) => {
    if (outcome.status === 'fulfilled') return []
    if (!(outcome.reason instanceof Problem)) throw outcome.reason
    return [outcome.reason.code]
  })
}

async function orderCount(agentId: bigint): Promise<number> {
  return (await refIdsOf(agentId)).length
}

async function refIdsOf(agentId: bigint): Promise<string[]> {
  const { rows } = await s.sql('select ref_id from orders where agent_id = $1 order by ref_id', [
    agentId,
  ])
  return rows.map(({ ref_id }) => ref_id)
}

async function orderRow(agentId: bigint, orderId: string) {
  const { rows } = await s.sql('select * from orders where agent_id = $1 and order_id = $2', [
    agentId,
    orderId,
  ])
  return rows[0]
}

async function walletOf(agentId: bigint) {
  const { rows } = await s.backend.pool.query('select * from wallets where agent_id = $1', [
    agentId,
  ])
  return rows[0]
}

/** All that an agent's book says, without the ids and times that differ between two agents. */
async function bookOf(agentId: bigint) {
  const read = async (text: string) => (await s.sql(text, [agentId])).rows
  return {
    orders: await read(
      `select ref_id, kind, status, version, paid_amount, provider is null as unhanded
       from orders where agent_id = $1 order by ref_id`,
    ),
    journal: await read(
      `select j.seq, j.event, j.available, j.held, j.clearing, o.ref_id,
         b.body is not null as told, (b.body::json -> 'wallet')::text as wallet
       from journal j left join orders o using (agent_id, order_id)
       left join callback_bodies b using (agent_id, seq)
       where j.agent_id = $1 order by j.seq`,
    ),
    payments: await read(
      `select o.ref_id, p.amount, p.state, p.why from payments p
       join orders o using (agent_id, order_id) where agent_id = $1 order by o.ref_id`,
    ),
    wallet: await read('select seq, available, held, clearing from wallets where agent_id = $1'),
  }
}

/** Holds an agent's wallet, as a transaction that does not end would. */
async function lockWallet(agentId: bigint): Promise<() => Promise<void>> {
  const client = new pg.Client(s.database.ownerUrl)
  await client.connect()
  await client.query('begin')
  await client.query('select 1 from sluice.wallets where agent_id = $1 for update', [agentId])
  return async () => {
    await client.query('commit')
    await client.end()
  }
}

async function someoneWaitsForALock(): Promise<boolean> {
  const { rows } = await s.sql(
    `select 1 from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return rows.length > 0
}

async function until(holds: () => boolean | Promise<boolean>, withinMs = 120_000): Promise<void> {
  const deadline = Date.now() + withinMs
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error('what was waited for did not come')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
