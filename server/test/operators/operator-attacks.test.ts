import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { OpenApi } from '../../../sdk/test/schemas-from-openapi.ts'
import { inlineSchemas } from '../../src/http/name-schemas.ts'
import { seqAsOf } from '../../src/ledger/wallet-as-of.ts'
import { parseTxnId } from '../../src/lib/ids.ts'
import { recordUnmatched } from '../../src/payments/unmatched-payments.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

/** What somebody who means harm, or two who are quick, do to the operators' side. */

let s: TestService
let admin: OperatorClient
let viewer: OperatorClient
let shop: AgentClient
let other: AgentClient
let owner: OperatorClient

beforeAll(async () => {
  s = await startTestService()
  shop = await s.agent({ name: 'Shop' })
  other = await s.agent({ name: 'Other' })
  admin = await signIn(s, 'admin')
  viewer = await signIn(s, 'viewer')
  owner = await signIn(s, 'agent', shop)
  await shop.fund(1_000)
})

afterEach(() => s.prove())
afterAll(() => s.close())

const reason = 'asked for by the agent'

describe('statements', () => {
  it('of one time after another hold every row once, though clocks went back between rows', async () => {
    const busy = await s.agent({ name: 'Busy' })
    const start = s.clock().getTime()
    const rowAt = (seconds: number) =>
      s.service.desk.teller.do({
        type: 'adjust',
        agentId: busy.agentId,
        at: new Date(start + seconds * 1000),
        amountMinor: 100n,
        reason,
        ref: randomUUID(),
      })
    const endOfDay = new Date(start + 25_000)
    for (const seconds of [10, 30, 20]) await rowAt(seconds)
    const then = await seqAsOf(s.backend.pool, busy.agentId, endOfDay)
    // What comes later must not move the end of a day that was told already.
    for (let seconds = 40; seconds < 60; seconds++) {
      await rowAt(seconds)
      expect(await seqAsOf(s.backend.pool, busy.agentId, endOfDay)).toBe(then)
    }
  })
})

describe('a payout', () => {
  /** To a provider of which nobody knows whether it has paid. */
  const handTo = async (txnId: string, providerRef: string, insteadOf: string | null) => {
    const named = parseTxnId(txnId)
    if (!named) throw new Error('no such order')
    await s.service.desk.teller.do({
      type: 'hand_over',
      ...named,
      at: s.clock(),
      provider: 'sandbox',
      references: [providerRef],
      insteadOf,
      token: randomUUID(),
      askAt: new Date(s.clock().getTime() + 1e9),
    })
    await s.sql(`update payouts set state = 'unknown' where ask_at is not null`)
  }

  it('that a person ended by evidence does not show the agent what that was', async () => {
    const { json } = await shop.withdraw({ amount: 100 })
    await handTo(json.txn_id, `${json.txn_id}-1`, null)
    const evidence = 'page 7 of our own statement'
    const marked = await admin.post(`/orders/${json.txn_id}/mark-failed`, {
      reason,
      evidence,
      code: admin.code(),
    })
    expect(marked.status).toBe(200)
    const span = 'from=2020-01-01T00:00:00Z&to=2090-01-01T00:00:00Z'
    for (const path of [
      `/orders/${json.txn_id}`,
      `/wallets/${shop.appId}/journal`,
      `/wallets/${shop.appId}/statement.csv?${span}`,
    ]) {
      expect((await admin.get(path)).text, path).toContain(evidence)
      const seen = await owner.get(path)
      expect([seen.status, seen.text.includes(evidence)], path).toEqual([200, false])
    }
    const entries = await shop.get('/payment/wallet/entries?limit=200')
    expect([entries.status, entries.text.includes(evidence)]).toEqual([200, false])
  })

  it('that went to another provider meanwhile is not ended by what is known of the first', async () => {
    const { json } = await shop.withdraw({ amount: 100 })
    const first = `${json.txn_id}-1`
    const second = `${json.txn_id}-2`
    await handTo(json.txn_id, first, null)
    const { version } = (await admin.get(`/orders/${json.txn_id}`)).json.order
    // The attempt is on record before it is made: here it waits, and the order goes elsewhere.
    const held = await holdAudit()
    const marking = admin.post(`/orders/${json.txn_id}/mark-failed`, {
      reason,
      evidence: 'the first bank has not paid it',
      version,
      code: admin.code(),
    })
    await held.isWaitedFor()
    await handTo(json.txn_id, second, first)
    await held.release()
    expect((await marking).status).toBe(409)
    const after = await admin.get(`/orders/${json.txn_id}`)
    expect(after.json.order).toMatchObject({ status: 'WAITING', provider_ref: second })
  })
})

describe('a viewer', () => {
  it('sees nothing that names a person, whoever wrote it and under whatever name', async () => {
    const extraParams = { customer: 'Pim Secret', phone: '0899999999' }
    const { json } = await shop.withdraw({ amount: 10, extraParams, accountName: 'Pim Secret' })
    await shop.trigger(json.txn_id, 'PAID')
    const named = parseTxnId(json.txn_id)
    await s.sql(`update payouts set said = 'sent to Pim Secret' where order_id = $1`, [
      named?.orderId,
    ])
    const { rows } = await s.sql('select seq from callbacks where order_id = $1', [named?.orderId])
    await s.sql(
      `insert into callback_attempts (agent_id, seq, attempt_id, started_at, duration_ms, url, status,
         response_headers, response_body)
       values ($1, $2, gen_random_uuid(), $3, 1, 'https://x.example/', 200,
         '{"set-cookie":"user=Pim Secret"}', 'Pim Secret')`,
      [shop.agentId, rows[0].seq, s.clock()],
    )
    await recordUnmatched(s.service.desk, {
      paymentId: 'sandbox:whose',
      reference: 'from Pim Secret',
      amountMinor: 100n,
      currency: 'THB',
      why: 'unmatched',
      contradicts: null,
      paidAt: s.clock(),
      payer: null,
    })
    for (const path of [
      `/orders/${json.txn_id}`,
      `/orders?q=${json.txn_id}`,
      `/orders.csv?q=${json.txn_id}`,
      `/callbacks/${shop.appId}/${rows[0].seq}`,
      '/payments/sandbox%3Awhose',
      '/payments',
    ]) {
      expect((await admin.get(path)).text, path).toMatch(/Pim Secret/)
      expect((await viewer.get(path)).text, path).not.toMatch(/Pim Secret|0899999999/)
    }
  })
})

describe('what no database takes', () => {
  it.each([
    '/orders?q=%00',
    '/orders?provider=%00',
    '/orders?agent=%00',
    '/orders/%00',
    '/agents/%00',
    '/callbacks/%00/1',
    '/wallets/%00',
    '/payments/%00',
    '/payments?assignee=%00',
    '/payments?cursor=2026-01-01T00:00:00Z%20%00',
    '/audit?actor=%00',
    '/audit?subject=user:%00',
  ])('is refused at the door: %s', async (path) => {
    expect([404, 422]).toContain((await admin.get(path)).status)
  })

  it.each([
    ['/users', { email: 'x@y.example', role: 'agent', app_id: '\0' }],
    ['/payments/x/assign', { assignee: '\0' }],
    ['/callbacks/replay', { agent: '\0', failed_since: '2026-01-01T00:00:00Z', reason }],
    ['/signature-check', { app_id: '\0', kind: 'callback', body: '{}', signature: 'x' }],
  ])('is refused in a body: %s', async (path, body) => {
    const code = path === '/users' ? { code: admin.code() } : {}
    expect([404, 422]).toContain((await admin.post(path, { ...body, ...code })).status)
  })
})

describe('what was made up', () => {
  it.each([
    '/callbacks?state=waiting&cursor=1.1.999999999999999',
    '/callbacks?cursor=999999999999999999.999999999999999999.0',
    '/callbacks?older_than_s=999999999999999',
    '/orders?cursor=ffffffffffffffffffffffffffffffff',
    '/orders?from=0001-01-01T00:00:00Z&to=9999-12-31T23:59:59Z',
    '/orders?min_amount=999999999999999',
    '/orders?limit=0',
    '/audit?from=0001-01-01T00:00:00Z&to=9999-12-31T23:59:59Z',
    '/audit?cursor=00000000000000000000000000000000',
    '/audit?actor=999999999999999999',
    '/payments?cursor=9999-12-31T23:59:59Z%20x',
    '/callbacks/SHOP/999999999999999',
    '/wallets/SHOP/journal?cursor=999999999999999999',
    '/wallets/SHOP?as_of=0001-01-01T00:00:00Z',
    '/wallets/SHOP/statement.csv?from=0001-01-01T00:00:00Z&to=9999-12-31T23:59:59Z',
    '/wallets/SHOP/statement.pdf?from=0001-01-01T00:00:00Z&to=9999-12-31T23:59:59Z',
  ])('is answered or refused, and breaks nothing: %s', async (path) => {
    const { status, text } = await admin.get(path.replace('SHOP', shop.appId))
    expect([200, 404, 422], text).toContain(status)
  })
})

describe('a payment of one agent', () => {
  it('is not credited to another, neither by its id nor by a person', async () => {
    const insert = (agent: AgentClient, amount: number) =>
      s.service.desk.teller.do({
        type: 'receive_payment',
        agentId: agent.agentId,
        orderId: null,
        provider: null,
        at: s.clock(),
        payment: {
          paymentId: 'sandbox:twice',
          amountMinor: BigInt(amount) * 100n,
          paidAt: s.clock(),
          payer: null,
        },
      })
    await insert(shop, 11)
    expect(await insert(other, 22)).toMatchObject({ changed: false, unmatched: 'claimed_twice' })
    const path = '/payments/sandbox%3Atwice'
    expect((await admin.get(path)).json.payment).toMatchObject({ app_id: shop.appId, amount: 11 })
    const credit = (agent: AgentClient) =>
      admin.post(`${path}/credit`, { agent: agent.appId, reason, code: admin.code() })
    expect((await credit(other)).status).toBe(409)
    expect(await other.balance()).toBe(0)
    expect((await credit(shop)).status).toBe(200)
  })
})

describe('an adjustment', () => {
  it('under a reference that stands for another amount is refused, and says so', async () => {
    const path = `/wallets/${other.appId}/adjust`
    const ask = (amount: number) => ({ amount, ref: 'case 9', reason, code: admin.code() })
    expect((await admin.post(path, ask(5))).json.changed).toBe(true)
    expect((await admin.post(path, ask(5))).json.changed).toBe(false)
    const { status, json } = await admin.post(path, ask(50))
    expect([status, json.errors]).toMatchObject([422, [{ field: 'ref' }]])
    expect(await other.balance()).toBe(5)
  })
})

describe('the audit log', () => {
  const last = async (action: string) => {
    const { rows } = await s.sql(
      'select outcome, email, after from audit_log where action = $1 order by audit_id desc limit 1',
      [action],
    )
    return rows[0]
  }

  it('has every wrong code and every wrong password', async () => {
    const { email } = owner
    const wrong = { reason, overlap_s: 0, code: '000000' }
    expect((await owner.post(`/agents/${shop.appId}/keys`, wrong)).json.code).toBe('code_refused')
    expect(await last('give_code')).toMatchObject({ outcome: 'refused', email })
    const change = { current_password: 'not the password', password: 'six other plain words' }
    expect((await owner.post('/me/password', { ...change, code: owner.code() })).status).toBe(422)
    expect(await last('change_password')).toMatchObject({ outcome: 'refused', email })
  })

  it('has the end of a session, or the session has not ended', async () => {
    const again = await owner.signInAgain()
    await s.sql('revoke insert on audit_log from sluice_service')
    expect((await again.post('/sign-out')).status).toBe(500)
    await s.sql('grant insert on audit_log to sluice_service')
    expect((await again.get('/me')).status).toBe(200)
    expect((await again.post('/sign-out')).status).toBe(200)
  })
})

describe('checking signatures', () => {
  it('is work that one user gets only so much of', async () => {
    const body = { app_id: shop.appId, kind: 'callback', body: '{}', signature: 't=1,v1=x' }
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => owner.post('/signature-check', body)),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]))
  })
})

/** Keeps everybody from writing to the audit log. */
async function holdAudit() {
  const client = new pg.Client(s.database.ownerUrl)
  await client.connect()
  await client.query('begin')
  await client.query('lock table sluice.audit_log in exclusive mode')
  return {
    isWaitedFor: () =>
      expect
        .poll(async () => {
          const { rows } = await s.sql(
            `select count(*)::int as n from pg_locks where not granted and relation = 'audit_log'::regclass
               and database = (select oid from pg_database where datname = current_database())`,
          )
          return rows[0].n
        })
        .toBe(1),
    async release() {
      await client.query('commit')
      await client.end()
    },
  }
}

describe('a reason', () => {
  it('cannot make what stands after it read in another order', async () => {
    for (const turning of ['\u202e', '\u2066', '\u202d']) {
      const { status } = await admin.post(`/agents/${shop.appId}/suspend`, {
        reason: `paid ${turning}001 BHT`,
      })
      expect(status).toBe(422)
    }
  })
})

describe('a session that was left open', () => {
  /** Everything that it changes without a code: what stops, says or sends again, and what changes nothing. */
  const without = [
    'POST /sign-out',
    'DELETE /me/sessions/{id}',
    'POST /me/sessions/end-others',
    'PUT /me/preferences',
    'POST /set-up/backup',
    'POST /me/alerts/test',
    'POST /me/passkeys',
    'POST /me/passkeys/challenge',
    'POST /me/passkeys/prove',
    'POST /agents/{app_id}/suspend',
    'POST /agents/{app_id}/view-as',
    'POST /view-as/leave',
    'POST /agents/{app_id}/check-address',
    'POST /agents/{app_id}/fee-preview',
    'POST /signature-check',
    'POST /provider-routes/try',
    'POST /connectors/check',
    'POST /connectors/{name}/samples',
    'POST /connectors/{name}/try',
    'POST /limits/try',
    'POST /alert-rules/try',
    'POST /alerts-sent/resend',
    'POST /report-schedules/resend',
    'POST /agents/{app_id}/secrets/{id}/revoke',
    'POST /agents/{app_id}/keys/{slot}/revoke',
    'POST /bank-accounts/preview',
    'POST /bank-accounts/{name}/files/preview',
    'POST /payout-files',
    'POST /orders/{txn_id}/resend',
    'POST /test-orders',
    'POST /approvals/{id}/withdraw',
    'POST /alarms/{id}/acknowledge',
    'POST /stops',
    'POST /callbacks/{app_id}/{seq}/resend',
    'POST /callbacks/replay',
    'POST /callback-lanes/{app_id}/pause',
    'POST /payments/{payment_id}/assign',
    'POST /payments/{payment_id}/note',
    'POST /open-items/{item_id}/assign',
    'POST /open-items/{item_id}/note',
    'POST /slips',
    'POST /payment-decisions/preview',
    'POST /orders/{txn_id}/marks',
    'POST /orders-together/resend',
    'POST /orders-together/mark',
    'POST /shared-views',
    'POST /shared-views/forget',
  ]
  /** What of the routes that ask for a code sometimes needs none. */
  const sometimes: Record<string, (body: Body) => boolean> = {
    'PATCH /users/{id}': ({ disabled, ...rest }) =>
      disabled === true && Object.keys(rest).join() === 'reason',
    // In live it always does.
    'POST /bank-accounts/{name}/files': () => true,
    'POST /payout-files/{id}/status': () => true,
    'PATCH /providers/{id}': ({ state }) => state === 'off' || state === 'draining',
  }

  type Body = Record<string, unknown>
  interface Shape {
    type?: string | string[]
    enum?: string[]
    const?: unknown
    anyOf?: Shape[]
    properties?: Record<string, Shape>
    required?: string[]
    minimum?: number
    minItems?: number
    items?: Shape
    pattern?: string
  }

  /** Values that the schema of a field allows: all of a choice, one of anything else. */
  function samples(shape: Shape, name: string): unknown[] {
    if (shape.anyOf) return shape.anyOf.flatMap((each) => samples(each, name))
    if (Array.isArray(shape.type)) {
      return shape.type.flatMap((type) => samples({ ...shape, type }, name))
    }
    if (shape.enum) return shape.enum
    if (shape.type === 'null') return [null]
    if (shape.type === 'boolean') return [true, false]
    if (shape.type === 'integer') return [shape.minimum ?? 1]
    if (shape.type === 'array') {
      return [shape.minItems && shape.items ? samples(shape.items, name).slice(0, 1) : []]
    }
    if (shape.type === 'object') return [bodiesOf(shape)[0]]
    if (name === 'amount') return ['1']
    const fitting = new RegExp(shape.pattern ?? '')
    return [
      ['text', '1', '08:00', '2026-11-16', 'a'.repeat(32), 'a'.repeat(64)].find((each) =>
        fitting.test(each),
      ),
    ]
  }

  /** The required fields with every choice of the others: where what is sent decides whether a code is needed. */
  function allBodiesOf({ properties = {}, required = [] }: Shape): Body[] {
    return Object.entries(properties)
      .filter(([name]) => name !== 'code')
      .reduce<Body[]>(
        (bodies, [name, shape]) => [
          ...(required.includes(name) ? [] : bodies),
          ...samples(shape, name).flatMap((value) =>
            bodies.map((body) => ({ ...body, [name]: value })),
          ),
        ],
        [{}],
      )
  }

  /** The required fields with none of the others, with each of them alone, and with all. */
  function bodiesOf({ properties = {}, required = [] }: Shape): Body[] {
    const choices = Object.entries(properties).map(
      ([name, shape]) => [name, samples(shape, name)] as const,
    )
    const first = choices.map(([name, [sample]]) => [name, sample] as const)
    const least = Object.fromEntries(first.filter(([name]) => required.includes(name)))
    const each = choices.flatMap(([name, values]) =>
      values.map((value) => ({ ...least, [name]: value })),
    )
    const all = Object.fromEntries(first)
    return [least, ...each, all].map(({ code, ...body }) => body)
  }

  interface Parameter {
    name: string
    schema: Shape
  }

  /** The address with something that may stand there in place of each parameter. */
  function filled(url: string, parameters: Parameter[]): string {
    return url.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const pattern = parameters.find((each) => each.name === name)?.schema.pattern ?? ''
      const fits = (each: string) => new RegExp(pattern).test(each)
      return ['1', 'a'.repeat(32)].find(fits) ?? '00000000-0000-0000-0000-000000000000'
    })
  }

  it('changes nothing without a fresh code, whatever of a change it sends, but for a short list', async () => {
    const response = await fetch(`${s.service.url}/console/api/openapi.json`)
    const { paths } = inlineSchemas((await response.json()) as OpenApi)
    const never: string[] = []
    let refused = 0
    for (const [path, operations] of Object.entries(paths)) {
      for (const [verb, operation] of Object.entries(operations)) {
        const { security, requestBody, parameters } = operation as unknown as {
          security: object[]
          parameters: Parameter[]
          requestBody?: { content: { 'application/json': { schema: Shape } } }
        }
        const method = verb.toUpperCase()
        const url = path.replace('/console/api', '')
        const named = `${method} ${url}`
        if (method === 'GET' || security.length === 0) continue
        if (without.includes(named)) {
          never.push(named)
          continue
        }
        const made = sometimes[named] ? allBodiesOf : bodiesOf
        for (const body of made(requestBody?.content['application/json'].schema ?? {})) {
          const mayDo = url.startsWith('/me/') ? viewer : admin
          const { json } = await mayDo.send(method, filled(url, parameters), body)
          const isFree = sometimes[named]?.(body) === true
          expect(json.code === 'code_required', `${named} ${JSON.stringify(body)}`).toBe(!isFree)
          if (!isFree) refused++
        }
      }
    }
    expect(never.sort()).toEqual(without.sort())
    expect(refused).toBeGreaterThan(100)
  })
})
