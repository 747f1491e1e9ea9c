import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import Schema from 'typebox/schema'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OpenApi, operations } from '../../../sdk/test/schemas-from-openapi.ts'
import type { Example } from '../../src/http/agent-api/example.ts'
import { examples } from '../../src/http/agent-api/examples.ts'
import { DepositCallback, WithdrawCallback } from '../../src/http/agent-api/schemas.ts'
import { inlineSchemas } from '../../src/http/name-schemas.ts'
import { root } from '../support/process.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

let s: TestService
let agent: AgentClient
/** What the page is to say for what differs at each run. */
const shown: [real: string, fixed: string][] = []

beforeAll(async () => {
  s = await startTestService({ env: { PUBLIC_URL: 'https://pay.example' } })
  agent = await s.agent({ depositFee: '1.5%', withdrawFee: '10' })
})
afterAll(async () => {
  await s.prove()
  await s.close()
})

/** The time now is shown as this one. */
function showTime(fixed: string): void {
  const now = s.clock().toISOString()
  shown.push([now, `${fixed}Z`.replace(' ', 'T')])
  shown.push([now.slice(0, 19).replace('T', ' '), fixed])
}

function showOrder(txnId: string, digit: string): void {
  const [agentId = '', orderId = ''] = txnId.split('-')
  const fixed = `019c12f2a4c07b3e9d5f60718293a4b${digit}`
  shown.push([`TEST${orderId.slice(-8).toUpperCase()}`, `TEST${fixed.slice(-8).toUpperCase()}`])
  shown.push(
    [txnId, `1-${fixed}`],
    [txnId.toUpperCase(), `1-${fixed.toUpperCase()}`],
    [orderId, fixed],
  )
  expect(agentId).toMatch(/^\d+$/)
}

/** As it is shown: the same each time, the token and the image shortened, long lists cut. */
function fixed<Value>(value: Value): Value {
  let text = JSON.stringify(value)
  for (const [real, instead] of shown) text = text.replaceAll(real, instead)
  text = text
    .replaceAll(/(\/pay\/1-[0-9a-f]{32})-[\w-]{22}/g, '$1-P2DFNU3HXmonAJNKSJ9uhw')
    .replaceAll(/(data:image\/png;base64,iVBORw0KGgo)[\w+/=]+/g, '$1...')
  return JSON.parse(text)
}

const made: Record<string, Example> = {}

/** Sends a request and keeps it, with its answer, as the example of its operation. */
async function example(operation: string, path: string, body?: Record<string, unknown>) {
  const [method = ''] = operation.split(' ')
  const text = body === undefined ? undefined : JSON.stringify(body)
  const { status, json } = await agent.send(method, path, text)
  expect(status, `${operation}: ${JSON.stringify(json)}`).toBeLessThan(300)
  const data = Array.isArray(json.data) ? { data: json.data.slice(0, 2) } : {}
  made[operation] = {
    path,
    ...(text !== undefined && { body: text }),
    status,
    answer: { ...json, ...data },
  }
  return json
}

const order = (fields: Record<string, unknown>) => ({
  refId: 'order-1001',
  userId: 'user-42',
  amount: 500,
  accountName: 'Somchai Jaidee',
  accountNo: '1234567890',
  bankCode: 'KBANK',
  timestamp: s.clock().toISOString(),
  ...fields,
})

test('every example of the reference was sent to a real service and answered as shown', async () => {
  s.clock.advance(-(s.clock().getTime() % 1000))
  showTime('2026-01-01 00:00:00')
  const deposit = await example(
    'POST /payment/deposit',
    '/payment/deposit',
    order({ extraParams: { basket: 'B-7' } }),
  )
  showOrder(deposit.txn_id, '5')
  const paid = `/sandbox/orders/${deposit.txn_id}`
  s.clock.advance(130_000)
  showTime('2026-01-01 00:02:10')
  await example('POST /sandbox/orders/{txn_id}', paid, { outcome: 'PAID' })
  const withdraw = await example(
    'POST /payment/withdraw',
    '/payment/withdraw',
    order({ refId: 'payout-7', amount: 120, bankCode: 'SCB' }),
  )
  showOrder(withdraw.txn_id, '6')
  await example('GET /payment/orders/{txn_id}', `/payment/orders/${deposit.txn_id}`)
  await example('GET /payment/orders', '/payment/orders?limit=1&status=WAITING')
  await example('GET /payment/wallet', '/payment/wallet')
  await example('GET /payment/wallet/reserve', '/payment/wallet/reserve')
  s.clock.advance(60_000)
  showTime('2026-01-01 00:03:10')
  await example('POST /payment/orders/{txn_id}/cancel', `/payment/orders/${withdraw.txn_id}/cancel`)
  await example('GET /payment/wallet/entries', '/payment/wallet/entries?after=1&limit=2')
  await example('GET /payment/banks', '/payment/banks')
  const refund = await example(
    'POST /payment/orders/{txn_id}/refund',
    `/payment/orders/${deposit.txn_id}/refund`,
    { refId: 'refund-1001', amount: 249.5, timestamp: s.clock().toISOString() },
  )
  showOrder(refund.txn_id, '7')
  await expect
    .poll(async () => (await agent.get('/payment/events?after=0&limit=2')).json.data)
    .toMatchObject([{ delivery: 'no_address' }, { delivery: 'no_address' }])
  const { data } = await example('GET /payment/events', '/payment/events?after=0&limit=2')
  await example('POST /payment/events/{seq}/resend', '/payment/events/1/resend')
  const callback = (at: number) => ({ path: '', status: 200, answer: JSON.parse(data[at].body) })
  made['deposit callback'] = callback(0)
  made['withdraw callback'] = callback(1)

  const path = 'server/src/http/agent-api/examples.ts'
  const text = `import type { Example } from './example.ts'

// Written by server/test/docs/reference-examples.test.ts from real answers; run it with -u after a change.
export const examples: Record<string, Example> = ${JSON.stringify(fixed(made), null, 2)}
`
  const formatted = execFileSync(
    'node_modules/.bin/biome',
    ['check', '--write', `--stdin-file-path=${path}`],
    {
      cwd: root,
      input: text,
      encoding: 'utf8',
    },
  )
  await expect(formatted).toMatchFileSnapshot(join(root, path))
})

test('every operation has an example, which is of the shape that is described', async () => {
  const openapi: OpenApi & { webhooks: object } = inlineSchemas(
    (await agent.get('/openapi.json')).json,
  )
  for (const [path, method, { responses }] of operations(openapi)) {
    const { status, answer } = examples[`${method.toUpperCase()} ${path}`] ?? {}
    expect(status, `${method} ${path}`).toBeDefined()
    const { schema, example } = Object.values(responses[String(status)]?.content ?? {})[0] as {
      schema: object
      example: unknown
    }
    expect(example).toEqual(answer)
    expect(Schema.Check(schema, answer), `${method} ${path}`).toBe(true)
  }
  expect(Object.keys(openapi.webhooks)).toEqual(['depositCallback', 'withdrawCallback'])
  const { text: page } = await agent.get('/docs')
  expect(page).toContain('POST /payment/deposit\nx-appid: ')
  expect(page).toContain('Outcome of a withdraw')
})

test('callbacks that are really sent have the shape that is described, and no field more', async () => {
  const other = await s.agent()
  await other.fund(1000)
  for (const outcome of ['FAILED', 'VOID', 'EXPIRED']) {
    const { json } = await other.deposit()
    await other.trigger(json.txn_id, outcome)
  }
  const { json: strange } = await other.deposit()
  await other.trigger(strange.txn_id, 'PAID', { payerAccountNo: '9999999999' })
  for (const outcomes of [['PAID', 'REVERT'], ['FAILED'], ['CANCEL']]) {
    const { json } = await other.withdraw()
    for (const outcome of outcomes) await other.trigger(json.txn_id, outcome)
  }
  const { data } = (await other.get('/payment/events')).json
  expect(data).toHaveLength(9)
  for (const { kind, body } of data) {
    const schema = kind === 'deposit' ? DepositCallback : WithdrawCallback
    const closed = { ...schema, additionalProperties: false }
    expect(Schema.Check(closed, JSON.parse(body)), body).toBe(true)
  }
})
