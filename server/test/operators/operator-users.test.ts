import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { writeAudit } from '../../src/operators/audit.ts'
import type { Role } from '../../src/operators/operator.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { startTestService, type TestService } from '../support/service.ts'

/** What each role may do, said a second time: a change of the rules has to be made twice. */
const rules: Record<Role, string[]> = {
  admin: [
    'view',
    'act_on_orders',
    'resend_callbacks',
    'decide_payments',
    'adjust_wallets',
    'manage_agents',
    'manage_own_keys',
    'manage_providers',
    'manage_bank_accounts',
    'import_statements',
    'sign_off_days',
    'make_payout_files',
    'approve_payout_files',
    'manage_policy',
    'manage_alert_rules',
    'manage_users',
    'view_audit',
    'view_own_audit',
    'view_as_agents',
  ],
  operator: [
    'view',
    'act_on_orders',
    'resend_callbacks',
    'decide_payments',
    'adjust_wallets',
    'manage_agents',
    'manage_own_keys',
    'import_statements',
    'sign_off_days',
    'make_payout_files',
    'approve_payout_files',
    'view_audit',
    'view_own_audit',
    'view_as_agents',
  ],
  viewer: ['view'],
  agent: ['view', 'resend_callbacks', 'manage_own_keys', 'manage_alert_rules', 'view_own_audit'],
}

/** Where nobody has to be signed in. */
const open = [
  'GET /console/api/openapi.json',
  'POST /console/api/invitations/open',
  'POST /console/api/look-around',
  'POST /console/api/invitations/accept',
  'POST /console/api/sign-in',
  'POST /console/api/sign-in/passkey',
  'POST /console/api/sign-in/passkey/options',
  'GET /console/api/sign-in/sso',
  'POST /console/api/sign-in/sso/begin',
  'POST /console/api/sign-in/sso/return',
  'POST /console/api/sign-in/sso/prove',
]

let test: TestService
const clients = {} as Record<Role, OperatorClient>
let admin: OperatorClient

beforeAll(async () => {
  test = await startTestService()
  const agent = await test.agent()
  for (const role of ['admin', 'operator', 'viewer', 'agent'] as const) {
    clients[role] = await signIn(test, role, role === 'agent' ? agent : undefined)
  }
  admin = clients.admin
})
afterEach(() => test.prove())
afterAll(() => test.close())

interface Route {
  name: string
  method: string
  path: string
  permission: string | undefined
  agents: 'own' | 'none'
}

/** Every route of the console, from its own description, with something in place of each parameter. */
async function allRoutes(): Promise<Route[]> {
  const { json } = await admin.get('/openapi.json')
  return Object.entries<Record<string, Record<string, unknown>>>(json.paths).flatMap(
    ([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        name: `${method.toUpperCase()} ${path}`,
        method: method.toUpperCase(),
        path: path.replace('/console/api', '').replaceAll(/\{\w+\}/g, '1'),
        permission: operation['x-permission'] as string | undefined,
        agents: operation['x-agents'] as Route['agents'],
      })),
  )
}

/** What fastify itself serves, out of the tree that it prints. */
function servedPaths(): string[] {
  const above: string[] = []
  const tree = test.service.app.printRoutes({ commonPrefix: false })
  return tree.split('\n').flatMap((line) => {
    const [, indent = '', part = '', methods] = /^([│├└─ ]*)(\S+)(?: \((.+)\))?/.exec(line) ?? []
    const depth = indent.length / 4
    above.length = depth
    above[depth] = part
    return methods === undefined ? [] : [above.join('').replaceAll(/:(\w+)/g, '{$1}')]
  })
}

async function idOf(client: OperatorClient): Promise<string> {
  return (await client.get('/me')).json.user.id
}

describe('every route', () => {
  it('is described, and asks for a session unless it is one of the few that do not', async () => {
    const routes = await allRoutes()
    const described = new Set(routes.map(({ name }) => name.split(' ')[1]))
    const served = servedPaths().filter((path) => /^\/console\/api\/[^*]/.test(path))
    expect(new Set(served)).toEqual(described)
    const unguarded = routes.filter(({ permission }) => permission === undefined)
    expect(unguarded.map(({ name }) => name).sort()).toEqual([...open].sort())
  })

  it('refuses who is not signed in', async () => {
    for (const { name, method, path, permission } of await allRoutes()) {
      if (permission === undefined) continue
      const { status, json } = await admin.send(method, path, {}, { cookie: '' })
      expect({ name, status, code: json.code }).toEqual({
        name,
        status: 401,
        code: 'not_signed_in',
      })
    }
  })

  it.each(Object.keys(rules) as Role[])('lets %s in by the rules, and no further', async (role) => {
    for (const { name, method, path, permission, agents } of await allRoutes()) {
      if (permission === undefined) continue
      // So many refusals are more than one user gets at once.
      test.clock.advance(1_000)
      // A field that no route has: whoever is let in gets no further, and nothing is done.
      const { status, json } = await clients[role].send(method, path, { no_such_field: 1 })
      const asked = { name, role, status, code: json?.code }
      if (role === 'agent' && agents === 'none') {
        expect(asked).toEqual({ name, role, status: 404, code: 'not_found' })
        expect(json.detail).toContain('users of an agent')
      } else if (!rules[role].includes(permission)) {
        expect(asked).toEqual({ name, role, status: 403, code: 'not_permitted' })
      } else {
        expect(asked.code, name).not.toBeOneOf(['not_permitted', 'not_signed_in', 'csrf_refused'])
        expect(json?.detail ?? '', name).not.toContain('users of an agent')
        expect(status, name).toBeLessThan(500)
      }
    }
  })

  it('tells a user what they may do', async () => {
    for (const role of Object.keys(rules) as Role[]) {
      const { permissions } = (await clients[role].get('/me')).json
      expect([...permissions].sort()).toEqual([...(rules[role] ?? [])].sort())
    }
  })
})

describe('users', () => {
  it('who are disabled, demoted or reset are out at once', async () => {
    for (const change of [{ disabled: true }, { role: 'viewer' }, 'reset']) {
      const person = await signIn(test, 'operator')
      const id = await idOf(person)
      const answer =
        change === 'reset'
          ? await admin.post(`/users/${id}/reset`, { reason: 'lost the phone', code: admin.code() })
          : await admin.patch(`/users/${id}`, {
              ...Object(change),
              reason: 'has moved on',
              ...(Object(change).role && { code: admin.code() }),
            })
      expect(answer.status).toBe(200)
      expect((await person.get('/me')).json.code).toBe('not_signed_in')
      const { email, password } = person
      const back = await person.post('/sign-in', { email, password, code: person.code() })
      expect(back.status).toBe(Object(change).role ? 200 : 401)
    }
  })

  it('stay signed in through a change that changes nothing', async () => {
    const agent = await test.agent()
    const person = await signIn(test, 'agent', agent)
    const id = await idOf(person)
    for (const change of [
      { role: 'agent' },
      { app_id: agent.appId },
      { role: 'agent', app_id: agent.appId, disabled: false },
    ]) {
      const answer = await admin.patch(`/users/${id}`, {
        ...change,
        reason: 'pressed save',
        code: admin.code(),
      })
      expect(answer.status).toBe(200)
      expect((await person.get('/me')).status).toBe(200)
    }
  })

  it('are there once for an email address, and of an agent only with one', async () => {
    const { email } = clients.viewer
    const make = (user: object) => admin.post('/users', { ...user, code: admin.code() })
    const taken = await make({ email: email.toUpperCase(), role: 'viewer' })
    expect(taken.json).toMatchObject({ status: 422, errors: [{ field: 'email' }] })
    expect((await make({ email: 'new@sluice.example', role: 'viewer' })).status).toBe(201)
    const stray = await make({ email: 'x@sluice.example', role: 'agent' })
    expect(stray.json).toMatchObject({ status: 422, errors: [{ field: 'app_id' }] })
  })

  it('are made, changed and let in again only with a fresh code; to keep one out takes none', async () => {
    const id = await idOf(await signIn(test, 'viewer'))
    const reason = 'has moved on'
    const asked = [
      () => admin.post('/users', { email: 'sly@sluice.example', role: 'admin' }),
      () => admin.patch(`/users/${id}`, { role: 'admin', reason }),
      () => admin.post(`/users/${id}/reset`, { reason }),
      () => admin.patch(`/users/${id}`, { disabled: false, reason }),
    ]
    for (const ask of asked) expect((await ask()).json.code).toBe('code_required')
    expect((await admin.patch(`/users/${id}`, { disabled: true, reason })).status).toBe(200)
  })

  it('cannot be changed without a reason', async () => {
    const id = await idOf(clients.viewer)
    const refused = await admin.patch(`/users/${id}`, { disabled: true })
    expect(refused.json).toMatchObject({ status: 422, code: 'reason_required' })
    expect((await clients.viewer.get('/me')).status).toBe(200)
  })
})

describe('the last admin', () => {
  it('stays one, also when two take the role from each other at once', async () => {
    for (let round = 0; round < 5; round++) {
      const other = await signIn(test, 'admin')
      const [id, otherId] = [await idOf(admin), await idOf(other)]
      const reason = 'there can be only one'
      const answers = await Promise.all([
        admin.patch(`/users/${otherId}`, { role: 'viewer', reason, code: admin.code() }),
        other.patch(`/users/${id}`, { disabled: true, reason }),
      ])
      const codes = answers.map(({ status, json }) => (status === 200 ? 'done' : json.code))
      // The second is either told so, or was out by the first before it was done.
      expect(codes.filter((code) => code === 'done')).toHaveLength(1)
      expect(codes.find((code) => code !== 'done')).toBeOneOf([
        'last_admin',
        'not_signed_in',
        'code_refused',
      ])
      const { rows } = await test.sql(
        `select user_id from users where role = 'admin' and disabled_at is null`,
      )
      expect(rows).toHaveLength(1)
      if (answers[0]?.status !== 200) admin = other
    }
  })

  it('cannot disable, demote or reset themselves', async () => {
    const id = await idOf(admin)
    const reason = 'I am tired'
    for (const answer of [
      await admin.patch(`/users/${id}`, { disabled: true, reason }),
      await admin.patch(`/users/${id}`, { role: 'operator', reason, code: admin.code() }),
      await admin.post(`/users/${id}/reset`, { reason, code: admin.code() }),
    ]) {
      expect(answer.json).toMatchObject({ status: 409, code: 'last_admin' })
    }
    expect((await admin.get('/me')).status).toBe(200)
  })
})

describe('the audit log', () => {
  it('says who, when, from where, before, after and why', async () => {
    const person = await signIn(test, 'viewer')
    const id = await idOf(person)
    await admin.patch(`/users/${id}`, {
      role: 'operator',
      reason: 'takes over the desk',
      code: admin.code(),
    })
    const { data } = (await admin.get(`/audit?subject=user:${id}&action=change_user`)).json
    expect(data).toEqual([
      {
        id: expect.any(String),
        at: test.clock().toISOString(),
        asked_at: null,
        actor: {
          id: await idOf(admin),
          email: admin.email,
          role: 'admin',
          ip: expect.stringMatching(/^(::ffff:)?127\.0\.0\.1$/),
          session_id: expect.any(String),
        },
        action: 'change_user',
        subject: { kind: 'user', id },
        outcome: 'done',
        before: { email: person.email, role: 'viewer', agent_id: null, disabled: false },
        after: { email: person.email, role: 'operator', agent_id: null, disabled: false },
        reason: 'takes over the desk',
      },
    ])
  })

  it('shows the users of an agent what concerns it, and nothing of others or of why', async () => {
    const [own, other] = [await test.agent(), await test.agent()]
    const person = await signIn(test, 'agent', own)
    const stranger = await signIn(test, 'agent', other)
    const secret = 'as agreed with the other shop'
    for (const { appId } of [own, other]) {
      const { json } = await admin.get(`/agents/${appId}`)
      await admin.patch(`/agents/${appId}`, {
        updated_at: json.updated_at,
        ...{ name: 'New name', reason: secret, code: admin.code() },
      })
    }
    await admin.post(`/users/${await idOf(person)}/reset`, { reason: secret, code: admin.code() })
    await admin.get(
      `/wallets/${own.appId}/statement.csv?from=2020-01-01T00:00:00Z&to=2090-01-01T00:00:00Z`,
    )
    const colleague = await signIn(test, 'agent', own)
    await colleague.post(`/users`, {})
    const { json, text } = await colleague.get(`/agents/${own.appId}/audit`)
    for (const word of [secret, admin.email, stranger.email, other.appId, 'export_statement']) {
      expect(text).not.toContain(word)
    }
    type Shown = { action: string; by: { email: string } | null; outcome: string }
    const said = json.data.map(({ action, by, outcome }: Shown) => [action, by?.email, outcome])
    expect(said).toEqual([
      ['use_route', colleague.email, 'refused'],
      ['accept_invitation', colleague.email, 'done'],
      ['create_user', undefined, 'done'],
      ['reset_user', undefined, 'done'],
      ['change_agent', undefined, 'done'],
      ['accept_invitation', person.email, 'done'],
      ['create_user', undefined, 'done'],
    ])
    expect((await stranger.get(`/agents/${own.appId}/audit`)).status).toBe(404)
    expect((await clients.viewer.get(`/agents/${own.appId}/audit`)).status).toBe(403)
    const first = (await colleague.get(`/agents/${own.appId}/audit?limit=3`)).json
    const rest = await colleague.get(`/agents/${own.appId}/audit?cursor=${first.next}`)
    expect([...first.data, ...rest.json.data]).toEqual(json.data)
  })

  it('keeps nothing of what a stranger typed', async () => {
    const password = 'typed into the wrong field'
    const email = 'my-secret@typed.example'
    await admin.send('POST', '/sign-in', { email, password, code: '123456' }, { cookie: '' })
    const { rows } = await test.sql('select row_to_json(a)::text as row from audit_log a')
    const refused = rows.filter(({ row }) => row.includes('"outcome":"refused"'))
    expect(refused.length).toBeGreaterThan(0)
    for (const { row } of rows) {
      expect(row).not.toContain(email)
      expect(row).not.toContain(password)
    }
  })

  it('shows an action once, with when it was asked for; what was interrupted stays', async () => {
    const own = await test.agent()
    const subject = { kind: 'wallet', id: own.appId }
    const operator = { userId: null, email: 'command line', ip: null }
    const entry = { operator, action: 'adjust_wallet', subject, agentId: own.agentId }
    const askedAt = test.clock()
    // The first attempt was interrupted: the next row of it is another attempt.
    await writeAudit(test.backend.pool, { ...entry, at: askedAt, outcome: 'asked' })
    test.clock.advance(1_000)
    const againAt = test.clock()
    await writeAudit(test.backend.pool, { ...entry, at: againAt, outcome: 'asked' })
    test.clock.advance(1_000)
    await writeAudit(test.backend.pool, { ...entry, at: test.clock(), outcome: 'done' })
    const shown = async (more: string) =>
      (await admin.get(`/audit?subject=wallet:${own.appId}${more}`)).json.data.map(
        ({ outcome, asked_at }: { outcome: string; asked_at: string | null }) => [
          outcome,
          asked_at,
        ],
      )
    expect(await shown('')).toEqual([
      ['done', againAt.toISOString()],
      ['asked', null],
    ])
    expect((await shown('&steps=all')).map(([outcome]: string[]) => outcome)).toEqual([
      'done',
      'asked',
      'asked',
    ])
    const theirs = await signIn(test, 'agent', own)
    const { json } = await theirs.get(`/agents/${own.appId}/audit`)
    const adjusted = json.data.filter((row: { action: string }) => row.action === 'adjust_wallet')
    expect(adjusted.map((row: { outcome: string }) => row.outcome)).toEqual(['done', 'asked'])
  })

  it('is read page by page, by actor, action and time', async () => {
    const id = await idOf(admin)
    const all: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const more: string = cursor === '' ? '' : `&cursor=${cursor}`
      const { json } = await admin.get(`/audit?actor=${id}&steps=all&limit=2${more}`)
      expect(json.data.length).toBeLessThanOrEqual(2)
      all.push(...json.data.map((each: { id: string }) => each.id))
      cursor = json.next
    }
    const { rows } = await test.sql('select count(*)::int as n from audit_log where user_id = $1', [
      id,
    ])
    expect(all).toHaveLength(rows[0]?.n)
    expect(new Set(all).size).toBe(all.length)
    expect([...all].sort().reverse()).toEqual(all)
    const later = new Date(test.clock().getTime() + 60_000).toISOString()
    expect((await admin.get(`/audit?from=${later}`)).json.data).toEqual([])
    expect((await admin.get('/audit?actor=nobody@sluice.example')).json.data).toEqual([])
    expect((await admin.get('/audit?action=no_such_action')).status).toBe(422)
    expect((await admin.get('/audit?from=yesterday')).json.errors).toMatchObject([
      { field: 'from' },
    ])
  })

  it.each([
    'update audit_log set reason = null',
    'delete from audit_log',
    'truncate audit_log',
    'drop table audit_log',
    'alter table audit_log add note text',
  ])('refuses the service: %s', async (statement) => {
    await expect(test.backend.pool.query(statement)).rejects.toMatchObject({ code: '42501' })
  })
})
