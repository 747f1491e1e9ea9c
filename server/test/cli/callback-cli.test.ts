import type { ServerResponse } from 'node:http'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { countOpen } from '../../src/callbacks/read-callbacks.ts'
import { resendCallbacks } from '../../src/callbacks/resend-callbacks.ts'
import { cleanUp, command, commandJson, type Ended, type Env, serve } from '../support/process.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { makeOutcomes } from '../support/sender.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

let s: TestService
let env: Env
let receiver: Receiver

beforeAll(async () => {
  s = await startTestService({ realTime: true })
  env = {
    DATABASE_URL: s.database.url,
    DATABASE_OWNER_URL: s.database.ownerUrl,
    SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    LOG_LEVEL: 'fatal',
  }
})
beforeEach(async () => {
  receiver = await startReceiver()
})
afterEach(async () => {
  await s.prove()
  await receiver.close()
})
afterAll(async () => {
  await cleanUp()
  await s.close()
})

const run = (...args: string[]) => command(['callback', ...args], env)
const json = (...args: string[]) => commandJson(['callback', ...args], env)
const toldAgent = () => s.agent({ depositCallbackUrl: receiver.url })
const seqs = (rows: { seq: number }[]) => rows.map(({ seq }) => seq)

/** How many of an agent's callbacks are in each state. */
async function states({ agentId }: AgentClient): Promise<Record<string, number>> {
  const { rows } = await s.sql(
    `select case when k.turn is null then c.state else 'sending' end as state, count(*)::int
     from callbacks c
     left join callback_claims k on k.agent_id = c.agent_id and c.seq = any(k.seqs)
     where c.agent_id = $1 group by 1`,
    [agentId],
  )
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
}

const become = (agent: AgentClient, expected: Record<string, number>) =>
  expect.poll(() => states(agent)).toEqual(expected)

/** Waits until an attempt is recorded that was not accepted. The next one, seconds later, does not come by itself. */
const attempted = ({ agentId }: AgentClient, seq: number) =>
  expect
    .poll(
      async () => {
        const { rows } = await s.sql(
          `update callbacks set due_at = now() + interval '1 day'
           where agent_id = $1 and seq = $2 and attempts > 0 and state = 'waiting'
           returning attempts`,
          [agentId, seq],
        )
        return rows
      },
      { interval: 10 },
    )
    .toEqual([{ attempts: 1 }])

/** Lets a callback that fails be at its last attempt. */
async function giveUp({ agentId }: AgentClient, seq: number): Promise<void> {
  await s.sql(
    `update callbacks set attempts = 12, due_at = now() - interval '1 second'
     where agent_id = $1 and seq = $2 and state = 'waiting'`,
    [agentId, seq],
  )
}

/** A failure is told on stderr, without a stack, and leaves stdout to data. */
function expectRefused(ended: Ended, says: RegExp): void {
  expect(ended).toMatchObject({ code: 1, stdout: '' })
  expect(ended.stderr).toMatch(says)
  expect(ended.stderr).not.toMatch(/\n\s+at /)
}

describe('callback list', () => {
  test('shows every callback with how far it is, by agent, state, time and number', async () => {
    const agent = await toldAgent()
    const other = await toldAgent()
    await agent.fund(100)
    await become(agent, { delivered: 1 })
    receiver.answer = (_received, response) => response.writeHead(503).end('later')
    const { json: order } = await agent.deposit({ refId: 'the-second' })
    await agent.trigger(order.txn_id, 'VOID')
    await other.fund(100)
    await Promise.all([attempted(agent, 2), attempted(other, 1)])

    const [first, second, ...more] = await json('list', '--agent', agent.appId)
    expect(more).toEqual([])
    expect(first).toMatchObject({ seq: 1, delivery: 'delivered', last_status: 200 })
    expect(second).toEqual({
      app_id: agent.appId,
      seq: 2,
      txn_id: order.txn_id,
      ref_id: 'the-second',
      kind: 'deposit',
      status: 'VOID',
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      delivery: 'waiting',
      attempts: 1,
      due_at: expect.stringMatching(/^\d{4}-.*Z$/),
      last_status: 503,
      last_error: 'answered 503 instead of 200',
    })
    const [all, limited, delivered, since, later, agoHour] = await Promise.all([
      json('list'),
      json('list', '--agent', agent.appId, '--limit', '1'),
      json('list', '--agent', agent.appId, '--state', 'delivered'),
      json('list', '--agent', agent.appId, '--since', second.at),
      json('list', '--agent', agent.appId, '--since', '2999-01-01T00:00:00Z'),
      json('list', '--agent', agent.appId, '--since', '1h'),
    ])
    const apps = all.map((row: { app_id: string }) => row.app_id)
    expect(apps).toEqual(expect.arrayContaining([agent.appId, other.appId]))
    expect([limited, delivered, since, later, agoHour].map(seqs)).toEqual([
      [1],
      [1],
      [2],
      [],
      [1, 2],
    ])

    const text = await run('list', '--agent', agent.appId)
    expect(text).toMatchObject({ code: 0, stderr: '' })
    expect(text.stdout).toMatch(/^APP ID +SEQ +TXN ID +STATUS +DELIVERY +ATTEMPTS +LAST ERROR\n/)
    expect(text.stdout).toMatch(/ 2 +\S+ +VOID +waiting +1 +answered 503 instead of 200\n/)
  })
})

describe('callback resend', () => {
  test('one, those that were given up, all, or those since a time, and nothing else', async () => {
    const agent = await toldAgent()
    receiver.answer = (received, response) =>
      response.writeHead(received.headers['x-event-seq'] === '2' ? 500 : 200).end()
    for (let count = 1; count <= 3; count++) await agent.fund(100)
    await attempted(agent, 2)
    await become(agent, { delivered: 2, waiting: 1 })
    await giveUp(agent, 2)
    await become(agent, { delivered: 2, exhausted: 1 })
    receiver.answer = (_received, response) => response.end()
    const sent = async (...args: string[]) => {
      receiver.received = []
      const { resent } = await json('resend', agent.appId, ...args)
      await receiver.until(resent)
      await become(agent, { delivered: 3 })
      return receiver.received.map(({ headers }) => Number(headers['x-event-seq'])).sort()
    }
    expect(await sent('--failed')).toEqual([2])
    expect(await sent('--failed')).toEqual([])
    expect(await sent('--seq', '3')).toEqual([3])
    expect(await sent('--all')).toEqual([1, 2, 3])
    const [, second] = await json('list', '--agent', agent.appId)
    expect(await sent('--all', '--since', second.at)).toEqual([2, 3])
    expect(await sent('--all', '--since', '1h', '--wait')).toEqual([1, 2, 3])

    const text = await run('resend', agent.appId, '--seq', '1')
    expect(text).toMatchObject({ code: 0, stderr: '' })
    expect(text.stdout).toMatch(/^1 callbacks? (is|are) being sent again\.\n$/)
  })

  test('of hundreds is not lost when the sender is killed right after', async () => {
    const count = 300
    const api = await startTestService({ realTime: true, env: { ROLE: 'api' } })
    const own = {
      ...env,
      DATABASE_URL: api.database.url,
      DATABASE_OWNER_URL: api.database.ownerUrl,
      ROLE: 'worker',
    }
    const of = (state: string) =>
      api.sql(`select seq from callbacks where state = '${state}'`).then(({ rowCount }) => rowCount)
    const agent = await api.agent({ depositCallbackUrl: receiver.url })
    await makeOutcomes(api, agent, count, ['PAID'])
    await api.sql(`update callbacks set state = 'delivered', delivered_at = now()`)

    const killed = await serve(own)
    receiver.answer = () => {}
    expect(await commandJson(['callback', 'resend', agent.appId, '--all'], own)).toEqual({
      resent: count,
      left_out: 0,
    })
    await receiver.until(1)
    await killed.stop('SIGKILL')
    expect(await of('delivered')).toBe(0)
    expect((await api.sql('select from callback_claims')).rowCount).toBeGreaterThan(0)

    receiver.answer = (_received, response) => response.end()
    // What the dead one had claimed is free a minute later.
    api.clock.advance(61_000)
    const next = await startTestService({ beside: api, env: { ROLE: 'worker' } })
    await expect.poll(() => of('delivered')).toBe(count)
    const told = new Set(receiver.received.map(({ headers }) => headers['x-event-seq']))
    expect(told.size).toBe(count)
    await api.prove()
    await next.close()
    await api.close()
  })

  test('again and again while callbacks go out neither fails nor loses one', async () => {
    const agent = await toldAgent()
    await makeOutcomes(s, agent, 200, ['PAID'])
    const resent: number[] = []
    for (let round = 0; round < 15; round++) {
      const { pool } = s.backend
      const again = async () =>
        (await resendCallbacks(pool, { agentId: agent.agentId }, s.clock)).resent
      resent.push(...(await Promise.all([again(), again(), again()])))
      await s.sql(`select pg_notify('sluice_callbacks', $1)`, [String(agent.agentId)])
    }
    expect(resent).toEqual(Array(45).fill(200))
    await become(agent, { delivered: 200 })
    const { rows } = await s.sql('select seq from callbacks where agent_id = $1 and again > 0', [
      agent.agentId,
    ])
    expect(rows).toEqual([])
    // Each was under way or delivered when it was asked for again, so each went out once more.
    const { rowCount } = await s.sql('select from callback_attempts where agent_id = $1', [
      agent.agentId,
    ])
    expect(rowCount).toBe(receiver.received.length)
    expect(rowCount).toBeGreaterThanOrEqual(200 * 2)
  })
})

test('what is under way is still to be waited for', async () => {
  const agent = await toldAgent()
  const held: ServerResponse[] = []
  receiver.answer = (_received, response) => held.push(response)
  await agent.fund(100)
  await receiver.until(1)
  await become(agent, { sending: 1 })
  expect(await countOpen(s.backend.pool, agent.agentId)).toBe(1)
  held[0]?.end()
  await become(agent, { delivered: 1 })
  expect(await countOpen(s.backend.pool, agent.agentId)).toBe(0)
})

describe('callback pause and resume', () => {
  test('hold callbacks back and let them go, and nothing is lost', async () => {
    const agent = await toldAgent()
    expect(await json('pause', agent.appId)).toEqual({ app_id: agent.appId, paused: true })
    await agent.fund(100)
    await agent.fund(100)
    const listed = await json('list', '--agent', agent.appId, '--state', 'paused')
    expect(seqs(listed)).toEqual([1, 2])
    expect((await run('pause', agent.appId)).stdout).toBe('Callbacks are held back.\n')
    expect(receiver.received).toEqual([])

    expect((await run('resume', agent.appId)).stdout).toBe('Callbacks go out again.\n')
    await receiver.until(2)
    await become(agent, { delivered: 2 })
    expect(await json('resume', agent.appId)).toEqual({ app_id: agent.appId, paused: false })
  })
})

describe('what is said wrong', () => {
  test.each<[args: string[], says: RegExp]>([
    [['resend', 'APP'], /say which: --seq NUMBER, --failed or --all, one of them/],
    [['resend', 'APP', '--all', '--failed'], /one of them/],
    [['resend', 'APP', '--all', '--seq', '1'], /one of them/],
    [['resend', 'APP', '--seq', 'x'], /--seq NUMBER/],
    [['resend', 'APP', '--seq', '-1'], /--seq/],
    [['resend', 'APP', '--seq', '77'], /the agent has no callback 77/],
    [['resend', 'APP', '--since', '1h'], /one of them/],
    [['resend', 'APP', '--all', '--since', 'yesterday'], /"yesterday" is not a time such as/],
    [['resend', 'app_nobody', '--all'], /there is no agent app_nobody/],
    [['resend'], /missing required argument 'app_id'/],
    [['list', '--state', 'lost'], /'--state <state>' argument 'lost' is invalid.*waiting/],
    [['list', '--limit', '0'], /--limit must be 1 to 99999/],
    [['list', '--limit', '1e3'], /--limit must be 1 to 99999/],
    [['list', '--since', '1 hour'], /"1 hour" is not a time such as/],
    [['list', '--agent', 'app_nobody'], /there is no agent app_nobody/],
    [['pause', 'app_nobody'], /there is no agent app_nobody/],
    [['resume'], /missing required argument 'app_id'/],
    [['resned', 'APP'], /unknown command 'resned'/],
  ])('%j is refused and changes nothing', async (args, says) => {
    const agent = await toldAgent()
    await agent.fund(100)
    await become(agent, { delivered: 1 })
    expectRefused(await run(...args.map((arg) => (arg === 'APP' ? agent.appId : arg))), says)
    expect(await states(agent)).toEqual({ delivered: 1 })
    expect(receiver.received).toHaveLength(1)
  })
})
