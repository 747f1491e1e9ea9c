import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { AgentFinder } from '../agents/agent-finder.ts'
import { KeyUse } from '../agents/key-use.ts'
import { makeResolveHost, type ResolveHost } from '../agents/resolve-host.ts'
import type { Backend } from '../backend.ts'
import { CallbackPoster } from '../callbacks/post-callback.ts'
import type { Config } from '../config.ts'
import { unsafeSettings } from '../db/durability.ts'
import { SharedBuckets } from '../db/shared-buckets.ts'
import type { ConnectionLimits } from '../http/bound-connections.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import type { Provider } from '../providers/provider.ts'
import type { Desk } from '../teller/desk.ts'
import { buildHttp } from './build-http.ts'
import { type Ground, makeGround } from './ground.ts'
import { openDesk } from './open-desk.ts'
import { openPools } from './open-pools.ts'
import { openSandboxBank } from './open-sandbox-bank.ts'
import { startCallbacks } from './start-callbacks.ts'
import { startWork } from './start-work.ts'

export interface Service {
  app: FastifyInstance
  desk: Desk
  /** Where it listens. */
  url: string
  /** Asks whoever sends a request from now on to come back on another connection. */
  drain(): void
  /** Ends every request, then everything that runs by itself. */
  close(): Promise<void>
}

/** The outside world, where tests put another in its place. */
export interface Outside {
  clock?: Clock
  resolveHost?: ResolveHost
  /** A certificate authority to be trusted besides the usual ones. */
  ca?: string
  providers?: readonly Provider[]
  /** Providers beside the mode's own. */
  moreProviders?: readonly Provider[]
  /** Where the built console is. */
  consoleDir?: string
  /** Whether withdrawals go to their provider by themselves. */
  paysOut?: boolean
  /** How long a file may take to leave the console, and its reader may stop. */
  exportLimits?: { wholeMs: number; idleMs: number }
  /** How much one connection may have under way, and how long it may stand still. */
  connectionLimits?: ConnectionLimits
}

/** Starts the service on an open backend, which stays the caller's to close. */
export async function startService(
  config: Config,
  backend: Backend,
  log: Logger,
  { clock = systemClock, ...outside }: Outside = {},
): Promise<Service> {
  const ground = makeGround(config, backend, log, clock)
  try {
    return await openAll(ground, outside)
  } catch (error) {
    await ground.closing.close()
    throw error
  }
}

/** Each part stands on those above it, and is closed before them. */
async function openAll(ground: Ground, outside: Omit<Outside, 'clock'>): Promise<Service> {
  const { config, backend, clock, address, metrics, closing, onError } = ground
  const {
    resolveHost = makeResolveHost(),
    ca,
    providers,
    moreProviders,
    paysOut = true,
    ...ofDoors
  } = outside
  await reportUnsafeSettings(ground)

  const pools = openPools(ground)
  const bank =
    config.mode === 'sandbox'
      ? await openSandboxBank(backend, {
          clock,
          // A worker takes no notices: the stories go on where they can be told.
          tellStories: config.role !== 'worker',
          noticeUrl: () => address.noticeUrl,
          onError,
        })
      : undefined
  if (bank) closing.add(() => bank.close())

  const agents = new AgentFinder(pools.door, backend.secretKeys, clock, onError)
  const poster = new CallbackPoster({
    mode: config.mode,
    resolveHost,
    now: clock,
    ...(ca !== undefined && { ca }),
  })
  closing.add(() => poster.close())
  const { sender, wake } = startCallbacks(ground, pools.callbacks, agents, poster)

  const { desk, teller, pool, close } = openDesk(config, backend, {
    clock,
    publicUrl: () => address.publicUrl,
    bankUrl: bank?.url,
    providers,
    moreProviders,
    onBatch: (batch) => metrics.batch(batch),
    onFault: (error) => {
      metrics.fault()
      onError(error)
    },
    onCallbacks: wake,
  })
  closing.add(close)
  teller.onOrder(({ kind, status }) => metrics.order(kind, status))
  metrics.watch({ main: backend.pool, ...pools, teller: pool }, () => teller.queueDepth, clock)

  if (sender) startWork(ground, { desk, teller, sender, proofPool: pools.proof, paysOut })

  const app = await buildHttp(ground, {
    desk,
    listPool: pools.lists,
    buckets: new SharedBuckets(pools.door, clock, onError),
    agents,
    keyUse: new KeyUse(backend.pool, clock, onError),
    poster,
    resolveHost,
    wake,
    ...ofDoors,
  })
  await app.listen({ host: config.host, port: config.port })
  const bound = app.server.address()
  address.listensOn(bound !== null && typeof bound === 'object' ? bound.port : config.port)

  return {
    app,
    desk,
    url: address.url,
    drain: () => closing.begin(),
    close: () => closing.close(),
  }
}

async function reportUnsafeSettings({ backend, log }: Ground): Promise<void> {
  for (const name of await unsafeSettings(backend.pool)) {
    log.error(
      `${name} is off in the database: what was acknowledged may be lost or spoilt when its machine fails. Turn it on`,
    )
  }
}
