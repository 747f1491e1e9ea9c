import type { FastifyInstance } from 'fastify'
import { type Logger, pino } from 'pino'
import { AgentFinder } from './agents/agent-finder.ts'
import { KeyUse } from './agents/key-use.ts'
import { makeResolveHost, type ResolveHost } from './agents/resolve-host.ts'
import type { Backend } from './backend.ts'
import { CallbackPoster } from './callbacks/post-callback.ts'
import { CallbackSender } from './callbacks/sender.ts'
import { listen, WakeUp } from './callbacks/wake-up.ts'
import type { Config } from './config.ts'
import { openPool, type Pool } from './db/pool.ts'
import { Metrics } from './http/metrics.ts'
import { buildServer } from './http/server.ts'
import { type Clock, systemClock } from './lib/clock.ts'
import { localTimeIn } from './lib/local-time.ts'
import type { Desk } from './orders/desk.ts'
import { Teller, type TellerOptions } from './orders/teller.ts'
import { sandbox } from './providers/sandbox/sandbox.ts'
import { version } from './version.ts'
import { startWorker } from './worker/worker.ts'

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

/** A log of JSON lines on stderr. What must not be in a log is not written; this is the second net. */
export function makeLog(level: string): Logger {
  const secrets = ['secret', 'password', 'accountNo', 'accountName', 'account_no', 'account_name']
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: {
        paths: [
          ...secrets,
          ...secrets.map((name) => `*.${name}`),
          '*.headers',
          'err.detail',
          'err.where',
        ],
        censor: '[redacted]',
      },
    },
    pino.destination(2),
  )
}

/** Everything but HTTP: the teller and what goes with it, on an open backend. */
export function openDesk(
  config: Config,
  backend: Backend,
  options: { clock?: Clock; publicUrl?: () => string } & Pick<
    TellerOptions,
    'onBatch' | 'onFault' | 'onOrder' | 'onCallbacks'
  >,
): { desk: Desk; teller: Teller; pool: Pool; close: () => Promise<void> } {
  const { clock = systemClock, publicUrl, ...hooks } = options
  const localTime = localTimeIn(config.timeZone)
  const lanes = 3
  const pool = openPool({
    url: backend.databaseUrl,
    max: lanes,
    name: 'sluice teller',
    pipeline: true,
    onError: (error) => hooks.onFault?.(error),
    settings: {
      // Every statement of the teller names its rows by key. A plan made while a table was small
      // must not scan it when it has grown.
      enable_seqscan: 'off',
      enable_hashjoin: 'off',
      enable_mergejoin: 'off',
    },
  })
  const teller = new Teller({
    pool,
    localTime,
    lanes,
    maxBatch: config.tellerBatch,
    maxQueue: 5_000,
    patienceMs: 10_000,
    ...hooks,
  })
  const desk: Desk = {
    pool: backend.pool,
    teller,
    provider: config.mode === 'sandbox' ? sandbox : undefined,
    secretKeys: backend.secretKeys,
    publicUrl: publicUrl ?? (() => config.publicUrl ?? 'http://localhost'),
    localTime,
    now: clock,
  }
  return { desk, teller, pool, close: () => pool.end() }
}

/** The outside world, where tests put another in its place. */
export interface Outside {
  clock?: Clock
  resolveHost?: ResolveHost
  /** A certificate authority to be trusted besides the usual ones. */
  ca?: string
}

/** Starts the service on an open backend, which stays the caller's to close. */
export async function startService(
  config: Config,
  backend: Backend,
  log: Logger,
  { clock = systemClock, resolveHost = makeResolveHost(), ca }: Outside = {},
): Promise<Service> {
  const metrics = new Metrics()
  let publicUrl = config.publicUrl ?? `http://localhost:${config.port}`
  let draining = false
  const onError = (error: unknown) => log.error({ err: error })
  const {
    desk,
    teller,
    pool: tellerPool,
    close,
  } = openDesk(config, backend, {
    clock,
    publicUrl: () => publicUrl,
    onBatch: (batch) => metrics.batch(batch),
    onFault: (error) => {
      metrics.fault()
      onError(error)
    },
    onOrder: ({ kind, status }) => metrics.order(kind, status),
    onCallbacks: (agentIds) => wake(agentIds),
  })
  const agents = new AgentFinder(backend.pool, backend.secretKeys, clock, onError)
  const callbackPool = openPool({
    url: backend.databaseUrl,
    max: 4,
    name: 'sluice callbacks',
    pipeline: true,
    onError,
  })
  const poster = new CallbackPoster({
    mode: config.mode,
    resolveHost,
    now: clock,
    ...(ca !== undefined && { ca }),
  })
  const sender = new CallbackSender({
    pool: callbackPool,
    agents,
    poster,
    now: clock,
    random: Math.random,
    version,
    widest: config.callbacksPerAgent,
    maxInFlight: 1_000,
    onError,
    onAttempt: ({ attempt, callback, at }) =>
      metrics.callback(
        attempt.reason,
        attempt.error === null ? (at.getTime() - callback.createdAt.getTime()) / 1000 : undefined,
      ),
  })
  const wakeUp = new WakeUp(backend.pool, onError)
  const sends = config.role !== 'api'
  const wake = (agentIds: Iterable<bigint>) => {
    const named = [...agentIds]
    if (sends) sender.wake(named)
    else wakeUp.tell(named)
  }
  const listening = sends
    ? listen(
        backend.databaseUrl,
        (agentIds) => {
          if (agentIds.length > 0) sender.wake(agentIds)
          else sender.poll().catch(onError)
        },
        onError,
      )
    : undefined
  const proofPool = openPool({
    url: backend.databaseUrl,
    max: 1,
    name: 'sluice proof',
    onError,
  })
  metrics.watch(
    { main: backend.pool, teller: tellerPool, callbacks: callbackPool, proof: proofPool },
    () => teller.queueDepth,
  )

  const app = await buildServer({
    log,
    version,
    desk,
    metrics,
    agents,
    keyUse: new KeyUse(backend.pool, clock, onError),
    trustedProxies: config.trustedProxies,
    publicUrl: () => publicUrl,
    metricsToken: config.metricsToken,
    mode: config.mode,
    role: config.role,
    isDraining: () => draining,
    wake,
    onResponse: (answer) => metrics.answered(answer),
  })
  app.addHook('onSend', async (_request, reply) => {
    if (draining) reply.header('connection', 'close')
  })
  const worker =
    config.role === 'api'
      ? undefined
      : startWorker({
          desk,
          proofPool,
          sender,
          attemptsKeptMs: config.attemptsKeptDays * 86_400_000,
          onError,
          onLie: (finding) => log.fatal({ finding }, 'the ledger does not prove'),
        })
  const closeAll = async () => {
    draining = true
    // Connections whose last answer was on its way before anybody could tell them to close.
    const sweep = setInterval(() => app.server.closeIdleConnections(), 100)
    await app.close().finally(() => clearInterval(sweep))
    await worker?.stop()
    await listening?.stop()
    await poster.close()
    await close()
    await callbackPool.end()
    await proofPool.end()
  }
  try {
    await app.listen({ host: config.host, port: config.port })
  } catch (error) {
    await closeAll()
    throw error
  }
  const address = app.server.address()
  const port = address !== null && typeof address === 'object' ? address.port : config.port
  if (config.publicUrl === undefined) publicUrl = `http://localhost:${port}`
  const host = config.host.includes(':') ? `[${config.host}]` : config.host
  const drain = () => {
    draining = true
  }
  return { app, desk, url: `http://${host}:${port}`, drain, close: closeAll }
}
