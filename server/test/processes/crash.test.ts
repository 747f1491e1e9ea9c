import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { Load, type LoadAgent, type Placed, seeded, walletImpliedBy } from '../support/load.ts'
import {
  cleanUp,
  commandJson,
  dataFolder,
  type Env,
  kill,
  postgresLog,
  postmasterPid,
  type Serving,
  serve,
  startSluice,
  verifyClean,
} from '../support/process.ts'
import type { AgentClient } from '../support/service.ts'

/** How often it is killed. More for a longer look: CRASH_ROUNDS=200 npx vitest run server/test/processes/crash.test.ts */
const rounds = Number(process.env.CRASH_ROUNDS ?? 2)
/** Repeats the random choices of a run, which prints its seed. */
const seed = Number(process.env.CRASH_SEED ?? Math.floor(Math.random() * 2 ** 31))

/** What is killed with -9. `at start`: both, and the service once more while it starts again. */
const victims = ['service', 'postgres', 'both', 'at start'] as const

afterEach(cleanUp)

const withinMs = 600_000 + rounds * 15_000

test(
  'every answer that was ever given holds, however often the service and its database are killed',
  async () => {
    console.info(`CRASH_SEED=${seed} CRASH_ROUNDS=${rounds}`)
    const random = seeded(seed)
    const dataDir = await dataFolder()
    const env = { DATA_DIR: dataDir, LOG_LEVEL: 'warn' }
    let service = await serve(env)
    const agents = await Promise.all([
      newAgent(env, ['--deposit-fee', '1.5%+2', '--withdraw-fee', '1', '--revert-fee', 'keep']),
      newAgent(env, ['--method', 'link']),
    ])
    const load = new Load(service.url, agents, seed, 16)

    for (let round = 0; round < rounds; round++) {
      await load.answered(20 + Math.floor(random() * 60))
      await pause(random() * 20)
      const victim = victims[round % victims.length] ?? 'both'
      service = await strike(victim, service, dataDir, env)
      load.url = service.url
    }
    await load.answered(20)
    await load.stop()

    console.info(
      `${load.answers} answers, ${load.unknowns} times none, ${load.placed.length} orders`,
    )
    expect(load.surprises).toEqual([])
    expect(load.unknowns).toBeGreaterThan(0)
    expect(postgresLog(dataDir)).toContain('automatic recovery in progress')
    for (const agent of agents) {
      const orders = load.placed.filter((order) => order.agent === agent)
      await expectAsAnswered(service.agent(agent), orders)
    }
    await verifyClean(env)
    expect(await service.stop()).toMatchObject({ code: 0 })
    await verifyClean(env)
  },
  withinMs,
)

async function newAgent(env: Env, options: string[]): Promise<LoadAgent> {
  const { app_id, secret } = await commandJson(
    [
      'agent',
      'create',
      '--name',
      'Load',
      '--rate-limit',
      '0',
      '--expires-in',
      '2592000',
      ...options,
    ],
    env,
  )
  return { appId: app_id, secret, keepsRevertFee: options.includes('keep') }
}

/** Kills, and returns the service that is there afterwards. */
async function strike(
  victim: (typeof victims)[number],
  service: Serving,
  dataDir: string,
  env: Env,
): Promise<Serving> {
  const postmaster = postmasterPid(dataDir)
  if (postmaster === undefined) throw new Error('PostgreSQL does not run')
  if (victim === 'postgres') {
    kill(postmaster)
    return service
  }
  kill(service.pid)
  if (victim !== 'service') kill(postmaster)
  await service.ended
  if (victim === 'at start') {
    const starting = startSluice(['serve'], { PORT: '0', ...env })
    await expect
      .poll(() => postmasterPid(dataDir) ?? postmaster, { interval: 5 })
      .not.toBe(postmaster)
    kill(starting.pid)
    kill(postmasterPid(dataDir) ?? 0)
    await starting.ended
  }
  return serve(env)
}

/** Reads everything back that an agent was told. */
async function expectAsAnswered(agent: AgentClient, orders: Placed[]): Promise<void> {
  const taken = orders.filter(({ answer }) => answer !== undefined)
  await inTurns(orders, async (order) => {
    const byRefId = await agent.get(`/payment/orders?refId=${order.refId}`)
    if (order.answer === undefined) {
      expect(byRefId).toMatchObject({ status: 404, json: { code: 'order_not_found' } })
      return
    }
    const byTxnId = await agent.get(`/payment/orders/${order.txnId}`)
    expect(byTxnId.json).toEqual({
      ...JSON.parse(order.answer),
      kind: order.kind,
      status: order.status,
      user_id: 'user-1',
      completed_at: order.status === 'WAITING' ? null : expect.any(String),
      paid_amount: order.outcomes.includes('PAID') ? order.amount : null,
    })
    expect(byRefId.text).toBe(byTxnId.text)
  })

  const listed = await allPages(agent, '/payment/orders', (order) => order.txn_id)
  expect(listed.toSorted()).toEqual(taken.map(({ txnId }) => txnId).toSorted())
  const events = await allPages(agent, '/payment/events', (event) => [event.txn_id, event.status])
  const outcomes = new Map<string, string[]>(taken.map(({ txnId }) => [txnId, []]))
  for (const [txnId = '', status = ''] of events) outcomes.get(txnId)?.push(status)
  expect(outcomes).toEqual(new Map(taken.map(({ txnId, outcomes }) => [txnId, outcomes])))

  const { json: wallet } = await agent.get('/payment/wallet')
  const hundredths = { balance: wallet.balance * 100, held: wallet.held * 100 }
  const implied = walletImpliedBy(orders)
  expect(hundredths.balance).toBeCloseTo(implied.balance, 3)
  expect(hundredths.held).toBeCloseTo(implied.held, 3)
}

async function inTurns<T>(items: T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values()
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (const item of left) await work(item)
    }),
  )
}

async function allPages<T>(
  agent: AgentClient,
  path: string,
  // biome-ignore lint/suspicious/noExplicitAny: what is listed depends on the path
  read: (item: any) => T,
): Promise<T[]> {
  const items: T[] = []
  for (let after = ''; ; ) {
    const { json } = await agent.get(`${path}?limit=200${after}`)
    items.push(...json.data.map(read))
    if (json.next === null) return items
    after = `&after=${json.next}`
  }
}
