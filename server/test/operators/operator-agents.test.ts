import { createServer, type Server } from 'node:http'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { freePort } from '../support/process.ts'
import { neverIdle } from '../support/receiver.ts'
import { AgentClient, startTestService, type TestService } from '../support/service.ts'

let test: TestService
let admin: OperatorClient
let operator: OperatorClient
let shop: AgentClient
let other: AgentClient
let ofShop: OperatorClient
let receiver: Server
let receiverUrl: string
const received: string[] = []

beforeAll(async () => {
  test = await startTestService({
    outside: {
      resolveHost: async (host) => {
        if (host === 'metadata.example') return ['169.254.169.254']
        if (host === 'shop.example') return ['127.0.0.1']
        throw new Error('no such name')
      },
    },
  })
  shop = await test.agent({ name: 'Shop', depositFee: '1%' })
  other = await test.agent({ name: 'Other' })
  admin = await signIn(test, 'admin')
  operator = await signIn(test, 'operator')
  ofShop = await signIn(test, 'agent', shop)
  receiver = createServer(neverIdle, (request, response) => {
    received.push(String(request.url))
    response.statusCode = request.url === '/gone' ? 404 : 401
    response.end('a page that is nobody else’s business')
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const address = receiver.address()
  receiverUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
})
afterEach(() => test.prove())
afterAll(async () => {
  receiver.close()
  await test.close()
})

async function updatedAt(appId: string): Promise<string> {
  return (await operator.get(`/agents/${appId}`)).json.updated_at
}

async function lastAudit(action: string) {
  return (await admin.get(`/audit?action=${action}&limit=1`)).json.data[0]
}

describe('agents', () => {
  it('are all there for an operator, and for users of an agent only their own', async () => {
    const names = async (client: OperatorClient) =>
      (await client.get('/agents')).json.data.map((each: { app_id: string }) => each.app_id)
    expect(await names(operator)).toEqual([shop.appId, other.appId])
    expect(await names(ofShop)).toEqual([shop.appId])
    expect((await ofShop.get(`/agents/${shop.appId}`)).json).toMatchObject({
      name: 'Shop',
      keys: [{ expires_at: null }],
    })
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['PUT', '/callback-addresses', { updated_at: '', reason: 'not mine', code: ofShop.code() }],
      ['POST', '/check-address', { url: receiverUrl }],
    ] as const) {
      const answer = await ofShop.send(method, `/agents/${other.appId}${path}`, body)
      expect(answer.json).toMatchObject({ status: 404, code: 'not_found' })
    }
    const code = ofShop.code()
    const keys = { overlap_s: 0, reason: 'not mine', code }
    expect((await ofShop.post(`/agents/${other.appId}/keys`, keys)).status).toBe(404)
    expect((await other.get('/payment/wallet')).status).toBe(200)
  })

  it('are made with a secret that is shown once and signs', async () => {
    const made = await operator.post('/agents', {
      code: operator.code(),
      name: 'Made here',
      currency: 'VND',
      deposit_fee: '2%',
      colour: '#0A7D4F',
    })
    expect(made.status).toBe(201)
    const { app_id, secret } = made.json
    const client = new AgentClient(test.service.url, app_id, secret, 0n, test.clock)
    expect((await client.get('/payment/wallet')).json.currency).toBe('VND')
    const shown = await operator.get(`/agents/${app_id}`)
    expect(shown.json).toMatchObject({ deposit_fee: '2%', colour: '#0a7d4f', logo: null })
    expect(shown.text).not.toContain(secret)
    const { rows } = await test.sql('select row_to_json(a)::text as row from audit_log a')
    for (const { row } of rows) expect(row).not.toContain(secret)
    const [audit, ...more] = (await admin.get('/audit?action=create_agent')).json.data
    expect(audit).toMatchObject({
      outcome: 'done',
      subject: { kind: 'agent', id: app_id },
      asked_at: expect.any(String),
      after: { app_id },
    })
    expect(more).toEqual([])
    const { rows: found } = await test.sql('select agent_id from agents where app_id = $1', [
      app_id,
    ])
    const owner = await signIn(test, 'agent', { agentId: found[0].agent_id })
    const own = (await owner.get(`/agents/${app_id}/audit`)).json.data
    expect(own.map(({ action }: { action: string }) => action)).toContain('create_agent')
  })

  it('are refused with everything that is wrong, as on the command line', async () => {
    const refused = await operator.post('/agents', {
      code: operator.code(),
      name: 'Bad',
      currency: 'THB',
      deposit_fee: '101%',
      min_deposit: 10,
      max_deposit: 9,
      allow_ip: ['localhost'],
      withdraw_callback: 'http://169.254.169.254/latest',
      logo: 'data:image/png;base64,AAAA',
    })
    expect(refused.status).toBe(422)
    const fields = refused.json.errors.map(({ field }: { field: string }) => field)
    expect(fields.sort()).toEqual(
      ['allow_ip', 'deposit_fee', 'logo', 'min_deposit', 'withdraw_callback'].sort(),
    )
  })

  it('are made in live only with a word on who may frame the payment page', async () => {
    const live = await startTestService({
      beside: test,
      env: { MODE: 'live', METRICS_TOKEN: 'x'.repeat(32) },
    })
    const boss = await signIn(live, 'admin')
    const second = await signIn(live, 'operator')
    const make = (frame_origin?: string[]) =>
      boss.post('/agents', { name: 'Framed', currency: 'THB', frame_origin, code: boss.code() })
    for (const [said, message] of [
      [undefined, 'say who may show the payment page in a frame'],
      [['any', 'https://shop.example'], 'any stands alone'],
      [['none', 'any'], 'stands alone'],
    ] as const) {
      const { status, json } = await make(said && [...said])
      expect(status).toBe(422)
      expect(json.errors[0]).toMatchObject({
        field: 'frame_origin',
        message: expect.stringContaining(message),
      })
    }
    for (const [said, kept] of [
      [['any'], ['any']],
      [['none'], []],
      [[], []],
      [['https://shop.example'], ['https://shop.example']],
    ] as const) {
      const { status, json } = await make([...said])
      expect(status).toBe(202)
      const { id, digest } = (await second.get(`/approvals/${json.proposal}`)).json
      await second.post(`/approvals/${id}/approve`, { digest, code: second.code() })
      const { answer } = (await boss.post(`/approvals/${id}/answer`, { code: boss.code() })).json
      expect((await boss.get(`/agents/${answer.app_id}`)).json.frame_origin).toEqual(kept)
    }
    await live.close()
  })

  it('are changed by one of two operators at once; the other is told', async () => {
    const read = await updatedAt(shop.appId)
    const change = (client: OperatorClient, support: string) =>
      client.patch(`/agents/${shop.appId}`, {
        support,
        updated_at: read,
        reason: 'as agreed',
        code: client.code(),
      })
    const answers = await Promise.all([change(admin, 'call one'), change(operator, 'call two')])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    expect(answers.find(({ status }) => status === 409)?.json.code).toBe('changed_meanwhile')
    const winner = answers.find(({ status }) => status === 200)?.json.support
    // Nor later, by who has not seen it yet.
    expect((await change(admin, 'call three')).json.code).toBe('changed_meanwhile')
    expect((await operator.get(`/agents/${shop.appId}`)).json.support).toBe(winner)
    expect(await lastAudit('change_agent')).toMatchObject({
      before: { support: null },
      after: { support: winner },
      reason: 'as agreed',
    })
  })

  it('that are suspended are kept out at once, and come back', async () => {
    const { appId } = other
    expect((await operator.post(`/agents/${appId}/suspend`)).json.code).toBe('reason_required')
    await operator.post(`/agents/${appId}/suspend`, { reason: 'does not pay' })
    expect((await other.deposit()).json.code).toBe('agent_suspended')
    await operator.post(`/agents/${appId}/resume`, { reason: 'has paid', code: operator.code() })
    expect((await other.deposit()).status).toBe(201)
  })
})

describe('the secret of an agent', () => {
  it('is rotated with a fresh code alone, and the old one lives for the overlap', async () => {
    const path = `/agents/${shop.appId}/keys`
    const body = { overlap_s: 60, reason: 'a new machine' }
    expect((await ofShop.post(path, body)).json.code).toBe('code_required')
    const code = ofShop.code()
    const rotated = await ofShop.post(path, { ...body, code })
    expect(rotated.status).toBe(201)
    expect((await ofShop.post(path, { ...body, code })).json.code).toBe('code_refused')
    const { secret } = rotated.json
    const renewed = new AgentClient(test.service.url, shop.appId, secret, shop.agentId, test.clock)
    expect((await renewed.get('/payment/wallet')).status).toBe(200)
    expect((await shop.get('/payment/wallet')).status).toBe(200)
    test.clock.advance(61_000)
    expect((await shop.get('/payment/wallet')).status).toBe(401)
    shop = renewed
  })
})

describe('callback addresses', () => {
  it('are said by users of the agent, and vetted', async () => {
    const put = async (url: string) =>
      ofShop.put(`/agents/${shop.appId}/callback-addresses`, {
        deposit_callback: url,
        updated_at: await updatedAt(shop.appId),
        reason: 'we have moved',
        code: ofShop.code(),
      })
    const bad = await put('http://169.254.169.254/')
    expect(bad.json).toMatchObject({ status: 422, errors: [{ field: 'deposit_callback' }] })
    expect((await put(receiverUrl)).json.deposit_callback).toBe(receiverUrl)
  })

  it('in private networks are neither taken nor tried by a sandbox that others reach', async () => {
    const reached = await startTestService({
      beside: test,
      env: { PUBLIC_URL: 'https://sandbox.example' },
    })
    const visitor = await signIn(reached, 'agent', shop)
    const path = `/agents/${shop.appId}`
    const tried = await visitor.post(`${path}/check-address`, { url: receiverUrl })
    expect(tried.json).toMatchObject({ ok: false, steps: [{ step: 'address', ok: false }] })
    const put = await visitor.put(`${path}/callback-addresses`, {
      deposit_callback: `${receiverUrl}/other`,
      updated_at: await updatedAt(shop.appId),
      reason: 'we have moved',
      code: visitor.code(),
    })
    expect(put.json).toMatchObject({ status: 422, errors: [{ field: 'deposit_callback' }] })
    await reached.close()
  })

  it('are tried for real, step by step', async () => {
    const check = async (url: string) =>
      (await ofShop.post(`/agents/${shop.appId}/check-address`, { url })).json
    const closed = `http://127.0.0.1:${await freePort()}`
    const port = new URL(receiverUrl).port
    const cases: [url: string, failsAt: string | undefined][] = [
      [`${receiverUrl}/cb`, undefined],
      [`http://shop.example:${port}/named`, undefined],
      [`${receiverUrl}/gone`, 'answer'],
      [`https://127.0.0.1:${port}/cb`, 'tls'],
      [closed, 'connection'],
      ['http://nowhere.example/cb', 'name'],
      ['http://metadata.example/cb', 'name'],
      ['http://169.254.169.254/latest', 'address'],
      ['ftp://shop.example', 'address'],
    ]
    for (const [url, failsAt] of cases) {
      const { ok, steps } = await check(url)
      const failed = steps.find((each: { ok: boolean }) => !each.ok)
      expect({ url, ok, failsAt: failed?.step, says: JSON.stringify(steps) }).toMatchObject({
        url,
        ok: failsAt === undefined,
        failsAt,
      })
      // What came back is not told: whoever can ask could otherwise read what only we can reach.
      expect(JSON.stringify(steps)).not.toContain('nobody else')
    }
    expect(received).toEqual(['/cb', '/named', '/gone'])
  })
})

describe('a preview of fees', () => {
  it("says what other fees would have come to on last month's orders", async () => {
    await shop.fund(1000)
    await shop.fund(500)
    await shop.deposit()
    const preview = await operator.post(`/agents/${shop.appId}/fee-preview`, {
      deposit_fee: '2%+1',
      withdraw_fee: '0%',
    })
    expect(preview.json).toMatchObject({
      currency: 'THB',
      complete: true,
      deposit: { orders: 2, amount: 1500, fees_now: 15, fees_then: 32 },
      withdraw: { orders: 0, amount: 0, fees_now: 0, fees_then: 0 },
    })
    const bad = await operator.post(`/agents/${shop.appId}/fee-preview`, {
      deposit_fee: 'two',
      withdraw_fee: '0%',
    })
    expect(bad.json.errors).toMatchObject([{ field: 'deposit_fee' }])
  })
})

describe('the signature check', () => {
  const body = '{"refId": "a", "amount": 1}'
  const path = '/payment/orders?limit=1'

  async function check(signature: string, more: Record<string, string> = {}) {
    const answer = await ofShop.post('/signature-check', {
      app_id: shop.appId,
      kind: 'request',
      method: 'POST',
      path,
      body,
      signature,
      ...more,
    })
    return answer.json
  }

  it('says that a right one is right, and never shows one that could be used', async () => {
    const signature = shop.sign('POST', path, body)
    const whole = signature.slice(-64)
    const right = await check(signature)
    expect(right).toMatchObject({ matches: true, says: 'The signature is right.' })
    expect(right.expected).toContain(whole.slice(0, 8))
    const wrong = await check(signature.slice(0, -64) + '0'.repeat(64))
    expect(wrong.matches).toBe(false)
    expect(JSON.stringify(wrong)).not.toContain(whole.slice(0, 16))
  })

  it.each([
    ['without its query', (client: AgentClient) => client.sign('POST', '/payment/orders', body)],
    ['sign it in capitals', (client: AgentClient) => client.sign('post', path, body)],
    ['body is not in what was signed', (client: AgentClient) => client.sign('POST', path, '')],
    [
      'parsed and written again',
      (client: AgentClient) => client.sign('POST', path, JSON.stringify(JSON.parse(body))),
    ],
    ['has no t=', () => 'v1=abc'],
    ['No secret here', (client: AgentClient) => client.sign('POST', path, body, 'another secret')],
  ])('finds the mistake: %s', async (says, sign) => {
    const verdict = await check(sign(shop))
    expect(verdict.matches).toBe(false)
    expect(verdict.says).toContain(says)
  })

  it('sees a clock that is off, and says nothing of another agent', async () => {
    const signature = shop.sign('POST', path, body)
    test.clock.advance(301_000)
    expect((await check(signature)).says).toContain('Set the clock')
    expect(await check(signature, { app_id: other.appId })).toMatchObject({ code: 'not_found' })
  })
})

describe('providers', () => {
  it('are switched by an admin, with a reason, and the log says from what', async () => {
    const { data } = (await operator.get('/providers')).json
    expect(data).toMatchObject([{ name: 'sandbox', state: 'on', deposits: true }])
    const path = '/providers/sandbox'
    expect((await admin.patch(path, { state: 'draining' })).json.code).toBe('reason_required')
    const reason = 'they said so'
    expect((await operator.patch(path, { state: 'draining', reason })).status).toBe(403)
    expect((await admin.patch(path, { state: 'draining', reason })).status).toBe(200)
    expect((await operator.get('/providers')).json.data[0].state).toBe('draining')
    expect(await lastAudit('set_provider')).toMatchObject({
      before: { state: 'on' },
      after: { state: 'draining' },
      reason,
    })
    await admin.patch(path, { state: 'on', reason, code: admin.code() })
    expect(
      (await admin.patch('/providers/nobody', { state: 'on', reason, code: admin.code() })).status,
    ).toBe(404)
  })

  it('have routes that one of two changes at once, and that are checked', async () => {
    const { version } = (await operator.get('/provider-routes')).json
    const route = {
      provider: 'sandbox',
      route: 'small',
      direction: 'deposit',
      currency: 'THB',
      banks: ['SCB'],
      min_amount: 1,
      max_amount: 1000,
      preference: 100,
      weight: 1,
    }
    const second = await signIn(test, 'admin')
    const put = (routes: object[], read = version, by = admin) =>
      by.put('/provider-routes', {
        version: read,
        routes,
        reason: 'spread the load',
        code: by.code(),
      })
    const bad = await put([
      { ...route, banks: ['NOPE'] },
      { ...route, provider: 'nobody' },
      { ...route, banks: [] },
      { ...route, route: 'Large One' },
      { ...route, route: 'upside-down', min_amount: 9, max_amount: 8 },
    ])
    expect(bad.json.errors.map(({ field }: { field: string }) => field)).toEqual([
      'routes[0].banks',
      'routes[1].provider',
      'routes[2].route',
      'routes[3].route',
      'routes[4].max_amount',
    ])
    const misshapen = await put([route, { ...route, min_amount: 0, weight: 'much' }])
    expect(misshapen.json.errors).toEqual([
      { field: 'routes[1].min_amount', message: expect.stringContaining('a whole number from 1') },
      { field: 'routes[1].weight', message: 'must be a whole number from 1 to 1000' },
    ])
    const answers = await Promise.all([
      put([route]),
      put([{ ...route, route: 'large', min_amount: 1000, max_amount: 5000 }], version, second),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    const { routes, version: next } = (await operator.get('/provider-routes')).json
    expect(routes).toHaveLength(1)
    expect((await put([], next)).json.routes).toEqual([])
  })

  it('are tried with an order before they hold, which changes nothing', async () => {
    const route = {
      provider: 'sandbox',
      route: 'small',
      direction: 'deposit',
      currency: 'THB',
      banks: ['SCB'],
      min_amount: 1,
      max_amount: 1000,
      preference: 7,
      weight: 3,
    }
    const order = { direction: 'deposit', currency: 'THB', bank_code: 'SCB', amount: 1000 }
    const attempt = async (more: object, routes: object[] = [route]) =>
      (await operator.post('/provider-routes/try', { routes, ...order, ...more })).json
    expect((await attempt({})).data).toEqual([
      { provider: 'sandbox', route: 'small', preference: 7, share: 1 },
    ])
    expect((await attempt({ amount: 1001 })).data).toEqual([])
    expect((await attempt({ bank_code: 'KBANK' })).data).toEqual([])
    expect((await attempt({}, [])).data).toMatchObject([{ provider: 'sandbox', route: null }])
    expect((await attempt({}, [{ ...route, weight: 0 }])).errors).toMatchObject([
      { field: 'routes[0].weight' },
    ])
    expect((await operator.get('/provider-routes')).json.routes).toEqual([])
    const { data } = (await operator.get('/banks')).json
    expect(data).toContainEqual(expect.objectContaining({ currency: 'THB', code: 'SCB' }))
    expect(data).toContainEqual(expect.objectContaining({ currency: 'VND', code: 'VCB' }))
  })
})

it('settings are shown without a secret', async () => {
  const { text, json } = await operator.get('/settings')
  expect(json.settings).toMatchObject({ mode: 'sandbox', database: 'external', secret_key: 'set' })
  expect(json.session).toEqual({ idle_limit_s: 1800, absolute_limit_s: 43_200 })
  expect(text).not.toContain(Buffer.alloc(32, 7).toString('base64'))
  expect(text).not.toContain('postgres')
})
