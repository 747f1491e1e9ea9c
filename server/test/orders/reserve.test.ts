import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { findAgent } from '../../src/agents/find-agent.ts'
import { updateAgent } from '../../src/agents/save-agent.ts'
import { archive } from '../../src/archive/archive.ts'
import { openPool } from '../../src/db/pool.ts'
import { parseTxnId } from '../../src/lib/ids.ts'
import { refundOrder } from '../../src/orders/refund-order.ts'
import { releaseReserves } from '../../src/orders/release-reserves.ts'
import { signIn } from '../support/operator.ts'
import { lastCallback, said } from '../support/order-answers.ts'
import { command, commandJson, type Env } from '../support/process.ts'
import { deliverCallbacks } from '../support/sender.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

/** A share of each paid deposit is held back for some days. */

const dayMs = 86_400_000
let s: TestService
beforeAll(async () => {
  s = await startTestService()
})
afterEach(() => s.prove())
afterAll(() => s.close())

const idOf = (txnId: string) => parseTxnId(txnId)?.orderId ?? ''

async function paid(agent: AgentClient, amount: number): Promise<string> {
  const { json } = await agent.deposit({ amount })
  await agent.trigger(json.txn_id, 'PAID')
  return json.txn_id
}

/** Balance and reserve, as the agent is told. */
const moneyOf = async (agent: AgentClient) => {
  const { json } = await agent.get('/payment/wallet/reserve')
  return [await agent.balance(), json.reserve]
}

const setReserve = async ({ appId }: AgentClient, reserve: string) => {
  const agent = await findAgent(s.backend.pool, appId)
  if (!agent) throw new Error('no such agent')
  await updateAgent(s.backend.pool, agent, { ...agent, reserve }, s.clock())
}

describe('a deposit of an agent with a reserve', () => {
  it('credits what is not held back, and the agent cannot withdraw the rest', async () => {
    const agent = await s.agent({ depositFee: '2%', reserve: '7.5%/90' })
    await paid(agent, 1000)
    expect(await moneyOf(agent)).toEqual([905, 75])
    expect((await lastCallback(agent)).json).toMatchObject({
      amount: 1000,
      fee: 20,
      wallet: { balance: 905 },
    })
    expect(said(await agent.withdraw({ amount: 906 }))).toEqual([422, 'insufficient_balance'])
    expect((await agent.withdraw({ amount: 905 })).status).toBe(201)
    const { json } = await agent.get('/payment/wallet/entries')
    expect(json.data[0]).toMatchObject({
      event: 'deposit_paid',
      amount: 905,
      fee: 20,
      balance: 905,
    })
    const admin = await signIn(s, 'admin')
    expect((await admin.get(`/wallets/${agent.appId}`)).json).toMatchObject({
      held: 905,
      reserve: 75,
    })
  })

  it('is available in whole after its days, once, however many processes look', async () => {
    const agent = await s.agent({ reserve: '10%/3' })
    const txnIds = [await paid(agent, 100)]
    // The older comes first.
    s.clock.advance(1)
    txnIds.push(await paid(agent, 200))
    s.clock.advance(3 * dayMs - 2)
    await releaseReserves(s.service.desk)
    expect(await moneyOf(agent)).toEqual([270, 30])
    s.clock.advance(2)
    const beside = await startTestService({ beside: s })
    try {
      await Promise.all(
        Array.from({ length: 6 }, (_, at) => releaseReserves((at % 2 ? s : beside).service.desk)),
      )
    } finally {
      await beside.close()
    }
    expect(await moneyOf(agent)).toEqual([300, 0])
    const { json } = await agent.get('/payment/wallet/entries')
    expect(json.data.slice(2)).toMatchObject(
      txnIds.map((txn_id, at) => ({
        event: 'reserve_released',
        txn_id,
        amount: [10, 20][at],
        fee: 0,
      })),
    )
    expect(json.data).toHaveLength(4)
    // Nothing is told of it: the order's outcome is the same.
    expect((await agent.get('/payment/events')).json.data).toHaveLength(2)
  })

  it('gives up what is held back first if the bank takes it back', async () => {
    const agent = await s.agent({ depositFee: '1%', reserve: '20%/30' })
    const txnId = await paid(agent, 1000)
    await agent.trigger(txnId, 'VOID')
    expect(await moneyOf(agent)).toEqual([0, 0])
    s.clock.advance(31 * dayMs)
    expect(await releaseReserves(s.service.desk)).toBe(0)
    expect(await moneyOf(agent)).toEqual([0, 0])
  })

  it('leaves a debt of what was withdrawn only, if it is taken back before its days are over', async () => {
    const agent = await s.agent({ reserve: '20%/30' })
    const txnId = await paid(agent, 1000)
    await agent.withdraw({ amount: 800 })
    await agent.trigger(txnId, 'VOID')
    expect(await moneyOf(agent)).toEqual([-800, 0])
  })

  it('that is taken back after its days is debited in whole, and can be paid and held back again', async () => {
    const agent = await s.agent({ reserve: '10%/1', lateMoney: 'credit' })
    const txnId = await paid(agent, 100)
    s.clock.advance(dayMs)
    await releaseReserves(s.service.desk)
    await agent.trigger(txnId, 'VOID')
    expect(await moneyOf(agent)).toEqual([0, 0])
    const at = s.clock()
    const payment = {
      paymentId: `bank:again-${txnId}`,
      amountMinor: 50_00n,
      paidAt: at,
      payer: null,
    }
    const received = { type: 'receive_payment', provider: null, payment } as const
    const { agentId } = agent
    await s.service.desk.teller.do({ ...received, agentId, at, orderId: idOf(txnId) })
    expect(await moneyOf(agent)).toEqual([45, 5])
    s.clock.advance(dayMs)
    await releaseReserves(s.service.desk)
    expect(await moneyOf(agent)).toEqual([50, 0])
  })

  it('keeps the rule that it was created under', async () => {
    const agent = await s.agent({ reserve: '50%/10' })
    const early = (await agent.deposit({ amount: 100 })).json.txn_id
    await setReserve(agent, 'none')
    const later = (await agent.deposit({ amount: 100 })).json.txn_id
    await agent.trigger(early, 'PAID')
    await agent.trigger(later, 'PAID')
    expect(await moneyOf(agent)).toEqual([150, 50])
    await setReserve(agent, '1%/1')
    s.clock.advance(9 * dayMs)
    await releaseReserves(s.service.desk)
    expect(await moneyOf(agent)).toEqual([150, 50])
    s.clock.advance(dayMs)
    await releaseReserves(s.service.desk)
    expect(await moneyOf(agent)).toEqual([200, 0])
  })

  it('is refunded from what is available; what is held back stays', async () => {
    const agent = await s.agent({ reserve: '10%/30' })
    const txnId = await paid(agent, 1000)
    const refund = (refId: string, amount: number) =>
      agent.post(`/payment/orders/${txnId}/refund`, {
        refId,
        amount,
        timestamp: s.clock().toISOString(),
      })
    expect(said(await refund('whole', 1000))).toEqual([422, 'insufficient_balance'])
    expect((await refund('part', 900)).status).toBe(201)
    expect(await moneyOf(agent)).toEqual([0, 100])
  })

  it('is refunded though its reserve ends at that moment', async () => {
    const client = await s.agent({ reserve: '10%/30' })
    const { agentId, orderId } = parseTxnId(await paid(client, 1000)) ?? {
      agentId: 0n,
      orderId: '',
    }
    const agent = await findAgent(s.backend.pool, client.appId)
    if (!agent) throw new Error('no such agent')
    s.clock.advance(30 * dayMs)
    const { desk } = s.service
    const teller: typeof desk.teller = {
      do: async (command) => {
        // Between the look at the deposit and the commit.
        await desk.teller.do({ type: 'release_reserve', agentId, orderId, at: s.clock() })
        return desk.teller.do(command)
      },
    }
    const request = { refId: 'at that moment', amountMinor: 1_000_00n, extraParams: null }
    const refunded = await refundOrder({ ...desk, teller }, agent, orderId, request)
    expect(refunded.isNew).toBe(true)
    expect(await moneyOf(client)).toEqual([0, 0])
  })

  it('is archived only when nothing of it is held back', async () => {
    const agent = await s.agent({ reserve: '10%/30' })
    const txnIds = [await paid(agent, 100)]
    s.clock.advance(20 * dayMs)
    txnIds.push(await paid(agent, 200))
    await deliverCallbacks(s, agent)
    s.clock.advance(15 * dayMs)
    await releaseReserves(s.service.desk)
    s.clock.advance(1)
    const owner = openPool({
      ...{ url: s.database.ownerUrl, max: 2, name: 'archive test', as: 'owner' },
      onError: () => {},
    })
    const folder = await mkdtemp(join(tmpdir(), 'reserve-'))
    try {
      const options = { before: s.clock(), folder, now: s.clock, appId: agent.appId }
      // The last row stays in the journal, and its order with it.
      await agent.deposit()
      await s.service.desk.teller.do({
        ...{ type: 'adjust', agentId: agent.agentId, at: new Date(s.clock().getTime() - 1) },
        ...{ amountMinor: 1n, reason: 'the last row', ref: 'last' },
      })
      expect(await archive(owner, options)).toMatchObject([{ journalRows: 4, orders: 1 }])
    } finally {
      await owner.end()
      await rm(folder, { recursive: true })
    }
    const [first, second] = txnIds
    expect((await agent.get(`/payment/orders/${first}`)).status).toBe(404)
    expect((await agent.get(`/payment/orders/${second}`)).json.status).toBe('PAID')
    expect(await moneyOf(agent)).toEqual([280.01, 20])
  })
})

it('the service itself releases what is due', async () => {
  const agent = await s.agent({ reserve: '10%/1' })
  await paid(agent, 100)
  s.clock.advance(dayMs)
  const beside = await startTestService({ beside: s })
  try {
    await expect.poll(() => moneyOf(agent)).toEqual([100, 0])
  } finally {
    await beside.close()
  }
})

it('is a term of the agent on the command line', async () => {
  const env: Env = {
    DATABASE_URL: s.database.url,
    DATABASE_OWNER_URL: s.database.ownerUrl,
    SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
  }
  const agent = await s.agent()
  const set = (...args: string[]) => ['agent', 'set', agent.appId, ...args]
  expect(await commandJson(set('--reserve', '7.5%/90'), env)).toMatchObject({ reserve: '7.5%/90' })
  expect(await commandJson(set('--reserve', 'none'), env)).toMatchObject({ reserve: 'none' })
  for (const wrong of ['7.555%/90', '5%', '0%/9', '5%/0']) {
    expect((await command(set('--reserve', wrong), env)).code, wrong).not.toBe(0)
  }
})
