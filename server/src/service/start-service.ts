import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { AgentFinder } from '../agents/agent-finder.ts'
import { ApiLog } from '../agents/api-log.ts'
import { KeyUse } from '../agents/key-use.ts'
import { makeResolveHost, type ResolveHost } from '../agents/resolve-host.ts'
import { alarmNewAddress } from '../approvals/alarm-new-address.ts'
import type { Backend } from '../backend.ts'
import { CallbackPoster } from '../callbacks/post-callback.ts'
import type { Config } from '../config.ts'
import { unsafeSettings } from '../db/durability.ts'
import { SharedBuckets } from '../db/shared-buckets.ts'
import type { ConnectionLimits } from '../http/bound-connections.ts'
import { LookAround } from '../http/operator-api/look-around.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import type { Provider } from '../providers/provider.ts'
import type { Desk } from '../teller/desk.ts'
import { buildHttp } from './build-http.ts'
import { type Ground, makeGround } from './ground.ts'
import { WitnessKeeper } from './keep-witness.ts'
import { openDesk } from './open-desk.ts'
import { openPools } from './open-pools.ts'
import { openSandboxBank } from './open-sandbox-bank.ts'
import { startCallbacks } from './start-callbacks.ts'
import { startWork } from './start-work.ts'

export interface Service {
  app: FastifyInstance
  desk: Desk
  /** The address that the service listens on. */
  url: string
  /** A link for looking around once, in a sandbox that only this machine can reach. */
  lookLink(): string | undefined
  /** From now on, asks the client of every request to reconnect. */
  drain(): void
  /** Finishes all requests, then stops the background work. */
  close(): Promise<void>
}

/** The service's connections to the outside world, which tests replace. */
export interface Outside {
  clock?: Clock
  resolveHost?: ResolveHost
  /** A certificate authority to trust in addition to the usual ones. */
  ca?: string
  providers?: readonly Provider[]
  /** Providers in addition to the default ones of the mode. */
  moreProviders?: readonly Provider[]
  /** The folder of the built console. */
  consoleDir?: string
  /** Whether the service hands withdrawals to their provider. */
  paysOut?: boolean
  /** Whether the service proves the ledger continuously. */
  provesLedger?: boolean
  /** Whether the service notices that the database was restored, and how long it waits for others to vouch for it. */
  keepsWitness?: boolean | { patienceMs: number }
  /** How long an export may take in all, and how long its reader may pause. */
  exportLimits?: { wholeMs: number; idleMs: number }
  /** How many requests one connection may have open, and how long it may be idle. */
  connectionLimits?: ConnectionLimits
}

/** Starts the service on an open backend. The caller closes the backend. */
export async function startService(
  config: Config,
  backend: Backend,
  log: Logger,
  { clock = systemClock, ...outside }: Outside = {},
): Promise<Service> {
  const ground = await makeGround(config, backend, log, clock)
  try {
    return await openAll(ground, outside)
  } catch (error) {
    await ground.closing.close()
    throw error
  }
}

/** Each part depends on those above it and is closed before them. */
async function openAll(ground: Ground, outside: Omit<Outside, 'clock'>): Promise<Service> {
  const { config, backend, clock, address, metrics, tracer, closing, onError } = ground
  const {
    resolveHost = makeResolveHost(),
    ca,
    providers,
    moreProviders,
    paysOut = true,
    provesLedger = true,
    keepsWitness = true,
    ...ofDoors
  } = outside
  await reportUnsafeSettings(ground)

  const witness =
    keepsWitness === false
      ? undefined
      : new WitnessKeeper(ground, keepsWitness === true ? undefined : keepsWitness.patienceMs)
  await witness?.start()

  const pools = openPools(ground)
  const bank =
    config.mode === 'sandbox'
      ? await openSandboxBank(backend, {
          clock,
          // A worker accepts no notices, so its bank plays no stories; that of another process does.
          tellStories: config.role !== 'worker',
          noticeUrl: () => address.noticeUrl,
          onError,
        })
      : undefined
  if (bank) closing.add(() => bank.close())

  const agents = new AgentFinder(pools.door, backend.secretKeys, clock, onError)
  const poster = new CallbackPoster({
    targets: config.callbackTargets,
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
    resolveHost,
    ca,
    providers,
    moreProviders,
    onBatch: (batch) => metrics.batch(batch),
    onWritten: (order) => witness?.wrote(order),
    onFault: (error) => {
      metrics.fault()
      onError(error)
    },
    onCallbacks: wake,
    tracer,
  })
  closing.add(close)
  teller.onOrder(({ kind, status }) => metrics.order(kind, status))
  metrics.watch({ main: backend.pool, ...pools, teller: pool }, () => teller.queueDepth, clock)

  const payouts =
    sender &&
    startWork(ground, {
      ...{ desk, teller, sender, poster, paysOut, provesLedger },
      ...{ proofPool: pools.proof, watchPool: pools.watch, resolveHost },
    })

  const apiLog = new ApiLog(backend.pool, onError)
  closing.add(() => apiLog.stop())
  const lookAround = new LookAround({ ...config, publicUrl: () => address.publicUrl }, clock)
  const app = await buildHttp(ground, {
    desk,
    passOn: payouts && ((...refused) => payouts.take(...refused)),
    listPool: pools.lists,
    buckets: new SharedBuckets(pools.door, clock, onError),
    agents,
    keyUse: new KeyUse(backend.pool, clock, onError, alarmNewAddress),
    apiLog,
    lookAround,
    poster,
    resolveHost,
    wake,
    tracer,
    ...ofDoors,
  })
  await app.listen({ host: config.host, port: config.port })
  const bound = app.server.address()
  address.listensOn(bound !== null && typeof bound === 'object' ? bound.port : config.port)

  return {
    app,
    desk,
    url: address.url,
    lookLink: () => lookAround.makeLink(),
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
