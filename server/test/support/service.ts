import { createHmac, randomBytes } from 'node:crypto'
import pg from 'pg'
import { type AgentTerms, createAgent, defaultTerms } from '../../src/agents/save-agent.ts'
import { type Backend, openBackend } from '../../src/backend.ts'
import { type Config, readConfig } from '../../src/config.ts'
import { makeLog } from '../../src/service/make-log.ts'
import { type Outside, type Service, startService } from '../../src/service/start-service.ts'
import { type TestDatabase, testDatabase } from './database.ts'
import { type Answer, exchange } from './exchange.ts'
import { ledgerProver } from './prove-ledger.ts'

export type { Answer }

/** A time that tests can move; it starts at the real one and stands still. */
export interface TestClock {
  (): Date
  advance(ms: number): void
}

export interface TestService {
  service: Service
  config: Config
  backend: Backend
  database: TestDatabase
  clock: TestClock
  /** Makes an agent and a client that signs for it. */
  agent(terms?: Partial<AgentTerms>): Promise<AgentClient>
  /** Fails where the ledger does not prove. */
  prove(what?: 'also across agents'): Promise<void>
  /** What a proof of the ledger finds, for tests that lie about it. */
  findings(): Promise<string[]>
  /** Runs SQL as the owner of the schema, around all privileges. */
  sql(text: string, values?: unknown[]): Promise<pg.QueryResult>
  close(): Promise<void>
}

export interface TestServiceOptions {
  env?: Record<string, string>
  /** Another service on the same database. */
  beside?: TestService
  /** The outside world as the test wants it. */
  outside?: Omit<Outside, 'clock'>
  /** A clock that runs by itself. */
  realTime?: boolean
}

/** Boots the whole service on a database of its own, over real HTTP. */
export async function startTestService(options: TestServiceOptions = {}): Promise<TestService> {
  const database = options.beside?.database ?? (await testDatabase())
  const read = readConfig({
    PORT: '0',
    DATABASE_URL: database.url,
    DATABASE_OWNER_URL: database.ownerUrl,
    SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    LOG_LEVEL: 'silent',
    ...options.env,
  })
  if ('faults' in read) throw new Error(read.faults.join('\n'))
  const { config } = read
  if (options.beside) {
    // As if the database had been of that mode all along, which is cheaper than another one.
    await options.beside.sql('update deployment set mode = $1', [config.mode])
  }
  const backend = await openBackend(config, 'serve', () => {})
  const clock = options.beside?.clock ?? testClock(options.realTime)
  const service = await startService(config, backend, makeLog(config.logLevel), {
    clock,
    // Withdrawals stay where they are, unless the test is about where they go.
    paysOut: false,
    // Tests prove the ledger themselves at their end, and nobody would hear what this finds before.
    provesLedger: false,
    // Many services of many databases share a folder here.
    keepsWitness: false,
    ...options.outside,
  })
  const owner = new pg.Pool({
    connectionString: database.ownerUrl,
    max: 2,
    options: '-c search_path=sluice',
  })
  owner.on('error', () => {})
  const prover = ledgerProver(backend.databaseUrl, owner)

  return {
    service,
    config,
    backend,
    database,
    clock,
    async agent(terms = {}) {
      const { agent, secret } = await createAgent(
        backend.pool,
        backend.secretKeys,
        { ...defaultTerms, name: 'Test', currency: 'THB', rateLimit: 0, ...terms },
        clock(),
      )
      return new AgentClient(service.url, agent.appId, secret, agent.agentId, clock)
    },
    prove: prover.prove,
    findings: prover.findings,
    sql: (text, values) => owner.query(text, values),
    async close() {
      try {
        await prover.proveRest()
      } finally {
        await service.close()
        await backend.close()
        await prover.close()
        await owner.end()
        if (!options.beside) await database.close()
      }
    },
  }
}

function testClock(realTime = false): TestClock {
  let offsetMs = 0
  const start = Date.now()
  return Object.assign(() => new Date((realTime ? Date.now() : start) + offsetMs), {
    advance(ms: number) {
      offsetMs += ms
    },
  })
}

/** An agent's side: signs and sends, as its own code would. Shares no code with the service. */
export class AgentClient {
  readonly url: string
  readonly appId: string
  readonly secret: string
  readonly agentId: bigint
  private readonly clock: () => Date

  constructor(url: string, appId: string, secret: string, agentId: bigint, clock: () => Date) {
    this.url = url
    this.appId = appId
    this.secret = secret
    this.agentId = agentId
    this.clock = clock
  }

  sign(method: string, path: string, body = '', secret = this.secret): string {
    const t = Math.floor(this.clock().getTime() / 1000)
    const v1 = createHmac('sha256', secret).update(`${t}.${method} ${path}.${body}`).digest('hex')
    return `t=${t},v1=${v1}`
  }

  send(
    method: string,
    path: string,
    body?: string,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    return exchange(this.url + path, {
      method,
      headers: {
        'x-appid': this.appId,
        'x-signature': this.sign(method, path, body),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    })
  }

  get(path: string): Promise<Answer> {
    return this.send('GET', path)
  }

  post(path: string, body?: unknown): Promise<Answer> {
    return this.send('POST', path, body === undefined ? undefined : JSON.stringify(body))
  }

  /** A valid order request; what is named replaces the rest. */
  order(fields: Record<string, unknown> = {}): Record<string, unknown> {
    return {
      refId: `ref-${randomBytes(8).toString('hex')}`,
      userId: 'user-1',
      amount: 100,
      accountName: 'Somchai Jaidee',
      accountNo: '1234567890',
      bankCode: 'SCB',
      timestamp: this.clock().toISOString(),
      ...fields,
    }
  }

  deposit(fields: Record<string, unknown> = {}): Promise<Answer> {
    return this.post('/payment/deposit', this.order(fields))
  }

  withdraw(fields: Record<string, unknown> = {}): Promise<Answer> {
    return this.post('/payment/withdraw', this.order(fields))
  }

  trigger(txnId: string, outcome: string, more: Record<string, unknown> = {}): Promise<Answer> {
    return this.post(`/sandbox/orders/${txnId}`, { outcome, ...more })
  }

  /** Puts money into the wallet the way it comes in: a deposit that is paid. */
  async fund(amount: number): Promise<void> {
    const { json } = await this.deposit({ amount })
    const paid = await this.trigger(json.txn_id, 'PAID')
    if (paid.status !== 200) throw new Error(paid.text)
  }

  async balance(): Promise<number> {
    return (await this.get('/payment/wallet')).json.balance
  }
}
