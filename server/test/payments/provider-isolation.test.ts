import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { parseTxnId } from '../../src/lib/ids.ts'
import { DepositAsker } from '../../src/payments/ask-deposits.ts'
import { claimDueEvents, recordNotices } from '../../src/payments/notice-events.ts'
import { NoticeTaker } from '../../src/payments/take-notice.ts'
import { findDuePayouts } from '../../src/payouts/payouts.ts'
import { saveRoute } from '../../src/routing/providers.ts'
import {
  FakeProvider,
  fundedAgent,
  patient,
  paymentEvent,
  startProcess,
} from '../support/fake-provider.ts'
import { startTestService, type TestService } from '../support/service.ts'

/** What holds up one provider, or one agent at a provider, holds up no other. */

const alpha = new FakeProvider('alpha')
const beta = new FakeProvider('beta')
let s: TestService

beforeAll(async () => {
  // Without a worker: the tests do its work.
  const env = { ROLE: 'api' }
  s = await startTestService({ env, outside: { providers: [alpha, beta], paysOut: false } })
  await saveRoute(s.backend.pool, {
    ...{ provider: 'alpha', name: 'all', direction: 'withdraw', currency: 'THB', banks: null },
    ...{ minAmount: 1n, maxAmount: 1_000_000n, preference: 1, weight: 1 },
  })
})
afterEach(() => s.prove())
afterAll(() => s.close())

it("a notice that a frozen process is storing holds up its own provider's alone, and is to be sent again", async () => {
  const frozen = new pg.Client({
    connectionString: s.database.ownerUrl,
    options: '-c search_path=sluice',
  })
  await frozen.connect()
  const held = paymentEvent('nobody', s.clock())
  await frozen.query('begin')
  await frozen.query(
    `insert into notice_events (agent_id, provider, event_id, received_at, event, act_at)
     values (0, 'alpha', $1, now(), '{}', now())`,
    [held.id],
  )
  const alphas = alpha.tell(s.service.url, held)
  const isStoring = `select 1 from pg_stat_activity where datname = current_database()
    and wait_event_type = 'Lock' and query like 'insert into notice_events%'`
  await expect.poll(async () => (await s.sql(isStoring)).rowCount, patient).toBe(1)
  expect((await beta.tell(s.service.url, paymentEvent('nobody', s.clock()))).status).toBe(200)
  expect((await alphas).status).toBe(503)
  await frozen.query('rollback')
  await frozen.end()
  expect((await alpha.tell(s.service.url, held)).status).toBe(200)
})

it('a company that does not answer about deposits has its own places only', async () => {
  // Neither is a connector.
  await s.sql(
    `alter table connector_deposits drop constraint connector_deposits_connector_use_version_fkey`,
  )
  const agent = await fundedAgent(s)
  const { rows: before } = await s.sql('select 1 where false')
  for (const connector of ['alpha', 'beta']) {
    const { orderId } = parseTxnId((await agent.deposit()).json.txn_id) ?? { orderId: '' }
    const { rows } = await s.sql('select provider, order_id from orders where order_id = $1', [
      orderId,
    ])
    before.push(...rows)
    await s.sql('update orders set provider = $2 where order_id = $1', [orderId, connector])
    await s.sql(
      `insert into connector_deposits (agent_id, order_id, connector, use, version, made_at, asks, every_s, ask_at)
       values ($1, $2, $3, 1, 1, $4, 0, 5, $4)`,
      [agent.agentId, orderId, connector, s.clock()],
    )
  }
  const asked = { beta: 0 }
  let letGo = () => {}
  const hung = new Promise<undefined>((resolve) => (letGo = () => resolve(undefined)))
  Object.assign(alpha, { askDeposit: () => hung })
  Object.assign(beta, {
    askDeposit: async () => {
      asked.beta++
      return { events: [], body: Buffer.from('') }
    },
  })
  const errors: unknown[] = []
  const onError = (error: unknown) => errors.push(error)
  const asker = new DepositAsker(s.service.desk, new NoticeTaker(s.service.desk, onError), onError)
  for (const times of [1, 2, 3]) {
    s.clock.advance(10_000)
    await asker.look()
    await expect.poll(() => asked.beta, patient).toBe(times)
    await expect
      .poll(() => [...Reflect.get(asker, 'underWay').keys()], patient)
      .not.toContain('beta')
  }
  letGo()
  await asker.stopped()
  expect(errors).toEqual([])
  for (const each of [alpha, beta]) Reflect.deleteProperty(each, 'askDeposit')
  await s.sql('delete from connector_deposits')
  for (const { provider, order_id } of before) {
    await s.sql('update orders set provider = $2 where order_id = $1', [order_id, provider])
  }
})

it("one agent's questions to a provider do not go before those of all others", async () => {
  const [many, few] = [await fundedAgent(s), await fundedAgent(s)]
  const lines = [alpha.line(), beta.line()]
  for (const line of lines) line.onSubmit = async () => ({ type: 'unknown', reason: 'no answer' })
  const process = await startProcess(s, lines)
  const payOut = async (agent: typeof many) =>
    process.payOut((await agent.withdraw({ amount: 1 })).json.txn_id)
  for (let n = 0; n < 6; n++) await payOut(many)
  s.clock.advance(1_000)
  await payOut(few)
  s.clock.advance(60_000)
  const due = await findDuePayouts(s.backend.pool, 'alpha', s.clock(), 4)
  expect(due.map(({ agentId }) => agentId)).toEqual([
    many.agentId,
    few.agentId,
    many.agentId,
    many.agentId,
  ])
  // Nobody is left out if there is room.
  expect(await findDuePayouts(s.backend.pool, 'alpha', s.clock(), 64)).toHaveLength(7)
  await process.close()
})

it('an event is left over by the clock of the database, whatever those of the processes say', async () => {
  const record = (receivedAt: Date) => {
    const event = paymentEvent('nobody', receivedAt)
    const key = { agentId: 0n, provider: 'alpha', eventId: event.id, orderId: null, event }
    const notice = { provider: 'alpha', receivedAt, body: Buffer.from(''), events: [key] }
    return recordNotices(s.backend.pool, [{ ...notice, noticeId: randomUUID() }], null)
  }
  const claim = async () => (await claimDueEvents(s.backend.pool, null, ['alpha'], () => 8)).length
  const hourMs = 3_600_000
  await record(new Date(Date.now() - hourMs))
  await record(new Date(Date.now() + hourMs))
  // Both are with who took them.
  expect(await claim()).toBe(0)
  await s.sql(`update notice_events set act_at = act_at - interval '30 s' where act_at is not null`)
  expect(await claim()).toBe(2)
  // And then with who claimed them.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + hourMs })
  expect(await claim().finally(() => vi.useRealTimers())).toBe(0)
  await s.sql(`delete from notice_events where act_at is not null`)
})
