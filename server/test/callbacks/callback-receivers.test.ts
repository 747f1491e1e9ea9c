import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { rootCertificates } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { CallbackPoster, trustedBesides } from '../../src/callbacks/post-callback.ts'
import { freePort } from '../support/process.ts'
import {
  type Authority,
  makeAuthority,
  type OnRequest,
  type RawReceiver,
  type Receiver,
  startRawReceiver,
  startReceiver,
} from '../support/receiver.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

let s: TestService
let authority: Authority
const open = new Set<{ close(): Promise<void> }>()

/** Names of the test's own: they live on this machine, or nowhere, or are never answered for. */
const resolveHost = (host: string): Promise<string[]> => {
  if (host.endsWith('.here')) return Promise.resolve(['127.0.0.1'])
  if (host.endsWith('.silent')) return new Promise(() => {})
  const codes: Record<string, string> = { broken: 'ESERVFAIL', refused: 'ECONNREFUSED' }
  const code = codes[host.split('.').at(-1) ?? ''] ?? 'ENOTFOUND'
  return Promise.reject(Object.assign(new Error(`queryA ${code} ${host}`), { code }))
}

beforeAll(async () => {
  authority = makeAuthority()
  s = await startTestService({ outside: { resolveHost, ca: authority.cert } })
})
afterEach(() => s.prove())
afterAll(async () => {
  await s.close()
  await Promise.all([...open].map((receiver) => receiver.close()))
  authority.close()
})

async function raw(...args: Parameters<typeof startRawReceiver>): Promise<RawReceiver> {
  const receiver = await startRawReceiver(...args)
  open.add(receiver)
  return receiver
}

async function http(
  answer: (response: ServerResponse) => void = (response) => response.end(),
): Promise<Receiver> {
  const receiver = await startReceiver()
  receiver.answer = (_received, response) => answer(response)
  open.add(receiver)
  return receiver
}

/** An agent with this address and one outcome on its way there. */
async function callTo(depositCallbackUrl: string): Promise<AgentClient> {
  const agent = await s.agent({ depositCallbackUrl })
  await agent.fund(100)
  return agent
}

/** The callback after its first attempt, and what is known of that attempt. */
async function firstAttempt({ agentId }: AgentClient) {
  const read = () =>
    s.sql(
      `select a.*, c.state, c.attempts, c.due_at from callback_attempts a
       join callbacks c using (agent_id, seq) where a.agent_id = $1`,
      [agentId],
    )
  return vi.waitFor(
    async () => {
      const { rows } = await read()
      expect(rows).toHaveLength(1)
      return rows[0]
    },
    { timeout: 300_000 },
  )
}

async function attemptsByReason(): Promise<Record<string, number>> {
  const text = await (await fetch(`${s.service.url}/metrics`)).text()
  const lines = text.matchAll(/^sluice_callback_attempts_total\{reason="(\w+)"\} (\d+)$/gm)
  return Object.fromEntries([...lines].map(([, reason, count]) => [reason, Number(count)]))
}

const closing = (socket: Socket, bytes: string | Buffer) => socket.end(bytes)
const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024))

/** Bytes an endpoint answers, and the status that counts. */
describe.concurrent('what an endpoint answers is judged by its status alone', () => {
  test.each<[what: string, answer: string | Buffer, status: number, body: string | Buffer]>([
    ['200', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{"code":0}', 200, '{"code":0}'],
    ['201', 'HTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n', 201, ''],
    ['202', 'HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n', 202, ''],
    ['200 with a code of failure', 'HTTP/1.1 200 OK\r\n\r\n{"code":1}', 200, '{"code":1}'],
    ['200 with garbage', 'HTTP/1.1 200 OK\r\n\r\n<<<nope', 200, '<<<nope'],
    ['200 after early hints', 'HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\n\r\nyes', 200, 'yes'],
    ['200 in HTTP/1.0', 'HTTP/1.0 200 OK\r\n\r\nold', 200, 'old'],
    ['204', 'HTTP/1.1 204 No Content\r\n\r\n', 204, ''],
    ['206', 'HTTP/1.1 206 Partial\r\ncontent-length: 1\r\n\r\nx', 206, 'x'],
    ['304', 'HTTP/1.1 304 Not Modified\r\n\r\n', 304, ''],
    ['400', 'HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\n\r\nno', 400, 'no'],
    ['401', 'HTTP/1.1 401 Unauthorized\r\ncontent-length: 2\r\n\r\nno', 401, 'no'],
    ['410', 'HTTP/1.1 410 Gone\r\ncontent-length: 2\r\n\r\nno', 410, 'no'],
    ['422', 'HTTP/1.1 422 Unprocessable\r\ncontent-length: 2\r\n\r\nno', 422, 'no'],
    ['500', 'HTTP/1.1 500 Oh\r\ncontent-length: 10\r\n\r\n{"code":0}', 500, '{"code":0}'],
    ['599', 'HTTP/1.1 599 Strange\r\ncontent-length: 0\r\n\r\n', 599, ''],
    [
      'NUL bytes and broken UTF-8',
      Buffer.concat([
        Buffer.from('HTTP/1.1 500 x\r\n\r\n'),
        Buffer.from('00ff00c328f0288cbc', 'hex'),
      ]),
      500,
      Buffer.from('00ff00c328f0288cbc', 'hex'),
    ],
    [
      'a gzip bomb',
      Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n'), bomb]),
      200,
      bomb.subarray(0, 16 * 1024),
    ],
    [
      'more than is kept',
      `HTTP/1.1 503 x\r\ncontent-length: 100000\r\n\r\n${'é'.repeat(50_000)}`,
      503,
      Buffer.from('é'.repeat(8 * 1024)),
    ],
    [
      'headers with bytes beyond ASCII',
      Buffer.from('HTTP/1.1 200 OK\r\nx-name: caf\xe9 \x80\r\n\r\nok', 'latin1'),
      200,
      'ok',
    ],
  ])('%s', async (_what, answer, status, body) => {
    const receiver = await raw((socket) => closing(socket, answer))
    const isAccepted = [200, 201, 202].includes(status)
    const agent = await callTo(`${receiver.url}/cb?x=1`)
    const attempt = await firstAttempt(agent)
    expect(attempt).toMatchObject({
      state: isAccepted ? 'delivered' : 'waiting',
      attempts: 1,
      status,
      url: `${receiver.url}/cb?x=1`,
      address: '127.0.0.1',
      error: isAccepted ? null : `answered ${status} instead of 200`,
      started_at: s.clock(),
    })
    expect(attempt.response_body).toEqual(Buffer.from(body))
    expect(attempt.duration_ms).toBeLessThan(9_000)
    expect(JSON.parse(attempt.response_headers)).toBeTypeOf('object')
  })

  test('the headers of an answer are kept, a name that stands twice with both values', async () => {
    const receiver = await http((response) => {
      response.setHeader('x-request-id', 'abc')
      response.setHeader('set-cookie', ['a=1', 'b=2'])
      response.writeHead(400).end()
    })
    const attempt = await firstAttempt(await callTo(receiver.url))
    expect(JSON.parse(attempt.response_headers)).toMatchObject({
      'x-request-id': 'abc',
      'set-cookie': ['a=1', 'b=2'],
    })
  })

  test('a redirect is not followed', async () => {
    const target = await http()
    for (const status of [301, 302, 303, 307, 308]) {
      const receiver = await http((response) =>
        response.writeHead(status, { location: `${target.url}/elsewhere` }).end(),
      )
      const agent = await callTo(receiver.url)
      expect(await firstAttempt(agent)).toMatchObject({
        status,
        state: 'waiting',
        error: `answered ${status} instead of 200`,
      })
    }
    expect(target.received).toEqual([])
  })

  test('a connection that is reset after a 200 has accepted it', async () => {
    const receiver = await raw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{"code', () => {
        setImmediate(() => socket.resetAndDestroy())
      })
    })
    const attempt = await firstAttempt(await callTo(receiver.url))
    expect(attempt).toMatchObject({ status: 200, state: 'delivered', error: null })
    expect(receiver.requests).toHaveLength(1)
  })
})

describe.concurrent('no answer is told in words', () => {
  test.each<[what: string, onRequest: OnRequest, error: RegExp]>([
    [
      'something that is not HTTP',
      (socket) => closing(socket, 'SSH-2.0-OpenSSH_9.6\r\n'),
      /^the answer is not HTTP: /,
    ],
    [
      'a broken header',
      (socket) => closing(socket, 'HTTP/1.1 200 OK\r\nx-bad: a\0b\r\n\r\n'),
      /^the answer is not HTTP: /,
    ],
    [
      'headers without end',
      (socket) =>
        closing(socket, `HTTP/1.1 200 OK\r\n${`x: ${'a'.repeat(1_000)}\r\n`.repeat(100)}`),
      /^the answer has too many headers$/,
    ],
    [
      'a connection closed without an answer',
      (socket) => socket.end(),
      /^127\.0\.0\.1:\d+ closed the connection without an answer$/,
    ],
    [
      'a connection reset without an answer',
      (socket) => socket.resetAndDestroy(),
      /^127\.0\.0\.1:\d+ closed the connection without an answer$/,
    ],
    [
      'a connection closed within the headers',
      (socket) => closing(socket, 'HTTP/1.1 200 OK\r\nx-half: '),
      /closed the connection without an answer$|^the answer is not HTTP: /,
    ],
  ])('%s', async (_what, onRequest, error) => {
    const receiver = await raw(onRequest)
    const attempt = await firstAttempt(await callTo(receiver.url))
    expect(attempt).toMatchObject({
      state: 'waiting',
      attempts: 1,
      status: null,
      response_headers: null,
      response_body: null,
      address: '127.0.0.1',
      started_at: s.clock(),
    })
    expect(attempt.error).toMatch(error)
    expect(receiver.requests).toHaveLength(1)
  })

  test.each([
    ['nobody listens', (port: number) => `http://127.0.0.1:${port}`, /^connection refused by /],
    ['a name that is nowhere', () => 'http://shop.gone/cb', /^name not found: shop.gone$/],
    [
      'name servers that fail',
      () => 'http://shop.broken/cb',
      /^the name servers did not answer for shop.broken$/,
    ],
    [
      'name servers that refuse the connection',
      () => 'http://shop.refused/cb',
      /^the name servers refused to answer for shop.refused$/,
    ],
  ] as const)('%s', async (_what, urlOf, error) => {
    const url = urlOf(await freePort())
    const attempt = await firstAttempt(await callTo(url))
    expect(attempt).toMatchObject({ state: 'waiting', attempts: 1, status: null, url })
    expect(attempt.error).toMatch(error)
  })

  test('an attempt has 10 s in all, however it is spent', async () => {
    const timers = new Set<NodeJS.Timeout>()
    const drip = (socket: Socket, text: string) => {
      timers.add(setInterval(() => socket.writable && socket.write(text), 300))
    }
    const after = (head: string, text: string) => (socket: Socket) => {
      socket.write(head)
      drip(socket, text)
    }
    const silent = await raw(() => {})
    const headers = await raw(after('HTTP/1.1 200 OK\r\n', 'x-more: 1\r\n'))
    const oneHeader = await raw(after('HTTP/1.1 200 OK\r\nx-more: ', 'a'))
    const body = await raw(after('HTTP/1.1 200 OK\r\ncontent-length: 9000\r\n\r\n', 'b'))
    const refusal = await raw(after('HTTP/1.1 500 Oh\r\n\r\n', 'c'))
    const endless = await raw((socket) => socket.write('HTTP/1.1 200 OK\r\n\r\nall of it'))
    const timedOut = { status: null, state: 'waiting', error: 'timed out: no answer within 10 s' }
    const slow: [url: string, expected: object, body: RegExp | null][] = [
      [silent.url, timedOut, null],
      [headers.url, timedOut, null],
      [oneHeader.url, timedOut, null],
      ['http://shop.silent/cb', timedOut, null],
      [body.url, { status: 200, state: 'delivered', error: null }, /^b{5,}$/],
      [endless.url, { status: 200, state: 'delivered', error: null }, /^all of it$/],
      [
        refusal.url,
        { status: 500, state: 'waiting', error: 'answered 500 instead of 200' },
        /^c{5,}$/,
      ],
    ]
    await Promise.all(
      slow.map(async ([url, expected, kept]) => {
        const attempt = await firstAttempt(await callTo(url))
        expect({ ...attempt, at: url }).toMatchObject(expected)
        expect(attempt.duration_ms).toBeGreaterThan(9_900)
        expect(attempt.duration_ms).toBeLessThan(15_000)
        if (kept) expect(attempt.response_body.toString()).toMatch(kept)
        else expect(attempt.response_body).toBeNull()
      }),
    )
    for (const timer of timers) clearInterval(timer)
  })
})

test('retry-after is honoured between the step and twice the step', async () => {
  const fromNow = (seconds: number) => new Date(s.clock().getTime() + seconds * 1000).toUTCString()
  /** What is asked for after the first attempt, whose step is 5 s, and when the second one is due. */
  const cases: [what: string, header: string, fromS: number, toS: number][] = [
    ['nothing', '', 4, 6],
    ['seconds between', '8', 8, 8],
    ['seconds with spaces around', ' 9 ', 9, 9],
    ['the step', '5', 5, 6],
    ['fewer seconds', '1', 4, 6],
    ['none', '0', 4, 6],
    ['an hour', '3600', 10, 10],
    ['a number beyond all bounds', '9'.repeat(40), 10, 10],
    ['a negative number', '-100', 4, 6],
    ['a fraction', '8.5', 4, 6],
    ['garbage', 'soon', 4, 6],
    ['a number with a unit', '8s', 4, 6],
    ['a date between', fromNow(8), 7, 8],
    ['a date far away', fromNow(1e9), 10, 10],
    ['a date in the past', fromNow(-1e6), 4, 6],
    ['no real date', 'Mon, 99 Foo 2099 99:99:99 GMT', 4, 6],
    ['a date of another format', '2099-01-01T00:00:00Z', 4, 6],
  ]
  await Promise.all(
    cases.map(async ([what, header, fromS, toS], at) => {
      const status = at % 2 ? 429 : 503
      const receiver = await raw((socket) =>
        closing(socket, `HTTP/1.1 ${status} Wait\r\nretry-after: ${header}\r\n\r\n`),
      )
      const attempt = await firstAttempt(await callTo(receiver.url))
      expect(attempt, what).toMatchObject({ state: 'waiting', status })
      const delayS = (attempt.due_at.getTime() - s.clock().getTime()) / 1000
      expect(delayS, what).toBeGreaterThanOrEqual(fromS)
      expect(delayS, what).toBeLessThanOrEqual(toS)
    }),
  )
})

describe.concurrent('over https', () => {
  test('a certificate of a trusted authority for the name is accepted', async () => {
    const receiver = await raw(
      (socket) => closing(socket, 'HTTP/1.1 200 OK\r\n\r\n{"code":0}'),
      authority.issue('shop.here', 2),
    )
    const attempt = await firstAttempt(await callTo(`https://shop.here:${receiver.port}/cb`))
    expect(attempt).toMatchObject({
      state: 'delivered',
      status: 200,
      error: null,
      address: '127.0.0.1',
    })
    expect(receiver.requests[0]).toMatch(/^POST \/cb HTTP\/1\.1\r\nhost: shop\.here:/)
  })

  test.each<[what: string, identity: () => ReturnType<Authority['issue']>, says: RegExp]>([
    ['an expired certificate', () => authority.issue('shop.here', -1), /^TLS: .*expired/],
    ['one for another name', () => authority.issue('other.here', 2), /^TLS: .*other\.here/],
    ['one that is self-signed', () => authority.selfSigned('shop.here'), /^TLS: .*self-signed/],
  ])('%s is not talked to', async (_what, identity, says) => {
    const receiver = await raw((socket) => closing(socket, 'HTTP/1.1 200 OK\r\n\r\n'), identity())
    const attempt = await firstAttempt(await callTo(`https://shop.here:${receiver.port}/cb`))
    expect(attempt).toMatchObject({ state: 'waiting', status: null, address: '127.0.0.1' })
    expect(attempt.error).toMatch(says)
    expect(receiver.connections).toBe(1)
    expect(receiver.requests).toEqual([])
  })

  test('an authority of one’s own is trusted besides the usual ones, not in their place', () => {
    expect(trustedBesides(authority.cert)).toEqual([...rootCertificates, authority.cert])
  })

  test('an endpoint that speaks no TLS is told as such', async () => {
    const receiver = await http()
    const attempt = await firstAttempt(await callTo(receiver.url.replace('http:', 'https:')))
    expect(attempt).toMatchObject({ state: 'waiting', status: null })
    expect(attempt.error).toMatch(/^TLS: /)
    expect(receiver.received).toEqual([])
  })
})

describe.concurrent('a connection that was kept open', () => {
  /** Callbacks one after the other, so that a connection is there to be used again. */
  async function callTenTimes(receiver: RawReceiver): Promise<void> {
    const agent = await callTo(receiver.url)
    for (let count = 1; count <= 10; count++) {
      if (count > 1) await agent.fund(1)
      await vi.waitFor(
        async () => {
          const { rowCount } = await s.sql(
            `select from callbacks where agent_id = $1 and state = 'delivered'`,
            [agent.agentId],
          )
          expect(rowCount).toBe(count)
        },
        { timeout: 300_000 },
      )
    }
    const { rows } = await s.sql(
      'select status, error from callback_attempts where agent_id = $1',
      [agent.agentId],
    )
    expect(rows).toEqual(Array.from({ length: 10 }, () => ({ status: 200, error: null })))
  }
  // It is kept for a minute, however slow the machine is with the next one.
  const ok = 'HTTP/1.1 200 OK\r\nkeep-alive: timeout=60\r\ncontent-length: 0\r\n\r\n'

  test('is used again', async () => {
    const receiver = await raw((socket) => socket.write(ok))
    await callTenTimes(receiver)
    expect(receiver.connections).toBe(1)
    expect(receiver.requests).toHaveLength(10)
  })

  test('and is closed by the receiver after each answer is not a failure', async () => {
    const receiver = await raw((socket) => socket.end(ok))
    await callTenTimes(receiver)
    expect(receiver.requests).toHaveLength(10)
  })

  test('and is closed right when the next request comes is not a failure', async () => {
    let cut = 0
    const receiver = await raw((socket, nth) => {
      if (nth === 1) return socket.write(ok)
      cut++
      return cut % 2 ? socket.end() : socket.resetAndDestroy()
    })
    await callTenTimes(receiver)
    expect(cut).toBeGreaterThan(3)
    expect(receiver.requests).toHaveLength(10 + cut)
  })
})

test('a connection that was kept as long as the receiver asked and is closed when it is used is not a failure', async () => {
  const hint = 'HTTP/1.1 200 OK\r\nkeep-alive: timeout=60\r\ncontent-length: 0\r\n\r\n'
  const receiver = await raw((socket, nth) =>
    nth === 1 ? socket.write(hint) : socket.resetAndDestroy(),
  )
  const poster = new CallbackPoster({ targets: 'near', resolveHost, now: s.clock })
  const post = () => poster.post(receiver.url, {}, Buffer.from('{}'))
  expect(await post()).toMatchObject({ status: 200 })
  // The connection is free again a turn later; then it is half a minute later.
  await turn()
  await turn()
  const now = performance.now.bind(performance)
  const later = vi.spyOn(performance, 'now').mockImplementation(() => now() + 30_000)
  const again = await post().finally(() => later.mockRestore())
  expect(again).toMatchObject({ status: 200, error: null })
  expect(receiver.requests).toHaveLength(3)
  expect(receiver.connections).toBe(2)
  await poster.close()
})

test('every attempt is counted by what it came to', async () => {
  const { rows } = await s.sql(
    `select reason, count(*)::int from callback_attempts, lateral (select case
       when error is null then 'accepted'
       when error like 'answered %' then 'status_' || status / 100 || 'xx'
       when error like 'timed out%' then 'timeout'
       when error like 'TLS: %' then 'tls'
       when error like 'name not found%' or error like 'the name servers%' then 'name_not_found'
       when error like 'connection refused%' then 'refused'
       when error like '%closed the connection%' then 'closed'
       when error like 'the answer %' then 'bad_answer'
     end as reason) r group by reason`,
  )
  expect(rows).toHaveLength(11)
  const expected = Object.fromEntries(rows.map(({ reason, count }) => [reason, count]))
  expect(await attemptsByReason()).toEqual(expected)
})
