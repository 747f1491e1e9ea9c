import { get, type IncomingMessage } from 'node:http'
import fastify, { type FastifyInstance } from 'fastify'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Export, sendExport } from '../../src/http/operator-api/send-export.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

/** What leaves the console as a file, and what a role is refused: both are in the log. */

let s: TestService
let app: FastifyInstance
let shop: AgentClient
let admin: OperatorClient
let viewer: OperatorClient
let owner: OperatorClient

beforeAll(async () => {
  s = await startTestService()
  shop = await s.agent({ name: 'Shop' })
  admin = await signIn(s, 'admin')
  viewer = await signIn(s, 'viewer')
  owner = await signIn(s, 'agent', shop)
  await shop.fund(1_000)
  app = fastify()
  app.get('/:name', (request, reply) => {
    const { file, limits } = exported.get(Object(request.params).name) ?? {}
    if (!file || !limits) throw new Error('no such file')
    return sendExport({ pool: s.backend.pool, now: s.clock }, reply, file, limits)
  })
  await app.listen({ port: 0 })
})

afterEach(() => s.prove())
afterAll(async () => {
  await app.close()
  await s.close()
})

async function linesOf(action: string, client: OperatorClient) {
  const { json } = await admin.get(
    `/audit?action=${action}&actor=${client.email}&steps=all&limit=200`,
  )
  return json.data.reverse()
}

describe('a file that leaves', () => {
  const span = 'from=2020-01-01T00:00:00Z&to=2090-01-01T00:00:00Z'

  it('is in the log with who took it, from where and by which filters, before and after', async () => {
    const query = `kind=deposit&agent=${shop.appId}&min_amount=5`
    const { text } = await viewer.get(`/orders.csv?${query}`)
    expect(await linesOf('export_orders', viewer)).toMatchObject(
      ['asked', 'done'].map((outcome) => ({
        outcome,
        actor: { email: viewer.email, role: 'viewer', ip: '127.0.0.1' },
        subject: { kind: 'orders', id: shop.appId },
        before: { kind: 'deposit', agent: shop.appId, min_amount: 5 },
        after: outcome === 'done' ? { bytes: Buffer.byteLength(text) } : null,
      })),
    )
    for (const format of ['csv', 'pdf']) {
      await owner.get(`/wallets/${shop.appId}/statement.${format}?${span}`)
    }
    const statements = await linesOf('export_statement', owner)
    expect(statements.map(({ before }: { before: { format: string } }) => before.format)).toEqual([
      'csv',
      'csv',
      'pdf',
      'pdf',
    ])
    expect(statements[0]).toMatchObject({ subject: { kind: 'agent', id: shop.appId } })
  })

  it('leaves nothing of whom it was looked for in the log', async () => {
    await admin.get('/orders.csv?q=0899999999')
    const lines = await linesOf('export_orders', admin)
    expect(lines.at(-1)).toMatchObject({ outcome: 'done', before: { q: 'an id' } })
    expect(JSON.stringify(lines)).not.toContain('0899999999')
  })
})

describe('what a role may not do', () => {
  it('is in the log, by the route and not by what was sent', async () => {
    const { json } = await shop.deposit()
    const sent = { reason: 'a word of theirs', evidence: 'another' }
    expect((await viewer.post(`/orders/${json.txn_id}/void`, sent)).status).toBe(403)
    expect((await owner.get('/users')).status).toBe(404)
    expect(await linesOf('use_route', viewer)).toMatchObject([
      {
        outcome: 'refused',
        subject: { kind: 'route', id: 'POST /orders/:txn_id/void' },
        actor: { role: 'viewer', ip: '127.0.0.1' },
        before: null,
        after: { needs: 'act_on_orders' },
        reason: null,
      },
    ])
    expect(await linesOf('use_route', owner)).toMatchObject([
      { outcome: 'refused', subject: { kind: 'route', id: 'GET /users' } },
    ])
  })

  it('does not flood the log: who goes on is told to wait', async () => {
    const eager = await signIn(s, 'viewer')
    const answers = await Promise.all(Array.from({ length: 110 }, () => eager.get('/users')))
    const refused = answers.filter(({ status }) => status === 403).length
    expect(answers.filter(({ json }) => json.code === 'rate_limited')).toHaveLength(110 - refused)
    expect(refused).toBe(100)
    expect(await linesOf('use_route', eager)).toHaveLength(100)
    s.clock.advance(1000)
    expect((await eager.get('/users')).status).toBe(403)
  })
})

const exported = new Map<
  string,
  { file: Export; limits: { wholeMs: number; idleMs: number }; ended: Promise<number> }
>()
const piece = Buffer.alloc(1024 * 1024, 'x')

/** A file of so many pieces, which counts how many were taken and says when no more will be. */
function offer(
  name: string,
  pieces: number,
  limits: { wholeMs: number; idleMs: number },
  more: { stillMay?: () => Promise<unknown>; size?: number; thinkMs?: number } = {},
): { url: string; ended: Promise<number> } {
  let end: (taken: number) => void = () => {}
  const ended = new Promise<number>((resolve) => {
    end = resolve
  })
  async function* content() {
    let taken = 0
    await new Promise((resolve) => setTimeout(resolve, more.thinkMs ?? 0))
    try {
      for (; taken < pieces; taken++) yield piece.subarray(0, more.size ?? piece.length)
    } finally {
      end(taken)
    }
  }
  const file: Export = {
    name,
    type: 'text/csv',
    content: content(),
    stillMay: more.stillMay ?? (async () => {}),
    entry: {
      operator: { userId: null, email: 'test', ip: null },
      action: 'export_orders',
      subject: { kind: 'orders', id: name },
      agentId: null,
    },
  }
  exported.set(name, { file, limits, ended })
  const address = app.server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return { url: `http://localhost:${port}/${name}`, ended }
}

async function outcomesOf(name: string): Promise<string[]> {
  const { json } = await admin.get(`/audit?subject=orders:${name}&steps=all`)
  return json.data.map(({ outcome }: { outcome: string }) => outcome).reverse()
}

function asked(url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => get(url, { agent: false }, resolve).on('error', reject))
}

const roomy = { wholeMs: 60_000, idleMs: 60_000 }

describe('the reader of a file', () => {
  it('who stops is not read ahead for, and is broken off', async () => {
    const { url, ended } = offer('stopped', 200, { wholeMs: 60_000, idleMs: 300 })
    const response = await asked(url)
    const failed = new Promise((resolve) => response.on('error', resolve))
    response.pause()
    const taken = await ended
    // What fits into the buffers of two sockets, and nowhere near the whole.
    expect(taken).toBeLessThan(50)
    response.resume()
    expect(await failed).toMatchObject({ message: 'aborted' })
    expect(await outcomesOf('stopped')).toEqual(['asked'])
  })

  it('who stops and goes on gets all of it', async () => {
    const { url } = offer('paused', 40, roomy)
    const response = await asked(url)
    let bytes = 0
    for await (const part of response) {
      bytes += part.length
      // Every chunk is waited for, as by a reader with other things to do.
      await new Promise(setImmediate)
    }
    expect(bytes).toBe(40 * piece.length)
    expect(await outcomesOf('paused')).toEqual(['asked', 'done'])
  })

  it('who waits for what is hard to find is not the one who is slow', async () => {
    const { url } = offer('rare', 1, { ...roomy, idleMs: 300 }, { size: 10, thinkMs: 500 })
    const response = await asked(url)
    let text = ''
    for await (const part of response) text += part
    expect(text).toBe('x'.repeat(10))
  })

  it('who takes too long in all is broken off, however busy', async () => {
    const { url, ended } = offer('endless', Number.POSITIVE_INFINITY, { ...roomy, wholeMs: 300 })
    const response = await asked(url)
    const failed = new Promise((resolve) => response.on('error', resolve))
    response.resume()
    expect(await failed).toMatchObject({ message: 'aborted' })
    expect(await ended).toBeGreaterThan(0)
    expect(await outcomesOf('endless')).toEqual(['asked'])
  })

  it('whose session has ended gets no more of it', async () => {
    const leaving = await signIn(s, 'operator')
    let asks = 0
    const stillMay = async () => {
      if (++asks === 3) await leaving.post('/sign-out')
      const { status } = await leaving.get('/me')
      if (status !== 200) throw new Error('signed out')
    }
    const { url, ended } = offer('leaving', 10, roomy, { stillMay, size: 1000 })
    const response = await asked(url)
    const failed = new Promise((resolve) => response.on('error', resolve))
    response.resume()
    expect(await failed).toMatchObject({ message: 'aborted' })
    expect(await ended).toBe(2)
  })
})
