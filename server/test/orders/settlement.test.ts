import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { agentView } from '../../src/agents/agent-view.ts'
import { findAgent } from '../../src/agents/find-agent.ts'
import { type AgentTerms, updateAgent } from '../../src/agents/save-agent.ts'
import { startOfDate } from '../../src/lib/period.ts'
import { removeLimitRule, type SetRule, saveLimitRule } from '../../src/limits/limit-rules.ts'
import { writeAudit } from '../../src/operators/audit.ts'
import { Settler } from '../../src/orders/settle-agents.ts'
import type { Desk } from '../../src/teller/desk.ts'
import { signIn } from '../support/operator.ts'
import { lastCallback } from '../support/order-answers.ts'
import { command, commandJson, type Env } from '../support/process.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

/** Agents' balances are paid out to their own accounts, every day or on Mondays. */

const minuteMs = 60_000
const zone = 'Europe/Berlin'
let s: TestService
beforeAll(async () => {
  // Without a worker, which would settle at some moment of its own.
  s = await startTestService({ env: { TIME_ZONE: zone, ROLE: 'api' } })
  goTo('2027-03-01', -60)
})
afterEach(() => s.prove())
afterAll(() => s.close())

/** Moves the clock to so many minutes after the start of a day; time never goes back. */
function goTo(day: string, minutes: number): void {
  const ms = startOfDate(day, zone).getTime() + minutes * minuteMs - s.clock().getTime()
  if (ms < 0) throw new Error(`${day} is over`)
  s.clock.advance(ms)
}

const account = 'SCB:1234567890:Shop Ltd.'
const settled = (terms: Partial<AgentTerms> = {}) =>
  s.agent({ settle: 'daily', settleTo: account, ...terms })

const onError = (error: unknown) => {
  throw error
}
const poll = (desk: Desk = s.service.desk) => new Settler(desk, zone, onError).poll()

const settlementsOf = async ({ agentId }: AgentClient) => {
  const { rows } = await s.sql(
    `select ref_id, amount::int as amount, fee::int as fee, account_no, account_name, bank_code
     from orders where agent_id = $1 and kind = 'withdraw' order by created_at`,
    [agentId],
  )
  return rows
}
const amountsOf = async (agent: AgentClient) =>
  (await settlementsOf(agent)).map(({ ref_id, amount }) => [ref_id, amount])

describe('a settlement', () => {
  it('is a withdrawal of what was there when the day began, above what stays and less its fee', async () => {
    const agent = await settled({ settleKeep: 100n, withdrawFee: '1%+10' })
    goTo('2027-03-03', -30)
    await agent.fund(1_000)
    goTo('2027-03-03', 5)
    await agent.fund(500)
    goTo('2027-03-03', 9)
    await poll()
    expect(await settlementsOf(agent)).toEqual([])
    goTo('2027-03-03', 10)
    await poll()
    expect(await settlementsOf(agent)).toEqual([
      {
        ref_id: 'settlement-2027-03-03',
        amount: 881_00,
        fee: 18_81,
        account_no: '1234567890',
        account_name: 'Shop Ltd.',
        bank_code: 'SCB',
      },
    ])
    const { json } = await agent.get('/payment/orders?refId=settlement-2027-03-03')
    await agent.trigger(json.txn_id, 'PAID')
    const told = await lastCallback(agent)
    expect(told.json).toMatchObject({ refId: 'settlement-2027-03-03', status: 'PAID', amount: 881 })
    expect(told.event.kind).toBe('withdraw')
    goTo('2027-03-03', 600)
    await poll()
    expect(await settlementsOf(agent)).toHaveLength(1)
    // What came in on the day is for the next one.
    goTo('2027-03-04', 10)
    await poll()
    expect((await amountsOf(agent)).at(-1)).toEqual(['settlement-2027-03-04', 485_00])
  })

  it('is made once by any number of processes at once', async () => {
    const agent = await settled()
    await agent.fund(700)
    goTo('2027-03-05', 10)
    const beside = await startTestService({ beside: s, env: { TIME_ZONE: zone } })
    try {
      await Promise.all(
        Array.from({ length: 8 }, (_, at) => poll((at % 2 ? s : beside).service.desk)),
      )
    } finally {
      await beside.close()
    }
    expect(await amountsOf(agent)).toEqual([['settlement-2027-03-05', 700_00]])
    expect(await agent.balance()).toBe(0)
  })

  it('is made once, though a process ends before it or before it knows of it', async () => {
    const agent = await settled()
    await agent.fund(300)
    goTo('2027-03-06', 10)
    const { desk } = s.service
    const ends = new Error('the process ends')
    const faults: unknown[] = []
    const dying = (teller: Desk['teller']) =>
      new Settler({ ...desk, teller }, zone, (error) => faults.push(error)).poll()
    await dying({ do: () => Promise.reject(ends) })
    expect(await settlementsOf(agent)).toEqual([])
    await dying({
      do: async (given) => {
        await desk.teller.do(given)
        throw ends
      },
    })
    expect(faults).toContain(ends)
    await poll()
    await poll()
    expect(await amountsOf(agent)).toEqual([['settlement-2027-03-06', 300_00]])
  })

  it('is not more than one withdrawal may be; the rest is for the next time', async () => {
    const agent = await settled({ maxWithdraw: 400n, minWithdraw: 50n })
    await agent.fund(840)
    for (const day of ['2027-03-07', '2027-03-08', '2027-03-09']) {
      goTo(day, 10)
      await poll()
    }
    expect(await amountsOf(agent)).toEqual([
      ['settlement-2027-03-07', 400_00],
      ['settlement-2027-03-08', 400_00],
    ])
    expect(await agent.balance()).toBe(40)
  })

  it('is not more than is there now, and is left out if that is below what stays', async () => {
    const [spent, poor, inReserve] = [
      await settled(),
      await settled({ settleKeep: 600n }),
      await settled({ reserve: '90%/30' }),
    ]
    for (const agent of [spent, poor, inReserve]) await agent.fund(600)
    goTo('2027-03-10', 2)
    expect((await spent.withdraw({ amount: 450 })).status).toBe(201)
    goTo('2027-03-10', 10)
    await poll()
    expect((await amountsOf(spent)).at(-1)).toEqual(['settlement-2027-03-10', 150_00])
    expect(await settlementsOf(poor)).toEqual([])
    expect(await amountsOf(inReserve)).toEqual([['settlement-2027-03-10', 60_00]])
  })

  it('waits for a provider and for an agent that is suspended, until the day is over', async () => {
    const agent = await settled()
    await agent.fund(200)
    goTo('2027-03-11', 10)
    const { desk } = s.service
    const providers = Object.create(desk.providers, { candidates: { value: async () => [] } })
    await poll({ ...desk, providers })
    expect(await settlementsOf(agent)).toEqual([])
    const status = `update agents set status = $2 where agent_id = $1`
    await s.sql(status, [agent.agentId, 'suspended'])
    await poll()
    expect(await settlementsOf(agent)).toEqual([])
    await s.sql(status, [agent.agentId, 'active'])
    await poll()
    expect(await amountsOf(agent)).toEqual([['settlement-2027-03-11', 200_00]])
  })

  it('of one agent that cannot be made does not keep others from theirs', async () => {
    const [broken, agent] = [await settled(), await settled()]
    for (const each of [broken, agent]) await each.fund(100)
    // The bank has closed since, say.
    const lie = `update agents set settle_to = 'GONE:1234567890:Shop' where agent_id = $1`
    await s.sql(lie, [broken.agentId])
    goTo('2027-03-12', 10)
    const faults: unknown[] = []
    await new Settler(s.service.desk, zone, (error) => faults.push(String(error))).poll()
    expect(faults).toEqual([expect.stringContaining('GONE')])
    expect(await settlementsOf(broken)).toEqual([])
    expect(await amountsOf(agent)).toEqual([['settlement-2027-03-12', 100_00]])
    await s.sql(`update agents set settle = 'off' where agent_id = $1`, [broken.agentId])
  })

  it('leaves what is to stay, although the agent withdraws at the same moment', async () => {
    const agent = await settled({ settleKeep: 500n })
    await agent.fund(1000)
    goTo('2027-03-13', 10)
    const { desk } = s.service
    let withdrawn: number | undefined
    // The settlement has read the wallet when it asks who takes it.
    const candidates: typeof desk.providers.candidates = async (order) => {
      if (order.agentId === agent.agentId) {
        withdrawn ??= (await agent.withdraw({ amount: 400 })).status
      }
      return desk.providers.candidates(order)
    }
    const providers = Object.create(desk.providers, { candidates: { value: candidates } })
    await poll({ ...desk, providers })
    expect([withdrawn, await agent.balance()]).toEqual([201, 600])
    await poll()
    expect(await amountsOf(agent)).toContainEqual(['settlement-2027-03-13', 100_00])
    expect(await agent.balance()).toBe(500)
  })
})

describe('days and weeks', () => {
  it('begin in the zone of the service, also when the clocks change', async () => {
    const agent = await settled({ settleKeep: 0n })
    goTo('2027-03-27', -30)
    await agent.fund(10)
    // The clocks go forward on the 28th: the day has 23 hours. A minute before ten past twelve is too early.
    for (const day of ['2027-03-27', '2027-03-28', '2027-03-29']) {
      goTo(day, 9)
      await poll()
      goTo(day, 10)
      await poll()
      await agent.fund(10)
    }
    goTo('2027-03-29', 23 * 60 + 59)
    await poll()
    expect(await amountsOf(agent)).toEqual([
      ['settlement-2027-03-27', 10_00],
      ['settlement-2027-03-28', 10_00],
      ['settlement-2027-03-29', 10_00],
    ])
  })

  it('a weekly settlement is made on Mondays only', async () => {
    const agent = await settled({ settle: 'weekly' })
    await agent.fund(10)
    for (const day of ['2027-03-30', '2027-04-04', '2027-04-05', '2027-04-06', '2027-04-12']) {
      goTo(day, 10)
      await poll()
      await agent.fund(10)
    }
    expect(await amountsOf(agent)).toEqual([
      ['settlement-2027-04-05', 30_00],
      ['settlement-2027-04-12', 20_00],
    ])
  })

  it('a weekly settlement that could not be made on Monday is made on the first day that works', async () => {
    const [agent, late] = [await settled({ settle: 'weekly' }), await settled({ settle: 'off' })]
    for (const each of [agent, late]) await each.fund(10)
    // Nothing runs on Monday, the 19th. What comes in meanwhile is for the week after.
    goTo('2027-04-20', 5)
    await agent.fund(5)
    await s.sql(`update agents set settle = 'weekly', updated_at = $2 where agent_id = $1`, [
      late.agentId,
      s.clock(),
    ])
    goTo('2027-04-21', 30)
    await poll()
    await poll()
    expect(await amountsOf(agent)).toEqual([['settlement-2027-04-19', 10_00]])
    // It was not weekly on Monday.
    expect(await amountsOf(late)).toEqual([])
    goTo('2027-04-26', 10)
    await poll()
    expect((await amountsOf(agent)).at(-1)).toEqual(['settlement-2027-04-26', 5_00])
    expect(await amountsOf(late)).toEqual([['settlement-2027-04-26', 10_00]])
  })

  it('a change of other terms since Monday does not put a weekly settlement off', async () => {
    const change = async (agent: AgentClient, terms: Partial<AgentTerms>) => {
      const found = await findAgent(s.backend.pool, agent.appId)
      if (!found) throw new Error('there is no such agent')
      const at = s.clock()
      const changed = await updateAgent(s.backend.pool, found, { ...found, ...terms }, at)
      if (!changed) throw new Error('it was changed meanwhile')
      await writeAudit(s.backend.pool, {
        ...{ at, operator: { userId: null, email: 'command line', ip: null } },
        ...{ action: 'change_agent', subject: { kind: 'agent', id: agent.appId } },
        ...{ agentId: agent.agentId, before: agentView(found), after: agentView(changed) },
      })
    }
    const [renamed, late, again] = [
      await settled({ settle: 'weekly' }),
      await settled({ settle: 'off' }),
      await settled({ settle: 'weekly' }),
    ]
    for (const agent of [renamed, late, again]) await agent.fund(10)
    // Nothing runs on Monday, the 3rd.
    goTo('2027-05-04', 5)
    await change(renamed, { name: 'Another name' })
    await change(late, { settle: 'weekly' })
    await change(late, { name: 'Yet another name' })
    await change(again, { settle: 'off' })
    await change(again, { settle: 'weekly' })
    goTo('2027-05-05', 30)
    await poll()
    await poll()
    expect(await amountsOf(renamed)).toEqual([['settlement-2027-05-03', 10_00]])
    for (const agent of [late, again]) expect(await amountsOf(agent)).toEqual([])
  })

  it('the service itself settles, and nobody who has not agreed to it', async () => {
    const [agent, other] = [await settled(), await s.agent({ settleTo: account })]
    for (const each of [agent, other]) await each.fund(10)
    goTo('2027-10-31', 10)
    const beside = await startTestService({ beside: s, env: { TIME_ZONE: zone } })
    try {
      await expect.poll(() => amountsOf(agent)).toEqual([['settlement-2027-10-31', 10_00]])
    } finally {
      await beside.close()
    }
    expect(await settlementsOf(other)).toEqual([])
  })
})

describe('the terms', () => {
  it('are set on the command line, and a settlement needs an account', async () => {
    const env: Env = {
      DATABASE_URL: s.database.url,
      DATABASE_OWNER_URL: s.database.ownerUrl,
      SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    }
    const agent = await s.agent()
    const set = (...args: string[]) => ['agent', 'set', agent.appId, ...args]
    const terms = ['--settle', 'daily', '--settle-keep', '1000']
    expect((await command(set(...terms), env)).stderr).toContain('--settle-to')
    expect(await commandJson(set(...terms, '--settle-to', account), env)).toMatchObject({
      settle: 'daily',
      settle_keep: 1000,
      settle_to: account,
    })
    expect((await command(set('--settle-to', 'SCB:12:Shop'), env)).code).not.toBe(0)
    expect((await command(set('--settle-to', 'none'), env)).code).not.toBe(0)
    const off = await commandJson(set('--settle', 'off', '--settle-to', 'none'), env)
    expect(off).toMatchObject({ settle: 'off', settle_to: null })
  })

  it('are changed in the console, and the account before and after is in the audit log', async () => {
    const admin = await signIn(s, 'admin')
    const agent = await settled()
    const path = `/agents/${agent.appId}`
    const { json: read } = await admin.get(path)
    const change = {
      settle_to: 'KTB:9876543210:Shop Ltd.',
      settle_keep: 0,
      reason: 'they moved',
      updated_at: read.updated_at,
      code: admin.code(),
    }
    expect((await admin.send('PATCH', path, change)).json).toMatchObject({
      settle_to: change.settle_to,
    })
    const { rows } = await s.sql(
      `select before, after, reason, email from audit_log
       where action = 'change_agent' and subject_id = $1 order by at desc limit 1`,
      [agent.appId],
    )
    expect(rows).toMatchObject([
      {
        before: { settle_to: account },
        after: { settle_to: change.settle_to },
        reason: 'they moved',
        email: admin.email,
      },
    ])
  })
})

describe('a settlement that cannot be made', () => {
  it('is told to every admin and audited in the last hour of its day, once', async () => {
    const agent = await settled({ name: 'Unlucky' })
    goTo('2027-11-02', -20)
    await agent.fund(300)
    const { desk } = s.service
    const providers = Object.create(desk.providers, { candidates: { value: async () => [] } })
    const toldOf = async () =>
      (await s.sql(`select words from alarms where words like 'Unlucky %'`)).rows
    goTo('2027-11-02', 30)
    await poll({ ...desk, providers })
    expect(await toldOf()).toEqual([])
    goTo('2027-11-02', 23 * 60 + 20)
    await poll({ ...desk, providers })
    await poll({ ...desk, providers })
    expect(await toldOf()).toEqual([
      { words: expect.stringMatching(/^Unlucky was not settled on 2027-11-02: /) },
    ])
    const { rows } = await s.sql(
      `select outcome from audit_log where action = 'settle_agent' and agent_id = $1`,
      [agent.agentId],
    )
    expect(rows).toEqual([{ outcome: 'refused' }])
    await s.sql(`delete from alarms where words like '%on 2027-11-02%'`)
  })
})

// The last one, because sessions end while the clock goes on.
describe('a settlement that a limit refuses', () => {
  it('is told to every admin and audited, once a day', async () => {
    const agent = await settled()
    goTo('2027-12-01', 20)
    await agent.fund(300)
    const rule: SetRule = {
      agentId: agent.agentId,
      name: 'none',
      kind: 'withdraw',
      measure: 'amount',
      per: 'agent',
      period: 'order',
      most: 1n,
      currency: 'THB',
      hours: null,
      field: null,
      outcome: 'refuse',
      values: [],
      updatedAt: s.clock(),
      updatedBy: 'a test',
    }
    await saveLimitRule(s.backend.pool, rule, async () => {})
    goTo('2027-12-02', 20)
    await poll()
    await poll()
    expect(await settlementsOf(agent)).toEqual([])
    const { rows: alarms } = await s.sql(`select words from alarms where raised_by = 'settlement'`)
    expect(alarms).toEqual([
      { words: expect.stringMatching(/was not settled on 2027-12-02: none: at most 0.01 THB/) },
    ])
    const { rows: audit } = await s.sql(
      `select outcome, reason from audit_log where action = 'settle_agent' and agent_id = $1`,
      [agent.agentId],
    )
    expect(audit).toEqual([
      { outcome: 'refused', reason: expect.stringContaining('none: at most') },
    ])
    await removeLimitRule(s.backend.pool, rule, async () => {})
    await poll()
    expect(await amountsOf(agent)).toEqual([['settlement-2027-12-02', 300_00]])
  })
})
