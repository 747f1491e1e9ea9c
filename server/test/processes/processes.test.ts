import { execFileSync } from 'node:child_process'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, inject, it } from 'vitest'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import {
  cleanUp,
  command,
  commandJson,
  copyOfRepository,
  dataFolder,
  type Env,
  expectShutDown,
  freePort,
  isRunning,
  kill,
  listen,
  postgresLog,
  postmasterPid,
  type Running,
  type Serving,
  serve,
  sluice,
  sluiceJson,
  start,
  startSluice,
  tempFolder,
  verifyClean,
} from '../support/process.ts'
import { AgentClient, type Answer } from '../support/service.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'

const quiet = { LOG_LEVEL: 'warn' }
const patient = { interval: 20 }
const liveKey = Buffer.alloc(32, 9).toString('base64')

let databases: TestDatabase[] = []
let proxies: TcpProxy[] = []

afterEach(async () => {
  await cleanUp()
  for (const each of [...proxies, ...databases]) await each.close()
  databases = []
  proxies = []
})

async function embedded(more: Env = {}): Promise<{ dataDir: string; env: Env }> {
  const dataDir = await dataFolder()
  return { dataDir, env: { DATA_DIR: dataDir, ...quiet, ...more } }
}

/** Settings of a service on a database server. */
async function external(more: Env = {}): Promise<Env & { DATABASE_URL: string }> {
  const database = await testDatabase()
  databases.push(database)
  return {
    DATA_DIR: await tempFolder(),
    DATABASE_URL: database.url,
    DATABASE_OWNER_URL: database.ownerUrl,
    ...quiet,
    ...more,
  }
}

/** The bytes of a signed request to create a deposit, its head apart from its body. */
function depositBytes(agent: AgentClient, refId: string, headers = ''): [string, string] {
  const body = JSON.stringify(agent.order({ refId }))
  const head = [
    'POST /payment/deposit HTTP/1.1',
    'host: localhost',
    `x-appid: ${agent.appId}`,
    `x-signature: ${agent.sign('POST', '/payment/deposit', body)}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
  ]
  return [`${head.join('\r\n')}\r\n${headers}\r\n`, body]
}

/** A connection of its own, on which one can see every byte. */
class Wire {
  received = ''
  readonly socket: Socket
  /** False where the connection was refused. */
  readonly opened: Promise<boolean>
  private changed = () => {}

  constructor(url: string) {
    const { hostname, port } = new URL(url)
    this.socket = connect(Number(port), hostname)
    this.opened = new Promise((resolve) => {
      this.socket.once('connect', () => resolve(true)).once('close', () => resolve(false))
    })
    this.socket.setEncoding('utf8').on('data', (text) => {
      this.received += text
      this.changed()
    })
    this.socket.on('error', () => {}).once('close', () => this.changed())
  }

  /** Sends a request; resolves with a complete answer, or with what there was when it broke off. */
  async exchange(bytes: string): Promise<RawAnswer> {
    this.received = ''
    this.socket.write(bytes)
    while (!this.socket.closed && !rawAnswer(this.received).isComplete) {
      await new Promise<void>((resolve) => {
        this.changed = resolve
      })
    }
    return rawAnswer(this.received)
  }
}

interface RawAnswer {
  status: number
  /** In lower case. */
  head: string
  body: string
  isComplete: boolean
}

function rawAnswer(received: string): RawAnswer {
  const text = received.replace('HTTP/1.1 100 Continue\r\n\r\n', '')
  const [head = '', body = ''] = text.split('\r\n\r\n')
  const length = /^content-length: (\d+)/im.exec(head)?.[1]
  const isComplete = length !== undefined && Buffer.byteLength(body) === Number(length)
  return { status: Number(head.slice(9, 12)), head: head.toLowerCase(), body, isComplete }
}

function expectOverloaded(answer: Answer): void {
  expect(answer).toMatchObject({ status: 503, json: { status: 503, code: 'overloaded' } })
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/)
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
}

async function isRefused(url: string): Promise<boolean> {
  const wire = new Wire(url)
  const opened = await wire.opened
  wire.socket.destroy()
  return !opened
}

describe('SIGTERM', () => {
  it('lets every request that was taken in be answered, then stops PostgreSQL cleanly', async () => {
    const { dataDir, env } = await embedded()
    const service = await serve(env)
    const agent = service.agent()
    const underWay = Array.from({ length: 40 }, (_, number) => {
      const [head, body] = depositBytes(agent, `drain-${number}`, 'expect: 100-continue\r\n')
      const wire = new Wire(service.url)
      wire.socket.write(head)
      return { wire, body }
    })
    // The service has read the head of each and waits for its body.
    await expect
      .poll(() => underWay.filter(({ wire }) => wire.received.includes('100 Continue')).length)
      .toBe(underWay.length)

    const postmaster = postmasterPid(dataDir) ?? 0
    const ended = service.stop('SIGTERM')
    await expect.poll(() => isRefused(service.url), patient).toBe(true)
    const answers = await Promise.all(underWay.map(({ wire, body }) => wire.exchange(body)))
    expect(answers.map(({ status, isComplete }) => isComplete && status)).toEqual(
      answers.map(() => 201),
    )
    for (const { head } of answers) expect(head).toContain('connection: close')

    expect(await ended).toMatchObject({ code: 0, signal: null })
    expect(isRunning(postmaster)).toBe(false)
    expect(postmasterPid(dataDir)).toBeUndefined()
    await expectShutDown(dataDir)

    await verifyClean(env)
    const again = await serve(env)
    for (const { body } of answers) {
      const { txn_id, ref_id } = JSON.parse(body)
      const found = await again.agent(service.demo).get(`/payment/orders?refId=${ref_id}`)
      expect(found.json.txn_id).toBe(txn_id)
    }
    expect(postgresLog(dataDir)).not.toMatch(/recovery|not properly shut down/)
  })

  it('cuts no answer off under load, and what it turns away can be repeated', async () => {
    const { env } = await embedded()
    const service = await serve(env)
    const agent = service.agent()
    const sent: { refId: string; request: string; isFirst: boolean; answer: RawAnswer }[] = []
    /** Asks again and again, on one connection or on a new one each time, until it is refused. */
    const client = async (number: number, keeps: boolean) => {
      let wire = new Wire(service.url)
      for (let count = 0; await wire.opened; count++) {
        const refId = `load-${number}-${count}`
        const [head, request] = depositBytes(agent, refId, keeps ? '' : 'connection: close\r\n')
        const isFirst = wire.received === ''
        const answer = await wire.exchange(head + request)
        sent.push({ refId, request, isFirst, answer })
        if (wire.socket.closed || /connection: close/.test(answer.head))
          wire = new Wire(service.url)
      }
    }
    const clients = Array.from({ length: 20 }, (_, number) => client(number, number % 2 === 0))
    await expect.poll(() => sent.length, patient).toBeGreaterThan(100)
    const ended = service.stop('SIGTERM')
    await Promise.all(clients)
    expect(await ended).toMatchObject({ code: 0 })

    const again = (await serve(env)).agent(service.demo)
    for (const { refId, request, isFirst, answer } of sent) {
      const { status, head, body, isComplete } = answer
      if (isFirst && head === '') {
        // Its connection was in the queue that went away with the port: never accepted.
        const repeated = await again.send('POST', '/payment/deposit', request)
        expect([200, 201]).toContain(repeated.status)
      } else if (status === 503) {
        expect(JSON.parse(body)).toMatchObject({ status: 503, code: 'overloaded' })
        expect(head).toMatch(/content-type: application\/problem\+json/)
        expect(head).toMatch(/retry-after: \d+/)
      } else {
        expect({ status, isComplete }).toEqual({ status: 201, isComplete: true })
        const found = await again.get(`/payment/orders?refId=${refId}`)
        expect(found.json.txn_id).toBe(JSON.parse(body).txn_id)
      }
    }
    await verifyClean(env)
  })
})

describe('npm start', () => {
  it('builds, serves ./data of where it is called, and passes SIGTERM on to the service', async () => {
    const copy = await copyOfRepository({ built: true })
    // What was built before does not say this.
    appendFileSync(join(copy, 'server/src/main.ts'), `process.stderr.write('built anew\\n')\n`)
    const env = { PORT: '0', ...quiet }
    const npm = start('npm', ['start'], { cwd: copy, env })
    await expect.poll(() => npm.stdout, patient).toMatch(/secret {2}sk_/)
    await expect.poll(() => npm.stderr, patient).toContain('built anew')
    const dataDir = join(copy, 'data')
    const postmaster = postmasterPid(dataDir) ?? 0
    expect(isRunning(postmaster)).toBe(true)
    const url = /listening on (\S+)\)/.exec(npm.stdout)?.[1] ?? ''
    expect((await fetch(`${url}/readyz`)).status).toBe(200)

    npm.child.kill('SIGTERM')
    await expect.poll(() => isRefused(url), patient).toBe(true)
    await expect.poll(() => isRunning(postmaster), patient).toBe(false)
    expect(postmasterPid(dataDir)).toBeUndefined()
    await expectShutDown(dataDir)
    await verifyClean({ DATA_DIR: dataDir })
  })
})

describe('on one data directory', () => {
  it('a second serve says who uses it and ends, and the first goes on', async () => {
    const { dataDir, env } = await embedded()
    const first = await serve(env)
    const second = await sluice(['serve'], { PORT: '0', ...env })
    expect(second.code).toBe(1)
    expect(second.stdout).toBe('')
    expect(second.stderr).toContain(`Another sluice serve (pid ${first.pid}) uses ${dataDir}`)
    expect(second.stderr).not.toMatch(/\n\s+at /)
    expect((await first.agent().deposit()).status).toBe(201)
    await verifyClean(env)
  })

  it('the command line works beside a service, and alone, when it leaves no PostgreSQL behind', async () => {
    const { dataDir, env } = await embedded()
    const alone = await sluiceJson(['agent', 'create', '--name', 'Alone'], env)
    expect(postmasterPid(dataDir)).toBeUndefined()

    const service = await serve(env)
    expect(service.demo).toBeUndefined()
    const beside = await sluiceJson(['agent', 'create', '--name', 'Beside'], env)
    expect((await sluiceJson(['agent', 'list'], env)).length).toBe(2)
    for (const { app_id: appId, secret } of [alone, beside]) {
      expect((await service.agent({ appId, secret }).deposit()).status).toBe(201)
    }
    await service.stop()
    await verifyClean(env)
    expect(postmasterPid(dataDir)).toBeUndefined()
  })

  it('a serve whose port is taken says so, and stops the PostgreSQL it had started', async () => {
    const { dataDir, env } = await embedded()
    const { port } = await listen()
    const ended = await sluice(['serve'], { ...env, PORT: String(port) })
    expect(ended.code).toBe(1)
    expect(ended.stdout).toBe('')
    expect(ended.stderr).toMatch(new RegExp(`^sluice: .*${port}.*PORT`, 'm'))
    expect(ended.stderr).not.toMatch(/\n\s+at /)
    expect(postmasterPid(dataDir)).toBeUndefined()
    await verifyClean(env)
  })

  it('a serve that is told to end while it starts leaves no PostgreSQL behind', async () => {
    const { dataDir, env } = await embedded()
    await verifyClean(env)
    const starting = startSluice(['serve'], { PORT: '0', ...env })
    await expect.poll(() => postmasterPid(dataDir), { ...patient, interval: 2 }).toBeDefined()
    await starting.stop('SIGTERM')
    await expect.poll(() => postmasterPid(dataDir), patient).toBeUndefined()
    await verifyClean(env)
  })
})

describe('while the database is away', () => {
  async function expectTheManners(service: Serving, away: () => Promise<() => Promise<void>>) {
    const agent = service.agent()
    await agent.fund(1000)
    const order = agent.order({ amount: 10 })
    const back = await away()
    // Whatever is asked meanwhile is refused so that it can be repeated.
    await expect.poll(async () => (await fetch(`${service.url}/readyz`)).status, patient).toBe(503)
    expectOverloaded(await agent.post('/payment/deposit', order))
    expectOverloaded(await agent.withdraw({ amount: 10 }))
    expectOverloaded(await agent.get('/payment/wallet'))
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200)
    expect((await fetch(`${service.url}/metrics`)).status).toBe(200)

    await back()
    await expect.poll(async () => (await fetch(`${service.url}/readyz`)).status, patient).toBe(200)
    await expect
      .poll(async () => (await agent.post('/payment/deposit', order)).status, patient)
      .toBe(201)
    expect((await agent.withdraw({ amount: 10 })).status).toBe(201)
    expect(await agent.balance()).toBe(990)
    expect(isRunning(service.pid)).toBe(true)
  }

  it('orders get 503 and work again by themselves: embedded PostgreSQL, killed and not startable', async () => {
    const { dataDir, env } = await embedded()
    const service = await serve(env)
    const settings = join(dataDir, 'postgres/postgresql.conf')
    const kept = readFileSync(settings, 'utf8')
    await expectTheManners(service, async () => {
      writeFileSync(settings, 'nonsense')
      kill(postmasterPid(dataDir) ?? 0)
      return async () => writeFileSync(settings, kept)
    })
    await verifyClean(env)
  })

  it('orders get 503 and work again by themselves: DATABASE_URL', async () => {
    const env = await external()
    const proxy = await TcpProxy.open(env.DATABASE_URL)
    proxies.push(proxy)
    const service = await serve({ ...env, DATABASE_URL: proxy.url })
    await expectTheManners(service, async () => {
      proxy.refuse(true)
      proxy.cutAll()
      return async () => proxy.refuse(false)
    })
    await verifyClean(env)
  })

  it('a serve that cannot reach its database says so and ends', async () => {
    const DATA_DIR = await tempFolder()
    const url = new URL(inject('postgresUrl'))
    url.password = 'hidden'
    const wrong = [
      [`postgres://sluice:hidden@localhost:${await freePort()}/sluice`, 'cannot be reached'],
      [url.href, 'password authentication failed'],
    ] as const
    await Promise.all(
      wrong.map(async ([DATABASE_URL, fault]) => {
        const ended = await sluice(['serve'], { PORT: '0', DATABASE_URL, DATA_DIR })
        expect(ended).toMatchObject({ code: 1, stdout: '' })
        expect(ended.stderr).toMatch(new RegExp(`^sluice: the database.*${fault}`))
        expect(ended.stderr).not.toMatch(/hidden|\n\s+at /)
      }),
    )
  })
})

describe('settings', () => {
  it('every fault is named at once', async () => {
    const ended = await sluice(['serve'], {
      PORT: '80000',
      MODE: 'production',
      ROLE: 'api',
      SECRET_KEY: 'short',
      TIME_ZONE: 'Mars/Olympus',
      PUBLIC_URL: 'ftp://files.example',
      TRUSTED_PROXIES: 'everybody',
      DATABASE_OWNER_URL: 'mysql://root@db/sluice',
      LOG_LEVEL: 'loud',
    })
    expect(ended.code).toBe(1)
    expect(ended.stdout).toBe('')
    for (const name of [
      ...['PORT', 'MODE', 'ROLE', 'SECRET_KEY', 'TIME_ZONE', 'PUBLIC_URL', 'TRUSTED_PROXIES'],
      ...['DATABASE_OWNER_URL', 'LOG_LEVEL'],
    ]) {
      expect(ended.stderr).toMatch(new RegExp(`^ {2}- ${name}\\b`, 'm'))
    }
  })

  it('a role of its own needs DATABASE_URL', async () => {
    const DATA_DIR = await tempFolder()
    const roles = ['api', 'worker'].map((ROLE) => sluice(['serve'], { ROLE, DATA_DIR }))
    for (const ended of await Promise.all(roles)) {
      expect(ended).toMatchObject({ code: 1, stdout: '' })
      expect(ended.stderr).toMatch(/ROLE=\w+ needs DATABASE_URL/)
    }
  })
})

describe('live', () => {
  const live = { MODE: 'live', SECRET_KEY: liveKey, PUBLIC_URL: 'https://pay.example' }

  it('refuses to start with a generated key or an address without TLS', async () => {
    const DATA_DIR = await tempFolder()
    const refusals: [Env, string][] = [
      [{ PUBLIC_URL: live.PUBLIC_URL }, 'SECRET_KEY must be set in live mode'],
    ]
    await Promise.all(
      refusals.map(async ([settings, fault]) => {
        const ended = await sluice(['serve'], { MODE: 'live', DATA_DIR, ...settings })
        expect(ended).toMatchObject({ code: 1, stdout: '' })
        expect(ended.stderr).toContain(fault)
      }),
    )
  })

  it('takes no plain-http callback address, and none that is not public', async () => {
    const env = await external(live)
    const create = ['agent', 'create', '--name', 'Shop', '--frame-origin', 'none', '--json']
    for (const url of ['http://shop.example/hook', 'https://127.0.0.1/hook', 'https://10.0.0.8/']) {
      const ended = await command([...create, '--deposit-callback', url], env)
      expect(ended).toMatchObject({ code: 1, stdout: '' })
      expect(ended.stderr).toContain('--deposit-callback')
    }
    const made = await command([...create, '--deposit-callback', 'https://8.8.8.8/hook'], env)
    expect(made.code).toBe(0)
    await verifyClean(env)
  })

  it('makes no agent, prints no secret, has no sandbox, and tells agents that it cannot take orders yet', async () => {
    const env = await external(live)
    const started = startSluice(['serve'], { PORT: '0', ...env })
    await expect.poll(() => started.stdout, patient).toMatch(/Health/)
    const url = /listening on (\S+)\)/.exec(started.stdout)?.[1] ?? ''
    expect(started.stdout).toContain('https://pay.example')
    expect(started.stdout + started.stderr).not.toMatch(/sk_|secret/)
    expect(await commandJson(['agent', 'list'], env)).toEqual([])

    const { app_id, secret } = await commandJson(
      ['agent', 'create', '--name', 'Shop', '--frame-origin', 'none'],
      env,
    )
    const agent = new AgentClient(url, app_id, secret, 0n, () => new Date())
    for (const answer of [await agent.deposit(), await agent.withdraw()]) {
      expect(answer).toMatchObject({ status: 503, json: { code: 'provider_unavailable' } })
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    expect((await agent.get('/payment/wallet')).json).toMatchObject({ balance: 0, held: 0 })
    const triggered = await agent.trigger('1-00000000000000000000000000000000', 'PAID')
    expect(triggered).toMatchObject({ status: 404, json: { code: 'not_found' } })
    expect((await fetch(`${url}/metrics`)).status).toBe(404)
    const byHand = await command(['trigger', '1-00000000000000000000000000000000', 'PAID'], env)
    expect(byHand).toMatchObject({ code: 1, stdout: '' })
    expect(byHand.stderr).toContain('sandbox only')
    await verifyClean(env)
  })

  it('shows /metrics to who has the token', async () => {
    const service = await serve(await external({ ...live, METRICS_TOKEN: 'let-me-see' }))
    const metrics = (authorization: string) =>
      fetch(`${service.url}/metrics`, { headers: { authorization } })
    expect((await metrics('Bearer let-me-seE')).status).toBe(401)
    const shown = await metrics('Bearer let-me-see')
    expect(shown.status).toBe(200)
    expect(await shown.text()).toContain('sluice_orders_total')
  })
})

describe('the welcome text', () => {
  /** Runs a text as if it were pasted into a shell. */
  function paste(text: string): string {
    return execFileSync('bash', ['-c', text], { encoding: 'utf8' })
  }

  async function welcome(env: Env): Promise<Running> {
    const started = startSluice(['serve'], env)
    await expect.poll(() => started.stdout, patient).toMatch(/(x-signature.*|npx sluice.*)\n\n?$/)
    return started
  }

  it('shows working credentials and a first request once, and never a secret again', async () => {
    const { env } = await embedded({ PORT: String(await freePort()) })
    const first = await welcome(env)
    const [, appId = '', secret = ''] =
      /app id {2}(\S+)\n {2}secret {2}(\S+)/.exec(first.stdout) ?? []
    const request = first.stdout.slice(first.stdout.indexOf('APP_ID='))
    const order = JSON.parse(paste(request))
    expect(order).toMatchObject({ amount: 250, txn_id: expect.any(String) })
    expect(order.link).toMatch(new RegExp(`^http://localhost:${env.PORT}/pay/`))
    const agent = new AgentClient(
      `http://127.0.0.1:${env.PORT}`,
      appId,
      secret,
      0n,
      () => new Date(),
    )
    expect((await agent.get(`/payment/orders/${order.txn_id}`)).json.status).toBe('WAITING')
    for (const path of ['/docs', '/readyz', '/openapi.json']) {
      expect((await fetch(`http://127.0.0.1:${env.PORT}${path}`)).status).toBe(200)
    }
    expect(first.stderr).not.toContain(secret)
    expect(await first.stop()).toMatchObject({ code: 0 })

    const second = await welcome(env)
    expect(second.stdout + second.stderr).not.toMatch(/sk_/)
    expect(second.stdout).toContain('npx sluice agent create')
    await verifyClean(env)
  })

  it('of a worker says where its health is, and shows no address that it does not serve', async () => {
    const worker = startSluice(['serve'], await external({ ROLE: 'worker', PORT: '0' }))
    await expect.poll(() => worker.stdout, patient).toMatch(/readyz\n\n$/)
    expect(worker.stdout).toMatch(
      /^\nSluice \S+ is working: sandbox, PostgreSQL\. Health: http\S+\n\n$/,
    )
    const [health = ''] = /http\S+/.exec(worker.stdout) ?? []
    expect((await fetch(health)).status).toBe(200)
  })

  it('gives a first request that works under a PUBLIC_URL with a path', async () => {
    const port = await freePort()
    const env = await external({
      PORT: String(port),
      PUBLIC_URL: `http://localhost:${port}/pay-api/`,
    })
    const { stdout } = await welcome(env)
    const order = JSON.parse(paste(stdout.slice(stdout.indexOf('APP_ID='))))
    expect(order.link).toContain(`http://localhost:${port}/pay-api/pay/`)
    await verifyClean(env)
  })
})

describe('roles', () => {
  it('a worker serves health and metrics alone, and expires what an api process took', async () => {
    const env = await external()
    const [api, worker] = await Promise.all([
      serve({ ...env, ROLE: 'api' }),
      serve({ ...env, ROLE: 'worker', DATA_DIR: env.DATA_DIR ?? '' }),
    ])
    const demo = api.demo ?? worker.demo
    const made = await commandJson(['agent', 'create', '--name', 'Brief', '--expires-in', '1'], env)
    const brief = { appId: made.app_id, secret: made.secret }

    for (const path of ['/healthz', '/readyz', '/metrics']) {
      expect((await fetch(worker.url + path)).status).toBe(200)
    }
    for (const path of ['/docs', '/openapi.json']) {
      expect((await fetch(worker.url + path)).status).toBe(404)
    }
    const refused = await worker.agent(demo).deposit()
    expect(refused).toMatchObject({ status: 404, json: { code: 'not_found' } })
    expect((await worker.agent(demo).get('/payment/wallet')).status).toBe(404)

    const { json: order } = await api.agent(brief).deposit()
    await expect
      .poll(
        async () => (await api.agent(brief).get(`/payment/orders/${order.txn_id}`)).json.status,
        patient,
      )
      .toBe('EXPIRED')

    expect(await worker.stop()).toMatchObject({ code: 0 })
    const { json: open } = await api.agent(brief).deposit()
    const metrics = await (await fetch(`${api.url}/metrics`)).text()
    expect(metrics).not.toMatch(/sluice_orders_total\{[^}]*EXPIRED/)
    const next = await serve({ ...env, ROLE: 'worker' })
    await expect
      .poll(
        async () => (await api.agent(brief).get(`/payment/orders/${open.txn_id}`)).json.status,
        patient,
      )
      .toBe('EXPIRED')
    expect(await next.stop()).toMatchObject({ code: 0 })
    await verifyClean(env)
  })
})
