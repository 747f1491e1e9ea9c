import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { endViews } from '../../src/operators/agent-views.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

let s: TestService
let shop: AgentClient
let other: AgentClient
let operator: OperatorClient
let owner: OperatorClient
let txnId: string
let foreignTxnId: string

beforeAll(async () => {
  s = await startTestService()
  shop = await s.agent({ name: 'Shop' })
  other = await s.agent({ name: 'Other' })
  await shop.fund(100)
  txnId = (await shop.deposit({ refId: 'MINE' })).json.txn_id
  foreignTxnId = (await other.deposit({ refId: 'THEIRS' })).json.txn_id
  operator = await signIn(s, 'operator')
  owner = await signIn(s, 'agent', shop)
})
afterEach(() => s.prove())
afterAll(() => s.close())

const start = (client: OperatorClient) => client.post(`/agents/${shop.appId}/view-as`)
const leave = (client: OperatorClient) => client.post('/view-as/leave')

interface Route {
  method: string
  path: string
}

/** Every route that asks for a session, with something in place of each parameter. */
async function routes(): Promise<Route[]> {
  const { json } = await owner.get('/openapi.json')
  return Object.entries<Record<string, Record<string, unknown>>>(json.paths).flatMap(
    ([path, methods]) =>
      Object.entries(methods)
        .filter(([, described]) => described['x-permission'] !== undefined)
        .map(([method]) => ({
          method: method.toUpperCase(),
          path: path
            .replace('/console/api', '')
            .replace('{app_id}', shop.appId)
            .replace('{txn_id}', txnId)
            .replaceAll(/\{\w+\}/g, '1'),
        })),
  )
}

/** How much there is of everything, but for the audit log and what says when somebody was last seen. */
async function rowsOfEverything(): Promise<Record<string, string>> {
  const { rows: tables } = await s.sql(
    `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'sluice' and c.relkind = 'r' and c.relname !~ '^(sessions|audit|insight|proofs|limit_buckets)'`,
  )
  const found: Record<string, string> = {}
  for (const { name } of tables) {
    const { rows } = await s.sql(
      `select md5(coalesce(string_agg(t::text, ',' order by t::text), '')) as hash from ${name} t`,
    )
    found[name] = rows[0].hash
  }
  return found
}

it('an operator sees what the agent’s users see, and nothing of others', async () => {
  const started = await start(operator)
  expect(started.status).toBe(200)
  expect(started.json).toMatchObject({
    user: { email: operator.email, role: 'agent', app_id: shop.appId, agent_name: 'Shop' },
    permissions: ['view', 'view_own_audit'],
    view: { until: new Date(s.clock().getTime() + 30 * 60_000).toISOString() },
  })
  expect((await operator.get('/me')).json.view).toEqual(started.json.view)
  for (const path of [
    '/orders',
    `/orders/${txnId}`,
    `/wallets/${shop.appId}`,
    `/wallets/${shop.appId}/journal`,
    `/agents/${shop.appId}`,
    `/agents/${shop.appId}/secrets`,
    '/callbacks',
  ]) {
    const [seen, theirs] = [await operator.get(path), await owner.get(path)]
    expect([path, seen.status]).toEqual([path, 200])
    // What they may do is not theirs.
    const withoutActions = ({ actions: _, ...rest }: Record<string, unknown>) => rest
    expect(withoutActions(seen.json), path).toEqual(withoutActions(theirs.json))
    expect(seen.text, path).not.toContain('THEIRS')
  }
  for (const path of [`/orders/${foreignTxnId}`, `/wallets/${other.appId}`, '/queue', '/users']) {
    expect([path, (await operator.get(path)).status]).toEqual([path, 404])
  }
  expect((await leave(operator)).json).toEqual({ app_id: shop.appId })
  expect((await operator.get('/me')).json).toMatchObject({ view: null, user: { role: 'operator' } })
  expect((await operator.get('/queue')).status).toBe(200)
  expect((await leave(operator)).status).toBe(404)
})

it('every route that could change anything refuses, whoever looks, and nothing changes', async () => {
  const all = await routes()
  const changing = all.filter(({ method }) => method !== 'GET')
  expect(changing.length).toBeGreaterThan(90)
  for (const role of ['operator', 'admin'] as const) {
    const client = await signIn(s, role)
    expect((await start(client)).status).toBe(200)
    const before = await rowsOfEverything()
    for (const { method, path } of changing) {
      if (path === '/view-as/leave') continue
      const { status, json } = await client.send(method, path, { code: client.codeAt(0) })
      expect({ method, path, status, code: json.code }).toEqual({
        ...{ method, path, status: 403, code: 'not_permitted' },
      })
    }
    // Reads neither change anything nor show what is a secret.
    for (const { path } of all.filter(({ method }) => method === 'GET')) {
      const { status, text } = await client.get(path)
      expect([path, status < 500]).toEqual([path, true])
      expect([path, text.includes(shop.secret)]).toEqual([path, false])
    }
    expect(await rowsOfEverything()).toEqual(before)
    expect((await leave(client)).status).toBe(200)
  }
})

it('is for operators alone, and names an agent that there is', async () => {
  const viewer = await signIn(s, 'viewer')
  expect([(await start(viewer)).status, (await start(owner)).status]).toEqual([403, 404])
  expect((await operator.post('/agents/nobody-1/view-as')).status).toBe(404)
  expect((await viewer.get('/me')).json.view).toBeNull()
})

it('the audit log has start and end, by whom, and the agent is not said to have done anything', async () => {
  const since = s.clock()
  s.clock.advance(1_000)
  await start(operator)
  expect((await operator.get('/orders.csv')).status).toBe(200)
  await leave(operator)
  const { rows } = await s.sql(
    `select action, email, role, subject_id, outcome, after from audit_log
     where at > $1 and agent_id = $2 order by audit_id`,
    [since, shop.agentId],
  )
  const byThem = { email: operator.email, role: 'operator', outcome: 'done' }
  const of = (action: string) => rows.filter((row) => row.action === action)
  expect(of('view_as_agent')).toMatchObject([{ ...byThem, subject_id: shop.appId }])
  expect(of('end_view_as_agent')).toMatchObject([
    { ...byThem, subject_id: shop.appId, after: { ended: 'left' } },
  ])
  expect(new Set(of('export_orders').map(({ role }) => role))).toEqual(new Set(['operator']))
  const { json } = await owner.get(`/agents/${shop.appId}/audit`)
  expect(json.data.filter(({ action }: { action: string }) => action === 'export_orders')).toEqual(
    [],
  )
})

it('after half an hour nothing is shown until it is left, and the end is in the audit log once', async () => {
  const client = await signIn(s, 'operator')
  await start(client)
  // Used all the time, so that the session goes on.
  s.clock.advance(20 * 60_000)
  expect((await client.get('/orders')).status).toBe(200)
  s.clock.advance(10 * 60_000)
  for (const [method, path] of [
    ['GET', '/orders'],
    ['GET', '/me'],
    ['POST', `/callbacks/${shop.appId}/1/resend`],
  ] as const) {
    const { status, json } = await client.send(method, path)
    expect([path, status, json.code]).toEqual([path, 403, 'view_ended'])
  }
  await endViews(s.backend.pool, s.clock())
  expect((await client.get('/orders')).json.code).toBe('view_ended')
  expect((await leave(client)).status).toBe(200)
  expect((await client.get('/me')).json).toMatchObject({ view: null, user: { role: 'operator' } })
  const { rows } = await s.sql(
    `select after from audit_log where email = $1 and action = 'end_view_as_agent'`,
    [client.email],
  )
  expect(rows).toEqual([{ after: { ended: 'time over' } }])
})

it('whoever is no longer allowed to sees nothing any more', async () => {
  const client = await signIn(s, 'operator')
  await start(client)
  await s.sql(`update users set role = 'viewer' where email = $1`, [client.email])
  expect((await client.get('/orders')).json.code).toBe('view_ended')
  expect((await leave(client)).status).toBe(200)
  expect((await client.get('/me')).json.user.role).toBe('viewer')
})
