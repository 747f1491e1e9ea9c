import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { AgentFinder, callbackSecrets } from '../../src/agents/agent-finder.ts'
import { createSecret, revokeSecret, type SecretScope } from '../../src/agents/agent-secrets.ts'
import { listKeys } from '../../src/agents/find-agent.ts'
import { rotateKey } from '../../src/agents/save-agent.ts'
import { inTransaction } from '../../src/db/in-transaction.ts'
import { sendRaw } from '../support/raw-http.ts'
import { AgentClient, type Answer, startTestService, type TestService } from '../support/service.ts'

let s: TestService
beforeAll(async () => {
  s = await startTestService()
})
afterAll(async () => {
  await s.prove()
  await s.close()
})

const seconds = (at: Date) => Math.floor(at.getTime() / 1000)
const hmac = (secret: string, text: string) =>
  createHmac('sha256', secret).update(text).digest('hex')

/** What an answer says, without what differs from request to request. */
const said = ({ status, json }: Answer) => [status, json?.code ?? 'none']

async function suspend(agent: AgentClient): Promise<void> {
  await s.sql(`update agents set status = 'suspended' where agent_id = $1`, [agent.agentId])
}

describe('what is signed', () => {
  test("a deposit's signature does not open withdraw", async () => {
    const agent = await s.agent()
    await agent.fund(500)
    const body = JSON.stringify(agent.order())
    const signed = { 'x-signature': agent.sign('POST', '/payment/deposit', body) }
    const elsewhere = await agent.send('POST', '/payment/withdraw', body, signed)
    expect(said(elsewhere)).toEqual([401, 'invalid_signature'])
    const there = await agent.send('POST', '/payment/deposit', body, signed)
    expect(there.status).toBe(201)
    expect(await agent.balance()).toBe(500)
  })

  test("a callback's signature opens nothing", async () => {
    const agent = await s.agent()
    const t = seconds(s.clock())
    const body = JSON.stringify(agent.order())
    for (const [method, path, sent] of [
      ['POST', '/payment/deposit', body],
      ['POST', '/payment/withdraw', body],
      ['GET', '/payment/wallet', undefined],
    ] as const) {
      const answer = await agent.send(method, path, sent, {
        'x-signature': `t=${t},v1=${hmac(agent.secret, `${t}.${sent ?? ''}`)}`,
      })
      expect(said(answer)).toEqual([401, 'invalid_signature'])
    }
  })

  test.each([
    ['another query', '/payment/orders?limit=2', 401],
    ['no query', '/payment/orders', 401],
    ['the query in another order', '/payment/orders?kind=deposit&limit=1', 401],
    ['the query decoded', '/payment/orders?limit=1&kind=%64eposit', 401],
    ['the query as sent', '/payment/orders?limit=1&kind=deposit', 200],
  ])('a signature over %s: %s is answered %i', async (_what, signedPath, status) => {
    const agent = await s.agent()
    const answer = await agent.send('GET', '/payment/orders?limit=1&kind=deposit', undefined, {
      'x-signature': agent.sign('GET', signedPath),
    })
    expect(answer.status).toBe(status)
  })

  test('an escape in the path is signed as it is sent', async () => {
    const agent = await s.agent()
    const { json } = await agent.deposit()
    const escaped = `/payment/orders/%3${json.txn_id[0]}${json.txn_id.slice(1)}`
    expect((await agent.get(escaped)).status).toBe(200)
    const answer = await agent.send('GET', escaped, undefined, {
      'x-signature': agent.sign('GET', `/payment/orders/${json.txn_id}`),
    })
    expect(said(answer)).toEqual([401, 'invalid_signature'])
  })

  test.each([
    [
      'another method',
      (agent: AgentClient, body: string) => agent.sign('PUT', '/payment/deposit', body),
    ],
    [
      'the method in lower case',
      (agent: AgentClient, body: string) => agent.sign('post', '/payment/deposit', body),
    ],
    [
      'the body without its last byte',
      (agent: AgentClient, body: string) =>
        agent.sign('POST', '/payment/deposit', body.slice(0, -1)),
    ],
    [
      'the body with a space more',
      (agent: AgentClient, body: string) => agent.sign('POST', '/payment/deposit', `${body} `),
    ],
    ['no body', (agent: AgentClient) => agent.sign('POST', '/payment/deposit')],
    [
      'the whole address',
      (agent: AgentClient, body: string) =>
        agent.sign('POST', `${agent.url}/payment/deposit`, body),
    ],
    [
      'a slash at the end',
      (agent: AgentClient, body: string) => agent.sign('POST', '/payment/deposit/', body),
    ],
  ])('a signature over %s is refused', async (_what, sign) => {
    const agent = await s.agent()
    const body = JSON.stringify(agent.order())
    const answer = await agent.send('POST', '/payment/deposit', body, {
      'x-signature': sign(agent, body),
    })
    expect(said(answer)).toEqual([401, 'invalid_signature'])
  })

  test('the bytes of the body are signed, not what they mean', async () => {
    const agent = await s.agent()
    const body = ` ${JSON.stringify(agent.order({ accountName: 'สมชาย 😀' }), null, 3)}\n`
    expect((await agent.send('POST', '/payment/deposit', body)).status).toBe(201)
  })
})

describe('the header', () => {
  const good = (agent: AgentClient, path = '/payment/wallet') => {
    const header = agent.sign('GET', path)
    const [t = '', v1 = ''] = header.split(',')
    return { t, v1, wrong: `v1=${'0'.repeat(64)}` }
  }
  type Good = ReturnType<typeof good>

  test.each<[string, (parts: Good) => string, number]>([
    ['one right signature', ({ t, v1 }) => `${t},${v1}`, 200],
    ['the time last', ({ t, v1 }) => `${v1},${t}`, 200],
    ['a right one after a wrong one', ({ t, v1, wrong }) => `${t},${wrong},${v1}`, 200],
    [
      'the right one as the fourth',
      ({ t, v1, wrong }) => `${t},${wrong},${wrong},${wrong},${v1}`,
      200,
    ],
    ['two right ones', ({ t, v1 }) => `${t},${v1},${v1}`, 200],
    ['a wrong one alone', ({ t, wrong }) => `${t},${wrong}`, 401],
    [
      'five signatures, one of them right',
      ({ t, v1, wrong }) => `${t},${v1}${`,${wrong}`.repeat(4)}`,
      401,
    ],
    ['the time twice', ({ t, v1 }) => `${t},${t},${v1}`, 401],
    ['two different times', ({ t, v1 }) => `t=1,${t},${v1}`, 401],
    ['no time', ({ v1 }) => v1, 401],
    ['no signature', ({ t }) => t, 401],
    ['more than 512 bytes', ({ t, v1 }) => `${t},${v1},v0=${'0'.repeat(512)}`, 401],
    ['upper-case hex', ({ t, v1 }) => `${t},v1=${v1.slice(3).toUpperCase()}`, 401],
    ['a space after the comma', ({ t, v1 }) => `${t}, ${v1}`, 401],
    ['a space around the equals sign', ({ t, v1 }) => `${t},v1= ${v1.slice(3)}`, 401],
    ['another version alone', ({ t, v1 }) => `${t},v2=${v1.slice(3)}`, 401],
    ['a version nobody knows beside v1', ({ t, v1 }) => `${t},${v1},v2=00`, 401],
    ['a signature that is cut short', ({ t, v1 }) => `${t},${v1.slice(0, -2)}`, 401],
    ['a signature that goes on', ({ t, v1 }) => `${t},${v1}00`, 401],
    ['an empty signature', ({ t }) => `${t},v1=`, 401],
    ['the bare signature', ({ v1 }) => v1.slice(3), 401],
    ['semicolons', ({ t, v1 }) => `${t};${v1}`, 401],
    ['a comma at its end', ({ t, v1 }) => `${t},${v1},`, 401],
    ['a time with a fraction', ({ t, v1 }) => `${t}.0,${v1}`, 401],
    ['a time in milliseconds', ({ t, v1 }) => `${t}000,${v1}`, 401],
    ['a time with a plus sign', ({ t, v1 }) => `t=+${t.slice(2)},${v1}`, 401],
    ['nothing', () => '', 401],
  ])('with %s', async (_what, header, status) => {
    const agent = await s.agent()
    const answer = await agent.send('GET', '/payment/wallet', undefined, {
      'x-signature': header(good(agent)),
    })
    expect(answer.status).toBe(status)
    if (status === 401) expect(answer.json.code).toBe('invalid_signature')
  })

  test.each<[string, (agent: AgentClient, signature: string) => [string, string][]]>([
    ['neither header', () => []],
    ['no signature', (agent) => [['x-appid', agent.appId]]],
    ['no app id', (_agent, signature) => [['x-signature', signature]]],
    [
      'an empty app id',
      (_agent, signature) => [
        ['x-appid', ''],
        ['x-signature', signature],
      ],
    ],
    [
      'an app id without end',
      (_agent, signature) => [
        ['x-appid', 'a'.repeat(5000)],
        ['x-signature', signature],
      ],
    ],
    [
      'an app id in upper case',
      (agent, signature) => [
        ['x-appid', agent.appId.toUpperCase()],
        ['x-signature', signature],
      ],
    ],
    [
      'an app id in bytes that are no text',
      (_agent, signature) => [
        ['x-appid', 'app_é\u0080'],
        ['x-signature', signature],
      ],
    ],
    [
      'two app ids',
      (agent, signature) => [
        ['x-appid', agent.appId],
        ['x-appid', agent.appId],
        ['x-signature', signature],
      ],
    ],
    [
      'two signature headers',
      (agent, signature) => [
        ['x-appid', agent.appId],
        ['x-signature', signature],
        ['x-signature', signature],
      ],
    ],
    [
      'a bearer token',
      (agent) => [
        ['x-appid', agent.appId],
        ['authorization', `Bearer ${agent.secret}`],
      ],
    ],
  ])('a request with %s is refused', async (_what, headers) => {
    const agent = await s.agent()
    const answer = await sendRaw(s.service.url, {
      path: '/payment/wallet',
      headers: headers(agent, agent.sign('GET', '/payment/wallet')),
    })
    expect(said(answer)).toEqual([401, 'invalid_signature'])
  })

  test('an unknown app id and a wrong secret are answered with the same bytes', async () => {
    const agent = await s.agent()
    const stranger = new AgentClient(s.service.url, 'app_nobody', 'sk_x', 0n, s.clock)
    const liar = new AgentClient(s.service.url, agent.appId, 'sk_x', 0n, s.clock)
    const [unknown, wrong] = [await stranger.deposit(), await liar.deposit()]
    const bytes = (answer: Answer) => answer.text.replace(answer.json.request_id, '')
    expect(bytes(unknown)).toBe(bytes(wrong))
    expect(unknown.status).toBe(wrong.status)
    const names = (answer: Answer) => [...answer.headers.keys()].toSorted()
    expect(names(unknown)).toEqual(names(wrong))
    expect(unknown.text).not.toContain('app_nobody')
  })

  test("an agent's secret does not open another agent's wallet", async () => {
    const [one, other] = [await s.agent(), await s.agent()]
    const thief = new AgentClient(s.service.url, one.appId, other.secret, one.agentId, s.clock)
    expect(said(await thief.get('/payment/wallet'))).toEqual([401, 'invalid_signature'])
  })
})

describe('the clock', () => {
  test.each([
    [0, 200],
    [-300, 200],
    [300, 200],
    [-301, 401],
    [301, 401],
    [-86_400, 401],
    [31_536_000, 401],
  ])('a signature of %i seconds from now is answered %i', async (offS, status) => {
    const agent = await s.agent()
    // Late in a second, so that a whole second counts as one however it is cut.
    s.clock.advance(900 - (s.clock().getTime() % 1000))
    const t = seconds(s.clock()) + offS
    const answer = await agent.send('GET', '/payment/wallet', undefined, {
      'x-signature': `t=${t},v1=${hmac(agent.secret, `${t}.GET /payment/wallet.`)}`,
    })
    expect(answer.status).toBe(status)
    if (status === 401) {
      expect(answer.json.code).toBe('stale_signature')
      expect(answer.json.detail).toContain(String(seconds(s.clock())))
    }
  })
})

describe('PUBLIC_URL with a path', () => {
  test.each(['/base/v1', '/payment'])('%s is part of what is signed', async (prefix) => {
    const at = await startTestService({
      beside: s,
      env: { PUBLIC_URL: `https://pay.example${prefix}/` },
    })
    try {
      const agent = await at.agent()
      const body = JSON.stringify(agent.order())
      const knock = (sentTo: string, signedFor: string) =>
        agent.send('POST', sentTo, body, { 'x-signature': agent.sign('POST', signedFor, body) })
      const [bare, full] = ['/payment/deposit', `${prefix}/payment/deposit`]
      // A proxy may take the prefix away or leave it; the agent cannot know and signs it always.
      const kept = await knock(full, full)
      expect(kept.status).toBe(201)
      expect(kept.json.link).toMatch(new RegExp(`^https://pay\\.example${prefix}/pay/`))
      expect((await knock(bare, full)).status).toBe(200)
      expect(said(await knock(full, bare))).toEqual([401, 'invalid_signature'])
      expect(said(await knock(bare, bare))).toEqual([401, 'invalid_signature'])
    } finally {
      await at.close()
    }
  })
})

describe('keys', () => {
  const holding = (agent: AgentClient, secret: string) =>
    new AgentClient(s.service.url, agent.appId, secret, agent.agentId, s.clock)
  const rotate = async (agent: AgentClient, overlapS: number) => {
    s.clock.advance(1000)
    const { pool, secretKeys } = s.backend
    return holding(agent, await rotateKey(pool, secretKeys, agent.agentId, overlapS, s.clock()))
  }
  const opens = async (agent: AgentClient) => (await agent.get('/payment/wallet')).status === 200
  const patience = { timeout: 120_000 }
  const keysOf = (agent: AgentClient) => listKeys(s.backend.pool, agent.agentId, s.clock())

  test('after a rotation both secrets are good until the overlap ends', async () => {
    const old = await s.agent()
    const fresh = await rotate(old, 86_400)
    expect([await opens(old), await opens(fresh)]).toEqual([true, true])
    s.clock.advance(86_399_999)
    expect([await opens(old), await opens(fresh)]).toEqual([true, true])
    s.clock.advance(1)
    expect([await opens(old), await opens(fresh)]).toEqual([false, true])
  })

  test('a request may be signed with both', async () => {
    const old = await s.agent()
    const fresh = await rotate(old, 86_400)
    const path = '/payment/wallet'
    const both = `${old.sign('GET', path)},${fresh.sign('GET', path).split(',')[1]}`
    expect((await old.send('GET', path, undefined, { 'x-signature': both })).status).toBe(200)
  })

  test('without an overlap the old secret is refused at once', async () => {
    const old = await s.agent()
    const fresh = await rotate(old, 0)
    expect([await opens(old), await opens(fresh)]).toEqual([false, true])
    expect(said(await old.get('/payment/wallet'))).toEqual([401, 'invalid_signature'])
  })

  test('there are never more than two live secrets', async () => {
    const first = await s.agent()
    const holders = [first]
    for (let count = 0; count < 4; count++) {
      holders.push(await rotate(first, 86_400))
      const good = await Promise.all(holders.map(opens))
      expect(good).toEqual(holders.map((_, at) => at >= holders.length - 2))
      expect(await keysOf(first)).toHaveLength(2)
    }
  })

  test('a further rotation ends the oldest secret, and the one before it has its own overlap', async () => {
    const first = await s.agent()
    const second = await rotate(first, 86_400)
    const third = await rotate(first, 86_400)
    const fourth = await rotate(first, 10)
    expect(await Promise.all([first, second, third, fourth].map(opens))).toEqual([
      false,
      false,
      true,
      true,
    ])
    s.clock.advance(10_000)
    expect([await opens(third), await opens(fourth)]).toEqual([false, true])
    expect(await keysOf(first)).toHaveLength(1)
  })

  test('the last use of each secret is recorded', async () => {
    const old = await s.agent()
    const fresh = await rotate(old, 86_400)
    expect((await keysOf(old)).map((key) => key.lastUsedAt)).toEqual([null, null])
    await opens(fresh)
    const usedAt = s.clock()
    await vi.waitFor(async () => {
      expect((await keysOf(old)).map((key) => key.lastUsedAt)).toEqual([usedAt, null])
    }, patience)
    s.clock.advance(60_000)
    await opens(old)
    await vi.waitFor(async () => {
      expect((await keysOf(old)).map((key) => key.lastUsedAt)).toEqual([usedAt, s.clock()])
    }, patience)
  })

  test('the first use of a new secret is recorded at once, though its slot was just in use', async () => {
    const first = await s.agent()
    await opens(first)
    await rotate(first, 86_400)
    const third = await rotate(first, 86_400)
    await opens(third)
    await vi.waitFor(async () => {
      expect((await keysOf(first)).map((key) => key.lastUsedAt)).toEqual([s.clock(), null])
    }, patience)
  })

  test('a refused request is no use of a secret', async () => {
    const agent = await s.agent()
    const t = seconds(s.clock()) - 301
    await agent.send('GET', '/payment/wallet', undefined, {
      'x-signature': `t=${t},v1=${hmac(agent.secret, `${t}.GET /payment/wallet.`)}`,
    })
    await holding(agent, 'sk_wrong').get('/payment/wallet')
    expect((await keysOf(agent)).map((key) => key.lastUsedAt)).toEqual([null])
  })
})

describe('secrets with scopes', () => {
  const make = (agent: AgentClient, scopes: SecretScope[], allowedIps: string[] = []) =>
    createSecret(
      s.backend.pool,
      s.backend.secretKeys,
      agent.agentId,
      { name: 'a test', scopes, allowedIps, createdBy: 'a test' },
      s.clock(),
    )
  const withSecret = (agent: AgentClient, secret: string) =>
    new AgentClient(s.service.url, agent.appId, secret, agent.agentId, s.clock)

  test('each does what it may, and nothing else; the first secret does everything', async () => {
    const agent = await s.agent()
    await agent.fund(500)
    const waiting = (await agent.deposit()).json.txn_id
    const paid = (await agent.deposit({ amount: 50 })).json.txn_id
    await agent.trigger(paid, 'PAID')
    const payout = (await agent.withdraw({ amount: 10 })).json.txn_id
    expect((await agent.post(`/payment/orders/${payout}/cancel`)).status).toBe(200)
    const tries: Record<string, (client: AgentClient) => Promise<Answer>> = {
      deposit: (client) => client.deposit(),
      withdraw: (client) => client.withdraw({ amount: 10 }),
      refund: (client) =>
        client.post(`/payment/orders/${paid}/refund`, {
          refId: `refund-${Math.random()}`,
          amount: 1,
          timestamp: s.clock().toISOString(),
        }),
      wallet: (client) => client.get('/payment/wallet'),
      reserve: (client) => client.get('/payment/wallet/reserve'),
      order: (client) => client.get(`/payment/orders/${waiting}`),
      cancel: (client) => client.post(`/payment/orders/${waiting}/cancel`),
      'cancel payout': (client) => client.post(`/payment/orders/${payout}/cancel`),
    }
    const may: [SecretScope[], string[]][] = [
      [['deposit'], ['deposit', 'cancel']],
      [['withdraw'], ['withdraw', 'refund', 'cancel payout']],
      [['read'], ['wallet', 'reserve', 'order']],
      [
        ['read', 'deposit'],
        ['deposit', 'wallet', 'reserve', 'order', 'cancel'],
      ],
    ]
    for (const [scopes, allowed] of may) {
      const client = withSecret(agent, (await make(agent, scopes)).secret)
      for (const [name, send] of Object.entries(tries)) {
        const answer = await send(client)
        const isFree = allowed.includes(name)
        if (isFree) expect(answer.status, `${scopes} ${name}`).toBeLessThan(300)
        else expect(said(answer), `${scopes} ${name}`).toEqual([403, 'scope_missing'])
      }
    }
    const callback = withSecret(agent, (await make(agent, ['callback'])).secret)
    for (const send of Object.values(tries)) {
      expect(said(await send(callback))).toEqual([401, 'invalid_signature'])
    }
    for (const send of Object.values(tries)) expect((await send(agent)).status).toBeLessThan(300)
  })

  test('one that is revoked ends at once', async () => {
    const agent = await s.agent()
    const { secret, n } = await make(agent, ['read'])
    const client = withSecret(agent, secret)
    expect((await client.get('/payment/wallet')).status).toBe(200)
    const revoked = await inTransaction(s.backend.pool, (tx) =>
      revokeSecret(tx, agent.agentId, n, s.clock()),
    )
    expect(revoked).toBe(true)
    expect(said(await client.get('/payment/wallet'))).toEqual([401, 'invalid_signature'])
  })

  test('addresses may be required of a secret, or of all withdrawals', async () => {
    const agent = await s.agent()
    await agent.fund(100)
    const away = withSecret(agent, (await make(agent, ['read'], ['192.0.2.0/24'])).secret)
    expect(said(await away.get('/payment/wallet'))).toEqual([403, 'ip_not_allowed'])
    const here = withSecret(agent, (await make(agent, ['read'], ['127.0.0.1', '::1'])).secret)
    expect((await here.get('/payment/wallet')).status).toBe(200)
    await s.sql(`update agents set withdraw_ips = '{192.0.2.1}' where agent_id = $1`, [
      agent.agentId,
    ])
    expect(said(await agent.withdraw({ amount: 10 }))).toEqual([403, 'ip_not_allowed'])
    expect((await agent.deposit()).status).toBe(201)
  })

  test('a first use from a strange address raises an alarm, once; the first of the agent does not', async () => {
    const agent = await s.agent({ name: 'Moved' })
    const alarms = async () =>
      (await s.sql(`select words from alarms where raised_by = $1`, [`agent ${agent.appId}`])).rows
    const seen = async () =>
      (await s.sql('select 1 from secret_addresses where agent_id = $1', [agent.agentId])).rowCount
    await agent.get('/payment/wallet')
    await expect.poll(seen).toBe(1)
    expect(await alarms()).toEqual([])
    // As if it had been used elsewhere before.
    await s.sql(`update secret_addresses set address = '192.0.2.7' where agent_id = $1`, [
      agent.agentId,
    ])
    const second = await startTestService({ beside: s })
    const moved = new AgentClient(
      second.service.url,
      agent.appId,
      agent.secret,
      agent.agentId,
      s.clock,
    )
    for (let n = 0; n < 3; n++) await moved.get('/payment/wallet')
    await expect
      .poll(alarms)
      .toEqual([
        { words: expect.stringMatching(/^The secret of Moved was used from a new address: .*127/) },
      ])
    // A new secret that a stranger uses first says so; from where its agent came before it does not.
    const familiar = withSecret(moved, (await make(agent, ['read'])).secret)
    await familiar.get('/payment/wallet')
    await expect.poll(seen).toBe(3)
    expect((await alarms()).length).toBe(1)
    await s.sql(`delete from secret_addresses where agent_id = $1 and address <> '192.0.2.7'`, [
      agent.agentId,
    ])
    const stolen = withSecret(moved, (await make(agent, ['read'])).secret)
    await stolen.get('/payment/wallet')
    await expect.poll(async () => (await alarms()).length).toBe(2)
    await second.close()
  })

  test('callbacks are signed with a secret of their own, if there is one', async () => {
    const agent = await s.agent()
    const found = async () => {
      const finder = new AgentFinder(s.backend.pool, s.backend.secretKeys, s.clock, () => {})
      const one = await finder.find(agent.appId)
      return one ? callbackSecrets(one) : []
    }
    expect(await found()).toEqual([agent.secret])
    const { secret } = await make(agent, ['callback'])
    expect(await found()).toEqual([secret])
  })
})

describe('a suspended agent', () => {
  test('cannot create, but repeats, reads and settlement go on', async () => {
    const agent = await s.agent()
    await agent.fund(500)
    const [deposit, withdraw] = [agent.order(), agent.order()]
    const path = { deposit: '/payment/deposit', withdraw: '/payment/withdraw' }
    const first = {
      deposit: await agent.post(path.deposit, deposit),
      withdraw: await agent.post(path.withdraw, withdraw),
    }
    await suspend(agent)

    expect(said(await agent.deposit())).toEqual([403, 'agent_suspended'])
    expect(said(await agent.withdraw())).toEqual([403, 'agent_suspended'])
    for (const [kind, order] of [
      ['deposit', deposit],
      ['withdraw', withdraw],
    ] as const) {
      const again = await agent.post(path[kind], order)
      expect([again.status, again.text]).toEqual([200, first[kind].text])
      expect(again.headers.get('idempotent-replayed')).toBe('true')
      const conflict = await agent.post(path[kind], { ...order, amount: 99 })
      expect(said(conflict)).toEqual([409, 'ref_id_conflict'])
    }
    for (const read of [
      '/payment/wallet',
      '/payment/wallet/reserve',
      '/payment/wallet/entries',
      '/payment/events',
      '/payment/banks',
      '/payment/orders',
      `/payment/orders/${first.deposit.json.txn_id}`,
      `/payment/orders?refId=${deposit.refId}`,
    ]) {
      expect((await agent.get(read)).status).toBe(200)
    }
    expect((await agent.trigger(first.deposit.json.txn_id, 'PAID')).json.status).toBe('PAID')
    expect(await agent.balance()).toBe(500)
  })
})

describe('addresses', () => {
  const from = (agent: AgentClient, url: string, forwarded?: string) =>
    sendRaw(url, {
      path: '/payment/wallet',
      headers: [
        ['x-appid', agent.appId],
        ['x-signature', agent.sign('GET', '/payment/wallet')],
        ...(forwarded === undefined
          ? []
          : ([['x-forwarded-for', forwarded]] as [string, string][])),
      ],
    })

  test.each([
    [[], [200, 'none']],
    [['127.0.0.1'], [200, 'none']],
    [
      ['203.0.113.0/24', '127.0.0.0/8'],
      [200, 'none'],
    ],
    [['203.0.113.0/24'], [403, 'ip_not_allowed']],
    [['::1'], [403, 'ip_not_allowed']],
  ])('an agent that allows %j is answered %j here', async (allowedIps, expected) => {
    const agent = await s.agent({ allowedIps })
    expect(said(await from(agent, s.service.url))).toEqual(expected)
  })

  test('an address that is not allowed is refused for reads and orders alike', async () => {
    const agent = await s.agent({ allowedIps: ['203.0.113.7'] })
    expect(said(await agent.deposit())).toEqual([403, 'ip_not_allowed'])
    expect(said(await agent.trigger('1-00', 'PAID'))).toEqual([403, 'ip_not_allowed'])
  })

  test.each([
    ['nobody', undefined, '203.0.113.7', 403],
    ['another proxy', '10.0.0.0/8', '203.0.113.7', 403],
    ['this proxy', '127.0.0.0/8', '203.0.113.7', 200],
    ['this proxy, by its address', '127.0.0.1', '203.0.113.7', 200],
    ['this proxy, which forwards nothing', '127.0.0.0/8', undefined, 403],
    ['this proxy, for a stranger', '127.0.0.0/8', '198.51.100.1', 403],
    ['this proxy, behind a stranger who lies', '127.0.0.0/8', '203.0.113.7, 198.51.100.1', 403],
    ['two proxies in a row', '127.0.0.0/8,10.0.0.0/8', '203.0.113.7, 10.1.1.1', 200],
    ['this proxy, which forwards no address', '127.0.0.0/8', 'unknown', 403],
  ])(
    'with trust in %s (%s), a request forwarded for %s is answered %i',
    async (_who, proxies, forwarded, status) => {
      const at = await startTestService({
        beside: s,
        env: proxies === undefined ? {} : { TRUSTED_PROXIES: proxies },
      })
      try {
        const agent = await at.agent({ allowedIps: ['203.0.113.7'] })
        expect((await from(agent, at.service.url, forwarded)).status).toBe(status)
      } finally {
        await at.close()
      }
    },
  )
})

describe('rates', () => {
  const limits = ({ headers }: Answer) => [
    headers.get('ratelimit-limit'),
    headers.get('ratelimit-remaining'),
    headers.get('ratelimit-reset'),
  ]
  const times = async (count: number, ask: () => Promise<Answer>) => {
    const answers: Answer[] = []
    while (answers.length < count) answers.push(await ask())
    return answers
  }

  test('an agent that asks too often is told so, and when to come again', async () => {
    const agent = await s.agent({ rateLimit: 2 })
    const answers = await times(6, () => agent.get('/payment/wallet'))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 429, 429])
    expect(answers.map(limits)).toEqual([
      ['2', '3', '1'],
      ['2', '2', '1'],
      ['2', '1', '2'],
      ['2', '0', '2'],
      ['2', '0', '2'],
      ['2', '0', '2'],
    ])
    expect(answers[5]?.json.code).toBe('rate_limited')
    expect(answers[5]?.headers.get('retry-after')).toBe('1')
    expect(answers[0]?.headers.get('retry-after')).toBeNull()
  })

  test('the allowance comes back with time', async () => {
    const agent = await s.agent({ rateLimit: 1 })
    const ask = async () => (await agent.get('/payment/wallet')).status
    expect([await ask(), await ask(), await ask()]).toEqual([200, 200, 429])
    s.clock.advance(999)
    expect(await ask()).toBe(429)
    s.clock.advance(1)
    expect([await ask(), await ask()]).toEqual([200, 429])
    s.clock.advance(3_600_000)
    expect([await ask(), await ask(), await ask()]).toEqual([200, 200, 429])
  })

  test("one agent's haste does not slow another", async () => {
    const [hasty, calm] = [await s.agent({ rateLimit: 1 }), await s.agent({ rateLimit: 1 })]
    await times(5, () => hasty.get('/payment/wallet'))
    expect((await hasty.get('/payment/wallet')).status).toBe(429)
    expect((await calm.get('/payment/wallet')).status).toBe(200)
  })

  test('a stranger with a wrong secret does not use up the allowance', async () => {
    const agent = await s.agent({ rateLimit: 1 })
    const liar = new AgentClient(s.service.url, agent.appId, 'sk_x', agent.agentId, s.clock)
    await times(5, () => liar.get('/payment/wallet'))
    expect(limits(await agent.get('/payment/wallet'))).toEqual(['1', '1', '1'])
  })

  test('without a limit there are no headers of one', async () => {
    const agent = await s.agent({ rateLimit: 0 })
    const answers = await times(20, () => agent.get('/payment/wallet'))
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect(answers.flatMap(limits).every((each) => each === null)).toBe(true)
  })

  test('a refused order was not created', async () => {
    const agent = await s.agent({ rateLimit: 1 })
    const answers = await times(3, () => agent.deposit())
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 429])
    s.clock.advance(10_000)
    expect((await agent.get('/payment/orders')).json.data).toHaveLength(2)
  })

  test('failures are limited for each address, and the right secret still opens', async () => {
    const at = await startTestService({ beside: s, env: { TRUSTED_PROXIES: '127.0.0.0/8' } })
    try {
      const agent = await at.agent()
      const knock = (secret: string, address: string) =>
        agent.send('GET', '/payment/wallet', undefined, {
          'x-signature': agent.sign('GET', '/payment/wallet', '', secret),
          'x-forwarded-for': address,
        })
      const guesses = await Promise.all(
        Array.from({ length: 320 }, () => knock('sk_guess', '198.51.100.1')),
      )
      const codes = guesses.map((each) => said(each).join(' '))
      expect(codes.filter((code) => code === '401 invalid_signature')).toHaveLength(300)
      expect(codes.filter((code) => code === '429 rate_limited')).toHaveLength(20)
      const slowed = await knock('sk_guess', '198.51.100.1')
      expect(slowed.headers.get('retry-after')).toBe('1')
      expect(said(await knock('sk_guess', '198.51.100.2'))).toEqual([401, 'invalid_signature'])
      expect((await knock(agent.secret, '198.51.100.1')).status).toBe(200)
      s.clock.advance(1000)
      const later = []
      for (let count = 0; count < 6; count++) later.push(await knock('sk_guess', '198.51.100.1'))
      expect(later.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 429])
    } finally {
      await at.close()
    }
  })
})

describe('the order of the checks', () => {
  const badBody = '{"amount":"x"'
  const badFields = JSON.stringify({ amount: 0 })
  const wrongSecret = (agent: AgentClient, body: string) => ({
    'x-signature': agent.sign('POST', '/payment/withdraw', body, 'sk_wrong'),
  })
  const stale = (agent: AgentClient, body: string, secret = agent.secret) => {
    const t = seconds(s.clock()) - 400
    return { 'x-signature': `t=${t},v1=${hmac(secret, `${t}.POST /payment/withdraw.${body}`)}` }
  }
  const send = (agent: AgentClient, body: string, headers = {}) =>
    agent.send('POST', '/payment/withdraw', body, headers)
  const elsewhere = { allowedIps: ['203.0.113.7'] }

  test.each<[string, () => Promise<Answer>, [number, string]]>([
    [
      'a wrong signature before an unreadable body',
      async () => {
        const agent = await s.agent()
        return send(agent, badBody, wrongSecret(agent, badBody))
      },
      [401, 'invalid_signature'],
    ],
    [
      'a wrong signature before its age',
      async () => {
        const agent = await s.agent()
        return send(agent, badFields, stale(agent, badFields, 'sk_wrong'))
      },
      [401, 'invalid_signature'],
    ],
    [
      'the age of a signature before an unreadable body',
      async () => {
        const agent = await s.agent()
        return send(agent, badBody, stale(agent, badBody))
      },
      [401, 'stale_signature'],
    ],
    [
      'the age of a signature before the address',
      async () => {
        const agent = await s.agent(elsewhere)
        return send(agent, badFields, stale(agent, badFields))
      },
      [401, 'stale_signature'],
    ],
    [
      'the address before the body',
      async () => send(await s.agent(elsewhere), badBody),
      [403, 'ip_not_allowed'],
    ],
    [
      'the address before the rate',
      async () => {
        const agent = await s.agent({ ...elsewhere, rateLimit: 1 })
        for (let count = 0; count < 3; count++) await send(agent, badBody)
        return send(agent, badBody)
      },
      [403, 'ip_not_allowed'],
    ],
    [
      'the rate before the body',
      async () => {
        const agent = await s.agent({ rateLimit: 1 })
        for (let count = 0; count < 2; count++) await send(agent, badBody)
        return send(agent, badBody)
      },
      [429, 'rate_limited'],
    ],
    [
      'an unreadable body before suspension',
      async () => {
        const agent = await s.agent()
        await suspend(agent)
        return send(agent, badBody)
      },
      [400, 'malformed_json'],
    ],
    [
      'bad fields before suspension',
      async () => {
        const agent = await s.agent()
        await suspend(agent)
        return send(agent, badFields)
      },
      [422, 'invalid_request'],
    ],
    [
      'bad fields before a refId that is taken',
      async () => {
        const agent = await s.agent()
        await agent.deposit({ refId: 'taken' })
        return agent.withdraw({ refId: 'taken', accountNo: '?' })
      },
      [422, 'invalid_request'],
    ],
    [
      'a refId that is taken before suspension, limits, bank and balance',
      async () => {
        const agent = await s.agent({ maxWithdraw: 10n })
        await agent.deposit({ refId: 'taken' })
        await suspend(agent)
        return agent.withdraw({ refId: 'taken', amount: 5000, bankCode: 'NOPE' })
      },
      [409, 'ref_id_conflict'],
    ],
    [
      'suspension before limits, bank and balance',
      async () => {
        const agent = await s.agent({ maxWithdraw: 10n })
        await suspend(agent)
        return agent.withdraw({ amount: 5000, bankCode: 'NOPE' })
      },
      [403, 'agent_suspended'],
    ],
    [
      'limits before bank and balance',
      async () => (await s.agent({ maxWithdraw: 10n })).withdraw({ bankCode: 'NOPE' }),
      [422, 'amount_out_of_range'],
    ],
    [
      'the bank before the balance',
      async () => (await s.agent()).withdraw({ bankCode: 'NOPE' }),
      [422, 'unknown_bank_code'],
    ],
    ['the balance last', async () => (await s.agent()).withdraw(), [422, 'insufficient_balance']],
  ])('%s', async (_what, ask, expected) => {
    expect(said(await ask())).toEqual(expected)
  })

  test('a repeat is replayed though its amount is now out of range and the balance is gone', async () => {
    const agent = await s.agent()
    await agent.fund(100)
    const order = agent.order({ amount: 100 })
    const first = await agent.post('/payment/withdraw', order)
    await s.sql('update agents set max_withdraw = 5, max_deposit = 5 where agent_id = $1', [
      agent.agentId,
    ])
    const again = await agent.post('/payment/withdraw', order)
    expect([again.status, again.text]).toEqual([200, first.text])
    expect(said(await agent.withdraw())).toEqual([422, 'amount_out_of_range'])
  })
})
