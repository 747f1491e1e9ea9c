import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import fastify from 'fastify'
import { afterEach, describe, expect, test } from 'vitest'
import type { CallbackHandlerOptions, CallbackInfo } from '../src/answer-callback.ts'
import type { Callback } from '../src/callback.ts'
import { expressCallbacks, type IncomingRequest } from '../src/express-callbacks.ts'
import { fastifyCallbacks } from '../src/fastify-callbacks.ts'
import { fetchCallbacks } from '../src/fetch-callbacks.ts'
import { type MadeCallback, makeCallback } from '../src/make-callback.ts'
import { CallbackRefused } from '../src/verify-callback.ts'

const secret = 'sk_test_5f1c7a0b9d3e4c2f8a6b1d0e7c9f3a5b'

interface Answered {
  status: number
  json: { code: number; message: string }
}

type Post = (made: MadeCallback) => Promise<Answered>

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

async function listening(listener: RequestListener): Promise<string> {
  const server: Server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  open.push({ close: () => server.close() })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const postTo =
  (url: string): Post =>
  async ({ body, headers }) => {
    const response = await fetch(url, { method: 'POST', body, headers })
    return { status: response.status, json: (await response.json()) as Answered['json'] }
  }

const servers: Record<string, (options: CallbackHandlerOptions) => Promise<Post>> = {
  'node:http, as Express hands it out': async (options) => {
    const handle = expressCallbacks(options)
    return postTo(await listening((request, response) => void handle(request, response)))
  },
  'Express with express.raw': async (options) => {
    const handle = expressCallbacks(options)
    return postTo(
      await listening(async (request, response) => {
        const chunks: Buffer[] = []
        for await (const chunk of request) chunks.push(chunk)
        await handle(Object.assign(request, { body: Buffer.concat(chunks) }), response)
      }),
    )
  },
  Fastify: async (options) => {
    const app = fastify()
    app.post('/echo', async (request) => request.body)
    await app.register(fastifyCallbacks, { ...options, path: '/callbacks' })
    open.push(app)
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    // The other routes still have their bodies parsed.
    const echoed = await fetch(`${url}/echo`, {
      method: 'POST',
      body: '{ "a": 1 }',
      headers: { 'content-type': 'application/json' },
    })
    expect(await echoed.text()).toBe('{"a":1}')
    return postTo(`${url}/callbacks`)
  },
  fetch: async (options) => {
    const handle = fetchCallbacks(options)
    return async ({ body, headers }) => {
      const response = await handle(
        new Request('https://agent.example/callbacks', { method: 'POST', body, headers }),
      )
      expect(response.headers.get('content-type')).toBe('application/json')
      return { status: response.status, json: (await response.json()) as Answered['json'] }
    }
  },
}

describe.each(Object.entries(servers))('%s', (_name, start) => {
  test('200 only after the agent has taken it in', async () => {
    const taken: [Callback, CallbackInfo][] = []
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const post = await start({
      secrets: secret,
      async onCallback(callback, info) {
        await held
        taken.push([callback, info])
      },
    })
    const header = { eventSeq: 7, eventEpoch: 4, attempt: 2 }
    const made = await makeCallback({ refId: 'หนึ่ง 🍜' }, secret, header)
    const answering = post(made).then((answer) => ({ answer, takenBefore: taken.length }))
    release()
    expect(await answering).toEqual({
      answer: { status: 200, json: { code: 0, message: 'ok' } },
      takenBefore: 1,
    })
    expect(taken).toEqual([[JSON.parse(made.body), { ...header, eventKey: '4-7' }]])
  })

  test('401 with the reason, and the agent never sees it', async () => {
    const errors: unknown[] = []
    const post = await start({
      secrets: ['sk_other'],
      onCallback: () => expect.unreachable(),
      onError: (error) => errors.push(error),
    })
    const { status, json } = await post(await makeCallback({}, secret))
    expect([status, json.code]).toEqual([401, 401])
    expect(json.message).toContain('No secret matches')
    expect(errors).toEqual([expect.any(CallbackRefused)])
  })

  test('500 where the agent failed, without its words, so that it is sent again', async () => {
    const errors: unknown[] = []
    const fault = new Error('password of the database')
    const post = await start({
      secrets: secret,
      onCallback: () => Promise.reject(fault),
      onError: (error) => errors.push(error),
    })
    const { status, json } = await post(await makeCallback({}, secret))
    expect([status, json.code]).toEqual([500, 500])
    expect(JSON.stringify(json)).not.toContain('password')
    expect(errors).toEqual([fault])
  })

  test('401 without a body', async () => {
    const post = await start({ secrets: secret, onCallback: () => {}, onError: () => {} })
    const { headers } = await makeCallback({}, secret)
    const { status, json } = await post({ body: '', headers })
    expect(status).toBe(401)
    expect(json.message).toContain('The body is empty')
  })

  test('secrets may be looked up by app id', async () => {
    const post = await start({
      secrets: async (appId) => (appId === 'app_2' ? [secret] : 'sk_other'),
      onCallback: () => {},
      onError: () => {},
    })
    expect((await post(await makeCallback({}, secret, { appId: 'app_2' }))).status).toBe(200)
    expect((await post(await makeCallback({}, secret, { appId: 'app_1' }))).status).toBe(401)
  })
})

describe('Express', () => {
  test('a body that was parsed before is refused with what to do', async () => {
    const handle = expressCallbacks({ secrets: secret, onCallback: () => {}, onError: () => {} })
    const post = postTo(
      await listening(async (request, response) => {
        let text = ''
        for await (const chunk of request) text += chunk
        await handle(Object.assign(request, { body: JSON.parse(text) }), response)
      }),
    )
    const { status, json } = await post(await makeCallback({}, secret))
    expect(status).toBe(401)
    expect(json.message).toMatch(/parsed before it came here.*Pass the bytes as they came/)
  })

  test('the bytes that a platform keeps as rawBody are used', async () => {
    const handle = expressCallbacks({ secrets: secret, onCallback: () => {} })
    const { body, headers } = await makeCallback({}, secret)
    const request = Object.assign((async function* (): AsyncGenerator<string> {})(), {
      headers,
      readableEnded: true,
      body: JSON.parse(body),
      rawBody: Buffer.from(body),
    }) satisfies IncomingRequest
    const response = { statusCode: 0, setHeader() {}, end() {} }
    await handle(request, response)
    expect(response.statusCode).toBe(200)
  })

  test('an empty object left by another parser does not hide the body', async () => {
    const handle = expressCallbacks({ secrets: secret, onCallback: () => {} })
    const post = postTo(
      await listening((request, response) => {
        void handle(Object.assign(request, { body: {} }), response)
      }),
    )
    expect((await post(await makeCallback({}, secret))).status).toBe(200)
  })

  test('a sender who hangs up half-way harms nobody', async () => {
    const errors: unknown[] = []
    const handle = expressCallbacks({
      secrets: secret,
      onCallback: () => expect.unreachable(),
      onError: (error) => errors.push(error),
    })
    const request = Object.assign(
      (async function* (): AsyncGenerator<string> {
        yield '{"refId":'
        throw new Error('aborted')
      })(),
      { headers: {}, readableEnded: false },
    )
    const response = { statusCode: 0, setHeader() {}, end() {} }
    await handle(request, response)
    expect([response.statusCode, errors]).toEqual([500, [new Error('aborted')]])
  })
})

describe('fetch', () => {
  const handle = fetchCallbacks({ secrets: secret, onCallback: () => {}, onError: () => {} })
  const url = 'https://agent.example/callbacks'

  test('other methods are answered 405', async () => {
    const response = await handle(new Request(url))
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
  })

  test('a body that is too long is answered 413', async () => {
    const body = ' '.repeat(64 * 1024 + 1)
    expect((await handle(new Request(url, { method: 'POST', body }))).status).toBe(413)
  })

  test('a body without a length is read no further than a callback can be', async () => {
    let read = 0
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        read += 1
        controller.enqueue(new Uint8Array(16 * 1024))
      },
    })
    const request = new Request(url, { method: 'POST', body, duplex: 'half' } as RequestInit)
    expect((await handle(request)).status).toBe(413)
    expect(read).toBeLessThan(10)
  })

  test('a body that was read before is refused with words', async () => {
    const { body, headers } = await makeCallback({}, secret)
    const request = new Request(url, { method: 'POST', body, headers })
    await request.text()
    const response = await handle(request)
    expect(response.status).toBe(401)
    expect(await response.text()).toContain('something has read it before')
  })
})
