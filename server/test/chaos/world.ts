import pg from 'pg'
import {
  type EmbeddedPostgres,
  embeddedLogin,
  openEmbeddedPostgres,
} from '../../src/db/embedded.ts'
import { migrate } from '../../src/db/migrate.ts'
import { seeded } from '../support/load.ts'
import { type Env, sluiceJson, tempFolder } from '../support/process.ts'
import { AgentClient } from '../support/service.ts'
import { type Midnight, midnightAfter } from './midnight.ts'
import { type AgentTerms, bankCode } from './model.ts'
import { MoodyReceiver } from './moody-receiver.ts'
import { HungBank, makeNeighbour, type Neighbour } from './neighbour.ts'
import { ServiceSlot } from './service-slot.ts'
import { SmallDisk } from './small-disk.ts'

/** An agent, as it knows itself, with its receiver. */
export interface ChaosAgent {
  appId: string
  secret: string
  terms: AgentTerms
  receiver: MoodyReceiver
}

const agentTerms: AgentTerms[] = [
  {
    currency: 'THB',
    depositFee: '1.5%+2',
    withdrawFee: '1',
    revertFee: 'keep',
    lateMoney: 'review',
    expiresInS: 8,
    settleKeep: 2_000,
  },
  {
    currency: 'THB',
    depositFee: '0.75%',
    withdrawFee: '0.5%+3',
    revertFee: 'return',
    lateMoney: 'credit',
    expiresInS: 20,
  },
  {
    currency: 'VND',
    depositFee: '2.5%',
    withdrawFee: '100',
    revertFee: 'return',
    lateMoney: 'review',
    expiresInS: 90,
    reserve: '10%',
    settleKeep: 2_000_000,
  },
]

/**
 * A PostgreSQL on a disk of its own, two processes that take requests and one that works, each with
 * its own way to the database, agents whose receivers fail, and one that
 * is a bad neighbour to them.
 */
export class World {
  readonly disk: SmallDisk
  readonly postgres: EmbeddedPostgres
  readonly slots: ServiceSlot[]
  readonly agents: ChaosAgent[]
  /** Only where one was asked for. */
  private readonly badNeighbour: Neighbour | undefined
  readonly hungBank: HungBank
  /** Settings for the command line. */
  readonly env: Env
  /** When the service's next day begins. */
  readonly midnight: Midnight
  /** When everybody's clock was moved on, on the suite's steady clock. */
  readonly movedAtMs: number[] = []
  private settledMs = 0

  private constructor(
    parts: Pick<World, 'disk' | 'postgres' | 'slots' | 'agents' | 'hungBank' | 'env' | 'midnight'>,
    badNeighbour: Neighbour | undefined,
  ) {
    this.disk = parts.disk
    this.postgres = parts.postgres
    this.slots = parts.slots
    this.agents = parts.agents
    this.badNeighbour = badNeighbour
    this.hungBank = parts.hungBank
    this.env = parts.env
    this.midnight = parts.midnight
  }

  static async open(seed: number, { withNeighbour = false } = {}): Promise<World> {
    const disk = await SmallDisk.open()
    const postgres = await openEmbeddedPostgres({
      dataDir: disk.folder,
      use: 'serve',
      log: () => {},
    })
    await withOwner(postgres.ownerUrl, async (owner) => {
      // Old log goes soon, so that what is full later is the disk, and not with that.
      await owner.query(`alter system set max_wal_size = '64MB'`)
      await owner.query(`alter system set min_wal_size = '32MB'`)
      await owner.query('select pg_reload_conf()')
      await owner.query('create table public.chaos_rows (text text)')
    })
    const hungBank = await HungBank.open()
    const midnight = midnightAfter(new Date())
    const env = {
      ...(withNeighbour && { HUNG_BANK_URL: hungBank.url }),
      DATABASE_URL: postgres.url,
      DATABASE_OWNER_URL: postgres.ownerUrl,
      DATA_DIR: await tempFolder(),
      SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
      LOG_LEVEL: 'warn',
      TIME_ZONE: midnight.zone,
    }
    await migrate(postgres.ownerUrl, { serviceLogin: embeddedLogin })
    const slots = [await ServiceSlot.open('all', postgres.url, env)]
    const [agents] = await Promise.all([
      Promise.all(agentTerms.map((terms, at) => makeAgent(terms, env, seeded(seed + 100 + at)))),
      ...(['api', 'worker'] as const).map(async (role) => {
        slots.push(await ServiceSlot.open(role, postgres.url, env))
      }),
    ])
    const neighbour = withNeighbour ? await makeNeighbour(env) : undefined
    return new World({ disk, postgres, slots, agents, hungBank, env, midnight }, neighbour)
  }

  get neighbour(): Neighbour {
    if (!this.badNeighbour) throw new Error('the world has no bad neighbour')
    return this.badNeighbour
  }

  /** The processes that take requests. */
  get doors(): ServiceSlot[] {
    return this.slots.filter(({ role }) => role !== 'worker')
  }

  get worker(): ServiceSlot {
    const worker = this.slots.find(({ role }) => role === 'worker')
    if (!worker) throw new Error('the world has no worker')
    return worker
  }

  /** What the agents' own clocks say. */
  now(): Date {
    return new Date(Date.now() + this.settledMs)
  }

  /** Moves everybody's clock on. */
  async pass(ms: number): Promise<void> {
    this.settledMs += ms
    this.movedAtMs.push(performance.now())
    await Promise.all(this.slots.map((slot) => slot.setOffset(slot.offsetMs + ms)))
  }

  client(agent: Pick<ChaosAgent, 'appId' | 'secret'>, slot: ServiceSlot): AgentClient {
    return new AgentClient(slot.url, agent.appId, agent.secret, 0n, () => this.now())
  }

  /** Runs something on a connection of the owner's, past the proxies. */
  asOwner<T>(work: (owner: pg.Client) => Promise<T>): Promise<T> {
    return withOwner(this.postgres.ownerUrl, work)
  }

  async close(): Promise<void> {
    await Promise.all(this.slots.map((slot) => slot.close()))
    await Promise.all(this.agents.map(({ receiver }) => receiver.close()))
    await this.hungBank.close()
    this.disk.clear()
    await this.postgres.close()
    this.disk.close()
  }
}

/** Runs something on a connection of the owner's of its own. */
export async function withOwner<T>(
  url: string,
  work: (owner: pg.Client) => Promise<T>,
): Promise<T> {
  const owner = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  owner.on('error', () => {})
  await owner.connect()
  try {
    return await work(owner)
  } finally {
    await owner.end().catch(() => {})
  }
}

async function makeAgent(terms: AgentTerms, env: Env, random: () => number): Promise<ChaosAgent> {
  const receiver = await MoodyReceiver.open(random)
  const { app_id, secret } = await sluiceJson(
    [
      ...['agent', 'create', '--name', 'Chaos', '--rate-limit', '0'],
      ...['--deposit-callback', receiver.url, '--withdraw-callback', receiver.url],
      ...['--currency', terms.currency, '--expires-in', String(terms.expiresInS)],
      ...['--deposit-fee', terms.depositFee, '--withdraw-fee', terms.withdrawFee],
      ...['--revert-fee', terms.revertFee, '--late-money', terms.lateMoney],
      ...(terms.reserve ? ['--reserve', `${terms.reserve}/30`] : []),
      ...(terms.settleKeep === undefined
        ? []
        : [
            ...['--settle', 'daily', '--settle-keep', String(terms.settleKeep)],
            ...['--settle-to', `${bankCode[terms.currency]}:9876543210:Chaos Shop`],
          ]),
    ],
    env,
  )
  receiver.knows(secret)
  return { appId: app_id, secret, terms, receiver }
}
