import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type CallbackTargets, callbackUrlFault } from '../../src/agents/callback-url.ts'
import type { ResolveHost } from '../../src/agents/resolve-host.ts'
import { type Attempt, CallbackPoster } from '../../src/callbacks/post-callback.ts'
import { cleanUp, command, commandJson } from '../support/process.ts'
import { type RawReceiver, startRawReceiver } from '../support/receiver.ts'
import { startTestService, type TestService } from '../support/service.ts'

/** Listens on every address of this machine: whoever dials one of them is seen. */
let listener: RawReceiver
let s: TestService

beforeAll(async () => {
  listener = await startRawReceiver(
    (socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'),
    undefined,
    '::',
  )
  s = await startTestService()
})
afterEach(async () => {
  await s.prove()
  listener.connections = 0
})
afterAll(async () => {
  await cleanUp()
  await s.close()
  await listener.close()
})

const publicAddress = '198.41.0.4'

/** Resolves nothing but what is named. */
const names =
  (known: Record<string, string[]>): ResolveHost =>
  async (host) => {
    const found = known[host]
    if (found) return found
    throw Object.assign(new Error(`queryA ENOTFOUND ${host}`), { code: 'ENOTFOUND' })
  }

/** Posts once to an address, with the listener's port where PORT stands. */
async function post(
  url: string,
  targets: CallbackTargets,
  resolveHost: ResolveHost,
): Promise<Attempt> {
  const poster = new CallbackPoster({ targets, resolveHost, now: () => new Date() })
  try {
    return await poster.post(url.replace('PORT', String(listener.port)), {}, Buffer.from('{}'))
  } finally {
    await poster.close()
  }
}

const forbidden = { reason: 'forbidden_address', status: null, address: null }

const local = names({
  localhost: ['127.0.0.1', '::1'],
  'private.shop': ['10.0.0.7'],
  'loopback.shop': ['127.0.0.1'],
  'metadata.shop': ['169.254.169.254'],
  'mapped.shop': ['::ffff:127.0.0.1'],
  'mixed.shop': [publicAddress, '127.0.0.1'],
  'mixed-v6.shop': ['::1', publicAddress],
  'nothing.shop': ['not an address'],
})

describe('in live, nothing is dialled but public addresses', () => {
  test.each([
    'https://127.0.0.1:PORT/',
    'https://127.1:PORT/',
    'https://2130706433:PORT/',
    'https://0x7f.1:PORT/',
    'https://0177.0.0.1:PORT/',
    'https://127.0.0.1.:PORT/',
    'https://１２７.０.０.１:PORT/',
    'https://[::1]:PORT/',
    'https://[::]:PORT/',
    'https://[::127.0.0.1]:PORT/',
    'https://[::ffff:127.0.0.1]:PORT/',
    'https://[::ffff:7f00:1]:PORT/',
    'https://[::ffff:0:127.0.0.1]:PORT/',
    'https://[64:ff9b::7f00:1]:PORT/',
    'https://[64:ff9b:1:7f00:0:100:808:808]:PORT/',
    'https://[2002:7f00:1::1]:PORT/',
    'https://[2001:0:c629:4:0:0:80ff:fffe]:PORT/',
    'https://0.0.0.0:PORT/',
    'https://0:PORT/',
    'https://10.1.2.3:PORT/',
    'https://172.31.255.1:PORT/',
    'https://192.168.1.1:PORT/',
    'https://169.254.169.254:PORT/',
    'https://[fd00:ec2::254]:PORT/',
    'https://[fd12:3456::1]:PORT/',
    'https://[fe80::1]:PORT/',
    'https://[fec0::1]:PORT/',
    'https://[ff02::1]:PORT/',
    'https://100.64.0.1:PORT/',
    'https://100.100.100.200:PORT/',
    'https://198.18.0.1:PORT/',
    'https://255.255.255.255:PORT/',
    'https://localhost:PORT/',
    'https://localhost.:PORT/',
    'https://LOCALHOST:PORT/',
    'https://private.shop:PORT/',
    'https://loopback.shop:PORT/',
    'https://loopback.shop.:PORT/',
    'https://metadata.shop:PORT/',
    'https://mapped.shop:PORT/',
    'https://mixed.shop:PORT/',
    'https://mixed-v6.shop:PORT/',
    'https://nothing.shop:PORT/',
    'http://198.41.0.4/',
    'ftp://198.41.0.4/',
    'file:///etc/passwd',
    'https://user@198.41.0.4/',
    'https://user:secret@198.41.0.4/',
    'https://198.41.0.4/#part',
  ])('not %s, and it cannot be set', async (url) => {
    const attempt = await post(url, 'secure', local)
    expect(attempt).toMatchObject(forbidden)
    expect(attempt.error).toMatch(/^the address /)
    expect(attempt.error).not.toContain('secret')
    expect(listener.connections).toBe(0)
    const set = url.replace('PORT', '443')
    expect(await callbackUrlFault(set, 'secure', local)).toBeTypeOf('string')
  })

  test('a name that is public when it is set and private when it is called is not dialled', async () => {
    const answers = [[publicAddress], ['127.0.0.1']]
    const rebinding: ResolveHost = async () => answers.shift() ?? ['127.0.0.1']
    expect(await callbackUrlFault('https://shop.example/', 'secure', rebinding)).toBeUndefined()
    const attempt = await post('https://shop.example:PORT/', 'secure', rebinding)
    expect(attempt).toMatchObject(forbidden)
    expect(attempt.error).toBe(
      'the address is not allowed: shop.example is 127.0.0.1: 127.0.0.1 is not a public address (loopback)',
    )
    expect(listener.connections).toBe(0)
  })
})

describe('in the sandbox', () => {
  test.each([
    'http://127.0.0.1:PORT/',
    'http://127.1:PORT/',
    'http://[::1]:PORT/',
    'http://[::ffff:127.0.0.1]:PORT/',
    'http://localhost:PORT/',
    'http://localhost.:PORT/',
    'http://loopback.shop:PORT/',
  ])('%s on this machine may be called', async (url) => {
    const attempt = await post(url, 'near', local)
    expect(attempt).toMatchObject({ status: 200, error: null, reason: 'accepted' })
    expect(attempt.address).toMatch(/^(127\.0\.0\.1|::1|::ffff:7f00:1)$/)
    // A name with two addresses may be tried at both.
    expect(listener.connections).toBeGreaterThan(0)
    const set = url.replace('PORT', '80')
    expect(await callbackUrlFault(set, 'near', local)).toBeUndefined()
  })

  test.each([
    'http://10.1.2.3/',
    'http://192.168.1.1/',
    'http://[fd12::1]/',
    'http://private.shop/',
  ])('%s on a private network may be called', async (url) => {
    expect(await callbackUrlFault(url, 'near', local)).toBeUndefined()
  })

  test.each([
    'http://169.254.169.254:PORT/latest',
    'http://2852039166:PORT/latest',
    'http://[::ffff:169.254.169.254]:PORT/',
    'http://[64:ff9b::a9fe:a9fe]:PORT/',
    'http://[2002:a9fe:a9fe::1]:PORT/',
    'http://[fd00:ec2::254]:PORT/',
    'http://[fd00:0ec2:0::0254]:PORT/',
    'http://[fe80::1]:PORT/',
    'http://0.0.0.0:PORT/',
    'http://[::]:PORT/',
    'http://100.64.0.1:PORT/',
    'http://metadata.shop:PORT/',
    'ftp://127.0.0.1:PORT/',
    'http://user:secret@127.0.0.1:PORT/',
    'http://127.0.0.1:PORT/#part',
  ])('%s may never be called, and cannot be set', async (url) => {
    expect(await post(url, 'near', local)).toMatchObject(forbidden)
    expect(listener.connections).toBe(0)
    const set = url.replace('PORT', '80')
    expect(await callbackUrlFault(set, 'near', local)).toBeTypeOf('string')
  })
})

test('a name is looked up again for every connection, and the address told is the one dialled', async () => {
  const answers = [['127.0.0.1'], ['::1'], ['169.254.169.254']]
  const poster = new CallbackPoster({
    targets: 'near',
    resolveHost: async () => answers.shift() ?? [],
    now: () => new Date(),
  })
  const told: [address: string | null, reason: string][] = []
  for (let count = 1; count <= 4; count++) {
    const { address, reason } = await poster.post(
      `http://shop.example:${listener.port}/`,
      {},
      Buffer.from('{}'),
    )
    told.push([address, reason])
  }
  await poster.close()
  expect(told).toEqual([
    ['127.0.0.1', 'accepted'],
    ['::1', 'accepted'],
    [null, 'forbidden_address'],
    [null, 'forbidden_address'],
  ])
  expect(listener.connections).toBe(2)
})

test('an agent whose address has become forbidden is not called; the attempt says why', async () => {
  const agent = await s.agent({ depositCallbackUrl: 'http://169.254.169.254/latest/meta-data' })
  await agent.fund(100)
  const read = () => s.sql('select * from callback_attempts where agent_id = $1', [agent.agentId])
  await expect.poll(async () => (await read()).rowCount).toBe(1)
  expect((await read()).rows[0]).toMatchObject({
    url: 'http://169.254.169.254/latest/meta-data',
    address: null,
    status: null,
    error: 'the address 169.254.169.254 is not a public address (linkLocal)',
  })
  const metrics = await (await fetch(`${s.service.url}/metrics`)).text()
  expect(metrics).toContain('sluice_callback_attempts_total{reason="forbidden_address"} 1')
})

describe('the command line refuses to set what may not be called', () => {
  const env = (mode: 'sandbox' | 'live') => ({
    DATABASE_URL: s.database.url,
    DATABASE_OWNER_URL: s.database.ownerUrl,
    SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    MODE: mode,
    ...(mode === 'live' && { PUBLIC_URL: 'https://pay.example' }),
  })

  test('for a new agent and an existing one, in live', async () => {
    await s.sql(`update deployment set mode = 'live'`)
    const options = ['--deposit-callback', 'https://127.1/cb']
    const withdraw = ['--withdraw-callback', 'http://198.41.0.4/cb']
    const make = ['agent', 'create', '--frame-origin', 'none', '--name']
    const created = await command([...make, 'A', ...options], env('live'))
    expect(created).toMatchObject({ code: 1, stdout: '' })
    expect(created.stderr).toContain(
      '--deposit-callback: 127.0.0.1 is not a public address (loopback)',
    )
    const { app_id } = await commandJson([...make, 'B'], env('live'))
    const changed = await command(['agent', 'set', app_id, ...options, ...withdraw], env('live'))
    expect(changed).toMatchObject({ code: 1, stdout: '' })
    expect(changed.stderr).toContain('--deposit-callback: 127.0.0.1 is not a public address')
    expect(changed.stderr).toContain('--withdraw-callback: must be https in live mode')
    expect(await commandJson(['agent', 'show', app_id], env('live'))).toMatchObject({
      deposit_callback: null,
      withdraw_callback: null,
    })
    await s.sql(`update deployment set mode = 'sandbox'`)
  })

  test('cloud metadata in the sandbox, where loopback is taken', async () => {
    const { app_id } = await commandJson(
      ['agent', 'create', '--name', 'C', '--deposit-callback', 'http://localhost:9000/cb'],
      env('sandbox'),
    )
    const metadata = ['--deposit-callback', 'http://[::ffff:169.254.169.254]/']
    const changed = await command(['agent', 'set', app_id, ...metadata], env('sandbox'))
    expect(changed).toMatchObject({ code: 1, stdout: '' })
    expect(changed.stderr).toContain('169.254.169.254 is not a public address (linkLocal)')
    const near = ['agent', 'set', app_id, '--deposit-callback', 'http://127.0.0.1:9000/other']
    const reached = await command(near, { ...env('sandbox'), HOST: '0.0.0.0' })
    expect(reached).toMatchObject({ code: 1, stdout: '' })
    expect(reached.stderr).toContain('unless CALLBACK_PRIVATE_ADDRESSES=allow')
    const allowed = { HOST: '0.0.0.0', CALLBACK_PRIVATE_ADDRESSES: 'allow' }
    expect(await command(near, { ...env('sandbox'), ...allowed })).toMatchObject({ code: 0 })
  })
})
