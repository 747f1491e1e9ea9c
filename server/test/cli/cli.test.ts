import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { AgentFinder } from '../../src/agents/agent-finder.ts'
import { findAgent } from '../../src/agents/find-agent.ts'
import { rotateKey, updateAgent } from '../../src/agents/save-agent.ts'
import { signIn } from '../support/operator.ts'
import {
  cleanUp,
  command,
  commandJson,
  type Ended,
  type Env,
  root,
  serve,
  sluice,
  sluiceJson,
  verifyClean,
} from '../support/process.ts'
import { AgentClient, startTestService, type TestService } from '../support/service.ts'

const key = (byte: number) => Buffer.alloc(32, byte).toString('base64')

let s: TestService
let env: Env

beforeAll(async () => {
  s = await startTestService({ realTime: true, env: { SECRET_KEY: key(1) } })
  env = {
    DATABASE_URL: s.database.url,
    DATABASE_OWNER_URL: s.database.ownerUrl,
    SECRET_KEY: key(1),
    LOG_LEVEL: 'warn',
  }
})

afterEach(() => s.prove())

afterAll(async () => {
  await verifyClean(env)
  await cleanUp()
  await s.close()
})

const run = (...args: string[]) => command(args, env)
const json = (...args: string[]) => commandJson(args, env)
const clientOf = ({ appId, secret }: { appId: string; secret: string }) =>
  new AgentClient(s.service.url, appId, secret, 0n, () => new Date())

const agentCount = async () =>
  (await s.sql('select count(*)::int as count from agents')).rows[0].count

/** A failure is told on stderr, without a stack, and leaves stdout to data. */
function expectRefused(ended: Ended, ...says: (string | RegExp)[]): void {
  expect(ended).toMatchObject({ code: 1, stdout: '' })
  for (const part of says) expect(ended.stderr).toMatch(part)
  expect(ended.stderr).not.toMatch(/\n\s+at /)
}

describe('in live, what two people decide on', () => {
  const live = () => ({ ...env, MODE: 'live', PUBLIC_URL: 'https://pay.example' })
  /** As if the database had been of a live service all along. */
  const inLive = async (work: () => Promise<void>) => {
    await s.sql(`update deployment set mode = 'live'`)
    await work().finally(() => s.sql(`update deployment set mode = 'sandbox'`))
  }

  it('is done at once while nobody has ever signed in: a new house is set up here', async () => {
    const { app_id } = await json('agent', 'create', '--name', 'The first')
    await inLive(async () => {
      const adjust = ['wallet', 'adjust', app_id, '25', '--reason', 'the first money', '--json']
      expect(await commandJson(adjust, live())).toMatchObject({ changed: true })
    })
  })

  it('is proposed, shown, withdrawn, and approved by nobody here', async () => {
    await signIn(s, 'admin')
    const { app_id } = await json('agent', 'create', '--name', 'Proposed for')
    const why = ['--reason', 'as agreed on the phone', '--json']
    const dayLimit = [
      '--kind',
      'withdraw',
      '--measure',
      'orders',
      '--per',
      'user',
      '--period',
      'day',
    ]
    dayLimit.push('--most', '3')
    const { updated_at } = await json('agent', 'show', app_id)
    await inLive(async () => {
      for (const args of [
        ['wallet', 'adjust', app_id, '25', '--ref', 'one', ...why],
        ['agent', 'rotate-key', app_id, ...why],
        ['agent', 'set', app_id, '--support', 'call us', '--max-withdraw', '9', ...why],
        ['agent', 'create', '--name', 'Second', '--frame-origin', 'none', ...why],
        ['limit', 'set', 'day', '--agent', app_id, ...dayLimit, ...why],
      ]) {
        const { proposal } = await commandJson(args, live())
        const shown = await commandJson(['proposal', 'show', proposal, '--json'], live())
        expect(shown, args.join(' ')).toMatchObject({ state: 'open' })
        expect(shown.proposed_by).toMatch(/^command line/)
        const listed = await commandJson(['proposal', 'list', '--json'], live())
        expect(listed.map(({ id }: { id: string }) => id)).toContain(proposal)
        const after = await commandJson(['proposal', 'withdraw', proposal, '--json'], live())
        expect(after.state).toBe('withdrawn')
      }
    })
    expect(await json('agent', 'show', app_id)).toMatchObject({ support: null, updated_at })
    expect(await json('wallet', 'show', app_id)).toMatchObject({ balance: 0 })
    await inLive(async () => {
      expectRefused(await command(['proposal', 'approve', 'x'], live()))
      // A reason is for who approves.
      expectRefused(await command(['agent', 'rotate-key', app_id], live()), /reason|Say why/)
      const suspend = ['agent', 'set', app_id, '--status', 'suspended', '--json']
      expect(await commandJson(suspend, live())).toMatchObject({ status: 'suspended' })
    })
  })

  it('is a user too, once somebody has signed in, though there is only one admin', async () => {
    const eve = `eve-${Date.now()}@sluice.example`
    const { rows } = await s.sql(`select email from users where role = 'admin'`)
    expect(rows).toHaveLength(1)
    const boss = rows[0]?.email as string
    const off = { ...live(), BREAK_GLASS: 'off' }
    const create = ['user', 'create', eve, '--role', 'admin', '--json']
    const reset = ['user', 'reset', boss, '--reason', 'a lost phone', '--json']
    const isOut = async () =>
      (await s.sql('select 1 from users where email = $1 and password_hash is null', [boss])).rows
    await inLive(async () => {
      for (const args of [create, reset]) {
        expect(await commandJson(args, off)).toEqual({
          proposal: expect.any(String),
          detail: expect.any(String),
        })
        expectRefused(await command([...args, '--break-glass'], off), 'switched off')
      }
      expect((await s.sql('select 1 from users where email = $1', [eve])).rows).toEqual([])
      expect(await isOut()).toEqual([])
      // Who is locked out of a house with one admin has --break-glass.
      expect(await commandJson([...reset, '--break-glass'], live())).toMatchObject({
        link: expect.stringContaining('invitation#'),
      })
      expect(await isOut()).toHaveLength(1)
    })
  })

  it('is done at once with --break-glass and a reason, which alarms, if that is not switched off', async () => {
    const { app_id } = await json('agent', 'create', '--name', 'In need')
    const adjust = ['wallet', 'adjust', app_id, '25', '--json', '--break-glass', '--reason']
    await inLive(async () => {
      expectRefused(await command([...adjust, 'x'], live()), '--break-glass needs --reason')
      const off = { ...live(), BREAK_GLASS: 'off' }
      expectRefused(await command([...adjust, 'the bank calls'], off), 'switched off')
      expect(await commandJson([...adjust, 'the bank calls'], live())).toMatchObject({
        changed: true,
      })
    })
    const { rows } = await s.sql('select words from alarms order by alarm_id desc limit 1')
    expect(rows[0]?.words).toMatch(/^command line.* alone.*adjust.*the bank calls$/)
    const told = await s.sql(`select words, roles from alerts where kind = 'authority_changed'`)
    expect(told.rows).toContainEqual({ words: rows[0]?.words, roles: ['admin'] })
    const audit = await s.sql(`select reason from audit_log where action = 'break_glass'`)
    expect(audit.rows).toContainEqual({ reason: 'the bank calls' })
  })
})

it('limits are set, listed with their use, tried and removed', async () => {
  const { app_id } = await json('agent', 'create', '--name', 'Limited')
  const own = ['--agent', app_id]
  const rule = ['--kind', 'withdraw', '--measure', 'amount', '--per', 'account', '--period', 'day']
  const set = await json('limit', 'set', 'payee-day', ...own, ...rule, '--most', '500.5')
  expect(set).toMatchObject({
    name: 'payee-day',
    most: '500.5',
    currency: 'THB',
    outcome: 'refuse',
  })
  const list = ['--kind', 'deposit', '--measure', 'blocked', '--field', 'account']
  await json('limit', 'set', 'mules', ...own, ...list, '--value', '123-4', 'scb:99')
  expect(await json('limit', 'list')).toMatchObject([
    { app_id, name: 'mules', values: ['1234', 'SCB:99'], frees_at: null },
    { app_id, name: 'payee-day', used: [], words: expect.stringContaining('500.5 THB a day') },
  ])
  const tried = await json('limit', 'try', 'x1', ...own, ...rule, '--most', '1')
  expect(tried).toMatchObject({ orders: 0, hits: 0, whole: true })
  expectRefused(
    await command(['limit', 'set', 'bad', ...own, ...rule], env),
    'most must be an amount',
  )
  for (const name of ['mules', 'payee-day']) await json('limit', 'remove', name, ...own)
  expect(await json('limit', 'list')).toEqual([])
})

describe('the program', () => {
  const alone = (...args: string[]) => sluice(args, env)

  it('ends without a word if nobody reads what it prints', async () => {
    const program = `"${process.execPath}" "${root}/server/bin/sluice.js"`
    const piped = await promisify(execFile)('sh', ['-c', `${program} statement profiles | true`])
    expect(piped.stderr).toBe('')
  })

  it('explains itself and every command, and says its version', async () => {
    const [help, version, ...commands] = await Promise.all([
      alone('--help'),
      alone('--version'),
      alone('serve', '--help'),
      alone('agent', 'create', '--help'),
      alone('wallet', 'adjust', '--help'),
    ])
    expect(help.code).toBe(0)
    for (const command of ['serve', 'migrate', 'agent', 'wallet', 'order', 'trigger', 'verify']) {
      expect(help.stdout).toMatch(new RegExp(`^  ${command}\\b`, 'm'))
    }
    expect(version).toMatchObject({ code: 0, stderr: '' })
    expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
    for (const ended of commands) {
      expect(ended).toMatchObject({ code: 0, stderr: '' })
      expect(ended.stdout).toContain('--json')
    }
  })

  it('refuses what it does not know, and helps', async () => {
    const [unknown, option, nothing] = await Promise.all([
      alone('agnet', 'list'),
      alone('agent', 'list', '--jsno'),
      alone(),
    ])
    expectRefused(unknown, /unknown command 'agnet'/, /sluice --help/)
    expectRefused(option, /unknown option '--jsno'/)
    expectRefused(nothing, /Usage: sluice/)
  })
})

describe('agent', () => {
  const everyTerm = {
    name: 'Full house',
    currency: 'VND',
    'deposit-callback': 'http://127.0.0.1:9/deposits',
    'withdraw-callback': 'https://127.0.0.1:9/withdrawals',
    'deposit-fee': '1.25%+300',
    'withdraw-fee': '5000',
    'revert-fee': 'keep',
    'late-money': 'credit',
    method: 'link+qrcode',
    'expires-in': '600',
    'min-deposit': '10000',
    'max-deposit': '300000000',
    'min-withdraw': '20000',
    'max-withdraw': '200000000',
    'rate-limit': '50',
    'allow-ip': ['10.0.0.0/8', '2001:db8::1', '127.0.0.1'],
    'frame-origin': ['https://shop.example', 'http://localhost:3000'],
    support: 'Ask at the desk: +84 24 0000 0000',
  }
  const asOptions = (terms: Record<string, string | string[]>) =>
    Object.entries(terms).flatMap(([name, value]) => [`--${name}`, ...[value].flat()])
  /** As --json shows them. */
  const shown = {
    ...Object.fromEntries(Object.entries(everyTerm).map(([k, v]) => [k.replaceAll('-', '_'), v])),
    expires_in: 600,
    min_deposit: 10_000,
    max_deposit: 300_000_000,
    min_withdraw: 20_000,
    max_withdraw: 200_000_000,
    rate_limit: 50,
    status: 'active',
  }

  it('create takes every term and prints app id and secret, which work', async () => {
    const made = await run('agent', 'create', ...asOptions(everyTerm), '--json')
    expect(made).toMatchObject({ code: 0, stderr: '' })
    const { app_id: appId, secret, ...rest } = JSON.parse(made.stdout)
    expect(rest).toEqual({})
    expect(await json('agent', 'show', appId)).toMatchObject({ app_id: appId, ...shown })
    const agent = clientOf({ appId, secret })
    expect((await agent.get('/payment/wallet')).json).toMatchObject({ currency: 'VND' })
    const order = await agent.deposit({ amount: 100_000, bankCode: 'VCB' })
    expect(order).toMatchObject({ status: 201, json: { fee: 1550, expires_in: 600 } })

    const listed = await run('agent', 'list', '--json')
    expect(listed.stderr).toBe('')
    expect(JSON.parse(listed.stdout)).toContainEqual(expect.objectContaining(shown))
    expect(listed.stdout + (await run('agent', 'list')).stdout).not.toContain(secret)
  })

  it('create without --json tells people to keep the secret; list and show are tables', async () => {
    const made = await run('agent', 'create', '--name', 'By hand')
    const [, appId = '', secret = ''] = /app id {2}(\S+)\nsecret {2}(\S+)/.exec(made.stdout) ?? []
    expect(made.stdout).toContain('not shown again')
    expect((await clientOf({ appId, secret }).get('/payment/wallet')).status).toBe(200)
    const list = await run('agent', 'list')
    expect(list.stdout).toMatch(new RegExp(`^${appId} +By hand +THB +active`, 'm'))
    // When a secret was used is written down after the answer.
    const shown = async () => (await run('agent', 'show', appId)).stdout
    await expect.poll(shown).toMatch(/^secret +made \S+, last used 20\S+, valid until rotated$/m)
    expect(await shown()).toMatch(/^currency +THB$/m)
    expect(await shown()).not.toContain(secret)
  })

  it('set changes what is named and nothing else; "none" takes away; the currency never changes', async () => {
    const { app_id } = await json('agent', 'create', ...asOptions(everyTerm))
    const before = await json('agent', 'show', app_id)
    const renamed = await json('agent', 'set', app_id, '--name', 'Half house')
    expect({ ...renamed, updated_at: '' }).toEqual({
      ...before,
      name: 'Half house',
      updated_at: '',
    })

    const bare = await json(
      ...['agent', 'set', app_id, '--deposit-callback', 'none', '--withdraw-callback', 'none'],
      ...['--allow-ip', 'none', '--frame-origin', 'none', '--support', 'none'],
      ...['--rate-limit', '0', '--status', 'suspended', '--method', 'link+qrcode+transfer'],
      ...['--deposit-fee', '0', '--late-money', 'review', '--revert-fee', 'return'],
    )
    expect(bare).toMatchObject({
      deposit_callback: null,
      withdraw_callback: null,
      allow_ip: [],
      frame_origin: [],
      support: null,
      rate_limit: 0,
      status: 'suspended',
      method: 'link+qrcode+transfer',
      deposit_fee: '0',
      withdraw_fee: '5000',
      currency: 'VND',
    })
    expectRefused(await run('agent', 'set', app_id, '--currency', 'THB'), /unknown option/)
    expect((await json('agent', 'show', app_id)).currency).toBe('VND')
  })

  it('a suspended agent is refused at once by the running service, and taken again', async () => {
    const agent = await s.agent()
    await json('agent', 'set', agent.appId, '--status', 'suspended')
    expect(await agent.deposit()).toMatchObject({ status: 403, json: { code: 'agent_suspended' } })
    await json('agent', 'set', agent.appId, '--status', 'active')
    expect((await agent.deposit()).status).toBe(201)
  })

  it('terms change only as they were read: a suspension is not undone unseen', async () => {
    const { appId } = await s.agent()
    const { pool } = s.backend
    const read = await findAgent(pool, appId)
    if (!read) throw new Error('the agent is not there')
    await json('agent', 'set', appId, '--status', 'suspended')
    expect(await updateAgent(pool, read, { ...read, name: 'Late' }, new Date())).toBeUndefined()
    expect(await findAgent(pool, appId)).toMatchObject({ status: 'suspended', name: read.name })

    // Neither does a clock that goes back make two changes look alike.
    const suspended = await findAgent(pool, appId)
    if (!suspended) throw new Error('the agent is not there')
    const past = new Date(0)
    const renamed = await updateAgent(pool, suspended, { ...suspended, name: 'Next' }, past)
    expect(renamed?.updatedAt.getTime()).toBeGreaterThan(suspended.updatedAt.getTime())
    expect(await updateAgent(pool, suspended, suspended, past)).toBeUndefined()
  })

  it('an address is vetted when it changes, and keeps nobody from suspending its agent', async () => {
    const { appId } = await s.agent()
    const bad = 'http://169.254.169.254/latest'
    await s.sql('update agents set deposit_callback_url = $1 where app_id = $2', [bad, appId])
    const suspended = await json('agent', 'set', appId, '--status', 'suspended')
    expect(suspended).toMatchObject({ status: 'suspended', deposit_callback: bad })
    expectRefused(await run('agent', 'set', appId, '--withdraw-callback', bad), '169.254.169.254')
  })

  it('bad terms are all named at once, and nothing is made', async () => {
    const count = await agentCount()
    const bad = {
      'deposit-callback': 'http://169.254.169.254/latest',
      'withdraw-callback': 'not a url',
      'deposit-fee': '1.5%+0.005',
      'withdraw-fee': 'two',
      'expires-in': '0',
      'min-deposit': '100',
      'max-deposit': '99',
      'min-withdraw': '0.5',
      'rate-limit': '-1',
      'allow-ip': ['10.0.0.0/33', 'localhost'],
      'frame-origin': 'https://shop.example/path',
      support: '',
      name: 'a\u0007bell',
    }
    const refused = await run('agent', 'create', ...asOptions(bad), '--json')
    const { support: _taken, 'max-deposit': _max, ...faulty } = bad
    expectRefused(refused, ...Object.keys(faulty).map((name) => `--${name}`))
    expectRefused(refused, '10.0.0.0/33', 'localhost', 'finer than THB', '169.254.169.254')
    const { app_id } = await json('agent', 'create', '--name', 'Good')
    expectRefused(
      await run('agent', 'set', app_id, '--deposit-fee', '101%'),
      /more than the amount/,
    )
    expect(await agentCount()).toBe(count + 1)
  })

  it('rekey seals everything with the new key, and the old one can go', async () => {
    const { app_id, secret } = await json('agent', 'create', '--name', 'Rekeyed')
    const rotated = { ...env, SECRET_KEY: key(2), SECRET_KEY_PREVIOUS: key(1) }
    const [moved] = await commandJson(['rekey'], rotated)
    expect(moved).toMatchObject({ what: "agents' secrets", current: 0, shut: 0 })
    expect(moved.moved).toBeGreaterThan(0)
    expectRefused(await command(['agent', 'list'], env), 'do not open with SECRET_KEY')
    const later = { ...env, SECRET_KEY: key(2) }
    expect((await commandJson(['rekey'], later))[0]).toMatchObject({ moved: 0, shut: 0 })
    const found = await new AgentFinder(
      s.backend.pool,
      [Buffer.from(key(2), 'base64')],
      s.clock,
      () => {},
    ).find(app_id)
    expect(found?.keys[0]?.secret).toBe(secret)
    const back = { ...env, SECRET_KEY: key(1), SECRET_KEY_PREVIOUS: key(2) }
    expect((await commandJson(['rekey'], back))[0]).toMatchObject({ shut: 0, current: 0 })
  })

  it('in live, create asks who may frame the payment page; in the sandbox it need not be said', async () => {
    const live = { ...env, MODE: 'live', PUBLIC_URL: 'https://pay.example' }
    const make = ['agent', 'create', '--name', 'Framed', '--json']
    const count = await agentCount()
    expectRefused(await command(make, live), 'it is a sandbox, whose balances')
    await s.sql(`update deployment set mode = 'live'`)
    expectRefused(await command(make, env), 'it is live: set MODE=live')
    expectRefused(await command(make, live), '--frame-origin: say who may', '"any" or "none"')
    expectRefused(await command([...make, '--frame-origin', 'any', 'none'], live), 'stands alone')
    expectRefused(
      await command(
        [...make, '--frame-origin', 'any', '--frame-origin', 'https://a.example'],
        live,
      ),
      'any stands alone',
    )
    const origins = ['https://a.example', 'https://b.example:8443']
    for (const [said, kept] of [
      [['any'], ['any']],
      [['none'], []],
      [origins, origins],
    ] as const) {
      const options = said.flatMap((origin) => ['--frame-origin', origin])
      const alone = ['--break-glass', '--reason', 'nobody else is here']
      const { app_id } = await commandJson([...make, ...options, ...alone], live)
      expect(await commandJson(['agent', 'show', app_id], live)).toMatchObject({
        frame_origin: kept,
      })
    }
    await s.sql(`update deployment set mode = 'sandbox'`)
    expect(await agentCount()).toBe(count + 3)
    const { app_id } = await json('agent', 'create', '--name', 'Tried out')
    expect(await json('agent', 'set', app_id, '--frame-origin', 'any')).toMatchObject({
      frame_origin: ['any'],
    })
  })

  it('a choice outside of the list is refused with the list', async () => {
    const wrong: [string, string][] = [
      ['--currency', 'XXX'],
      ['--method', 'cash'],
      ['--revert-fee', 'half'],
      ['--late-money', 'keep'],
    ]
    await Promise.all(
      wrong.map(async ([option, value]) => {
        const refused = await run('agent', 'create', '--name', 'X', option, value)
        expectRefused(refused, option, /Allowed choices are/)
      }),
    )
    expectRefused(await run('agent', 'create'), /required option '--name/)
  })

  it('a fee finer than the currency is refused', async () => {
    const create = (currency: string, fee: string) =>
      run(
        'agent',
        'create',
        '--name',
        'Fee',
        '--currency',
        currency,
        '--deposit-fee',
        fee,
        '--json',
      )
    const [thb, thbFine, vnd, vndFine] = await Promise.all([
      create('THB', '0.25'),
      create('THB', '0.255'),
      create('VND', '1.5%+2'),
      create('VND', '1.5%+2.5'),
    ])
    expect([thb.code, vnd.code]).toEqual([0, 0])
    expectRefused(thbFine, '--deposit-fee: the fixed part 0.255 is finer than THB allows')
    expectRefused(vndFine, '--deposit-fee: the fixed part 2.5 is finer than VND allows')
  })

  it('revoke-key ends one that may do everything, though it is the last', async () => {
    const agent = await json('agent', 'create', '--name', 'Robbed', '--json')
    const client = clientOf({ appId: agent.app_id, secret: agent.secret })
    expect((await client.get('/payment/wallet')).status).toBe(200)
    const [{ slot }] = (await json('agent', 'show', agent.app_id)).keys
    const revoke = ['agent', 'revoke-key', agent.app_id, String(slot), '--reason', 'it leaked']
    expect(await commandJson([...revoke, '--json'], env)).toEqual({ revoked: slot })
    expect((await client.get('/payment/wallet')).status).toBe(401)
    expectRefused(await run(...revoke), 'any more')
    expectRefused(await run('agent', 'revoke-key', agent.app_id, '3', '--reason', 'why'), '1 or 2')
    const { secret } = await json('agent', 'rotate-key', agent.app_id)
    const next = clientOf({ appId: agent.app_id, secret })
    expect((await next.get('/payment/wallet')).status).toBe(200)
  })

  it('rotate-key makes a new secret and leaves the old one its time', async () => {
    const agent = await s.agent()
    const works = async (secret: string) =>
      (await clientOf({ appId: agent.appId, secret }).get('/payment/wallet')).status === 200
    const rotated = await run('agent', 'rotate-key', agent.appId, '--json')
    expect(rotated).toMatchObject({ code: 0, stderr: '' })
    const { secret: second } = JSON.parse(rotated.stdout)
    expect([await works(agent.secret), await works(second)]).toEqual([true, true])
    const { keys } = await json('agent', 'show', agent.appId)
    expect(keys).toMatchObject([{ expires_at: null }, { expires_at: expect.any(String) }])
    const leftMs = new Date(keys[1].expires_at).getTime() - Date.now()
    expect(leftMs / 3_600_000).toBeCloseTo(24, 1)

    // The oldest of three ends at once: there are never more than two.
    const { secret: third } = await json('agent', 'rotate-key', agent.appId, '--overlap', '30m')
    expect([await works(agent.secret), await works(second), await works(third)]).toEqual([
      ...[false, true, true],
    ])
    const { secret: last } = await json('agent', 'rotate-key', agent.appId, '--overlap', '0')
    expect([await works(second), await works(third), await works(last)]).toEqual([
      ...[false, false, true],
    ])
    expect((await json('agent', 'show', agent.appId)).keys.length).toBe(1)
    const bad = ['1 day', '-1h', '24'].map(async (overlap) => {
      const refused = await run('agent', 'rotate-key', agent.appId, `--overlap=${overlap}`)
      expectRefused(refused, `--overlap "${overlap}"`, '24h, 30m or 0')
    })
    await Promise.all(bad)
    expect(await works(last)).toBe(true)
  })

  it('two rotations at once take turns: both secrets that were shown work, and no third', async () => {
    const agent = await s.agent()
    const { pool, secretKeys } = s.backend
    const holder = new pg.Client(s.database.ownerUrl)
    await holder.connect()
    await holder.query('begin')
    await holder.query('select 1 from sluice.agent_keys where agent_id = $1 for update', [
      agent.agentId,
    ])
    const rotating = [1, 2].map(() => rotateKey(pool, secretKeys, agent.agentId, 3600, new Date()))
    const waiting = `select count(*)::int from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`
    await expect.poll(async () => (await s.sql(waiting)).rows[0].count).toBe(2)
    await holder.end()
    const works = await Promise.all(
      [agent.secret, ...(await Promise.all(rotating))].map(async (secret) => {
        const client = clientOf({ appId: agent.appId, secret })
        return (await client.get('/payment/wallet')).status === 200
      }),
    )
    expect(works).toEqual([false, true, true])
    expect((await json('agent', 'show', agent.appId)).keys).toHaveLength(2)
  })

  it('an unknown app id is told by every command that takes one', async () => {
    const commands = [
      ['agent', 'show', 'app_nobody'],
      ['agent', 'set', 'app_nobody', '--name', 'X'],
      ['agent', 'rotate-key', 'app_nobody'],
      ['wallet', 'show', 'app_nobody'],
      ['wallet', 'adjust', 'app_nobody', '1', '--reason', 'x'],
      ['verify', '--agent', 'app_nobody'],
    ]
    for (const each of commands) {
      expectRefused(await run(...each, '--json'), 'there is no agent app_nobody')
    }
  })
})

describe('wallet', () => {
  it('adjust credits and debits in whole units, below zero too, and is a row of the journal', async () => {
    const agent = await s.agent()
    const adjust = (amount: string, ...more: string[]) =>
      json('wallet', 'adjust', agent.appId, amount, '--reason', 'a correction', ...more)
    expect(await adjust('500')).toMatchObject({
      ...{ app_id: agent.appId, currency: 'THB', balance: 500, held: 0, seq: 1, changed: true },
      ...{ adjustments: -500, clearing: 0, fees: 0 },
    })
    expect(await adjust('-800')).toMatchObject({ balance: -300, seq: 2, changed: true })
    const { data } = (await agent.get('/payment/wallet/entries')).json
    expect(data).toMatchObject([
      { seq: 1, event: 'adjustment', amount: 500, balance: 500, reason: 'a correction' },
      { seq: 2, event: 'adjustment', amount: -800, balance: -300, reason: 'a correction' },
    ])
    const refused = await agent.withdraw({ amount: 1 })
    expect(refused.json.code).toBe('insufficient_balance')
    const [shown, table] = await Promise.all([
      json('wallet', 'show', agent.appId),
      run('wallet', 'show', agent.appId),
    ])
    expect(shown).toMatchObject({ balance: -300, held: 0, seq: 2 })
    expect(shown).not.toHaveProperty('changed')
    expect(table.stdout).toMatch(/^available +-300$/m)
  })

  it('the same --ref changes the wallet once, also when used several times at once', async () => {
    const agent = await s.agent()
    const command = ['wallet', 'adjust', agent.appId, '70', '--reason', 'bonus', '--ref', 'may-1']
    const many = await Promise.all(Array.from({ length: 4 }, () => sluiceJson(command, env)))
    expect(many.filter(({ changed }) => changed).length).toBe(1)
    const again = await run(...command)
    expect(again).toMatchObject({ code: 0, stderr: '' })
    expect(again.stdout).toContain('nothing changed')
    expect(await agent.balance()).toBe(70)
  })

  it('an adjustment needs a reason and a whole amount', async () => {
    const agent = await s.agent()
    const adjust = (...args: string[]) => run('wallet', 'adjust', agent.appId, ...args)
    const wrong = ['1.5', '-0', '1e3', '1000000000001', '']
    const ended = await Promise.all(wrong.map((amount) => adjust(amount, '--reason', 'x')))
    for (const [at, each] of ended.entries()) {
      expectRefused(each, `the amount "${wrong[at]}" must be whole units other than 0`)
    }
    const [unasked, empty, ref] = await Promise.all([
      adjust('5'),
      adjust('5', '--reason', ''),
      adjust('5', '--reason', 'x', '--ref', ''),
    ])
    expectRefused(unasked, /required option '--reason/)
    expectRefused(empty, '--reason must be 1 to 1000')
    expectRefused(ref, '--ref must be 1 to 128')
    expect((await agent.get('/payment/wallet')).json).toMatchObject({ balance: 0, seq: 0 })
  })
})

describe('order and trigger', () => {
  const queued = { extraParams: { sandbox: 'queued' } }

  it('trigger makes each outcome happen to the order, as the bank would', async () => {
    const agent = await s.agent({ depositFee: '2%', withdrawFee: '3' })
    await agent.fund(10_000)
    const steps = [
      ['deposit', ['PAID', 'VOID']],
      ['deposit', ['FAILED', 'PAID']],
      ['deposit', ['EXPIRED']],
      ['deposit', ['void']],
      ['withdraw', ['PAID', 'REVERT']],
      ['withdraw', ['FAILED']],
      ['withdraw', ['CANCEL']],
    ] as const
    await Promise.all(
      steps.map(async ([kind, outcomes]) => {
        const { txn_id } = (await agent[kind](kind === 'withdraw' ? queued : {})).json
        for (const outcome of outcomes) {
          const ended = await run('trigger', txn_id, outcome, '--json')
          // Money that comes after the order failed waits for an operator.
          if (outcome === 'PAID' && outcomes[0] === 'FAILED') {
            expect(JSON.parse(ended.stdout).status).toBe('FAILED')
            continue
          }
          expect(ended).toMatchObject({ code: 0, stderr: '' })
          expect(JSON.parse(ended.stdout)).toMatchObject({ txn_id, status: outcome.toUpperCase() })
        }
      }),
    )
    expect(await agent.balance()).toBe(9800)
  })

  it('trigger can say another amount and who paid', async () => {
    const agent = await s.agent({ lateMoney: 'credit' })
    const { txn_id } = (await agent.deposit({ amount: 100 })).json
    const paid = await json(
      ...['trigger', txn_id, 'PAID', '--paid-amount', '80.25', '--payer-account-no', 'xxx-1-23'],
    )
    expect(paid).toMatchObject({ status: 'PAID', paid_amount: 80.25 })
    expect(await agent.balance()).toBe(80.25)
    const other = (await agent.deposit()).json.txn_id
    const bad = ['80.255', '0', '-5', 'all'].map(async (amount) => {
      const refused = await run('trigger', other, 'PAID', `--paid-amount=${amount}`)
      expectRefused(refused, `--paid-amount "${amount}" is not an amount`)
    })
    await Promise.all(bad)
  })

  it('what cannot happen to an order is refused in words', async () => {
    const agent = await s.agent()
    await agent.fund(100)
    const deposit = (await agent.deposit()).json.txn_id
    const withdraw = (await agent.withdraw({ amount: 10, ...queued })).json.txn_id
    await json('trigger', withdraw, 'FAILED')
    const refused: [string, string, RegExp][] = [
      [deposit, 'REVERT', /WAITING.*REVERT|REVERT.*WAITING/],
      [deposit, 'CANCEL', /WAITING.*CANCEL|CANCEL.*WAITING/],
      [withdraw, 'PAID', /FAILED.*PAID|PAID.*FAILED/],
      [withdraw, 'REVERT', /FAILED.*REVERT|REVERT.*FAILED/],
      [withdraw, 'DONE', /"DONE" is not one of PAID, FAILED/],
      ['nonsense', 'PAID', /"nonsense" is not a transaction id/],
      ['1-0123456789abcdef0123456789abcdef', 'PAID', /there is no order/],
    ]
    await Promise.all(
      refused.map(async ([txnId, outcome, says]) => {
        expectRefused(await run('trigger', txnId, outcome, '--json'), says)
      }),
    )
    expect(await json('trigger', withdraw, 'FAILED')).toMatchObject({ status: 'FAILED' })
  })

  it('show tells an order with its journal', async () => {
    const agent = await s.agent({ withdrawFee: '5' })
    await agent.fund(100)
    const created = await agent.withdraw({ amount: 10, ...queued })
    const { txn_id } = created.json
    await json('trigger', txn_id, 'PAID')
    const [ended, table, missing] = await Promise.all([
      run('order', 'show', txn_id, '--json'),
      run('order', 'show', txn_id),
      run('order', 'show', '1-0123456789abcdef0123456789abcdef', '--json'),
    ])
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(ended.stdout)).toMatchObject({
      ...created.json,
      status: 'PAID',
      kind: 'withdraw',
      app_id: agent.appId,
      bank_code: 'SCB',
      paid_amount: 10,
      journal: [
        { event: 'withdraw_held', available_change: -15, held_change: 15, available: 85, held: 15 },
        { event: 'withdraw_paid', available_change: 0, held_change: -15, available: 85, held: 0 },
      ],
    })
    expect(table.stdout).toMatch(/withdraw_held +-15 +15 +85/)
    expectRefused(missing, 'there is no order')
  })
})

describe('verify', () => {
  it('says what it proved, for all agents or one', async () => {
    const agent = await s.agent()
    await agent.fund(100)
    const [ended, one] = await Promise.all([run('verify'), json('verify', '--agent', agent.appId)])
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(ended.stdout).toMatch(/^Checked \d+ agents, \d+ journal rows.*\nEvery balance is proved/)
    const checked = { agents: 1, journal_rows: 1, orders: 1, callbacks: 1 }
    expect(one).toMatchObject({ ok: true, findings: [], checked })
  })

  it('fails on a lie, names the agent, and proves the others all the same', async () => {
    const [honest, victim] = [await s.agent(), await s.agent()]
    await Promise.all([honest.fund(100), victim.fund(100)])
    const agentId = Number((await victim.deposit()).json.txn_id.split('-')[0])
    const wallet = (change: string) =>
      s.sql(
        `update sluice.wallets set available = available ${change}, adjustments = adjustments - (${change.replace(' ', '')}) where agent_id = ${agentId}`,
      )
    await wallet('+ 1')
    try {
      const [ended, text, other] = await Promise.all([
        run('verify', '--json'),
        run('verify'),
        run('verify', '--agent', honest.appId, '--json'),
      ])
      expect(ended.code).toBe(1)
      expect(JSON.parse(ended.stdout)).toMatchObject({
        ok: false,
        findings: [{ app_id: victim.appId, finding: expect.any(String) }],
      })
      expect(text.code).toBe(1)
      expect(text.stdout).toContain('does NOT prove')
      expect(text.stderr).toContain(victim.appId)
      expect(other.code).toBe(0)
    } finally {
      await wallet('- 1')
    }
  })

  const order = 'order_id = (select max(order_id::text)::uuid from sluice.orders)'
  const told = `(agent_id, seq) in (select agent_id, seq from sluice.callbacks where ${order})`
  it.each([
    [
      "an order's state",
      `update sluice.orders set status = 'FAILED' where ${order}`,
      `update sluice.orders set status = 'PAID' where ${order}`,
    ],
    [
      'a journal row',
      `update sluice.journal set available_change = available_change - 1, adjustments_change = 1 where ${order}`,
      `update sluice.journal set available_change = available_change + 1, adjustments_change = 0 where ${order}`,
    ],
    [
      "a callback's body",
      `update sluice.callback_bodies set body = replace(body, 'PAID', 'VOID') where ${told}`,
      `update sluice.callback_bodies set body = replace(body, 'VOID', 'PAID') where ${told}`,
    ],
  ])('fails where %s was changed behind its back', async (_what, breakIt, mendIt) => {
    const agent = await s.agent()
    await agent.fund(100)
    await s.sql(breakIt)
    try {
      const ended = await run('verify', '--json')
      expect(ended.code).toBe(1)
      expect(JSON.parse(ended.stdout).findings).toMatchObject([{ app_id: agent.appId }])
    } finally {
      await s.sql(mendIt)
    }
  })
})

describe('SECRET_KEY', () => {
  it('can be rotated: agents of before go on signing, and new ones use the new key', async () => {
    const old = await s.agent()
    const rotated = { ...env, SECRET_KEY: key(2), SECRET_KEY_PREVIOUS: key(1) }
    const { app_id: appId, secret } = await sluiceJson(
      ['agent', 'create', '--name', 'New'],
      rotated,
    )
    const after = await serve(rotated)
    for (const agent of [old, { appId, secret }]) {
      expect((await after.agent(agent).deposit()).status).toBe(201)
    }
    const { secret: renewed } = await sluiceJson(
      ['agent', 'rotate-key', old.appId, '--overlap', '0'],
      rotated,
    )
    expect((await after.agent({ appId: old.appId, secret: renewed }).deposit()).status).toBe(201)
    // Those sealed with the new key do not open for a service that only knows the old one.
    expect((await clientOf({ appId, secret }).deposit()).status).toBeGreaterThanOrEqual(401)
    await after.stop()
  })

  it('of another database is refused with a clear message, before anything is done with it', async () => {
    const wrong = { ...env, SECRET_KEY: key(9), PORT: '0' }
    const count = await agentCount()
    const [served, created] = await Promise.all([
      sluice(['serve'], wrong),
      sluice(['agent', 'create', '--name', 'Lost'], wrong),
    ])
    for (const ended of [served, created]) {
      expectRefused(ended, /SECRET_KEY/, /SECRET_KEY_PREVIOUS/)
    }
    expect(await agentCount()).toBe(count)
  })
})
