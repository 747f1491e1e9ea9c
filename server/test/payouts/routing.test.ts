import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseTxnId } from '../../src/lib/ids.ts'
import { removeRoute, saveProviderState, saveRoute } from '../../src/routing/providers.ts'
import {
  FakeProvider,
  fundedAgent,
  orderOf,
  patient,
  paymentEvent,
  startProcess,
  statusOf,
  told,
} from '../support/fake-provider.ts'
import { cleanUp, commandJson, tempFolder } from '../support/process.ts'
import { AgentClient, startTestService, type TestService } from '../support/service.ts'

let alpha: FakeProvider
let beta: FakeProvider
let s: TestService

beforeAll(async () => {
  alpha = new FakeProvider('alpha')
  beta = new FakeProvider('beta')
  s = await startTestService({ outside: { providers: [alpha, beta], paysOut: false } })
  // Alpha is asked first for everything.
  for (const direction of ['deposit', 'withdraw'] as const) {
    await saveRoute(s.backend.pool, {
      provider: 'alpha',
      name: direction,
      direction,
      currency: 'THB',
      banks: null,
      minAmount: 1n,
      maxAmount: 1_000_000n,
      preference: 1,
      weight: 1,
    })
  }
})
beforeEach(async () => {
  for (const each of [alpha, beta]) {
    each.instructsAtOnce = true
    each.expected.length = 0
    // The test before may have switched it on only just now.
    await seen(each.name, 'on')
  }
})
afterEach(() => s.prove())
afterAll(async () => {
  await s.close()
  await cleanUp()
})

const set = (name: string, state: 'on' | 'draining' | 'off') =>
  saveProviderState(s.backend.pool, name, state, s.clock())

/** Waits until the running service goes by it. */
const seen = (name: string, state: string) =>
  expect.poll(() => s.service.desk.providers.stateOf(name), patient).toBe(state)

/** Who has been given a deposit. */
const providerOf = async (txnId: string) => (await orderOf(s.service.desk, txnId)).provider

describe('a provider that is switched off', () => {
  it('gets no orders about a second later, and again when it is on', async () => {
    const agent = await s.agent()
    const chosen = async () => providerOf((await agent.deposit()).json.txn_id)
    expect(await chosen()).toBe('alpha')
    await set('alpha', 'off')
    await expect.poll(chosen, patient).toBe('beta')
    await set('alpha', 'on')
    await expect.poll(chosen, patient).toBe('alpha')
  })

  it('is not chosen by the first order after a quiet time either', async () => {
    const other = await startTestService({
      beside: s,
      outside: { providers: [alpha, beta], paysOut: false },
    })
    const { appId, secret, agentId } = await s.agent()
    const agent = new AgentClient(other.service.url, appId, secret, agentId, s.clock)
    await agent.deposit()
    const { providers } = other.service.desk
    // What it is reading at this moment is from before.
    await Reflect.get(providers, 'reading')
    await set('alpha', 'off')
    await expect.poll(() => stale(providers), patient).toBe(true)
    expect(await providerOf((await agent.deposit()).json.txn_id)).toBe('beta')
    await set('alpha', 'on')
    await other.close()
  })

  it('leaves nobody: 503, with a time to come back; a waiting withdrawal goes out when it is on', async () => {
    const agent = await fundedAgent(s)
    const repeated = agent.order()
    const first = await agent.post('/payment/withdraw', repeated)
    await Promise.all([set('alpha', 'draining'), set('beta', 'off')])
    await expect.poll(async () => (await agent.deposit()).status, patient).toBe(503)
    for (const answer of [await agent.deposit(), await agent.withdraw()]) {
      expect(answer).toMatchObject({ status: 503, json: { code: 'provider_unavailable' } })
      expect(answer.headers.get('retry-after')).toBe('60')
    }
    // A repeat is answered as the first time all the same.
    const again = await agent.post('/payment/withdraw', repeated)
    expect([again.status, again.text]).toEqual([200, first.text])

    const process = await startProcess(s, [alpha, beta])
    s.clock.advance(3_000)
    const id = first.json.txn_id
    await process.payOut(id)
    expect([alpha.submitted, beta.submitted, await statusOf(agent, id)]).toEqual([
      [],
      [],
      'WAITING',
    ])
    await Promise.all([set('alpha', 'on'), set('beta', 'on')])
    await expect
      .poll(async () => {
        await process.payOut(id)
        return alpha.submitted.length
      }, patient)
      .toBe(1)
    await process.close()
  })

  it('is asked nothing until it is on again; one that drains is', async () => {
    const agent = await fundedAgent(s)
    const process = await startProcess(s, [alpha, beta])
    const id = (await agent.withdraw()).json.txn_id
    await process.payOut(id)
    const { reference = '' } = alpha.submitted.at(-1) ?? {}
    const asked = () => alpha.asked.filter((payout) => payout.reference === reference).length
    const settle = () => expect.poll(() => stale(process.desk.providers), patient).toBe(true)
    await set('alpha', 'draining')
    await settle()
    s.clock.advance(11_000)
    await process.round()
    expect(asked()).toBe(1)
    await set('alpha', 'off')
    await settle()
    s.clock.advance(3_600_000)
    await process.round()
    expect(asked()).toBe(1)
    const { rows } = await s.sql('select said from payouts where reference = $1', [reference])
    expect(rows).toEqual([{ said: 'The provider is off.' }])
    // No order comes that would have the table read again: the question itself does.
    await set('alpha', 'on')
    await settle()
    alpha.book.set(reference, { type: 'paid' })
    s.clock.advance(61_000)
    await process.round()
    expect(await told(agent, id)).toEqual(['PAID'])
    await process.close()
  })
})

/** Whether what is known of the routing table is too old to be used. */
function stale(providers: object): boolean {
  return performance.now() - Reflect.get(providers, 'readAt') > 1_000
}

it('the command line switches and routes in a running service', async () => {
  const sandbox = await startTestService()
  const env = {
    DATABASE_URL: sandbox.database.url,
    DATABASE_OWNER_URL: sandbox.database.ownerUrl,
    SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    DATA_DIR: await tempFolder(),
  }
  const agent = await sandbox.agent()
  const taken = (amount: number) => async () => (await agent.deposit({ amount })).status
  expect(await taken(100)()).toBe(201)
  await commandJson(['provider', 'set', 'sandbox', 'draining'], env)
  await expect.poll(taken(100), patient).toBe(503)
  await commandJson(['provider', 'set', 'sandbox', 'on'], env)
  await expect.poll(taken(100), patient).toBe(201)
  const small = ['--direction', 'deposit', '--currency', 'THB', '--max', '50', '--bank', 'SCB']
  await commandJson(['provider', 'route', 'sandbox', 'small', ...small], env)
  await expect.poll(taken(51), patient).toBe(503)
  expect(await taken(50)()).toBe(201)
  expect((await agent.deposit({ amount: 50, bankCode: 'KBANK' })).status).toBe(503)
  expect(await removeRoute(sandbox.backend.pool, 'sandbox', 'small')).toBe(true)
  await expect.poll(taken(51), patient).toBe(201)
  await sandbox.prove()
  await sandbox.close()
})

describe('a deposit that its provider has to be told of', () => {
  const order = (agent: AgentClient) => agent.order({ extraParams: { a: 1 } })

  it('is on disk before the call, and its first answer stays the answer', async () => {
    const agent = await s.agent({ method: 'link+qrcode+transfer' })
    alpha.instructsAtOnce = false
    const body = order(agent)
    let onDisk: unknown
    alpha.onExpect = async (deposit) => {
      onDisk = await orderOf(s.service.desk, deposit.txnId)
      return { type: 'accepted', instructions: alpha.instructions(deposit) }
    }
    const first = await agent.post('/payment/deposit', body)
    expect(onDisk).toMatchObject({ refId: body.refId, status: 'WAITING', provider: 'alpha' })
    expect([first.status, first.json.transfer.account_name]).toEqual([201, 'alpha'])
    // Whatever changes meanwhile: the terms, the provider's mind, who would get a new order.
    alpha.instructsAtOnce = true
    await s.sql(`update agents set method = 'link', expires_in_s = 60 where agent_id = $1`, [
      agent.agentId,
    ])
    const again = await agent.post('/payment/deposit', body)
    await set('alpha', 'off')
    await expect
      .poll(async () => providerOf((await agent.deposit()).json.txn_id), patient)
      .toBe('beta')
    const later = await agent.post('/payment/deposit', body)
    await set('alpha', 'on')
    expect([again.text, later.text, again.status]).toEqual([first.text, first.text, 200])
    expect(alpha.expected).toHaveLength(1)
  })

  it('whose call has no clear answer is 503, and the repeat tells it again under the same id', async () => {
    const agent = await s.agent({ method: 'link+qrcode' })
    alpha.instructsAtOnce = false
    const unclear = [
      async () => ({ type: 'unknown', reason: 'no answer' }) as const,
      () => Promise.reject(new Error('socket hang up')),
      async () => undefined as never,
      async () => ({ type: 'accepted' }) as never,
    ]
    for (const answer of unclear) {
      alpha.expected.length = 0
      beta.expected.length = 0
      alpha.onExpect = answer
      const body = order(agent)
      for (let n = 0; n < 2; n++) {
        const failed = await agent.post('/payment/deposit', body)
        expect(failed).toMatchObject({ status: 503, json: { code: 'provider_unavailable' } })
        expect(failed.headers.get('retry-after')).toBe('5')
      }
      alpha.onExpect = async (deposit) => ({
        type: 'accepted',
        instructions: alpha.instructions(deposit),
      })
      const repeated = await Promise.all(
        Array.from({ length: 5 }, () => agent.post('/payment/deposit', body)),
      )
      const [{ status = 0, text = '', json } = {}] = repeated
      expect([status, json.qrcode.qrcode_text]).toEqual([200, `alpha ${json.txn_id}`])
      for (const each of repeated) expect(each.text).toBe(text)
      expect((await agent.post('/payment/deposit', body)).text).toBe(text)
      expect(new Set(alpha.expected.map(({ txnId }) => txnId))).toEqual(new Set([json.txn_id]))
      expect(beta.expected).toEqual([])
    }
  })

  it('is the next provider’s after a sure no', async () => {
    const agent = await s.agent({ method: 'link+transfer' })
    alpha.instructsAtOnce = false
    alpha.onExpect = async () => ({ type: 'rejected', reason: 'not this bank' })
    const body = order(agent)
    const first = await agent.post('/payment/deposit', body)
    expect([first.status, first.json.transfer.account_name]).toEqual([201, 'beta'])
    expect(await providerOf(first.json.txn_id)).toBe('beta')
    expect((await agent.post('/payment/deposit', body)).text).toBe(first.text)
    expect(alpha.expected).toHaveLength(1)
    await beta.tell(s.service.url, paymentEvent(first.json.txn_id, s.clock()))
    expect(await told(agent, first.json.txn_id)).toEqual(['PAID'])
  })

  it('has failed once every provider has refused it, for the agent and for every repeat', async () => {
    const agent = await s.agent({ method: 'link+transfer' })
    for (const each of [alpha, beta]) {
      each.instructsAtOnce = false
      each.onExpect = async () => ({ type: 'rejected', reason: `${each.name}: at least 20 baht` })
    }
    const body = order(agent)
    const first = await agent.post('/payment/deposit', body)
    expect([first.status, first.json.code]).toEqual([422, 'provider_refused'])
    expect(first.json.detail).toContain('alpha: at least 20 baht')
    const [{ txnId = '' } = {}] = beta.expected
    expect(await told(agent, txnId)).toEqual(['FAILED'])
    expect((await agent.post('/payment/deposit', body)).json.code).toBe('provider_refused')
    expect([alpha.expected.length, beta.expected.length]).toEqual([1, 1])
    // One that could not be asked might still take it.
    beta.onExpect = async () => ({ type: 'not_sent', reason: 'is busy' })
    expect((await agent.deposit()).status).toBe(503)
    // Of two requests for one order, the one that was told how to pay counts.
    const both = order(agent)
    beta.onExpect = async (deposit) => {
      if (beta.expected.filter(({ txnId: each }) => each === deposit.txnId).length > 1) {
        beta.onExpect = async () => ({ type: 'rejected', reason: 'busy' })
        return { type: 'accepted', instructions: beta.instructions(deposit) }
      }
      expect((await agent.post('/payment/deposit', both)).status).toBe(200)
      return { type: 'rejected', reason: 'known' }
    }
    const late = await agent.post('/payment/deposit', both)
    expect([late.status, late.json.transfer.account_name]).toEqual([201, 'beta'])
    const { json } = await agent.get(`/payment/orders/${late.json.txn_id}`)
    expect(json.status).toBe('WAITING')
  })

  it('is not answered by another’s way to pay, nor by none, while its provider is away', async () => {
    const agent = await s.agent({ method: 'link+qrcode' })
    alpha.instructsAtOnce = false
    alpha.onExpect = async () => ({ type: 'unknown', reason: 'no answer' })
    const body = order(agent)
    expect((await agent.post('/payment/deposit', body)).status).toBe(503)
    const { txnId = '' } = alpha.expected[0] ?? {}
    const calls = () => alpha.expected.filter((deposit) => deposit.txnId === txnId).length
    await Promise.all([set('alpha', 'off'), set('beta', 'off')])
    await seen('alpha', 'off')
    expect((await agent.post('/payment/deposit', body)).status).toBe(503)
    await set('beta', 'on')
    await expect.poll(async () => (await agent.deposit()).status, patient).toBe(201)
    expect((await agent.post('/payment/deposit', body)).status).toBe(503)
    expect(calls()).toBe(1)
    await set('alpha', 'on')
    alpha.onExpect = async (deposit) => ({
      type: 'accepted',
      instructions: alpha.instructions(deposit),
    })
    await expect
      .poll(
        async () => (await agent.post('/payment/deposit', body)).json.qrcode?.qrcode_text,
        patient,
      )
      .toMatch(/^alpha /)
  })

  it('that was paid before its instructions were on disk is paid', async () => {
    const agent = await s.agent()
    alpha.instructsAtOnce = false
    alpha.onExpect = async ({ txnId }) => {
      await alpha.tell(s.service.url, paymentEvent(txnId, s.clock()))
      throw new Error('the connection broke')
    }
    const body = order(agent)
    expect((await agent.post('/payment/deposit', body)).status).toBe(503)
    const { json } = await agent.get(`/payment/orders?refId=${body.refId}`)
    expect([json.status, parseTxnId(json.txn_id)?.agentId]).toEqual(['PAID', agent.agentId])
    expect((await agent.post('/payment/deposit', body)).status).toBe(200)
  })

  it('that was paid while its provider was being called is answered the same to every request', async () => {
    const agent = await s.agent()
    alpha.instructsAtOnce = false
    const body = order(agent)
    let repeated = ''
    alpha.onExpect = async (deposit) => {
      await alpha.tell(s.service.url, paymentEvent(deposit.txnId, s.clock()))
      repeated = (await agent.post('/payment/deposit', body)).text
      return { type: 'accepted', instructions: alpha.instructions(deposit) }
    }
    const first = await agent.post('/payment/deposit', body)
    expect([first.status, first.text]).toEqual([201, repeated])
    expect((await agent.post('/payment/deposit', body)).text).toBe(repeated)
  })
})
