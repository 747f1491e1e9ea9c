import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { AgentRate } from '../../src/agents/agent-rate.ts'
import { SharedBuckets } from '../../src/db/shared-buckets.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { OperatorClient, signIn } from '../support/operator.ts'
import { AgentClient, startTestService, type TestService } from '../support/service.ts'

let s: TestService
let other: TestService
beforeAll(async () => {
  s = await startTestService()
  other = await startTestService({ beside: s })
})
afterEach(() => s.prove())
afterAll(async () => {
  await other.close()
  await s.close()
})

/** An agent and the same one at the other service. */
async function atBoth(rateLimit: number): Promise<[AgentClient, AgentClient]> {
  const here = await s.agent({ rateLimit })
  const { appId, secret, agentId } = here
  return [here, new AgentClient(other.service.url, appId, secret, agentId, s.clock)]
}

describe("an agent's rate", () => {
  test.each([1, 5, 100])('of %i a second holds over both services together', async (rateLimit) => {
    const both = await atBoth(rateLimit)
    const asked = Array.from({ length: rateLimit * 2 + 40 }, (_, at) =>
      both[at % 2]?.get('/payment/banks'),
    )
    const statuses = (await Promise.all(asked)).map((answer) => answer?.status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(rateLimit * 2)
    expect(statuses.filter((status) => status === 429)).toHaveLength(40)
    s.clock.advance(1_000)
    const later = Array.from({ length: rateLimit + 20 }, (_, at) =>
      both[at % 2]?.get('/payment/banks'),
    )
    const let_in = (await Promise.all(later)).filter((answer) => answer?.status === 200)
    expect(let_in).toHaveLength(rateLimit)
  })

  test('is told as what is left over both', async () => {
    const [here, there] = await atBoth(4)
    const left = async (agent: AgentClient) =>
      (await agent.get('/payment/banks')).headers.get('ratelimit-remaining')
    expect([await left(here), await left(there), await left(here)]).toEqual(['7', '6', '5'])
  })

  /** A process's own share of one agent's rate, and how often it asked the database. */
  function counted(clock = s.clock) {
    const buckets = new SharedBuckets(s.backend.pool, clock, () => {})
    const asked = vi.spyOn(buckets, 'take')
    return { rate: new AgentRate(buckets, clock), asked }
  }

  test('costs few statements for an agent that asks often, and none for one that is refused', async () => {
    const agent = { agentId: 10_001n, rateLimit: 200 }
    const { rate, asked } = counted()
    for (let n = 0; n < 400; n++) expect((await rate.take(agent)).taken).toBe(true)
    expect(asked.mock.calls.length).toBeLessThan(40)
    asked.mockClear()
    for (let n = 0; n < 100; n++) expect((await rate.take(agent)).taken).toBe(false)
    expect(asked.mock.calls.length).toBeLessThanOrEqual(1)
  })

  test('what one process took ahead and did not use is void soon', async () => {
    const agent = { agentId: 10_002n, rateLimit: 100 }
    const { rate } = counted()
    for (let n = 0; n < 20; n++) await rate.take(agent)
    s.clock.advance(3_600_000)
    const { rate: fresh } = counted()
    let taken = 0
    for (let n = 0; n < 250; n++) if ((await fresh.take(agent)).taken) taken++
    for (let n = 0; n < 50; n++) if ((await rate.take(agent)).taken) taken++
    expect(taken).toBe(200)
  })

  test('locks nobody out where the clock of a process is set back', async () => {
    const agent = { agentId: 10_010n, rateLimit: 50 }
    let at = new Date()
    const buckets = new SharedBuckets(s.backend.pool, systemClock, () => {})
    const rate = new AgentRate(buckets, () => at)
    while ((await rate.take(agent)).taken);
    at = new Date(at.getTime() - 3_600_000)
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(await rate.take(agent)).toMatchObject({ taken: true })
  })

  test('is counted by the process itself while the database cannot be asked', async () => {
    const agent = { agentId: 10_003n, rateLimit: 3 }
    const { rate, asked } = counted()
    asked.mockRejectedValue(new Error('gone'))
    const taken = []
    for (let n = 0; n < 8; n++) taken.push((await rate.take(agent)).taken)
    expect(taken).toEqual([true, true, true, true, true, true, false, false])
  })

  test("goes by the database's time where nobody says otherwise", async () => {
    const buckets = new SharedBuckets(s.backend.pool, systemClock, () => {})
    await buckets.take('by time', 2, { perS: 1e-6, burst: 2 })
    const { rows } = await s.sql(
      `select granted, abs(extract(epoch from now() - refilled_at)) < 60 as is_now
       from limit_buckets where bucket = 'by time'`,
    )
    expect(rows).toEqual([{ granted: 2, is_now: true }])
    expect(await buckets.takeOne('by time', { perS: 1e-6, burst: 2 })).toMatchObject({
      taken: false,
    })
  })
})

describe('signing in', () => {
  const at = (service: TestService) =>
    new OperatorClient(service.service.url, s.clock, {
      email: 'nobody@sluice.example',
      password: 'x',
      totpSecret: 'AAAAAAAAAAAAAAAA',
    })

  test('may be tried so often over both services together, and no oftener', async () => {
    const { email } = await signIn(s, 'viewer')
    const tries = Array.from({ length: 18 }, (_, n) =>
      at(n % 2 ? s : other).post('/sign-in', { email, password: 'a guess', code: '1' }),
    )
    const statuses = (await Promise.all(tries)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 401)).toHaveLength(10)
    expect(statuses.filter((status) => status === 429)).toHaveLength(8)
  })

  test('keeps nothing of what was typed', async () => {
    const email = 'my-secret-by-mistake@sluice.example'
    await at(s).post('/sign-in', { email, password: 'a guess', code: '1' })
    const { rows } = await s.sql('select bucket from limit_buckets')
    expect(rows.length).toBeGreaterThan(0)
    expect(rows.map(({ bucket }) => bucket).join()).not.toMatch(/mistake|@/)
  })

  test('wrong codes are counted over both services', async () => {
    const person = await signIn(s, 'admin')
    const there = new OperatorClient(other.service.url, s.clock, {
      email: person.email,
      password: person.password,
      totpSecret: 'AAAAAAAAAAAAAAAA',
    })
    there.cookie = person.cookie
    const order = { email: 'new-one@sluice.example', role: 'viewer', code: '000000' }
    const codes = []
    for (let n = 0; n < 8; n++) {
      codes.push((await (n % 2 ? person : there).post('/users', order)).json.code)
    }
    expect(codes.filter((code) => code === 'code_refused')).toHaveLength(5)
    expect(codes.slice(5)).toEqual(['rate_limited', 'rate_limited', 'rate_limited'])
  })
})
