import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findAgentById } from '../../src/agents/find-agent.ts'
import { updateAgent } from '../../src/agents/save-agent.ts'
import { readEvents } from '../../src/callbacks/read-callbacks.ts'
import { hurryCallbacks, pauseCallbacks } from '../../src/callbacks/resend-callbacks.ts'
import { usually } from '../support/long.ts'
import { type Received, type Receiver, startReceiver } from '../support/receiver.ts'
import {
  type BlackHole,
  makeOutcomes,
  startBlackHole,
  startSender,
  type TestSender,
  type TestSenderOptions,
} from '../support/sender.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

const patient = { interval: 20 }

let s: TestService
let receiver: Receiver
let senders: TestSender[]
let blackHole: BlackHole

beforeEach(async () => {
  s = await startTestService({ env: { ROLE: 'api' } })
  receiver = await startReceiver()
  blackHole = await startBlackHole()
  senders = []
})
afterEach(async () => {
  await blackHole.close()
  await Promise.all(senders.map((each) => each.stop()))
  await receiver.close()
  await s.prove()
  await s.close()
})

function started(options: TestSenderOptions = {}): TestSender {
  const sender = startSender(s, options)
  senders.push(sender)
  return sender
}

const newAgent = (depositCallbackUrl: string | null) =>
  s.agent({ depositCallbackUrl, method: 'link' })

/** How many callbacks there are, by state. */
async function counts({ agentId }: AgentClient): Promise<Record<string, number>> {
  const { rows } = await s.sql(
    'select state, count(*)::int from callbacks where agent_id = $1 group by state',
    [agentId],
  )
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
}

function statusesByOrder(received: readonly Received[]): Map<string, string[]> {
  const statuses = new Map<string, string[]>()
  for (const { json } of received) {
    const told = statuses.get(json.transactionId)
    if (told) told.push(json.status)
    else statuses.set(json.transactionId, [json.status])
  }
  return statuses
}

/** How many callbacks senders share or have waiting. Ten thousand, for a longer look: CALLBACKS=10000 */
const total = Number(process.env.CALLBACKS ?? usually(200, { long: 1_000 }))

test('four senders send many callbacks once each, in order, within each agent’s bound', async () => {
  const widest = 8
  const agents = await Promise.all(Array.from({ length: 5 }, () => newAgent(receiver.url)))
  for (const agent of agents) await makeOutcomes(s, agent, total / 10, ['PAID', 'VOID'])
  const underWay = new Map<string, number>()
  let most = 0
  receiver.answer = ({ headers }, response) => {
    const appId = String(headers['x-appid'])
    const now = (underWay.get(appId) ?? 0) + 1
    underWay.set(appId, now)
    most = Math.max(most, now)
    // Long enough for others to come meanwhile.
    setTimeout(() => {
      underWay.set(appId, (underWay.get(appId) ?? 0) - 1)
      response.end()
    }, 3)
  }
  for (let count = 0; count < 4; count++) started({ widest, pollEveryMs: 100 })
  await receiver.until(total)
  for (const agent of agents) {
    await expect.poll(() => counts(agent), patient).toEqual({ delivered: total / 5 })
  }
  expect(receiver.received.length).toBe(total)
  const statuses = [...statusesByOrder(receiver.received).values()]
  expect(statuses.length).toBe(total / 2)
  expect(statuses.filter((each) => each.join() !== 'PAID,VOID')).toEqual([])
  expect(most).toBeLessThanOrEqual(widest)
  expect(senders.flatMap(({ errors }) => errors)).toEqual([])
})

describe('other agents’ callbacks come as quickly as ever', () => {
  /** How long fifty outcomes of a new agent take until they have all arrived. */
  async function fiftyMs(url: string): Promise<number> {
    const agent = await newAgent(url)
    const before = receiver.received.length
    const start = performance.now()
    await makeOutcomes(s, agent, 50, ['FAILED'])
    await receiver.until(before + 50)
    return performance.now() - start
  }

  const expectAsQuick = async (aloneMs: number, url = receiver.url) =>
    expect(await fiftyMs(url)).toBeLessThan(3_000 + 5 * aloneMs)

  const attempts = async (agent: AgentClient) =>
    (await s.sql('select from callback_attempts where agent_id = $1', [agent.agentId])).rowCount

  test('beside an agent that never answers and has many waiting', async () => {
    started({ pollEveryMs: 100, maxInFlight: total / 2 })
    const aloneMs = await fiftyMs(receiver.url)
    const silent = await newAgent(blackHole.url)
    // More than a sender has under way at once.
    await makeOutcomes(s, silent, total, ['PAID', 'VOID'])
    await expect.poll(() => blackHole.held, patient).toBeGreaterThan(0)
    await expectAsQuick(aloneMs)
    await expect.poll(() => counts(silent)).toMatchObject({ waiting: expect.any(Number) })
    expect((await counts(silent)).delivered).toBeUndefined()
  })

  test('beside fifty agents that have stopped answering', async () => {
    const maxInFlight = usually(200, { long: 1_000 })
    const aloneSender = started({ pollEveryMs: 100, maxInFlight })
    const aloneMs = await fiftyMs(receiver.url)
    await aloneSender.stop()
    senders = []
    const silent = await Promise.all(Array.from({ length: 50 }, () => newAgent(blackHole.url)))
    for (const agent of silent) await makeOutcomes(s, agent, maxInFlight / 25, ['FAILED'])
    // They were well until now.
    await s.sql(
      `insert into callback_lanes (agent_id, paused, width, failed_seqs, turn)
       select agent_id, false, 32, '{}', 0 from agents on conflict (agent_id) do update set width = 32`,
    )
    started({ pollEveryMs: 100, maxInFlight })
    await expect.poll(() => blackHole.held, patient).toBeGreaterThan(maxInFlight * 0.9)
    await expectAsQuick(aloneMs)
    const ended = await Promise.all(silent.map(attempts))
    expect(ended.every((count) => count === 0)).toBe(true)
  })

  test('beside names for which no name server answers', async () => {
    let giveUp = () => {}
    const never = new Promise<void>((resolve) => {
      giveUp = resolve
    })
    let asked = 0
    const resolveHost = async (host: string) => {
      if (host === 'well.test') return ['127.0.0.1']
      asked++
      await never
      throw new Error('the name servers are gone')
    }
    const { port } = new URL(receiver.url)
    const well = `http://well.test:${port}/`
    started({ pollEveryMs: 100, resolveHost })
    const aloneMs = await fiftyMs(well)
    const nameless = await Promise.all(
      Array.from({ length: 50 }, (_, number) => newAgent(`http://hangs-${number}.test/`)),
    )
    for (const agent of nameless) await makeOutcomes(s, agent, 10, ['FAILED'])
    await expect.poll(() => asked, patient).toBeGreaterThanOrEqual(200)
    await expectAsQuick(aloneMs, well)
    giveUp()
  })

  test('beside an agent at the same host and port that never answers', async () => {
    const sender = started({ pollEveryMs: 100 })
    const aloneMs = await fiftyMs(receiver.url)
    receiver.answer = ({ path }, response) => {
      if (path !== '/silent') response.end()
    }
    const silent = await newAgent(`${receiver.url}/silent`)
    await s.sql(
      `insert into callback_lanes (agent_id, paused, width, failed_seqs, turn) values ($1, false, 32, '{}', 0)`,
      [silent.agentId],
    )
    const before = receiver.received.length
    await makeOutcomes(s, silent, 40, ['FAILED'])
    await receiver.until(before + 32)
    await expectAsQuick(aloneMs, `${receiver.url}/well`)
    await receiver.close()
    await sender.stop()
    senders = []
  })
})

describe('an endpoint', () => {
  /** 150 minutes: one at a time where repeats are close together. */
  const steps = [...Array(20).fill(1), ...Array(26).fill(5)]

  test('that comes back after hours gets everything within minutes, and waiting has cost nothing', async () => {
    const sender = started()
    const agent = await newAgent(receiver.url)
    receiver.answer = (_received, response) => response.writeHead(503).end()
    const minutes = usually(60, { long: 180 })
    const waiting = 2 * minutes
    await makeOutcomes(s, agent, waiting, ['FAILED'])
    await sender.round()
    for (let minute = 0; minute < minutes; minute++) {
      s.clock.advance(60_000)
      await sender.round()
    }
    // One probe a minute, after the few that showed it to be down.
    const probes = receiver.received.length
    expect(probes).toBeGreaterThan(minutes - 10)
    expect(probes).toBeLessThan(minutes + 20)
    const { rows } = await s.sql(
      `select sum(attempts)::int as spent, max(attempts) as most,
         count(*) filter (where attempts = 0 and state = 'waiting')::int as untouched
       from callbacks`,
    )
    expect(rows).toEqual([{ spent: probes, most: 1, untouched: waiting - probes }])

    receiver.answer = (_received, response) => response.end()
    for (let halfMinute = 0; halfMinute < 6; halfMinute++) {
      s.clock.advance(30_000)
      await sender.round()
    }
    expect(await counts(agent)).toEqual({ delivered: waiting })
    expect(receiver.received.length).toBe(probes + waiting)
    const lane = 'select width, failed_seqs, probe_at, why from callback_lanes'
    expect((await s.sql(lane)).rows).toEqual([
      { width: 32, failed_seqs: [], probe_at: null, why: null },
    ])
  })

  test('that refuses one order for ever is not taken for one that is down', async () => {
    const sender = started()
    const agent = await newAgent(receiver.url)
    await makeOutcomes(s, agent, 10, ['FAILED'])
    await sender.round()
    receiver.answer = (_received, response) => response.writeHead(500).end()
    await makeOutcomes(s, agent, 1, ['FAILED'])
    // Long enough for six repeats however late they come, too short for a seventh.
    for (const minutes of steps) {
      await sender.round()
      const { rows } = await s.sql('select width, probe_at from callback_lanes')
      expect(rows).toEqual([{ width: 32, probe_at: null }])
      s.clock.advance(minutes * 60_000)
    }
    expect(receiver.received.length).toBe(10 + 7)
  })

  test('that refuses two orders for ever, one after the other, is not taken for one that is down', async () => {
    const sender = started()
    const agent = await newAgent(receiver.url)
    receiver.answer = (_received, response) => response.writeHead(500).end()
    await makeOutcomes(s, agent, 2, ['FAILED'])
    for (let minute = 0; minute < 20; minute++) {
      await sender.round()
      s.clock.advance(60_000)
    }
    expect(receiver.received.length).toBeGreaterThanOrEqual(8)
    const { rows } = await s.sql('select probe_at, failed_seqs from callback_lanes')
    expect(rows).toEqual([
      { probe_at: null, failed_seqs: expect.toSatisfy((each) => each.length === 2) },
    ])
  })

  test.each([1, 3])(
    'that refuses %i orders for ever still gets all the others at once',
    async (bad) => {
      const sender = started()
      const agent = await newAgent(receiver.url)
      const refused = await makeOutcomes(s, agent, bad, ['FAILED'])
      receiver.answer = ({ json }, response) =>
        response.writeHead(refused.includes(json.transactionId) ? 500 : 200).end()
      let others = 0
      // The seventh attempt comes by minute 130 at the latest, the eighth after 178 at the soonest.
      for (const [at, minutes] of steps.entries()) {
        await sender.round()
        // Now and then there is something else to send.
        if (at % 5 === 4) {
          await makeOutcomes(s, agent, 10, ['FAILED'])
          others += 10
          await sender.round()
          const arrived = receiver.received.filter(
            ({ json }) => !refused.includes(json.transactionId),
          )
          expect(arrived.length).toBe(others)
        }
        s.clock.advance(minutes * 60_000)
      }
      expect(await counts(agent)).toEqual({ delivered: others, waiting: bad })
      const { rows } = await s.sql('select attempts from callbacks where state <> $1', [
        'delivered',
      ])
      // At once, then after 5 s, 30 s, 2 m, 10 m, 30 m and 1 h.
      for (const { attempts } of rows) expect(attempts).toBe(7)
    },
  )
})

describe('what is held back', () => {
  const deliveries = async ({ agentId }: AgentClient) =>
    new Set(
      (await readEvents(s.backend.pool, { agentId, limit: 1_000 })).map(({ delivery }) => delivery),
    )

  const spent = async () =>
    (await s.sql('select sum(attempts)::int as spent from callbacks')).rows[0].spent

  async function setAddress({ agentId }: AgentClient, depositCallbackUrl: string | null) {
    const agent = await findAgentById(s.backend.pool, agentId)
    if (!agent) throw new Error('there is no such agent')
    await updateAgent(s.backend.pool, agent, { ...agent, depositCallbackUrl }, s.clock())
    await hurryCallbacks(s.backend.pool, agentId, s.clock)
  }

  test('a paused agent is sent nothing; resumed, it gets everything, each order in order', async () => {
    const sender = started()
    const agent = await newAgent(receiver.url)
    const other = await newAgent(receiver.url)
    await pauseCallbacks(s.backend.pool, agent.agentId, true, s.clock)
    const orders = await makeOutcomes(s, agent, 100, ['PAID', 'VOID'])
    await makeOutcomes(s, other, 1, ['FAILED'])
    await sender.round()
    // Longer than a later state waits for an earlier one.
    s.clock.advance(60 * 60_000)
    sender.sender.wake([agent.agentId])
    await sender.round()
    expect(receiver.received.map(({ headers }) => headers['x-appid'])).toEqual([other.appId])
    expect(await deliveries(agent)).toEqual(new Set(['paused']))

    await pauseCallbacks(s.backend.pool, agent.agentId, false, s.clock)
    await sender.round()
    expect(await deliveries(agent)).toEqual(new Set(['delivered']))
    expect(statusesByOrder(receiver.received.slice(1))).toEqual(
      new Map(orders.map((id) => [id, ['PAID', 'VOID']])),
    )
  })

  test('without an address nothing is spent, and all goes out when there is one', async () => {
    const sender = started()
    const agent = await newAgent(null)
    const orders = await makeOutcomes(s, agent, 100, ['FAILED'])
    for (let day = 0; day < 5; day++) {
      for (let time = 0; time < 4; time++) {
        await sender.round()
        s.clock.advance(6 * 3_600_000)
      }
    }
    expect(await counts(agent)).toEqual({ no_address: 100 })
    expect(await spent()).toBe(0)

    await setAddress(agent, receiver.url)
    await sender.round()
    expect(await counts(agent)).toEqual({ delivered: 100 })
    expect([...statusesByOrder(receiver.received).keys()].toSorted()).toEqual(orders.toSorted())
    expect(receiver.received.length).toBe(100)
  })

  test('a changed address heals at once what waits for the wrong one', async () => {
    const sender = started()
    const agent = await newAgent('http://127.0.0.1:1/nobody')
    await makeOutcomes(s, agent, 100, ['FAILED'])
    for (let minute = 0; minute < 30; minute++) {
      await sender.round()
      s.clock.advance(60_000)
    }
    await sender.round()
    expect(await counts(agent)).toEqual({ waiting: 100 })
    await setAddress(agent, receiver.url)
    await sender.round()
    expect(await counts(agent)).toEqual({ delivered: 100 })
    expect(receiver.received.length).toBe(100)
  })
})
