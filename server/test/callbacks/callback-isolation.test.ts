import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { findAgentById } from '../../src/agents/find-agent.ts'
import { updateAgent } from '../../src/agents/save-agent.ts'
import { openCallbackPool } from '../../src/callbacks/callback-pool.ts'
import { claimThoroughly } from '../../src/callbacks/claim-callbacks.ts'
import { Lease } from '../../src/callbacks/lease.ts'
import { recordAttempts } from '../../src/callbacks/record-attempts.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { makeOutcomes, startSender, type TestSender } from '../support/sender.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

const hourMs = 3_600_000

let s: TestService
let receiver: Receiver
let senders: TestSender[]

beforeAll(async () => {
  s = await startTestService({ realTime: true, env: { ROLE: 'api' } })
})
beforeEach(async () => {
  receiver = await startReceiver()
  senders = []
})
afterEach(async () => {
  vi.useRealTimers()
  await Promise.all(senders.map((sender) => sender.stop()))
  await s.prove()
  await receiver.close()
})
afterAll(() => s.close())

/** A sender of a process whose clock is the machine's. */
function newSender(): TestSender {
  const sender = startSender(s, { clock: systemClock })
  senders.push(sender)
  return sender
}

/** From here on the machine's clock is off by so much. The database's is not. */
function setClockOff(ms: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms })
}

const told = () => receiver.received.map(({ headers }) => Number(headers['x-event-seq'])).sort()

async function statesOf({ agentId }: AgentClient): Promise<Record<string, number>> {
  const { rows } = await s.sql(
    'select state, count(*)::int from callbacks where agent_id = $1 group by state',
    [agentId],
  )
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
}

async function setAddress({ agentId }: AgentClient, url: string): Promise<void> {
  const agent = await findAgentById(s.backend.pool, agentId)
  if (!agent) throw new Error('there is no such agent')
  await updateAgent(s.backend.pool, agent, { ...agent, depositCallbackUrl: url }, s.clock())
}

describe('a clock that is wrong', () => {
  test.each([
    ['ahead', hourMs],
    ['behind', -hourMs],
  ])(
    'by an hour, %s, takes nothing from a process that is sending, and what it sends is its own',
    async (_, offMs) => {
      const agent = await s.agent({ depositCallbackUrl: receiver.url })
      await makeOutcomes(s, agent, 3, ['PAID'])
      const held: ServerResponse[] = []
      receiver.answer = (_received, response) => held.push(response)
      const [right, wrong] = [newSender(), newSender()]
      await right.sender.poll()
      await receiver.until(3)

      setClockOff(offMs)
      await wrong.round()
      expect(told()).toEqual([1, 2, 3])
      await makeOutcomes(s, agent, 1, ['PAID'])
      await wrong.sender.poll()
      await receiver.until(4)
      vi.useRealTimers()
      await right.sender.poll()
      const { rows } = await s.sql(
        `select extract(epoch from lease_until - now()) between 30 and 60 as held
         from callback_claims where agent_id = $1`,
        [agent.agentId],
      )
      expect(rows).toEqual([{ held: true }, { held: true }])
      for (const response of held) response.end()
      await expect.poll(() => statesOf(agent)).toEqual({ delivered: 4 })
      expect(told()).toEqual([1, 2, 3, 4])
    },
  )

  test.each([
    ['ahead', hourMs],
    ['behind', -hourMs],
  ])('by an hour, %s, makes no retry, no probe and no outcome wait for it', async (_, offMs) => {
    const agent = await s.agent({ depositCallbackUrl: receiver.url })
    receiver.answer = (_received, response) => response.writeHead(500).end()
    const { rows: begun } = await s.sql('select now() as at')
    setClockOff(offMs)
    await makeOutcomes(s, agent, 6, ['PAID'])
    const wrong = newSender()
    while (
      (await s.sql(`select from callbacks where agent_id = $1 and attempts = 0`, [agent.agentId]))
        .rowCount
    )
      await wrong.round()
    const { rows } = await s.sql(
      `select count(*)::int, bool_and(due_at between $2 and now() + interval '6 s') as soon,
           bool_and(probe_at between $2 and now() + interval '5 s') as probed
         from callbacks join callback_lanes using (agent_id) where agent_id = $1`,
      [agent.agentId, begun[0].at],
    )
    expect(rows).toEqual([{ count: 6, soon: true, probed: true }])
  })

  test('by an hour, behind, does not keep what a dead process had claimed', async () => {
    const agent = await s.agent({ depositCallbackUrl: receiver.url })
    await makeOutcomes(s, agent, 1, ['PAID'])
    await s.sql(
      `insert into callback_claims values ($1, 1, gen_random_uuid(), '{1}', now() - interval '1 s')`,
      [agent.agentId],
    )
    setClockOff(-hourMs)
    await newSender().round()
    expect(await statesOf(agent)).toEqual({ delivered: 1 })
  })

  test('a claim is over for its process when either of its clocks says so', () => {
    let nowMs = 0
    const lease = new Lease(() => new Date(nowMs))
    expect(lease.leftMs()).toBeGreaterThan(50_000)
    nowMs = 61_000
    expect(lease.leftMs()).toBeLessThan(0)
    nowMs = -hourMs
    expect(lease.leftMs()).toBeLessThanOrEqual(60_000)
  })
})

describe('an agent without an address', () => {
  /** Outcomes by SQL that found no address, beside the books. */
  async function pile({ agentId }: AgentClient, count: number): Promise<void> {
    await s.sql(
      `with made as (select set_config('session_replication_role', 'replica', true))
       insert into callbacks (agent_id, seq, order_id, kind, follows, body, state, created_at, due_at,
         attempts, again)
       select $1, n, gen_random_uuid(), 'deposit', false, '{}', 'no_address', now(), now(), 0, 0
       from made, generate_series(1000001, 1000000 + $2) n`,
      [agentId, count],
    )
    await s.sql(
      `insert into callback_lanes (agent_id, paused, width, failed_seqs, turn)
       values ($1, true, 4, '{}', 0) on conflict (agent_id) do update set paused = true`,
      [agentId],
    )
  }
  const unpile = ({ agentId }: AgentClient) =>
    s.sql('delete from callbacks where agent_id = $1 and seq > 1000000', [agentId])

  test('holds nobody up when it gets one: what waited is set going in steps, until none is left', async () => {
    const [large, other] = [await s.agent(), await s.agent({ depositCallbackUrl: receiver.url })]
    await pile(large, 25_000)
    await setAddress(large, receiver.url)
    await makeOutcomes(s, other, 1, ['PAID'])
    const { round, errors } = newSender()
    await round()
    expect(await statesOf(other)).toEqual({ delivered: 1 })
    expect(await statesOf(large)).toEqual({ waiting: 10_000, no_address: 15_000 })
    // Another process goes on where this one was.
    await newSender().round()
    await round()
    expect(await statesOf(large)).toEqual({ waiting: 25_000 })
    expect(errors).toEqual([])
    await unpile(large)
  })

  test('is looked at when it gets one and not before, however much waits for it', async () => {
    const large = await s.agent()
    await pile(large, 3)
    const { round } = newSender()
    const addressed = async () =>
      (await s.sql('select addressed from callback_lanes where agent_id = $1', [large.agentId]))
        .rows[0].addressed
    await round()
    expect(await addressed()).toEqual([])
    await setAddress(large, receiver.url)
    await round()
    expect(await statesOf(large)).toEqual({ waiting: 3 })
    expect(await addressed()).toEqual(['deposit'])
    await unpile(large)
  })

  test('gets what was found without one at the very moment in which it was set', async () => {
    const agent = await s.agent()
    const { agentId } = agent
    await makeOutcomes(s, agent, 1, ['PAID'])
    const pool = openCallbackPool(s.database.url, () => {})
    const sender = randomUUID()
    const options = { sender, now: systemClock, widest: 32 }
    const claim = await claimThoroughly(
      pool,
      { agentId, turn: null, most: 32, underWay: 0, firstWidth: 32 },
      options,
    )
    await setAddress(agent, receiver.url)
    const { round } = newSender()
    await round()
    const outcomes = claim.callbacks.map((callback) => ({
      callback,
      attempt: 'no_address' as const,
    }))
    await recordAttempts(pool, outcomes, {
      ...options,
      random: Math.random,
      isHealthy: () => true,
    })
    await pool.end()
    expect(await statesOf(agent)).toEqual({ no_address: 1 })
    await round()
    expect(await statesOf(agent)).toEqual({ delivered: 1 })
  })

  test('whose step fails keeps no other agent from its retries, nor the poll from its other steps', async () => {
    const [broken, other, late] = [
      await s.agent(),
      await s.agent(),
      await s.agent({ depositCallbackUrl: receiver.url }),
    ]
    await pile(broken, 1)
    await s.sql(
      `alter table callbacks add constraint stuck check (agent_id <> ${broken.agentId} or state <> 'waiting') not valid`,
    )
    await makeOutcomes(s, other, 1, ['PAID'])
    const { round, errors } = newSender()
    await round()
    await setAddress(broken, receiver.url)
    await setAddress(other, receiver.url)
    await makeOutcomes(s, late, 1, ['PAID'])
    await round()
    expect(await statesOf(other)).toEqual({ delivered: 1 })
    expect(await statesOf(late)).toEqual({ delivered: 1 })
    expect(errors).toMatchObject([{ constraint: 'stuck' }])
    await s.sql('alter table callbacks drop constraint stuck')

    await s.sql('revoke delete on callback_claims from sluice_service')
    await makeOutcomes(s, late, 1, ['PAID'])
    errors.length = 0
    await newSender().sender.poll()
    await receiver.until(3)
    await s.sql('grant delete on callback_claims to sluice_service')
    await unpile(broken)
  })
})

test('a result that the database refuses keeps no other from being recorded, and is recorded once it can be', async () => {
  const agent = () => s.agent({ depositCallbackUrl: receiver.url })
  const [broken, other] = [await agent(), await agent()]
  await s.sql(
    `alter table callback_attempts add constraint stuck check (agent_id <> ${broken.agentId}) not valid`,
  )
  await makeOutcomes(s, broken, 1, ['PAID'])
  await makeOutcomes(s, other, 20, ['PAID'])
  const { round, errors } = newSender()
  const ended = round()
  await expect.poll(() => statesOf(other), { interval: 10 }).toEqual({ delivered: 20 })
  expect(await statesOf(broken)).toEqual({ waiting: 1 })
  await s.sql('alter table callback_attempts drop constraint stuck')
  await ended
  expect(await statesOf(broken)).toEqual({ delivered: 1 })
  expect(receiver.received.length).toBe(21)
  expect(new Set(errors.map((error) => Reflect.get(Object(error), 'constraint')))).toEqual(
    new Set(['stuck']),
  )
})
