import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { sendBytes } from '../support/raw-http.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

let s: TestService
let agent: AgentClient
const opened: Socket[] = []
beforeAll(async () => {
  s = await startTestService()
  agent = await s.agent()
})
afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy()
  await s.prove()
})
afterAll(() => s.close())

/** A connection that reads nothing until it is asked to. */
function open(url = s.service.url): Socket {
  const { hostname, port } = new URL(url)
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
  socket.on('error', () => {})
  opened.push(socket)
  return socket
}

const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nhost: x\r\n${more}\r\n`

/** Everything that comes back on a connection until it is closed. */
const exchange = async (sent: string) => {
  const socket = open()
  socket.write(sent)
  return text(socket)
}
const statuses = (received: string) =>
  [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))

/** A deposit as bytes, so that it can be sent along with others. */
function deposit(order = agent.order()): string {
  const body = JSON.stringify(order)
  const signature = agent.sign('POST', '/payment/deposit', body)
  return `POST /payment/deposit HTTP/1.1\r\nhost: x\r\nx-appid: ${agent.appId}\r\nx-signature: ${signature}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

describe('who sends ahead', () => {
  test('gets every answer, in order, however many requests there are', async () => {
    const paths = Array.from({ length: 1_000 }, (_, at) => `/nothing/${at}`)
    const bytes = paths.map((path) => get(path)).join('') + get('/healthz', 'connection: close\r\n')
    const received = statuses(await exchange(bytes))
    expect(received).toHaveLength(1_001)
    expect(received.at(-1)).toBe(200)
  })

  test('has orders created once each, and answered in the order in which they were sent', async () => {
    const orders = Array.from({ length: 50 }, () => agent.order())
    const socket = open()
    socket.end(orders.map(deposit).join(''))
    const received = await text(socket)
    const refIds = [...received.matchAll(/"ref_id":"([^"]+)"/g)].map(([, refId]) => refId)
    expect(refIds).toEqual(orders.map(({ refId }) => refId))
    expect(statuses(received)).toEqual(orders.map(() => 201))
  })

  test('and never reads is let no further than the bound, while others are answered', async () => {
    let begun = 0
    const unanswered = new Map<unknown, number>()
    let most = 0
    s.service.app.server.on('request', count)
    function count(request: { socket: unknown }, response: NodeJS.EventEmitter) {
      begun++
      const now = (unanswered.get(request.socket) ?? 0) + 1
      unanswered.set(request.socket, now)
      most = Math.max(most, now)
      response.once('close', () =>
        unanswered.set(request.socket, (unanswered.get(request.socket) ?? 1) - 1),
      )
    }
    const { server } = s.service.app
    const { requestTimeout, headersTimeout } = server
    // However slow the machine: who never reads stays.
    Object.assign(server, { requestTimeout: 0, headersTimeout: 0 })
    const served: Socket[] = []
    server.on('connection', (socket) => served.push(socket))
    const asked = 10_000
    const deaf = Array.from({ length: 3 }, () => {
      const socket = open().pause()
      socket.write(get('/docs').repeat(asked))
      return socket
    })
    try {
      for (let round = 0; round < 10; round++) {
        expect((await fetch(`${s.service.url}/healthz`)).status).toBe(200)
        expect((await agent.deposit()).status).toBe(201)
      }
      // The bound, and what one more slice of the smallest requests could hold.
      expect(most).toBeLessThanOrEqual(32 + 1_024 / get('/docs').length + 1)
      expect(begun).toBeLessThan((deaf.length * asked) / 4)
      for (const { bytesRead } of served) {
        expect(bytesRead).toBeLessThan((asked * get('/docs').length) / 2)
      }
    } finally {
      server.off('request', count)
      Object.assign(server, { requestTimeout, headersTimeout })
    }
  })

  test('and never reads is closed after a time', async () => {
    const at = await startTestService({
      beside: s,
      outside: { connectionLimits: { unanswered: 4, idleMs: 200 } },
    })
    try {
      const socket = open(at.service.url).pause()
      const closed = new Promise((resolve) => {
        at.service.app.server.once('connection', (served) => served.once('close', resolve))
      })
      socket.write(get('/docs').repeat(2_000))
      await closed
    } finally {
      await at.close()
    }
  })
})

describe('a connection', () => {
  test('that says it sends no more is answered all the same', async () => {
    const socket = open()
    socket.end(deposit())
    expect(statuses(await text(socket))).toEqual([201])
  })

  test('gets the answers to what was right before what is wrong behind it', async () => {
    const received = await exchange(`${deposit()}${get('/healthz')}no request at all\r\n\r\n`)
    expect(statuses(received)).toEqual([201, 200, 400])
    const closing = deposit().replace('host: x\r\n', 'host: x\r\nconnection: close\r\n')
    expect(statuses(await exchange(`${closing}${get('/healthz')}`))).toEqual([201])
  })

  test('that begins a request and does not end it is told so after 30 seconds', () => {
    const { requestTimeout, headersTimeout } = s.service.app.server
    expect([requestTimeout, headersTimeout]).toEqual([30_000, 30_000])
  })

  test.each([
    ['headers', 'POST /payment/deposit HTTP/1.1\r\nhost:'],
    [
      'a body',
      'POST /payment/deposit HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{',
    ],
  ])('that does not end %s gets 408', async (_what, begun) => {
    const { server } = s.service.app
    const { requestTimeout, headersTimeout } = server
    try {
      Object.assign(server, { requestTimeout: 1, headersTimeout: 1 })
      const received = await exchange(get('/healthz') + begun)
      expect(statuses(received)).toEqual([200, 408])
      expect(received).toContain('"code":"request_timeout"')
    } finally {
      Object.assign(server, { requestTimeout, headersTimeout })
    }
  })
})

test('who was refused before the end of the body gets no second answer for it', async () => {
  const { server } = s.service.app
  const { requestTimeout, headersTimeout } = server
  try {
    Object.assign(server, { requestTimeout: 1, headersTimeout: 1 })
    const begun = 'POST /payment/deposit HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{'
    expect(statuses(await exchange(begun))).toEqual([415])
  } finally {
    Object.assign(server, { requestTimeout, headersTimeout })
  }
})

describe('what HTTP itself refuses', () => {
  const post = 'POST /payment/deposit HTTP/1.1\r\nhost: x\r\n'
  test.each([
    ['no host', 'GET /healthz HTTP/1.1\r\n\r\n', 400, 'malformed_request'],
    ['two hosts', get('/healthz', 'Host: y\r\n'), 400, 'malformed_request'],
    ['two equal hosts', get('/healthz', 'host: x\r\n'), 400, 'malformed_request'],
    ['a bad request line', 'GET  HTTP/1.1\r\n\r\n', 400, 'malformed_request'],
    ['no version', 'GET /healthz\r\n\r\n', 505, 'http_version_not_supported'],
    ['a space in the path', 'GET /a b HTTP/1.1\r\nhost: x\r\n\r\n', 400, 'malformed_request'],
    ['a bad header', get('/healthz', 'no colon\r\n'), 400, 'malformed_request'],
    ['a bad chunk', `${post}transfer-encoding: chunked\r\n\r\nzz\r\n`, 400, 'malformed_request'],
    [
      'a cut body',
      `${post}content-type: application/json\r\ncontent-length: 9\r\n\r\n{`,
      400,
      'malformed_request',
    ],
    ['headers without end', get('/', `x: ${'x'.repeat(20_000)}\r\n`), 431, 'headers_too_large'],
    ['another expectation', get('/healthz', 'expect: more\r\n'), 417, 'expectation_failed'],
    ['HTTP/3', 'GET / HTTP/3.0\r\nhost: x\r\n\r\n', 505, 'http_version_not_supported'],
    ['HTTP/2', 'GET / HTTP/2.0\r\nhost: x\r\n\r\n', 505, 'http_version_not_supported'],
    ['HTTP/0.9', 'GET / HTTP/0.9\r\nhost: x\r\n\r\n', 505, 'http_version_not_supported'],
    [
      'the preface of HTTP/2',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      505,
      'http_version_not_supported',
    ],
  ])('%s is told as a problem', async (_what, bytes, status, code) => {
    const socket = open()
    socket.end(bytes)
    const received = await text(socket)
    expect(statuses(received)).toEqual([status])
    const [head = '', body = ''] = received.split('\r\n\r\n')
    const id = /^x-request-id: (req_\w{32})\r?$/m.exec(head)?.[1]
    expect(head).toMatch(/^content-type: application\/problem\+json/m)
    expect(head).toMatch(/^cache-control: no-store/m)
    expect(JSON.parse(body)).toEqual({
      type: `urn:sluice:problem:${code}`,
      title: expect.any(String),
      status,
      detail: expect.any(String),
      code,
      request_id: id,
    })
  })

  test.each([
    ['TRACE', '/payment/wallet', 'GET'],
    ['TRACE', '/nothing', 'GET, HEAD, POST, PUT, PATCH, DELETE'],
    ['PROPFIND', '/payment/orders/1-2', 'GET'],
    ['QUERY', '/payment/orders', 'GET'],
    ['BREW', '/payment/orders/1-2/cancel?x=1', 'POST'],
    ['SPY', '/healthz', 'GET, HEAD'],
    ['CONNECT', 'pay.example:443', 'GET, HEAD, POST, PUT, PATCH, DELETE'],
    ['POST', '/payment/wallet', 'GET'],
  ])('%s %s is a method that is not taken', async (method, path, allow) => {
    const bytes = `${method} ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`
    const { status, headers, json } = await sendBytes(s.service.url, Buffer.from(bytes))
    expect([status, json?.code]).toEqual([405, 'method_not_allowed'])
    expect(headers.get('allow')).toBe(allow)
    expect(headers.get('content-type')).toMatch(/^application\/problem\+json/)
  })

  test('a body of another type does not hide that the method is not taken', async () => {
    const { status } = await agent.send('POST', '/payment/wallet', 'x', { 'content-type': 'a/b' })
    expect(status).toBe(405)
  })

  test('HTTP/1.0 needs no host and is answered', async () => {
    const received = await exchange('GET /healthz HTTP/1.0\r\n\r\n')
    expect(statuses(received)).toEqual([200])
  })
})

test('pages that are closed take no stream with them', async () => {
  const { json } = await agent.deposit()
  const path = `${new URL(json.link).pathname}/events`
  const socket = open()
  socket.write(get(path))
  await once(socket, 'data')
  socket.end()
  socket.resume()
  await once(socket, 'end')
})
