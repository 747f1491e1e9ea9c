import { createHmac, hkdfSync } from 'node:crypto'
import fc from 'fast-check'
import { Compile } from 'typebox/compile'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inlineSchemas } from '../../src/http/name-schemas.ts'
import { usually } from '../support/long.ts'
import { type RawRequest, sendRaw } from '../support/raw-http.ts'
import {
  type AgentClient,
  type Answer,
  startTestService,
  type TestService,
} from '../support/service.ts'
import { bodies, hostileText, type Known, valid, wellFormed } from './bodies.ts'
import { type Operation, operationsOf, type Schema } from './described.ts'
import { type Framing, framings, inChunks, pathTexts, signed, signings } from './wire.ts'

/** Requests for each operation. More find rarer faults: `npm run fuzz`, or FUZZ_RUNS. */
const numRuns = Number(process.env.FUZZ_RUNS ?? usually(25, { long: 40 }))
/** Repeats a run: a failure tells its seed. */
const seed = process.env.FUZZ_SEED === undefined ? {} : { seed: Number(process.env.FUZZ_SEED) }
const timeoutMs = 60_000 + numRuns * 500
const answerWithinMs = 60_000

let s: TestService
let agent: AgentClient
let operations: Operation[]
/** Orders there are, one of each kind and one of somebody else. */
let txnIds: string[]
let pageLink: URL
beforeAll(async () => {
  s = await startTestService({ realTime: true })
  agent = await s.agent()
  const other = await s.agent()
  await agent.fund(1_000_000)
  const made = [await agent.deposit(), await agent.withdraw(), await other.deposit()]
  txnIds = made.map(({ json }) => json.txn_id)
  pageLink = new URL(made[0]?.json.link)
  const { json: description } = await agent.get('/openapi.json')
  operations = operationsOf(inlineSchemas(description))
})
afterAll(async () => {
  // Whatever came in, the books are right.
  await s.prove()
  await s.close()
})

/** Sends it, and fails where no answer comes. */
async function send(request: RawRequest): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('there was no answer in time')), answerWithinMs)
  })
  return Promise.race([sendRaw(s.service.url, request), late]).finally(() => clearTimeout(timer))
}

const problemFields = ['code', 'detail', 'request_id', 'status', 'title', 'type']

/** The answer is one that the description allows. */
function expectDescribed(answer: Answer, operation: Operation | undefined): void {
  const { status, headers, text, json } = answer
  expect(status, text).toBeGreaterThanOrEqual(200)
  expect(status, text).toBeLessThan(500)
  if (status < 300) {
    const schema = operation?.answers[status]?.['application/json']
    if (!schema) throw new Error(`${status} is not described: ${text}`)
    expect(headers.get('content-type')).toContain('application/json')
    const errors = Compile(schema as object).Errors(json)
    expect([...errors], text).toEqual([])
    return
  }
  expect(headers.get('content-type')).toContain('application/problem+json')
  expect(json).toMatchObject({ status, title: expect.any(String), detail: expect.any(String) })
  const fields = Object.keys(json).filter((key) => key !== 'errors')
  expect(fields.sort()).toEqual(problemFields)
  if (status === 429) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
}

/** Times that are still written with four digits, or already not. */
const edgesOfTime = fc.constantFrom(
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00+12:00',
  '9999-12-31T23:59:59Z',
  '9999-12-31T23:59:59-12:00',
)

/** What no schema tells: ids and codes that exist, and the time it is. */
function known(): Known {
  const now = fc.constant(null).map(() => new Date().toISOString())
  return {
    timestamp: now,
    from: fc.oneof(now, edgesOfTime),
    to: fc.oneof(now, edgesOfTime),
    bankCode: fc.constantFrom('SCB', 'KBANK', 'scb'),
    txn_id: fc.constantFrom(...txnIds),
    seq: fc.integer({ min: 1, max: 5 }),
    refId: fc.oneof(fc.constantFrom('again', 'and-again'), fc.stringMatching(/^[a-z0-9]{12}$/)),
    amount: fc.integer({ min: 1, max: 50 }),
    extraParams: fc.constantFrom({}, { sandbox: 'paid' }, { sandbox: 'queued' }, { order: '7' }),
  }
}

/** The path of an operation with its parameters filled in, and mostly a query that fits. */
function paths({ path, pathParameters, query }: Operation): fc.Arbitrary<string> {
  const filled = fc
    .tuple(
      ...pathParameters.map((name) =>
        fc.oneof(
          { weight: 5, arbitrary: valid({}, name, known()).map(String) },
          { weight: 2, arbitrary: pathTexts },
        ),
      ),
    )
    .map((texts) =>
      pathParameters.reduce((at, name, n) => at.replace(`{${name}}`, texts[n] ?? ''), path),
    )
  const names = Object.keys(query)
  const pair = fc.oneof(
    {
      weight: 6,
      arbitrary:
        names.length === 0
          ? fc.constant('x=1')
          : fc
              .constantFrom(...names)
              .chain((name) =>
                fc
                  .oneof(
                    { weight: 3, arbitrary: valid(query[name] as Schema, name, known()) },
                    { weight: 1, arbitrary: fc.constantFrom('', '0', '-1', '201', '1.5', '1e3') },
                  )
                  .map((value) => `${name}=${encodeURIComponent(wellFormed(String(value)))}`),
              ),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(pathTexts, pathTexts).map(([name, value]) => `${name}=${value}`),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        'limit[]=1',
        'limit=1&limit=2',
        '__proto__[x]=1',
        '&&=',
        '?',
        'refId',
      ),
    },
  )
  const queries = fc.oneof(
    { weight: 2, arbitrary: fc.constant('') },
    {
      weight: names.length === 0 ? 1 : 6,
      arbitrary: fc
        .array(pair, { minLength: 1, maxLength: 4 })
        .map((pairs) => `?${pairs.join('&')}`),
    },
  )
  return fc.tuple(filled, queries).map(([at, rest]) => at + rest)
}

const noBytes = Buffer.alloc(0)

function onTheWire(
  body: Buffer,
  { headers, chunked }: Framing,
): Pick<RawRequest, 'headers' | 'body'> {
  if (!chunked) return { headers, body }
  return { headers: [...headers, ['transfer-encoding', 'chunked']], body: inChunks(body) }
}

describe('whatever is sent is answered, and as described', () => {
  test('to every operation of the description', { timeout: timeoutMs * 14 }, async () => {
    expect(operations.length).toBeGreaterThan(8)
    const answered = new Map<number, number>()
    for (const operation of operations) {
      const { method, body: schema } = operation
      const body = schema
        ? bodies(schema, known())
        : fc.oneof(
            { weight: 5, arbitrary: fc.constant(noBytes) },
            bodies({ properties: { a: {} } }, {}),
          )
      const request = fc.record({
        path: paths(operation),
        body,
        signing: signings,
        framing: framings,
      })
      await fc.assert(
        fc.asyncProperty(request, async ({ path, body, signing, framing }) => {
          const wire = body.length === 0 ? {} : onTheWire(body, framing)
          const own = signed(signing, agent, { method, path, body })
          const headers = [...(wire.headers ?? []), ...own]
          const answer = await send({ ...wire, method, path, headers })
          answered.set(answer.status, (answered.get(answer.status) ?? 0) + 1)
          expectDescribed(answer, operation)
        }),
        { numRuns, ...seed },
      )
    }
    // It was not the door alone that was tried.
    for (const status of [200, 201, 401, 404, 422]) expect(answered.get(status)).toBeGreaterThan(0)
  })

  test('in any method, to any path', { timeout: timeoutMs * 4 }, async () => {
    const real = operations.map(({ path }) => path.replace(/\{\w+\}/, txnIds[0] ?? ''))
    const anywhere = fc.oneof(
      fc.constantFrom(...real, '/', '/healthz', '/metrics', '/docs', '/openapi.json', '*'),
      fc.array(pathTexts, { maxLength: 4 }).map((parts) => `/${parts.join('/')}`),
      fc.tuple(fc.constantFrom(...real), pathTexts).map((parts) => parts.join('/')),
      fc.constantFrom(
        '//',
        '/payment//wallet',
        '/./payment/wallet',
        '/PAYMENT/wallet',
        '/payment/wallet/',
      ),
    )
    const methods = fc.constantFrom(
      ...[
        'GET',
        'HEAD',
        'POST',
        'PUT',
        'PATCH',
        'DELETE',
        'OPTIONS',
        'TRACE',
        'QUERY',
        'FOO',
        'get',
      ],
    )
    await fc.assert(
      fc.asyncProperty(methods, anywhere, signings, async (method, path, signing) => {
        const headers = signed(signing, agent, { method, path, body: noBytes })
        const answer = await send({ method, path, headers })
        const isPublic = /^\/(healthz|readyz|metrics|docs|openapi\.json)$/.test(path)
        const operation = operations.find((each) => each.method === method && fits(each.path, path))
        if (method === 'HEAD') expect(answer.status).toBeLessThan(500)
        else if (!isPublic || answer.status >= 300) expectDescribed(answer, operation)
      }),
      { numRuns: numRuns * 4, ...seed },
    )
  })
})

function fits(described: string, path: string): boolean {
  const pattern = described.replaceAll(/\{\w+\}/g, '[^/]+')
  return new RegExp(`^${pattern}$`).test(path.replace(/\?.*$/s, ''))
}

describe('notices', () => {
  const outcome = fc.constantFrom<object>(
    { type: 'accepted' },
    { type: 'paid' },
    { type: 'cancelled' },
    { type: 'returned' },
    { type: 'rejected', reason: 'no', mayTryAnother: true },
  )
  const strange = fc.oneof(hostileText, fc.constantFrom('9223372036854775808-0', '0-0', '1-1-1'))
  const references = () =>
    fc.oneof(
      {
        weight: 5,
        arbitrary: fc.constantFrom(...txnIds, ...txnIds, ...txnIds.map((id) => `${id}-1`)),
      },
      { weight: 1, arbitrary: strange },
      // An agent there is not, with an id of the right shape.
      { weight: 1, arbitrary: fc.constant(`999999-${'0'.repeat(32)}`) },
    )
  // Mostly right, each of them, so that what is wrong comes alone and gets far.
  const mostly = (right: fc.Arbitrary<string>, wrong: fc.Arbitrary<string>) =>
    fc.oneof({ weight: 5, arbitrary: right }, { weight: 1, arbitrary: wrong })
  const ids = mostly(fc.oneof(fc.uuid(), fc.constantFrom('evt-1', 'evt-2')), strange)
  const amounts = mostly(
    fc.constantFrom('100', '100.00', '0.01', '90071992547409.91'),
    fc.oneof(fc.constantFrom('0', '-1', '1e3', '9'.repeat(30)), strange),
  )
  const times = fc.oneof(
    fc.date({ noInvalidDate: true }).map((at) => at.toISOString()),
    fc.constantFrom('2026-01-01', '-271821-04-20T00:00:00.000Z', 'infinity', 'now'),
    edgesOfTime,
  )
  const events = () =>
    fc.oneof(
      fc.record({
        id: ids,
        type: fc.constant('payment'),
        paymentId: ids,
        reference: references(),
        amount: amounts,
        currency: fc.constantFrom('THB', 'THB', 'THB', 'VND', 'EUR', 'XXX'),
        paidAt: fc.oneof(
          { weight: 1, arbitrary: fc.constant(null) },
          { weight: 3, arbitrary: times },
        ),
        payer: fc.oneof(
          fc.constant(null),
          fc.record({
            accountNo: mostly(fc.constant('1234'), strange),
            accountName: mostly(fc.constant('Somchai'), strange),
            bankCode: fc.constant(null),
          }),
        ),
      }),
      fc.record({
        id: ids,
        type: fc.constant('payment_taken_back'),
        paymentId: ids,
        reference: references(),
      }),
      fc.record({
        id: ids,
        type: fc.constant('deposit_ended'),
        reference: references(),
        status: fc.constantFrom('FAILED', 'VOID', 'EXPIRED', 'PAID'),
      }),
      fc.record({ id: ids, type: fc.constant('payout'), reference: references(), outcome }),
    )

  test('signed or not, sense or nonsense, are answered, and taken or refused', {
    timeout: timeoutMs * 6,
  }, async () => {
    const key = Buffer.from(hkdfSync('sha256', Buffer.alloc(32, 7), '', 'sandbox bank', 32))
    const sign = (body: Buffer) => {
      const t = Math.floor(Date.now() / 1000)
      return `t=${t},v1=${createHmac('sha256', key).update(`${t}.`).update(body).digest('hex')}`
    }
    const sent = fc.oneof(
      {
        weight: 6,
        arbitrary: fc
          .array(events(), { minLength: 1, maxLength: 2 })
          .map((all) => Buffer.from(JSON.stringify({ events: all }))),
      },
      { weight: 1, arbitrary: bodies({ properties: { events: {} } }, {}) },
      {
        weight: 1,
        arbitrary: fc
          .object({ maxDepth: 2 })
          .map((event) => Buffer.from(JSON.stringify({ events: [event] }))),
      },
    )
    const answered = new Map<number, number>()
    await fc.assert(
      fc.asyncProperty(sent, framings, signings, async (body, framing, signing) => {
        const wire = onTheWire(body, framing)
        const header = signing.how === 'rightly' ? sign(body) : signing.header
        const headers = [...(wire.headers ?? []), ['x-bank-signature', header] as [string, string]]
        const path = '/providers/sandbox/notices'
        const answer = await send({ ...wire, method: 'POST', path, headers })
        answered.set(answer.status, (answered.get(answer.status) ?? 0) + 1)
        if (answer.status === 200) {
          const told: { id: string }[] = JSON.parse(body.toString()).events
          expect(answer.json.results.map(({ id }: { id: string }) => id)).toEqual(
            told.map(({ id }) => id),
          )
        } else if (answer.status === 503) {
          // That a payment was taken back which is not known yet is to be told again.
          expect(body.toString()).toContain('payment_taken_back')
          expect(answer.json.code).toBe('overloaded')
        } else expectDescribed(answer, undefined)
      }),
      { numRuns: numRuns * 6, ...seed },
    )
    expect(answered.get(200)).toBeGreaterThan(0)
    expect(answered.get(401)).toBeGreaterThan(0)
  })
})

describe('payment pages', () => {
  const letter = fc.stringMatching(/^[A-Za-z0-9_-]$/)
  const tokens = (token: string) =>
    fc.oneof(
      fc.constant(token),
      fc.tuple(fc.nat(token.length - 1), letter).map(([at, other]) => {
        return token.slice(0, at) + other + token.slice(at + 1)
      }),
      fc.nat(token.length).map((length) => token.slice(0, length)),
      fc.constantFrom(
        `${token}x`,
        `${token}%00`,
        encodeURIComponent(`${token}/`),
        'x'.repeat(3_000),
      ),
      pathTexts,
    )
  const forms = fc.oneof(
    fc.constantFrom('outcome=paid', 'outcome=PAID', 'outcome', 'outcome=a&outcome=b', '%', '='),
    hostileText.map((text) => `outcome=${encodeURIComponent(wellFormed(text))}`),
    fc.string({ unit: 'binary' }),
  )

  test('open for the very token alone, and answer every other', {
    timeout: timeoutMs * 4,
  }, async () => {
    const token = pageLink.pathname.split('/').at(-1) ?? ''
    const rooms = fc.constantFrom('', '/qr', '/qr.png', '/logo', '/state', '/sandbox', '/nowhere')
    const methods = fc.constantFrom('GET', 'GET', 'POST', 'POST', 'DELETE')
    const request = fc.record({ method: methods, given: tokens(token), room: rooms, form: forms })
    await fc.assert(
      fc.asyncProperty(request, framings, async ({ method, given, room, form }, { headers }) => {
        const types: [string, string][] = [['content-type', 'application/x-www-form-urlencoded']]
        const { status } = await send({
          method,
          path: `/pay/${given}${room}`,
          ...(method === 'POST' && {
            headers: form.startsWith('outcome') ? types : headers,
            body: form,
          }),
        })
        expect(status).toBeGreaterThanOrEqual(200)
        expect(status).toBeLessThan(500)
        if (status < 400) expect(given).toBe(token)
      }),
      { numRuns: numRuns * 4, ...seed },
    )
  })
})
