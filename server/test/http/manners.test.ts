import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import pg from 'pg'
import { pino } from 'pino'
import Schema from 'typebox/schema'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { buildApp } from '../../src/http/app.ts'
import { inlineSchemas } from '../../src/http/name-schemas.ts'
import { problemCatalogue } from '../../src/lib/problem.ts'
import { version } from '../../src/version.ts'
import { testDatabase } from '../support/database.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { cleanUp, serve } from '../support/process.ts'
import { sendBytes, sendRaw } from '../support/raw-http.ts'
import {
  type AgentClient,
  type Answer,
  startTestService,
  type TestService,
} from '../support/service.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'

let s: TestService
let agent: AgentClient
const started: TestService[] = []
beforeAll(async () => {
  s = await startTestService()
  agent = await s.agent()
  await agent.fund(1000)
})
afterEach(async () => {
  for (const each of started.splice(0)) await each.close()
  await cleanUp()
})
afterAll(async () => {
  await s.prove()
  await s.close()
})

const live = { MODE: 'live', PUBLIC_URL: 'https://pay.example' }

/** Another service on the same database, closed after the test. */
async function beside(env: Record<string, string>): Promise<TestService> {
  const service = await startTestService({ beside: s, env })
  started.push(service)
  return service
}

const ask = (path: string, method = 'GET', url = s.service.url) => sendRaw(url, { method, path })
const said = ({ status, json }: Answer) => [status, json?.code ?? 'none']

describe('the address itself', () => {
  const browser: [string, string][] = [['accept', 'text/html,application/xhtml+xml,*/*;q=0.8']]

  test('tells a browser what is here, and a program that nothing is', async () => {
    const page = await sendRaw(s.service.url, { method: 'GET', path: '/', headers: browser })
    expect([page.status, page.headers.get('vary')]).toEqual([200, 'accept'])
    const links = [...page.text.matchAll(/href="([^"]+)"/g)].map(([, to = '']) => to)
    expect(links).toEqual(['/console', '/docs', '/openapi.json', '/readyz'])
    for (const path of links) expect([path, (await ask(path)).status]).toEqual([path, 200])
    expect(page.text).not.toContain(version)
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(said(await ask('/'))).toEqual([404, 'not_found'])
    expect((await ask('/', 'POST')).status).toBe(405)
  })

  test.each(['', '/pay'])(
    'leads on under the path of PUBLIC_URL, kept or stripped: %s',
    async (kept) => {
      const { service } = await beside({ PUBLIC_URL: 'https://pay.example/pay' })
      const path = `${kept}/`
      const page = await sendRaw(service.url, { method: 'GET', path, headers: browser })
      expect([page.status, page.text.includes('href="/pay/docs"')]).toEqual([200, true])
    },
  )

  test('does not name the console to an address that it is closed to', async () => {
    const { service } = await beside({ CONSOLE_ADDRESSES: '192.0.2.1' })
    const page = await sendRaw(service.url, { method: 'GET', path: '/', headers: browser })
    expect([page.status, page.text.includes('/console')]).toEqual([200, false])
  })
})

describe('health', () => {
  test('/healthz and /readyz say so without a signature', async () => {
    expect(await ask('/healthz')).toMatchObject({ status: 200, json: { status: 'ok' } })
    expect(await ask('/readyz')).toMatchObject({ status: 200, json: { status: 'ready' } })
  })

  test.each(['/healthz', '/readyz'])('HEAD %s is like GET, without the body', async (path) => {
    const [head, get] = [await ask(path, 'HEAD'), await ask(path)]
    expect(head).toMatchObject({ status: 200, text: '' })
    for (const name of ['content-type', 'content-length', 'cache-control']) {
      expect(head.headers.get(name)).toBe(get.headers.get(name))
    }
    const other = await ask(path, 'DELETE')
    expect([other.status, other.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })

  test('without its database the service lives, is not ready, and says when to come again', async () => {
    const proxy = await TcpProxy.open(s.database.url)
    const cut = await beside({ DATABASE_URL: proxy.url })
    try {
      const client = await cut.agent()
      const order = client.order()
      const url = cut.service.url
      expect((await ask('/readyz', 'GET', url)).status).toBe(200)
      proxy.refuse(true)
      proxy.cutAll()
      expect((await ask('/healthz', 'GET', url)).status).toBe(200)
      for (const answer of [
        await ask('/readyz', 'GET', url),
        await client.get('/payment/wallet'),
        await client.post('/payment/deposit', order),
      ]) {
        expect(said(answer)).toEqual([503, 'overloaded'])
        expect(answer.headers.get('retry-after')).toBe('1')
        expect(answer.text).not.toMatch(/ECONN|postgres|127\.0\.0\.1/)
      }
      expect((await ask('/metrics', 'GET', url)).status).toBe(200)
      proxy.refuse(false)
      expect((await ask('/readyz', 'GET', url)).status).toBe(200)
      expect((await client.post('/payment/deposit', order)).status).toBe(201)
    } finally {
      await proxy.close()
    }
  })

  test('a worker serves its health and its figures and nothing else', async () => {
    const { service } = await beside({ ROLE: 'worker' })
    const statusOf = async (path: string) => (await ask(path, 'GET', service.url)).status
    expect([await statusOf('/healthz'), await statusOf('/readyz')]).toEqual([200, 200])
    expect(await statusOf('/metrics')).toBe(200)
    for (const path of ['/payment/wallet', '/payment/orders', '/openapi.json', '/docs']) {
      expect(await statusOf(path)).toBe(404)
    }
    const deposit = await ask('/payment/deposit', 'POST', service.url)
    expect(said(deposit)).toEqual([404, 'not_found'])
  })
})

describe('metrics', () => {
  const metrics = (url: string, authorization?: string) =>
    sendRaw(url, {
      path: '/metrics',
      headers: authorization === undefined ? [] : [['authorization', authorization]],
    })

  test('are open in the sandbox, and count requests by route, not by address', async () => {
    const { txn_id } = (await agent.deposit()).json
    await agent.get(`/payment/orders/${txn_id}`)
    await ask(`/no/such/${txn_id}`)
    const { status, text, headers } = await metrics(s.service.url)
    expect(status).toBe(200)
    expect(headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
    expect(text).toMatch(
      /sluice_http_request_seconds_count\{method="GET",route="\/payment\/orders\/:txn_id",status="200"\} \d+/,
    )
    expect(text).toMatch(/sluice_orders_total\{kind="deposit",outcome="WAITING"\} \d+/)
    expect(text).toMatch(/sluice_orders_total\{kind="deposit",outcome="PAID"\} 1/)
    expect(text).toContain('sluice_proof_red_agents 0')
    expect(text).not.toContain(txn_id)
    expect(text).not.toContain(agent.appId)
  })

  test('count the agents whose ledger does not prove, of which the service finds out by itself', async () => {
    const proving = await startTestService({ outside: { provesLedger: true } })
    const red = async () =>
      /sluice_proof_red_agents (\d+)/.exec((await metrics(proving.service.url)).text)?.[1]
    const one = await proving.agent()
    await one.fund(100)
    await (await proving.agent()).fund(100)
    await expect.poll(red).toBe('0')
    await proving.sql(
      'update wallets set available = available + 1, adjustments = adjustments - 1 where agent_id = $1',
      [one.agentId],
    )
    // The one that was looked at longest ago is next, so time must pass.
    await expect
      .poll(() => {
        proving.clock.advance(1_000)
        return red()
      })
      .toBe('1')
    await proving.close()
  })

  test.each([
    ['no token', undefined, 401],
    ['another token', 'Bearer other', 401],
    ['a longer token', 'Bearer token-1x', 401],
    ['a shorter token', 'Bearer token-', 401],
    ['the bare token', 'token-1', 401],
    ['another scheme', 'Basic token-1', 401],
    ['the token', 'Bearer token-1', 200],
  ])('with a token set, %s is answered', async (_what, authorization, status) => {
    const { service } = await beside({ METRICS_TOKEN: 'token-1' })
    const answer = await metrics(service.url, authorization)
    expect(answer.status).toBe(status)
    expect(answer.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null)
    expect(answer.text.includes('sluice_')).toBe(status === 200)
  })

  test('are not there in live without a token', async () => {
    const { service } = await beside(live)
    expect(said(await metrics(service.url))).toEqual([404, 'not_found'])
  })

  test('are there in live for who has the token', async () => {
    const { service } = await beside({ ...live, METRICS_TOKEN: 'token-1' })
    expect((await metrics(service.url)).status).toBe(401)
    expect((await metrics(service.url, 'Bearer token-1')).status).toBe(200)
  })
})

describe('the console', () => {
  test('is open to the listed addresses alone, as a trusted proxy names them', async () => {
    const env = { CONSOLE_ADDRESSES: '192.0.2.0/24', TRUSTED_PROXIES: '127.0.0.0/8' }
    const { service } = await beside({ ...env, PUBLIC_URL: 'http://127.0.0.1/pay' })
    const statuses = async (address: string) => {
      const headers: [string, string][] = [['x-forwarded-for', address]]
      const paths = ['/console', '/console/orders', '/console/api/me', '/console/api/openapi.json']
      const others = ['/pay/console/api/me', '/%63onsole/api/me', '/console/api/no-such', '/docs']
      const answers = [...paths, ...others].map((path) =>
        sendRaw(service.url, { path, headers }).then(({ status }) => status),
      )
      return Promise.all(answers)
    }
    expect(await statuses('192.0.2.7')).toEqual([200, 200, 401, 200, 401, 401, 404, 200])
    expect(await statuses('::ffff:192.0.2.7')).toEqual(await statuses('192.0.2.7'))
    const elsewhere = [403, 403, 403, 403, 403, 403, 403, 200]
    expect(await statuses('198.51.100.1')).toEqual(elsewhere)
    expect(await statuses('192.0.2.7, 198.51.100.1')).toEqual(elsewhere)
    expect(said(await ask('/console/api/sign-in', 'POST', service.url))).toEqual([
      403,
      'ip_not_allowed',
    ])
    expect((await ask('/console/api/sign-in', 'DELETE', service.url)).status).toBe(403)
  })

  test('is open to users of agents elsewhere, where the portal has addresses of its own', async () => {
    const env = { CONSOLE_ADDRESSES: '192.0.2.0/24', PORTAL_ADDRESSES: '198.51.100.0/24' }
    const { service } = await beside({ ...env, TRUSTED_PROXIES: '127.0.0.0/8' })
    const house = await signIn(s, 'viewer')
    const agents = await signIn(s, 'agent', await s.agent())
    const status = async ({ cookie }: OperatorClient, address: string) => {
      const headers: [string, string][] = [
        ['x-forwarded-for', address],
        ['cookie', cookie],
      ]
      return (await sendRaw(service.url, { path: '/console/api/me', headers })).status
    }
    expect([await status(house, '192.0.2.7'), await status(house, '198.51.100.1')]).toEqual([
      ...[200, 403],
    ])
    expect([await status(agents, '192.0.2.7'), await status(agents, '198.51.100.1')]).toEqual([
      ...[403, 200],
    ])
    expect(await status(agents, '203.0.113.1')).toBe(403)
  })
})

describe('live', () => {
  test('there is no sandbox, and without a provider no order is taken', async () => {
    const at = await beside({ ...live, SECURITY_CONTACT: 'mailto:security@pay.example' })
    const contact = await ask('/.well-known/security.txt', 'GET', at.service.url)
    expect(contact.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    const [first, expires, ...rest] = contact.text.split('\n')
    expect([first, ...rest]).toEqual([
      'Contact: mailto:security@pay.example',
      'Preferred-Languages: en',
      'Canonical: https://pay.example/.well-known/security.txt',
      '',
    ])
    const aheadMs = Date.parse(expires?.replace('Expires: ', '') ?? '') - at.clock().getTime()
    expect(aheadMs / 86_400_000).toBeGreaterThan(88)
    expect(aheadMs / 86_400_000).toBeLessThanOrEqual(90)
    expect(said(await ask('/.well-known/security.txt'))).toEqual([404, 'not_found'])
    const client = await at.agent()
    expect(said(await client.trigger('1-0', 'PAID'))).toEqual([404, 'not_found'])
    for (const answer of [await client.deposit(), await client.withdraw()]) {
      expect(said(answer)).toEqual([503, 'provider_unavailable'])
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    expect((await client.get('/payment/orders')).json.data).toEqual([])
    expect((await client.get('/payment/wallet')).status).toBe(200)
  })
})

test('a client that hangs up in the middle of its request is no fault of ours', async () => {
  const lines: { level: number }[] = []
  let isNoticed = false
  const log = pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line)) })
  const publicUrl = () => 'http://localhost'
  const app = await buildApp({ log, trustedProxies: [], publicUrl, version }, (routes) => {
    routes.post('/orders', async () => 'taken')
    routes.addHook('onError', async () => {
      isNoticed = true
    })
  })
  const url = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  const socket = connect(Number(url.port), url.hostname)
  const head = 'host: localhost\r\ncontent-type: application/json\r\ncontent-length: 100'
  socket.write(`POST /orders HTTP/1.1\r\n${head}\r\n\r\n{`, () => socket.resetAndDestroy())
  await expect.poll(() => isNoticed).toBe(true)
  await app.close()
  expect(lines.filter(({ level }) => level >= 40)).toEqual([])
})

describe('every answer', () => {
  const answers: [what: string, answer: () => Promise<Answer>][] = [
    ['200', () => agent.get('/payment/wallet')],
    ['201', () => agent.deposit()],
    ['200 of a text', () => ask('/metrics')],
    ['400', () => agent.send('POST', '/payment/deposit', '{')],
    ['401', () => ask('/payment/wallet')],
    ['404', () => ask('/nothing')],
    ['404 for a bad escape', () => ask('/payment/orders/%zz')],
    ['404 for an order', () => agent.get('/payment/orders/1')],
    ['405', () => ask('/payment/wallet', 'DELETE')],
    ['413', () => agent.send('POST', '/payment/deposit', ' '.repeat(16_385))],
    ['415', () => agent.send('POST', '/payment/deposit', '{}', { 'content-type': 'text/plain' })],
    ['422', () => agent.deposit({ amount: 0 })],
  ]

  test.each(answers)(
    '%s has an id, and keeps itself out of caches and frames',
    async (what, get) => {
      const { status, headers } = await get()
      expect(status).toBe(Number(what.slice(0, 3)))
      expect(headers.get('x-request-id')).toMatch(/^req_[\w-]{12,}$/)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('content-security-policy')).toMatch(
        /default-src 'none'.*frame-ancestors 'none'/,
      )
      expect(headers.get('server')).toBeNull()
      expect(headers.get('x-powered-by')).toBeNull()
    },
  )

  test.each(['/docs', '/openapi.json', '/console/api/openapi.json', '/embed.js'])(
    '%s is made once, and not sent again to who has it',
    async (path) => {
      const first = await ask(path)
      const etag = first.headers.get('etag') ?? ''
      expect(etag).toMatch(/^"[\w-]{43}"$/)
      expect(first.headers.get('cache-control')).toMatch(/^public, max-age=\d+$/)
      expect(first.headers.get('x-content-type-options')).toBe('nosniff')
      expect(first.headers.get('content-security-policy')).toContain("default-src 'none'")
      const again = (known: string) =>
        sendRaw(s.service.url, { path, headers: [['if-none-match', known]] })
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const { status, text, headers } = await again(known)
        expect([status, text, headers.get('etag')]).toEqual([304, '', etag])
      }
      expect(await again('"other"')).toMatchObject({ status: 200, text: first.text })
    },
  )

  test('descriptions cost no more however often they are asked for', async () => {
    const describe = vi.spyOn(s.service.app, 'swagger')
    const pages = await Promise.all(Array.from({ length: 50 }, () => ask('/docs')))
    expect(new Set(pages.map(({ text }) => text)).size).toBe(1)
    await ask('/openapi.json')
    expect(describe.mock.calls.length).toBeLessThanOrEqual(1)
    describe.mockRestore()
  })

  const problems = answers.filter(([what]) => what.startsWith('4'))
  test.each(problems)('%s tells its problem in the one shape there is', async (_what, get) => {
    const { status, headers, json } = await get()
    expect(headers.get('content-type')).toMatch(/^application\/problem\+json/)
    const { errors, ...rest } = json
    expect(rest).toEqual({
      type: `urn:sluice:problem:${json.code}`,
      title: expect.stringMatching(/\S/),
      status,
      detail: expect.stringMatching(/\S/),
      code: expect.stringMatching(/^[a-z_]+$/),
      request_id: headers.get('x-request-id'),
    })
    const known = new Map<string, readonly [number, string]>(Object.entries(problemCatalogue))
    expect(known.get(json.code)).toEqual([status, json.title])
    expect(errors === undefined).toBe(status !== 422)
  })

  test('ids are never used twice, nor taken from whoever asks', async () => {
    const ids = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const answer = await sendRaw(s.service.url, {
          path: '/healthz',
          headers: [
            ['x-request-id', 'chosen'],
            ['request-id', 'chosen'],
          ],
        })
        return answer.headers.get('x-request-id')
      }),
    )
    expect(new Set(ids).size).toBe(50)
    expect(ids).not.toContain('chosen')
  })

  test('the catalogue of problems has the codes and statuses that agents rely on', () => {
    const statuses = Object.entries(problemCatalogue).map(([code, [status]]) => `${status} ${code}`)
    expect(statuses.toSorted()).toEqual([
      '400 duplicate_json_key',
      '400 malformed_json',
      '400 malformed_request',
      '401 invalid_signature',
      '401 stale_signature',
      '403 agent_suspended',
      '403 ip_not_allowed',
      '403 scope_missing',
      '404 not_found',
      '404 order_not_found',
      '405 method_not_allowed',
      '408 request_timeout',
      '409 invalid_transition',
      '409 order_not_cancellable',
      '409 order_not_refundable',
      '409 ref_id_conflict',
      '413 body_too_large',
      '415 unsupported_media_type',
      '417 expectation_failed',
      '422 amount_out_of_range',
      '422 insufficient_balance',
      '422 invalid_request',
      '422 limit_exceeded',
      '422 provider_refused',
      '422 refund_exceeds_payment',
      '422 unknown_bank_code',
      '429 rate_limited',
      '431 headers_too_large',
      '500 internal',
      '503 overloaded',
      '503 provider_unavailable',
      '505 http_version_not_supported',
    ])
  })
})

describe('what goes wrong inside', () => {
  test('is told without its insides, and other orders go on', async () => {
    const at = await startTestService()
    started.push(at)
    const client = await at.agent()
    await at.sql(`alter table orders add constraint no_boom check (ref_id <> 'boom')`)
    const [broken, fine] = await Promise.all([client.deposit({ refId: 'boom' }), client.deposit()])
    expect(said(broken)).toEqual([500, 'internal'])
    expect(broken.text).not.toMatch(/no_boom|orders|constraint|1234567890|Somchai|at .*\.ts/)
    expect(fine.status).toBe(201)
    await at.sql('alter table orders drop constraint no_boom')
    expect((await client.deposit({ refId: 'boom' })).status).toBe(201)
    await at.prove()
  })

  test.each([
    ['bytes that are no HTTP', Buffer.from('hello\r\n\r\n'), 400],
    ['another protocol', Buffer.from('\x16\x03\x01\x02\x00\x01\x00\x01\xfc', 'latin1'), 400],
    [
      'two lengths of one body',
      Buffer.from(
        'POST /payment/deposit HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}',
      ),
      400,
    ],
    [
      'a length beside chunks',
      Buffer.from(
        'POST /payment/deposit HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      ),
      400,
    ],
    [
      'headers without end',
      Buffer.from(`GET /healthz HTTP/1.1\r\nhost: x\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`),
      431,
    ],
  ])('%s are refused, and the service goes on', async (_what, bytes, status) => {
    const { headers, json, ...answer } = await sendBytes(s.service.url, bytes)
    expect(answer.status).toBe(status)
    const code = status === 431 ? 'headers_too_large' : 'malformed_request'
    expect(json).toMatchObject({ status, code, type: `urn:sluice:problem:${code}` })
    expect(json.request_id).toMatch(/^req_\w{32}$/)
    expect(headers.get('x-request-id')).toBe(json.request_id)
    expect(headers.get('content-type')).toBe('application/problem+json')
    expect(headers.get('cache-control')).toBe('no-store')
    expect((await ask('/healthz')).status).toBe(200)
  })
})

describe('the description', () => {
  /** The endpoints of the agents' API, as routes are written. */
  const endpoints: [method: string, url: string][] = [
    ['POST', '/payment/deposit'],
    ['POST', '/payment/withdraw'],
    ['GET', '/payment/orders/:txn_id'],
    ['GET', '/payment/orders'],
    ['POST', '/payment/orders/:txn_id/cancel'],
    ['POST', '/payment/orders/:txn_id/refund'],
    ['GET', '/payment/wallet'],
    ['GET', '/payment/wallet/reserve'],
    ['GET', '/payment/wallet/entries'],
    ['GET', '/payment/banks'],
    ['GET', '/payment/events'],
    ['POST', '/payment/events/:seq/resend'],
    ['POST', '/sandbox/orders/:txn_id'],
  ]
  const braced = (url: string) => url.replace(/:(\w+)/g, '{$1}')

  interface Operation {
    summary?: string
    tags?: string[]
    security?: object[]
    parameters?: { name: string; in: string; required?: boolean; schema: object }[]
    requestBody?: { content: Record<string, { schema: object }> }
    responses: Record<string, { description: string; content: Record<string, { schema: object }> }>
  }
  interface Document {
    openapi: string
    info: { title: string; version: string }
    servers: { url: string }[]
    components: { securitySchemes: Record<string, object> }
    paths: Record<string, Record<string, Operation>>
  }
  const describedBy = async (url: string): Promise<Document> =>
    inlineSchemas((await ask('/openapi.json', 'GET', url)).json)
  const operations = ({ paths }: Document) =>
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    )

  test('is OpenAPI 3.1', async () => {
    const at = await beside({ PUBLIC_URL: 'https://pay.example/base' })
    const document = await describedBy(at.service.url)
    expect(document.openapi).toMatch(/^3\.1\.\d$/)
    expect(document.info).toMatchObject({ title: 'Sluice', version })
    expect(document.servers).toEqual([{ url: 'https://pay.example/base' }])
    expect(Object.keys(document.components.securitySchemes)).toEqual([
      'appId',
      'signature',
      'callbackSignature',
    ])
    for (const { path, method, operation } of operations(document)) {
      expect(path).toMatch(/^\/[\w/{}]+$/)
      expect(['get', 'post']).toContain(method)
      expect(operation.summary).toMatch(/\S/)
      expect(operation.tags).toEqual([expect.stringMatching(/\S/)])
      expect(operation.security).toEqual([{ appId: [], signature: [] }])
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      const parameters = operation.parameters ?? []
      const inPath = parameters.filter((parameter) => parameter.in === 'path')
      expect(inPath.map(({ name }) => name)).toEqual(named)
      expect(inPath.every(({ required }) => required)).toBe(true)
      expect(parameters.every(({ schema }) => typeof schema === 'object')).toBe(true)
      expect(Object.keys(operation.responses)).toContain('default')
      for (const [status, response] of Object.entries(operation.responses)) {
        expect(status).toMatch(/^([2-5]\d\d|default)$/)
        expect(response.description).toMatch(/\S/)
      }
    }
  })

  test('lists exactly the endpoints there are', async () => {
    const document = await describedBy(s.service.url)
    const listed = operations(document).map(({ method, path }) => `${method} ${path}`)
    const there = endpoints
      .filter(([method, url]) => s.service.app.hasRoute({ method, url }))
      .map(([method, url]) => `${method.toLowerCase()} ${braced(url)}`)
    expect(listed.toSorted()).toEqual(there.toSorted())
    expect(there.length).toBeGreaterThanOrEqual(10)
  })

  test('does not list the sandbox in live', async () => {
    const at = await beside(live)
    const paths = Object.keys((await describedBy(at.service.url)).paths)
    expect(paths.filter((path) => path.startsWith('/sandbox'))).toEqual([])
    expect(paths).toContain('/payment/deposit')
  })

  /** The same schema, but no object may have more than is described. */
  function closed(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map(closed)
    if (typeof schema !== 'object' || schema === null) return schema
    const members = Object.entries(schema).map(([name, value]) => [name, closed(value)])
    const more = 'properties' in schema ? { additionalProperties: false } : {}
    return { ...Object.fromEntries(members), ...more }
  }

  test('holds for real answers of every endpoint, to the last field', async () => {
    const document = await describedBy(s.service.url)
    const checked = new Set<string>()
    const check = async (method: string, path: string, asking: Promise<Answer>) => {
      const answer = await asking
      const responses = document.paths[path]?.[method]?.responses ?? {}
      const response = responses[answer.status] ?? responses.default
      const type = answer.headers.get('content-type')?.split(';')[0] ?? ''
      const schema = response?.content[type]?.schema
      if (!schema) throw new Error(`${method} ${path}: no ${answer.status} of ${type}`)
      const [fits, errors] = Schema.Errors(closed(schema) as object, answer.json)
      expect([method, path, answer.status, fits, errors]).toEqual([
        method,
        path,
        answer.status,
        true,
        [],
      ])
      if (answer.status < 300) checked.add(`${method} ${path}`)
      return answer
    }
    const client = await s.agent({ depositFee: '1.5%', withdrawFee: '2' })
    const order = client.order({ amount: 1000 })
    const deposit = await check('post', '/payment/deposit', client.post('/payment/deposit', order))
    await check('post', '/payment/deposit', client.post('/payment/deposit', order))
    await check('post', '/payment/deposit', client.deposit({ amount: 'x', more: 1 }))
    const paid = client.trigger(deposit.json.txn_id, 'PAID', { payerAccountNo: '12345' })
    await check('post', '/sandbox/orders/{txn_id}', paid)
    for (const method of ['link', 'link+qrcode', 'link+transfer'] as const) {
      await check('post', '/payment/deposit', (await s.agent({ method })).deposit())
    }
    const refund = (amount: number) =>
      client.post(`/payment/orders/${deposit.json.txn_id}/refund`, {
        refId: `refund-${amount}`,
        amount,
        timestamp: s.clock().toISOString(),
      })
    await check('post', '/payment/orders/{txn_id}/refund', refund(1))
    await check('post', '/payment/orders/{txn_id}/refund', refund(5000))
    const withdraw = await check('post', '/payment/withdraw', client.withdraw())
    await check('post', '/payment/withdraw', client.withdraw({ amount: 5000 }))
    for (const { json } of [deposit, withdraw]) {
      const one = '/payment/orders/{txn_id}'
      await check('get', one, client.get(`/payment/orders/${json.txn_id}`))
      const cancel = client.post(`/payment/orders/${json.txn_id}/cancel`)
      await check('post', `${one}/cancel`, cancel)
      await check('get', one, client.get(`/payment/orders/${json.txn_id}`))
      await check('get', '/payment/orders', client.get(`/payment/orders?refId=${json.ref_id}`))
    }
    await check('get', '/payment/orders', client.get('/payment/orders?limit=1'))
    await check('get', '/payment/orders', client.get('/payment/orders'))
    await check('get', '/payment/orders', client.get('/payment/orders?limit=0'))
    for (const path of ['/payment/wallet', '/payment/wallet/reserve', '/payment/banks']) {
      await check('get', path, client.get(path))
    }
    for (const path of ['/payment/wallet/entries', '/payment/events']) {
      await check('get', path, client.get(`${path}?limit=1`))
      await check('get', path, client.get(path))
      await check('get', path, client.get(`${path}?after=x`))
    }
    const { data } = (await client.get('/payment/events')).json
    const resend = '/payment/events/{seq}/resend'
    if (document.paths[resend]) {
      await client.post(`/payment/events/${data[0].seq}/resend`)
      checked.add(`post ${resend}`)
    }
    const all = operations(document).map(({ method, path }) => `${method} ${path}`)
    expect([...checked].toSorted()).toEqual(all.toSorted())
  })

  test('holds for requests: what it allows is taken, what it forbids is refused', async () => {
    const { paths } = await describedBy(s.service.url)
    const body = paths['/payment/deposit']?.post?.requestBody?.content['application/json']
    const fits = (value: unknown) => Schema.Check(body?.schema ?? {}, value)
    for (const changes of [
      {},
      { refId: '' },
      { refId: '😀'.repeat(64) },
      { refId: 'x'.repeat(65) },
      { amount: 0 },
      { amount: '1' },
      { amount: 1e12 },
      { amount: 1e12 + 1 },
      { accountNo: '123' },
      { accountName: undefined },
      { extraParams: [] },
      { extraParams: {} },
      { more: 1 },
    ]) {
      const order = JSON.parse(JSON.stringify(agent.order(changes)))
      expect([changes, (await agent.post('/payment/deposit', order)).status]).toEqual([
        changes,
        fits(order) ? 201 : 422,
      ])
    }
  })

  test('says what is kept of the answer to a callback', async () => {
    const { webhooks } = (await ask('/openapi.json')).json
    for (const { post } of Object.values<Answer['json']>(webhooks)) {
      expect(post.responses[200].description).toContain('at most 16 KiB of the body are kept')
    }
  })

  test('has a page for people that names every endpoint and asks nobody else', async () => {
    const { status, headers, text } = await ask('/docs')
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    const plain = text.replace(/<[^>]*>/g, '')
    for (const { path } of operations(await describedBy(s.service.url))) {
      expect(plain).toContain(path)
    }
    // Programs that are shown may say anything; the one script is allowed by its hash.
    const marked = text.replace(/<pre>[\s\S]*?<\/pre>/g, '')
    expect(marked).not.toMatch(/<script |<link[^>]+href|<img|<iframe|@import|url\(/)
    expect(headers.get('content-security-policy')).not.toMatch(/unsafe|https?:/)
  })
})

describe('the log', () => {
  const who = { accountNo: '9876501234', accountName: 'Wisut Raksasang', payerNo: '5550001112' }
  const order = (client: AgentClient, more = {}) => {
    const { accountNo, accountName } = who
    return JSON.stringify(client.order({ accountNo, accountName, ...more }))
  }

  /** Runs a service that logs all it can, and returns what it logged and what it must not have. */
  async function loudly(use: (client: AgentClient, databaseUrl: string) => Promise<void>) {
    const database = await testDatabase()
    const secretKey = randomBytes(32).toString('base64')
    const serving = await serve({
      DATABASE_URL: database.url,
      DATABASE_OWNER_URL: database.ownerUrl,
      SECRET_KEY: secretKey,
      LOG_LEVEL: 'trace',
      METRICS_TOKEN: 'metrics-token-1',
    })
    try {
      const client = serving.agent()
      await use(client, database.ownerUrl)
      const { code, stderr } = await serving.stop()
      expect(code).toBe(0)
      const lines = stderr.trim().split('\n')
      expect(lines.every((line) => typeof JSON.parse(line) === 'object')).toBe(true)
      const secrets = { ...who, secret: client.secret, secretKey, metricsToken: 'metrics-token-1' }
      return { lines, secrets: Object.entries(secrets) }
    } finally {
      await cleanUp()
      await database.close()
    }
  }
  const leaks = (lines: string[], secrets: [name: string, text: string][]) =>
    secrets.filter(([, text]) => lines.some((line) => line.includes(text))).map(([name]) => name)

  test('never holds a secret, a signature, an account number or a name, even at its loudest', async () => {
    const more: [string, string][] = []
    const { lines, secrets } = await loudly(async (client) => {
      const post = async (path: string, body: string, headers = {}) => {
        const header = client.sign('POST', path, body)
        more.push([`signature ${more.length}`, header.split('v1=')[1] ?? ''])
        return client.send('POST', path, body, { 'x-signature': header, ...headers })
      }
      const deposit = await post('/payment/deposit', order(client, { amount: 1000 }))
      more.push(['page token', deposit.json.link.split('/').at(-1)])
      const trigger = `/sandbox/orders/${deposit.json.txn_id}`
      const paid = JSON.stringify({ outcome: 'PAID', payerAccountNo: who.payerNo })
      const answers = [
        deposit,
        await post(trigger, paid),
        await post('/payment/withdraw', order(client)),
        await post('/payment/withdraw', order(client, { amount: 5000 })),
        await post('/payment/deposit', order(client, { amount: 'x' })),
        await post('/payment/deposit', order(client).slice(0, -1)),
        await post('/payment/deposit', order(client), { 'x-appid': client.secret }),
        await post(`/${who.accountNo}/%zz`, ''),
        await client.get(`/payment/orders?refId=${who.accountNo}`),
        await sendBytes(client.url, Buffer.from(`${who.accountNo} ${client.secret}\r\n\r\n`)),
        await sendRaw(client.url, {
          path: '/metrics',
          headers: [['authorization', 'Bearer metrics-token-1']],
        }),
      ]
      expect(answers.map(({ status }) => status)).toEqual([
        201, 200, 201, 422, 422, 400, 401, 404, 404, 400, 200,
      ])
    })
    expect(lines.filter((line) => line.includes('"route":"/payment/deposit"'))).toHaveLength(4)
    expect(leaks(lines, [...secrets, ...more])).toEqual([])
  })

  test('never holds the row that the database would not take', async () => {
    const { lines, secrets } = await loudly(async (client, databaseUrl) => {
      await onDatabase(databaseUrl, 'alter table sluice.orders add check (amount <> 66600)')
      const broken = await client.send('POST', '/payment/deposit', order(client, { amount: 666 }))
      expect(said(broken)).toEqual([500, 'internal'])
    })
    // The fault itself is there for whoever has to mend it.
    expect(lines.some((line) => line.includes('violates check constraint'))).toBe(true)
    expect(leaks(lines, secrets)).toEqual([])
  })
})

async function onDatabase(url: string, sql: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
