import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import fastify from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callbackFields } from '../../../sdk/src/callback.ts'
import {
  type Callback,
  type CallbackHandlerOptions,
  type ClientOptions,
  createClient,
  expressCallbacks,
  fastifyCallbacks,
  fetchCallbacks,
  type NewOrder,
  parseCallback,
  type SluiceClient,
  SluiceError,
} from '../../../sdk/src/sluice.ts'
import { rotateKey } from '../../src/agents/save-agent.ts'
import { neverIdle } from '../support/receiver.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

let s: TestService
let agent: AgentClient
let sluice: SluiceClient
const open: { close(): unknown }[] = []

beforeAll(async () => {
  s = await startTestService()
  agent = await s.agent()
  sluice = clientOf(agent)
})
afterAll(async () => {
  await s.prove()
  await s.close()
  for (const each of open) await each.close()
})

function clientOf({ url, appId, secret }: AgentClient, options: Partial<ClientOptions> = {}) {
  return createClient({ baseUrl: url, appId, secret, ...options })
}

const order = (fields: Partial<NewOrder> = {}): NewOrder => ({
  refId: crypto.randomUUID(),
  userId: 'user-1',
  amount: 100,
  accountName: 'Somchai Jaidee',
  accountNo: '1234567890',
  bankCode: 'SCB',
  ...fields,
})

async function failure(promise: Promise<unknown>): Promise<SluiceError> {
  const error = await promise.catch((reason: unknown) => reason)
  if (error instanceof SluiceError) return error
  throw new Error(`not a SluiceError: ${JSON.stringify(error)}`)
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

describe('creating', () => {
  test('a deposit, and the same again', async () => {
    const asked = order({
      refId: 'หนึ่ง 🍜 & more?',
      amount: 250n,
      extraParams: { z: 1.5, a: ['🙏'] },
    })
    const first = await sluice.createDeposit(asked)
    expect(first.replayed).toBe(false)
    expect(first.requestId).toMatch(/^req_/)
    expect(first.order).toMatchObject({ ref_id: asked.refId, amount: 250, expires_in: 900 })
    expect(first.order.link).toContain('/pay/')
    const again = await sluice.createDeposit(asked)
    expect(again).toEqual({ ...first, replayed: true, requestId: again.requestId })
    expect(await sluice.getOrderByRefId(asked.refId)).toMatchObject(first.order)
  })

  test('a refund of a part, the same again, and no more than was paid', async () => {
    await agent.fund(1000)
    const { order: deposit } = await sluice.createDeposit(order({ amount: 500 }))
    await sluice.triggerOutcome(deposit.txn_id, { outcome: 'PAID' })
    const refund = { refId: crypto.randomUUID(), amount: 120.5, extraParams: { why: 'broken' } }
    const first = await sluice.refundOrder(deposit.txn_id, refund)
    expect(first).toMatchObject({ replayed: false, order: { amount: 120.5, status: 'WAITING' } })
    const again = await sluice.refundOrder(deposit.txn_id, refund)
    expect(again).toMatchObject({ replayed: true, order: first.order })
    expect(await sluice.getOrder(first.order.txn_id)).toMatchObject({ refundOf: deposit.txn_id })
    const rest = { refId: crypto.randomUUID(), amount: 380n }
    const error = await failure(sluice.refundOrder(deposit.txn_id, rest))
    expect(error).toMatchObject({ code: 'refund_exceeds_payment', status: 422, retryable: false })
  })

  test('the same refId for something else is a conflict', async () => {
    const asked = order()
    await sluice.createDeposit(asked)
    const error = await failure(sluice.createDeposit({ ...asked, amount: 101 }))
    expect(error).toMatchObject({ code: 'ref_id_conflict', status: 409, retryable: false })
  })

  test('every bad field is named', async () => {
    const error = await failure(sluice.createDeposit(order({ amount: 1.5, accountNo: '!' })))
    expect(error).toMatchObject({ code: 'invalid_request', status: 422, retryable: false })
    expect(error.errors.map(({ field }) => field).toSorted()).toEqual(['accountNo', 'amount'])
    expect(error.requestId).toMatch(/^req_/)
  })

  test.each([
    [1_000_000_000_000n, 'amount_out_of_range'],
    [1_000_000_000_001n, 'invalid_request'],
    [9_007_199_254_740_993n, 'invalid_request'],
  ])('an amount of %s reaches the service as it is', async (amount, code) => {
    const strict = clientOf(await s.agent({ maxDeposit: 1_000n }))
    expect((await failure(strict.createDeposit(order({ amount })))).code).toBe(code)
  })

  test('an answer that was lost is asked for again, and there is one order', async () => {
    let losses = 2
    const shaky = clientOf(agent, {
      fetch: async (url, init) => {
        const response = await fetch(url, init)
        if (losses-- > 0) throw new TypeError('the connection was lost')
        return response
      },
    })
    const asked = order()
    const { order: made, replayed } = await shaky.createDeposit(asked)
    expect(replayed).toBe(true)
    const all = await collect(sluice.eachOrder())
    expect(all.filter(({ ref_id }) => ref_id === asked.refId)).toMatchObject([made])
  })

  test('a wrong secret is refused at once', async () => {
    const wrong = clientOf(agent, { secret: 'sk_wrong' })
    expect(await failure(wrong.createDeposit(order()))).toMatchObject({
      code: 'invalid_signature',
      status: 401,
    })
  })

  test('under an address with a path', async () => {
    const under = await startTestService({
      beside: s,
      env: { PUBLIC_URL: 'https://example.com/pay' },
    })
    try {
      const client = clientOf(await under.agent(), { baseUrl: `${under.service.url}/pay/` })
      const { order: made } = await client.createDeposit(order())
      expect(made.link).toMatch(/^https:\/\/example\.com\/pay\/pay\//)
      expect(await client.getOrderByRefId(made.ref_id)).toMatchObject({ txn_id: made.txn_id })
    } finally {
      await under.close()
    }
  })
})

describe('reading', () => {
  test('goes through all pages of orders, newest first', async () => {
    const client = clientOf(await s.agent())
    const made: string[] = []
    for (let nth = 0; nth < 5; nth++) {
      s.clock.advance(1)
      made.unshift((await client.createDeposit(order())).order.txn_id)
    }
    const seen = await collect(client.eachOrder({ limit: 2, kind: 'deposit', from: new Date(0) }))
    expect(seen.map(({ txn_id }) => txn_id)).toEqual(made)
    expect(await collect(client.eachOrder({ limit: 2, status: 'PAID' }))).toEqual([])
    expect((await client.listOrders({ limit: 5 })).next).toBeNull()
  })

  test('an order tells its kind, and what it has of it', async () => {
    const { order: made } = await sluice.createDeposit(order())
    const found = await sluice.getOrder(made.txn_id)
    if (found.kind !== 'deposit') throw new Error('it is a deposit')
    expect([found.method, found.status, found.paid_amount]).toEqual([made.method, 'WAITING', null])
    expect((await failure(sluice.getOrder('1-0'))).code).toBe('order_not_found')
    expect((await failure(sluice.getOrderByRefId('nobody'))).code).toBe('order_not_found')
  })

  test('wallet, journal, outcomes and banks', async () => {
    const client = clientOf(await s.agent())
    const txnIds: string[] = []
    for (const amount of [100, 200, 300]) {
      const { order: made } = await client.createDeposit(order({ amount }))
      const paid = await client.triggerOutcome(made.txn_id, { outcome: 'PAID' })
      expect(paid).toMatchObject({ kind: 'deposit', status: 'PAID', paid_amount: amount })
      txnIds.push(made.txn_id)
    }
    expect(await client.getWallet()).toEqual({
      balance: 600,
      held: 0,
      currency: 'THB',
      seq: 3,
    })
    expect(await client.getReserve()).toEqual({ reserve: 0, currency: 'THB', seq: 3 })
    const entries = await collect(client.eachWalletEntry({ limit: 2 }))
    expect(entries.map(({ seq, balance }) => [seq, balance])).toEqual([
      [1, 100],
      [2, 300],
      [3, 600],
    ])
    const events = await collect(client.eachEvent({ after: 1, limit: 1 }))
    expect(events.map(({ txn_id }) => txn_id)).toEqual(txnIds.slice(1))
    expect(events.map(({ body }) => parseCallback(body))).toMatchObject([
      { status: 'PAID', amount: 200, wallet: { balance: 300 } },
      { status: 'PAID', amount: 300, wallet: { balance: 600 } },
    ])
    expect(await client.resendEvent(2)).toMatchObject({ seq: 2 })
    expect((await failure(client.resendEvent(99))).code).toBe('not_found')
    expect(await client.listBanks()).toContainEqual(
      expect.objectContaining({ code: 'SCB', closed: false }),
    )
  })

  test('a waiting withdrawal can be cancelled, twice; a paid deposit cannot', async () => {
    const client = clientOf(await s.agent())
    const { order: deposit } = await client.createDeposit(order({ amount: 500 }))
    await client.triggerOutcome(deposit.txn_id, { outcome: 'PAID' })
    const { order: made } = await client.createWithdraw(order({ amount: 200 }))
    expect(made).toMatchObject({ status: 'WAITING', wallet: { balance: 300 } })
    for (let times = 0; times < 2; times++) {
      expect(await client.cancelOrder(made.txn_id)).toMatchObject({
        kind: 'withdraw',
        status: 'CANCEL',
      })
    }
    const error = await failure(client.cancelOrder(deposit.txn_id))
    expect(error).toMatchObject({ code: 'order_not_cancellable', status: 409 })
    const broke = await failure(client.createWithdraw(order({ amount: 501 })))
    expect(broke.code).toBe('insufficient_balance')
  })
})

describe('callbacks', () => {
  async function listening(listener: RequestListener): Promise<string> {
    const server = createServer(neverIdle, listener)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    open.push({
      close() {
        server.closeAllConnections()
        server.close()
      },
    })
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/sluice`
  }

  const receivers: [string, (options: CallbackHandlerOptions) => Promise<string>][] = [
    [
      'Express',
      (options) => {
        const handle = expressCallbacks(options)
        return listening((request, response) => void handle(request, response))
      },
    ],
    [
      'Fastify',
      async (options) => {
        const app = fastify({ forceCloseConnections: true })
        app.register(fastifyCallbacks, { ...options, path: '/sluice' })
        open.push(app)
        return `${await app.listen({ port: 0, host: '127.0.0.1' })}/sluice`
      },
    ],
    [
      'fetch',
      (options) => {
        const handle = fetchCallbacks(options)
        return listening(async (request, response) => {
          const chunks: Buffer[] = []
          for await (const chunk of request) chunks.push(chunk)
          const answer = await handle(
            new Request(`http://localhost${request.url}`, {
              method: 'POST',
              headers: request.headers as Record<string, string>,
              body: Buffer.concat(chunks),
            }),
          )
          response.writeHead(answer.status).end(await answer.text())
        })
      },
    ],
  ]

  test.each(receivers)('the service and %s understand each other', async (_name, start) => {
    const taken: Callback[] = []
    let arrived = () => {}
    let secret = ''
    const url = await start({
      secrets: () => secret,
      onCallback(callback, { eventSeq, attempt }) {
        taken.push(callback)
        expect([eventSeq, attempt]).toEqual([taken.length === 1 ? 1 : 3, 1])
        arrived()
      },
    })
    const owner = await s.agent({ depositCallbackUrl: url, withdrawCallbackUrl: url })
    secret = owner.secret
    // From now on callbacks are signed with two secrets; the agent still knows the older one.
    await rotate(owner)
    const client = clientOf(owner)
    const outcome = async (txnId: string, to: 'PAID' | 'CANCEL', payerAccountNo?: string) => {
      const coming = new Promise<void>((resolve) => {
        arrived = resolve
      })
      await client.triggerOutcome(txnId, {
        outcome: to,
        ...(payerAccountNo && { payerAccountNo }),
      })
      await coming
    }
    const deposit = order({ amount: 300, extraParams: { note: 'ขอบคุณ 🙏', n: 1.5 } })
    const { order: made } = await client.createDeposit(deposit)
    await outcome(made.txn_id, 'PAID', '5550001234')
    const { order: payout } = await client.createWithdraw(order())
    await outcome(payout.txn_id, 'CANCEL')
    expect(taken).toMatchObject([
      {
        refId: deposit.refId,
        transactionId: made.txn_id,
        status: 'PAID',
        amount: 300,
        extParams: deposit.extraParams,
        wallet: { balance: 300 },
        flag_incorrect_payee: true,
        payee: { account_no: '5550001234', account_name: null, bank_code: null },
      },
      { transactionId: payout.txn_id, status: 'CANCEL', extParams: {}, wallet: { balance: 300 } },
    ])
    // The types of callbacks name every field there is.
    const always = Object.keys(callbackFields)
    const [paid, cancelled] = taken.map((callback) => Object.keys(callback).toSorted())
    expect(cancelled).toEqual(always.toSorted())
    expect(paid).toEqual([...always, 'flag_incorrect_payee', 'payee'].toSorted())
    await expect
      .poll(async () => (await client.listEvents()).data.map(({ delivery }) => delivery))
      .toEqual(['delivered', 'delivered'])
  })

  test('what was refused or failed is sent again, with the reason kept', async () => {
    const seen: number[] = []
    const url = await receivers[0]?.[1]({
      secrets: 'sk_wrong',
      onCallback: () => expect.unreachable(),
      onError: () => seen.push(401),
    })
    const owner = await s.agent({ depositCallbackUrl: url ?? '' })
    await owner.fund(100)
    await expect.poll(() => seen.length).toBeGreaterThan(0)
    const kept = async () => {
      const { rows } = await s.sql(
        `select convert_from(response_body, 'utf8') as body from callback_attempts where agent_id = $1`,
        [owner.agentId],
      )
      return rows[0]?.body
    }
    await expect.poll(kept).toContain('No secret matches')
    expect((await clientOf(owner).listEvents()).data).toMatchObject([{ delivery: 'waiting' }])
  })

  async function rotate({ agentId }: AgentClient): Promise<void> {
    await rotateKey(s.backend.pool, s.backend.secretKeys, agentId, 86_400, s.clock())
  }
})
