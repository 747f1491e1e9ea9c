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
  // Without a worker, which writes at any time.
  s = await startTestService({ env: { ROLE: 'api' } })
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

/** All tables but the audit log and what says when somebody was last seen, or has asked. */
async function allTables(): Promise<string[]> {
  const { rows } = await s.sql(
    `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'sluice' and c.relkind = 'r'
       and c.relname !~ '^(sessions|audit|insight|proofs|limit_buckets|api_requests)'`,
  )
  return rows.map(({ name }) => name)
}

/** How much there is of everything. */
async function rowsOf(tables: readonly string[]): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const name of tables) {
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
    const tables = await allTables()
    const before = await rowsOf(tables)
    for (const { method, path } of changing) {
      if (['/view-as/leave', '/sign-out'].includes(path)) continue
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
    expect(await rowsOf(tables)).toEqual(before)
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

it('ends with its session, by whomever that is ended, and the audit log says so', async () => {
  const ends = async ({ email }: OperatorClient) => {
    const { rows } = await s.sql(
      `select action, role, agent_id, after from audit_log
       where email = $1 and action in ('end_view_as_agent', 'sign_out') order by audit_id`,
      [email],
    )
    return rows
  }
  const client = await signIn(s, 'operator')
  await start(client)
  expect((await client.post('/sign-out')).status).toBe(200)
  const role = 'operator'
  expect(await ends(client)).toEqual([
    {
      ...{ action: 'end_view_as_agent', role, after: { ended: 'left' } },
      agent_id: String(shop.agentId),
    },
    // The agent's users have not signed out.
    { action: 'sign_out', role, agent_id: null, after: null },
  ])
  expect((await client.get('/me')).status).toBe(401)

  const dismissed = await signIn(s, 'operator')
  await start(dismissed)
  await s.sql(
    'update sessions set ended_at = $2 where user_id = (select user_id from users where email = $1)',
    [dismissed.email, s.clock()],
  )
  await Promise.all([endViews(s.backend.pool, s.clock()), endViews(s.backend.pool, s.clock())])
  expect(await ends(dismissed)).toMatchObject([{ after: { ended: 'session ended' } }])
})

it('whoever is no longer allowed to sees nothing any more', async () => {
  const client = await signIn(s, 'operator')
  await start(client)
  await s.sql(`update users set role = 'viewer' where email = $1`, [client.email])
  expect((await client.get('/orders')).json.code).toBe('view_ended')
  expect((await leave(client)).status).toBe(200)
  expect((await client.get('/me')).json.user.role).toBe('viewer')
})
