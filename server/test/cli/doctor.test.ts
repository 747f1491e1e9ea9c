import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { checkAgent } from '../../src/cli/check-books.ts'
import { snapshotFinding } from '../../src/cli/check-database.ts'
import { clockFinding, diskFinding } from '../../src/cli/check-machine.ts'
import type { Finding } from '../../src/cli/finding.ts'
import { cleanUp, command, type Env, freePort, tempFolder } from '../support/process.ts'
import {
  makeAuthority,
  type Receiver,
  startRawReceiver,
  startReceiver,
} from '../support/receiver.ts'
import { startTestService, type TestService } from '../support/service.ts'

let s: TestService
let env: Env
let receiver: Receiver

beforeAll(async () => {
  // Without a worker, whose proof would not leave a made-up finding alone.
  s = await startTestService({ realTime: true, env: { ROLE: 'api' } })
  env = {
    DATABASE_URL: s.database.url,
    SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    PUBLIC_URL: s.service.url,
    DATA_DIR: await tempFolder(),
  }
})
beforeEach(async () => {
  receiver = await startReceiver()
})
afterEach(async () => {
  await s.prove()
  await receiver.close()
})
afterAll(async () => {
  await cleanUp()
  await s.close()
})

/** What the doctor finds, by what it looked at; its exit code says whether something failed. */
async function doctor(args: string[] = [], more: Env = {}): Promise<Record<string, Finding[]>> {
  const { code, stdout, stderr } = await command(['doctor', '--json', ...args], { ...env, ...more })
  expect(stderr).toBe('')
  const { ok, findings }: { ok: boolean; findings: Finding[] } = JSON.parse(stdout)
  expect(code).toBe(ok ? 0 : 1)
  expect(ok).toBe(findings.every(({ state }) => state !== 'fail'))
  for (const { state, advice } of findings) expect(advice !== undefined).toBe(state !== 'ok')
  const found: Record<string, Finding[]> = {}
  for (const finding of findings) found[finding.check] = [...(found[finding.check] ?? []), finding]
  return found
}

const states = (found: Record<string, Finding[]>) =>
  Object.fromEntries(
    Object.entries(found).map(([check, all]) => [check, all.map(({ state }) => state)]),
  )

describe('doctor', () => {
  test('finds nothing wrong where nothing is, and tests the callback addresses for real', async () => {
    const agent = await s.agent({
      depositCallbackUrl: `${receiver.url}/in`,
      withdrawCallbackUrl: `${receiver.url}/out`,
    })
    receiver.answer = ({ path }, response) => response.writeHead(path === '/in' ? 200 : 422).end()
    expect(states(await doctor(['--agent', agent.appId]))).toEqual({
      settings: ['ok'],
      'secret key': ['ok'],
      disk: ['ok'],
      service: ['ok'],
      clock: ['ok', 'ok'],
      database: ['ok'],
      // The PostgreSQL of the tests is allowed to forget.
      durability: ['warn'],
      snapshots: ['ok'],
      migrations: ['ok'],
      login: ['ok'],
      role: ['ok'],
      secrets: ['ok'],
      ledger: ['ok'],
      partitions: ['ok'],
      restore: ['ok'],
      'payout files': ['ok'],
      notices: ['ok'],
      provider: ['ok'],
      'deposit callback': ['ok'],
      'withdraw callback': ['ok'],
    })
    expect(receiver.received.map(({ path, body }) => [path, body])).toEqual([
      ['/in', '{}'],
      ['/out', '{}'],
    ])
    const text = await command(['doctor'], env)
    expect(text).toMatchObject({ code: 0, stderr: '' })
    expect(text.stdout).toMatch(/^ok {4}database +PostgreSQL 18\.\d+ as \w+$/m)
    expect(text.stdout).not.toContain('\x1b')
  })

  test('knows Citus by the view that it has, and names tables that lie on one node', async () => {
    await s.sql(`create view sluice.citus_tables as
      select oid::regclass as table_name from pg_class where relnamespace = 'sluice'::regnamespace
        and relkind in ('r', 'p') and relname not in ('wallets', 'stops')`)
    await s.sql('grant select on sluice.citus_tables to sluice_service')
    try {
      expect((await doctor([])).citus).toMatchObject([
        { state: 'fail', text: 'stops, wallets lie on one node alone' },
      ])
    } finally {
      await s.sql('drop view sluice.citus_tables')
    }
  })

  test('names every fault of the settings at once', async () => {
    const { settings } = await doctor([], { PORT: 'x', MODE: 'Live' })
    expect(settings?.map(({ text }) => text)).toEqual([
      expect.stringContaining('MODE must be'),
      expect.stringContaining('PORT must be'),
    ])
  })

  test('says what is wrong with the database, and changes nothing', async () => {
    const dead = `postgres://postgres@127.0.0.1:${await freePort()}/x`
    expect((await doctor([], { DATABASE_URL: dead })).database).toMatchObject([
      { state: 'fail', text: expect.stringContaining('cannot be reached') },
    ])
    const empty = new URL(s.database.ownerUrl)
    empty.pathname = '/doctor_empty'
    await s.sql('create database doctor_empty template template0')
    for (const owner of [{}, { DATABASE_OWNER_URL: empty.href }]) {
      const found = await doctor([], { DATABASE_URL: empty.href, ...owner })
      const state = Object.keys(owner).length === 0 ? 'warn' : 'fail'
      expect(found.migrations).toMatchObject([
        {
          state,
          text: expect.stringContaining('not applied: 0001_'),
          advice: expect.stringContaining('sluice migrate'),
        },
      ])
      expect(found.secrets).toBeUndefined()
    }
    await s.sql('drop database doctor_empty')
  })

  test('sees rights, migrations, proofs and secrets that are not as they should be', async () => {
    await s.agent()
    await s.sql('grant update on journal to sluice_service')
    await s.sql(`insert into proofs values ((select min(agent_id) from agents), 0, 0, null, 'a lie', now())
      on conflict (agent_id) do update set finding = 'a lie'`)
    const found = await doctor([], { SECRET_KEY: Buffer.alloc(32, 8).toString('base64') })
    await s.sql('revoke update on journal from sluice_service')
    await s.sql('update proofs set finding = null')
    expect(found.role).toMatchObject([
      { state: 'fail', text: expect.stringContaining('could change the journal') },
    ])
    expect(found.ledger).toMatchObject([
      { state: 'fail', text: expect.stringContaining('do not prove') },
    ])
    expect(found.secrets).toMatchObject([
      { state: 'fail', text: expect.stringMatching(/^(\d+) of \1 do not open/) },
    ])

    await s.sql(`insert into schema_migrations values ('9999_later.sql', '', now())`)
    const newer = await doctor()
    await s.sql(`delete from schema_migrations where name = '9999_later.sql'`)
    expect(newer.migrations).toMatchObject([
      { state: 'fail', text: expect.stringContaining('9999_later.sql') },
    ])
    expect(states(await doctor()).migrations).toEqual(['ok'])
  })

  test('without a service, with something else in its place, and in live without a provider', async () => {
    const port = await freePort()
    receiver.answer = (_received, response) => response.end()
    const [none, other] = await Promise.all([
      doctor([], { PUBLIC_URL: `http://127.0.0.1:${port}` }),
      doctor([], { PUBLIC_URL: `${s.service.url}/elsewhere` }),
    ])
    await s.sql(`update deployment set mode = 'live'`)
    const [live, mistaken] = await Promise.all([doctor([], { MODE: 'live' }), doctor()])
    await s.sql(`update deployment set mode = 'sandbox'`)
    expect(mistaken.mode).toMatchObject([
      { state: 'fail', text: expect.stringContaining('first started with MODE=live') },
    ])
    expect(none.service).toMatchObject([
      { state: 'warn', text: expect.stringContaining('ECONNREFUSED') },
    ])
    expect(other.service).toMatchObject([
      { state: 'fail', text: expect.stringContaining('answers 404') },
    ])
    expect(live.durability).toMatchObject([
      { state: 'fail', text: expect.stringContaining('fsync and full_page_writes off') },
    ])
    expect(live.provider).toMatchObject([{ state: 'fail', text: expect.stringContaining('503') }])
    expect(live.alerts).toMatchObject([
      { state: 'warn', text: expect.stringContaining('no mail is set up') },
    ])
    expect(live.settings).toMatchObject([
      { state: 'warn', text: expect.stringContaining('plain http') },
    ])
  })

  test('tells why a callback address does not work', async () => {
    const authority = makeAuthority()
    const tls = await startRawReceiver(() => {}, authority.selfSigned('localhost'))
    receiver.answer = ({ path }, response) =>
      response.writeHead(Number(path.slice(1)), { location: '/' }).end()
    const refused = `http://127.0.0.1:${await freePort()}/`
    const cases: [url: string | null, state: string, says: RegExp][] = [
      [refused, 'fail', /connection refused/],
      [tls.url, 'fail', /TLS: self-signed certificate/],
      ['http://no-such-name.invalid/', 'fail', /name/],
      ['http://169.254.169.254/', 'fail', /169\.254\.169\.254 is not a public address/],
      [`${receiver.url}/302`, 'warn', /answers 302/],
      [`${receiver.url}/404`, 'warn', /answers 404/],
      [`${receiver.url}/500`, 'warn', /answers 500/],
      [null, 'warn', /no address/],
    ]
    const agent = await s.agent()
    for (let at = 0; at < cases.length; at += 2) {
      const pair = [cases[at], cases[at + 1]] as const
      await s.sql(
        'update agents set deposit_callback_url = $2, withdraw_callback_url = $3 where agent_id = $1',
        [agent.agentId, pair[0]?.[0], pair[1]?.[0]],
      )
      const found = await checkAgent(agent.appId, s.backend, s.config)
      for (const index of [0, 1]) {
        const [, state, says] = pair[index] ?? []
        expect(found[index]).toMatchObject({ state, text: expect.stringMatching(says ?? /^$/) })
      }
    }
    await s.sql('update agents set deposit_callback_url = null, withdraw_callback_url = null')
    await tls.close()
    authority.close()
    expect(await checkAgent('app_nobody', s.backend, s.config)).toMatchObject([{ state: 'fail' }])
  })
})

test.each([
  [null, 'ok', /none/],
  [{ ageS: 60, since: new Date(0) }, 'ok', /pg_dump\) has held the oldest since 1970-01-01T/],
  [{ ageS: 700, since: new Date(0) }, 'warn', /12345 transactions ago/],
  [{ ageS: null, since: null }, 'ok', /may not see/],
  [{ ageS: null, since: null, transactions: 2_000_000 }, 'warn', /may not see/],
])('a snapshot that is held: %o', (oldest, state, says) => {
  const held = oldest && { holder: 'session 1 (pg_dump)', transactions: 12_345, ...oldest }
  expect(snapshotFinding(held)).toMatchObject({ state, text: expect.stringMatching(says) })
})

test.each([
  [0, 'ok', /agrees/],
  [2_400, 'ok', /agrees/],
  [-3_000, 'warn', /3 s behind/],
  [60_000, 'warn', /60 s ahead of/],
  [-61_000, 'fail', /61 s behind/],
])('a clock that is %i ms ahead', (aheadMs, state, says) => {
  expect(clockFinding('its clock', aheadMs)).toMatchObject({
    state,
    text: expect.stringMatching(says),
  })
})

test.each([
  [100, 'fail'],
  [1_000, 'warn'],
  [10_000, 'ok'],
])('a disk with %i MiB left', (mebibytes, state) => {
  expect(diskFinding('/', mebibytes * 1024 * 1024, 2 ** 40)).toMatchObject({ state })
})
