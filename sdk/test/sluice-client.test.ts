import { createHmac } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type ClientOptions, createClient, type NewOrder } from '../src/sluice-client.ts'
import { SluiceError } from '../src/sluice-error.ts'

const secret = 'sk_test_5f1c7a0b9d3e4c2f8a6b1d0e7c9f3a5b'
const order: NewOrder = {
  refId: 'order-1',
  userId: 'user-1',
  amount: 250,
  accountName: 'Somchai Jaidee',
  accountNo: '1234567890',
  bankCode: 'SCB',
}

interface Sent {
  url: string
  method: string | undefined
  headers: Record<string, string>
  body: string | undefined
}

type Step = Response | Error | 'hangs'

/** A client whose requests are answered by these steps, one after the other. */
function clientWith(steps: Step[], options: Partial<ClientOptions> = {}) {
  const sent: Sent[] = []
  const client = createClient({
    baseUrl: 'https://pay.example',
    appId: 'app_1',
    secret,
    ...options,
    fetch: async (url, init) => {
      const { method, headers, body, signal } = init
      sent.push({ url, method, headers: headers as Record<string, string>, body: body as string })
      const step = steps.shift() ?? new Error('nothing more was expected')
      if (step instanceof Error) throw step
      if (step !== 'hangs') return step
      return new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason as Error))
      })
    },
  })
  return { client, sent }
}

const ok = (body: unknown, headers: Record<string, string> = {}, status = 200) =>
  new Response(JSON.stringify(body), { status, headers })
const created = () => ok({ txn_id: '1-1' }, { 'x-request-id': 'req_1' }, 201)
const problem = (status: number, code: string, headers: Record<string, string> = {}) =>
  ok({ code, status, title: code, detail: `about ${code}` }, headers, status)
const lost = () => new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') })

async function failure(promise: Promise<unknown>): Promise<SluiceError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof SluiceError)) throw new Error(`not a SluiceError: ${String(error)}`)
  return error
}

/** How long the client meant to wait between its attempts; the test does not. */
let waitsMs: number[]
beforeEach(() => {
  waitsMs = []
  vi.spyOn(Math, 'random').mockReturnValue(0.5)
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((go: () => void, ms: number) => {
    waitsMs.push(ms)
    queueMicrotask(go)
    return 0
  }) as unknown as typeof setTimeout)
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

describe('a request', () => {
  test('is signed over time, method, path with query, and body', async () => {
    const { client, sent } = clientWith([created(), ok({ data: [], next: null })])
    await client.createDeposit(order)
    await client.listOrders({ limit: 2, status: 'PAID', from: new Date(0) })
    for (const { url, method, headers, body = '' } of sent) {
      const path = url.replace('https://pay.example', '')
      const t = /^t=(\d+),/.exec(headers['x-signature'] ?? '')?.[1]
      const v1 = createHmac('sha256', secret).update(`${t}.${method} ${path}.${body}`).digest('hex')
      expect(headers['x-signature']).toBe(`t=${t},v1=${v1}`)
      expect(headers['x-appid']).toBe('app_1')
    }
    expect(sent[1]?.url).toMatch(/orders\?limit=2&status=PAID&from=1970-01-01T00%3A00%3A00.000Z$/)
    expect(sent.map(({ headers }) => headers['content-type'])).toEqual([
      'application/json',
      undefined,
    ])
  })

  test.each([
    ['https://example.com/pay', 'https://example.com/pay/payment/wallet'],
    ['https://example.com/pay/', 'https://example.com/pay/payment/wallet'],
    ['https://example.com/', 'https://example.com/payment/wallet'],
  ])('to %s signs the path of that address too', async (baseUrl, url) => {
    const { client, sent } = clientWith([ok({})], { baseUrl })
    await client.getWallet()
    const [{ headers, ...one }] = sent as [Sent]
    expect(one.url).toBe(url)
    const t = /^t=(\d+),/.exec(headers['x-signature'] ?? '')?.[1]
    const signed = `${t}.GET ${new URL(url).pathname}.`
    const v1 = createHmac('sha256', secret).update(signed).digest('hex')
    expect(headers['x-signature']).toBe(`t=${t},v1=${v1}`)
  })

  test.each([
    ['an address that is none', { baseUrl: 'pay.example' }],
    ['another protocol', { baseUrl: 'ftp://pay.example' }],
    ['a query', { baseUrl: 'https://pay.example?a=1' }],
    ['no app id', { appId: '' }],
    ['no secret', { secret: '' }],
    ['white space around the secret', { secret: `${secret}\n` }],
  ])('cannot be made with %s', (_what, options) => {
    expect(() => clientWith([], options)).toThrow(TypeError)
  })
})

describe('the amount', () => {
  test.each([
    [250, '250'],
    [1_000_000_000_000, '1000000000000'],
    [1_000_000_000_000n, '1000000000000'],
    [9_007_199_254_740_993n, '9007199254740993'],
  ])('%s is sent digit by digit', async (amount, text) => {
    const { client, sent } = clientWith([created()])
    await client.createDeposit({ ...order, amount })
    expect(sent[0]?.body).toContain(`"amount":${text},`)
  })
})

test('a creation is sent as it was given, unknown fields and all, for the service to judge', async () => {
  const { client, sent } = clientWith([created()])
  const extraParams = { z: 1, a: ['é', '🍜'], 10: null }
  const given = { ...order, extraParams, extParams: {}, timestamp: 'mine', accountName: undefined }
  await client.createWithdraw(given as unknown as NewOrder)
  const body: Record<string, unknown> = JSON.parse(sent[0]?.body ?? '')
  expect(Object.keys(body).sort()).toEqual([
    'accountNo',
    'amount',
    'bankCode',
    'extParams',
    'extraParams',
    'refId',
    'timestamp',
    'userId',
  ])
  expect(sent[0]?.body).toContain(`"extraParams":${JSON.stringify(extraParams)}`)
  expect(body.timestamp).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/)
})

describe('a repeat', () => {
  test('has the same bytes but for a fresh timestamp and signature', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-01-01T00:00:00Z') })
    const extraParams = { basket: 'B-7' }
    const { client, sent } = clientWith([lost(), problem(500, 'internal'), created()])
    const times = [
      '2026-01-01T00:00:00.000Z',
      '2026-01-01T00:05:00.000Z',
      '2026-01-01T00:10:00.000Z',
    ]
    vi.mocked(setTimeout).mockImplementation(((go: () => void) => {
      vi.setSystemTime(times[sent.length] ?? '')
      extraParams.basket = 'changed meanwhile'
      queueMicrotask(go)
    }) as unknown as typeof setTimeout)
    await client.createDeposit({ ...order, extraParams })
    const bodies = sent.map(({ body = '' }) => body)
    expect(bodies.map((body) => JSON.parse(body).timestamp)).toEqual(times)
    expect(new Set(bodies.map((body) => body.replace(/"timestamp":"[^"]*"/, ''))).size).toBe(1)
    expect(bodies[2]).toContain('"extraParams":{"basket":"B-7"}')
    expect(new Set(sent.map(({ headers }) => headers['x-signature'])).size).toBe(3)
  })

  test('tells that the order was there already', async () => {
    const { client } = clientWith([
      created(),
      ok({ txn_id: '1-1' }, { 'idempotent-replayed': 'true', 'x-request-id': 'req_2' }),
    ])
    const first = { order: { txn_id: '1-1' }, replayed: false, requestId: 'req_1' }
    expect(await client.createDeposit(order)).toEqual(first)
    const second = { order: { txn_id: '1-1' }, replayed: true, requestId: 'req_2' }
    expect(await client.createDeposit(order)).toEqual(second)
  })

  test('waits longer each time', async () => {
    const { client, sent } = clientWith([lost(), lost(), lost(), ok({})])
    await client.getWallet()
    expect(waitsMs).toEqual([250, 500, 1000])
    expect(sent).toHaveLength(4)
  })

  test.each([
    ['rate_limited', 429, '2', 2000],
    ['overloaded', 503, '1', 1000],
    ['provider_unavailable', 503, '60', 10_000],
    ['request_timeout', 408, '', 250],
    ['overloaded', 503, '0', 250],
    ['overloaded', 503, 'soon', 250],
  ])('after %s (%i) with retry-after %s waits %i ms', async (code, status, after, ms) => {
    const { client } = clientWith([problem(status, code, { 'retry-after': after }), ok({ seq: 1 })])
    expect(await client.getWallet()).toEqual({ seq: 1 })
    expect(waitsMs).toEqual([ms])
  })

  test('is never made of a trigger, because two payments are two payments', async () => {
    const { client, sent } = clientWith([lost(), ok({})])
    expect((await failure(client.triggerOutcome('1-1', { outcome: 'PAID' }))).code).toBe(
      'no_answer',
    )
    expect(sent).toHaveLength(1)
  })
})

describe('a refusal', () => {
  test('tells all that the service said', async () => {
    const errors = [{ field: 'amount', message: 'must be a whole JSON number' }]
    const body = { code: 'invalid_request', detail: 'Correct amount.', title: 't', errors }
    const { client, sent } = clientWith([ok(body, { 'x-request-id': 'req_9' }, 422)])
    const error = await failure(client.createDeposit(order))
    expect(error).toMatchObject({
      name: 'SluiceError',
      code: 'invalid_request',
      message: 'Correct amount.',
      status: 422,
      requestId: 'req_9',
      errors,
      retryable: false,
    })
    expect(sent).toHaveLength(1)
  })

  test.each([
    [401, 'invalid_signature'],
    [403, 'agent_suspended'],
    [409, 'ref_id_conflict'],
    [422, 'insufficient_balance'],
  ])('%i %s is final: the first request proves that there is no order', async (status, code) => {
    const { client, sent } = clientWith([problem(status, code)])
    expect(await failure(client.createWithdraw(order))).toMatchObject({ code, retryable: false })
    expect(sent).toHaveLength(1)
  })

  test('rate_limited to the end proves it too', async () => {
    const { client, sent } = clientWith([1, 2, 3, 4].map(() => problem(429, 'rate_limited')))
    const error = await failure(client.createDeposit(order))
    expect(error).toMatchObject({ code: 'rate_limited', status: 429, retryable: true })
    expect(sent).toHaveLength(4)
  })

  test('of a read is the last one', async () => {
    const { client } = clientWith([lost(), problem(503, 'overloaded', { 'retry-after': '7' })], {
      retries: 1,
    })
    const error = await failure(client.getWallet())
    expect(error).toMatchObject({
      code: 'overloaded',
      status: 503,
      retryAfterS: 7,
      retryable: true,
    })
  })
})

describe('the outcome of a creation is unknown', () => {
  const isUnknown = { code: 'unknown_outcome', retryable: true, refId: 'order-1' }

  test.each<[string, () => Step[]]>([
    ['no answer', () => [lost(), lost(), lost(), lost()]],
    ['500', () => [1, 2, 3, 4].map(() => problem(500, 'internal'))],
    ['503', () => [1, 2, 3, 4].map(() => problem(503, 'overloaded'))],
    ['a page of a proxy', () => [1, 2, 3, 4].map(() => new Response('<h1>', { status: 502 }))],
    ['half an answer', () => [1, 2, 3, 4].map(() => new Response('{"txn', { status: 201 }))],
    ['a 4xx that is not of the service', () => [new Response('<h1>', { status: 404 })]],
    ['a redirect', () => [new Response(null, { status: 301, headers: { location: '/there' } })]],
    ['no answer, then a refusal', () => [lost(), problem(422, 'insufficient_balance')]],
    [
      '500, then a wrong signature',
      () => [problem(500, 'internal'), problem(401, 'stale_signature')],
    ],
  ])('after %s, and the error says what to do', async (_what, steps) => {
    const { client, sent } = clientWith(steps())
    const error = await failure(client.createDeposit(order))
    expect(error).toMatchObject(isUnknown)
    expect(error.message).toContain('Repeat the call with the same refId')
    expect(error.message).toContain('"order-1"')
    expect(error.cause).toBeInstanceOf(SluiceError)
    expect(sent).toHaveLength(steps().length)
  })

  test('not where an answer came in the end', async () => {
    const { client } = clientWith([lost(), problem(503, 'overloaded'), lost(), created()])
    expect((await client.createDeposit(order)).order).toEqual({ txn_id: '1-1' })
  })

  test('not for reads, which may be made again at will', async () => {
    const { client } = clientWith([lost()], { retries: 0 })
    const error = await failure(client.getOrder('1-1'))
    expect(error.code).toBe('no_answer')
    expect(error.message).toContain('ECONNREFUSED')
  })

  test('when every attempt timed out', async () => {
    const { client, sent } = clientWith(['hangs', 'hangs'], { timeoutMs: 5, retries: 1 })
    const error = await failure(client.createDeposit(order))
    expect(error).toMatchObject(isUnknown)
    expect(error.message).toContain('no answer within 5 ms')
    expect(sent).toHaveLength(2)
  })

  test('when it was given up after it was sent', async () => {
    const control = new AbortController()
    const { client, sent } = clientWith(['hangs'])
    const creating = failure(client.createDeposit(order, { signal: control.signal }))
    await vi.waitUntil(() => sent.length === 1)
    control.abort(new Error('shutting down'))
    const error = await creating
    expect(error).toMatchObject(isUnknown)
    expect(error.message).toContain('shutting down')
  })

  test('when it was given up between two attempts', async () => {
    const control = new AbortController()
    vi.mocked(setTimeout).mockImplementation((() => {
      queueMicrotask(() => control.abort(new Error('shutting down')))
    }) as unknown as typeof setTimeout)
    const { client, sent } = clientWith([lost()])
    expect(await failure(client.createDeposit(order, { signal: control.signal }))).toMatchObject(
      isUnknown,
    )
    expect(sent).toHaveLength(1)
  })

  test('not when it was given up before it was sent', async () => {
    const { client, sent } = clientWith([])
    const signal = AbortSignal.abort(new Error('shutting down'))
    await expect(client.createDeposit(order, { signal })).rejects.toThrow('shutting down')
    expect(sent).toHaveLength(0)
  })
})

describe('going through a list', () => {
  test('asks for the next page when it is needed, with the same filter', async () => {
    const { client, sent } = clientWith([
      ok({ data: [{ txn_id: 'a' }, { txn_id: 'b' }], next: 'cursor' }),
      ok({ data: [{ txn_id: 'c' }], next: null }),
    ])
    const seen: string[] = []
    for await (const { txn_id } of client.eachOrder({ kind: 'deposit', limit: 2 })) {
      seen.push(txn_id)
      expect(sent).toHaveLength(txn_id === 'c' ? 2 : 1)
    }
    expect(seen).toEqual(['a', 'b', 'c'])
    expect(sent[1]?.url).toMatch(/orders\?kind=deposit&limit=2&after=cursor$/)
  })

  test('stops where the reader stops', async () => {
    const { client, sent } = clientWith([ok({ data: [{ seq: 7 }, { seq: 9 }], next: 9 })])
    for await (const { seq } of client.eachEvent({ after: 5 })) {
      expect(seq).toBe(7)
      break
    }
    expect(sent).toHaveLength(1)
  })

  test('an empty list has nothing', async () => {
    const { client } = clientWith([ok({ data: [], next: null })])
    for await (const entry of client.eachWalletEntry()) throw new Error(`there is ${entry.seq}`)
  })
})
