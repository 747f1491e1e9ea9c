import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'
import { type Logger, pino } from 'pino'
import { AgentFinder } from './agents/agent-finder.ts'
import { KeyUse } from './agents/key-use.ts'
import { makeResolveHost, type ResolveHost } from './agents/resolve-host.ts'
import type { Backend } from './backend.ts'
import { openCallbackPool } from './callbacks/callback-pool.ts'
import { CallbackPoster } from './callbacks/post-callback.ts'
import { CallbackSender } from './callbacks/sender.ts'
import { listen, WakeUp } from './callbacks/wake-up.ts'
import type { Config } from './config.ts'
import { unsafeSettings } from './db/durability.ts'
import { isConnectionLost, openPool, type Pool } from './db/pool.ts'
import { SharedBuckets } from './db/shared-buckets.ts'
import { buildApp } from './http/app.ts'
import type { ConnectionLimits } from './http/bound-connections.ts'
import { Metrics } from './http/metrics.ts'
import { noticeRoutes } from './http/provider-webhooks/notices.ts'
import { buildServer } from './http/server.ts'
import { type Clock, systemClock } from './lib/clock.ts'
import { localTimeIn } from './lib/local-time.ts'
import { derivedKey } from './lib/secret-box.ts'
import { PayoutRunner } from './payouts/payout-runner.ts'
import type { Provider } from './providers/provider.ts'
import { SandboxBank } from './providers/sandbox/bank-client.ts'
import { makeSandboxProvider } from './providers/sandbox/sandbox.ts'
import { Providers } from './routing/providers.ts'
import { startSandboxBank } from './sandbox-bank/start-sandbox-bank.ts'
import type { Desk } from './teller/desk.ts'
import { Teller, type TellerOptions } from './teller/teller.ts'
import { openTellerPool, tellerLanes } from './teller/teller-pool.ts'
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
          'err.client',
          'err.detail',
          'err.where',
        ],
        censor: '[redacted]',
      },
    },
    pino.destination(2),
  )
}

export interface DeskOptions
  extends Pick<TellerOptions, 'onBatch' | 'onFault' | 'onOrder' | 'onCallbacks'> {
  clock?: Clock
  publicUrl?: () => string
  /** Where the sandbox's bank is to be reached. */
  bankUrl?: () => string
  /** Other providers than the mode's own. */
  providers?: readonly Provider[]
  /** Providers beside those. */
  moreProviders?: readonly Provider[]
}

/** Everything but HTTP: the teller and what goes with it, on an open backend. */
export function openDesk(
  config: Config,
  backend: Backend,
  options: DeskOptions,
): { desk: Desk; teller: Teller; pool: Pool; close: () => Promise<void> } {
  const {
    clock = systemClock,
    publicUrl,
    bankUrl,
    providers,
    moreProviders = [],
    ...hooks
  } = options
  const localTime = localTimeIn(config.timeZone)
  const pool = openTellerPool(backend.databaseUrl, (error) => hooks.onFault?.(error))
  const teller = new Teller({
    pool,
    localTime,
    ...tellerLanes,
    maxBatch: config.tellerBatch,
    maxQueue: 5_000,
    maxQueuePerAgent: 1_250,
    patienceMs: 10_000,
    ...hooks,
  })
  const atBank =
    config.mode === 'sandbox'
      ? { bankUrl: bankUrl ?? (() => 'http://127.0.0.1:9'), key: bankKey(backend) }
      : undefined
  const desk: Desk = {
    pool: backend.pool,
    teller,
    providers: new Providers(
      [...(providers ?? (atBank ? [makeSandboxProvider(atBank)] : [])), ...moreProviders],
      backend.pool,
      (error) => hooks.onFault?.(error),
    ),
    bank: atBank && new SandboxBank(atBank),
    secretKeys: backend.secretKeys,
    publicUrl: publicUrl ?? (() => config.publicUrl ?? 'http://localhost'),
    localTime,
    now: clock,
  }
  return { desk, teller, pool, close: () => pool.end() }
}

/** What the service and the sandbox's bank share. */
function bankKey({ secretKeys }: Backend): Buffer {
  return derivedKey(secretKeys[0], 'sandbox bank')
}

/** Opens a counter of the sandbox's bank in this process. */
export async function openSandboxBank(
  backend: Backend,
  options: {
    clock?: Clock
    tellStories: boolean
    noticeUrl: () => string | undefined
    onError: (error: unknown) => void
  },
): Promise<{ url: string; tick(): Promise<number>; close(): Promise<void> }> {
  const { clock = systemClock, tellStories, noticeUrl, onError } = options
  const pool = openPool({
    url: backend.databaseUrl,
    max: 4,
    name: 'sluice sandbox bank',
    onError,
  })
  const bank = await startSandboxBank({
    pool,
    key: bankKey(backend),
    now: clock,
    noticeUrl,
    tellStories,
    onError,
  })
  return {
    url: bank.url,
    tick: () => bank.tick(),
    async close() {
      await bank.close()
      await pool.end()
    },
  }
}

/** A desk with the sandbox's bank beside it and a door for its notices, for one command. */
export async function openCounter(
  config: Config,
  backend: Backend,
  onError: (error: unknown) => void,
): Promise<{ desk: Desk; close(): Promise<void> }> {
  let noticeUrl: string | undefined
  const bank = await openSandboxBank(backend, {
    tellStories: false,
    noticeUrl: () => noticeUrl,
    onError,
  })
  const { desk, close } = openDesk(config, backend, {
    bankUrl: () => bank.url,
    onFault: onError,
  })
  const publicUrl = () => 'http://127.0.0.1'
  const app = await buildApp(
    { log: makeLog('silent'), trustedProxies: [], publicUrl, version },
    (routes) => noticeRoutes(routes, desk),
  )
  await app.listen({ host: '127.0.0.1', port: 0 })
  const address = app.server.address()
  const port = address !== null && typeof address === 'object' ? address.port : 0
  noticeUrl = `http://127.0.0.1:${port}/providers/sandbox/notices`
  return {
    desk,
    async close() {
      await bank.close()
      await app.close()
      await close()
    },
  }
}

/** The same place seen from src and from dist. */
const builtConsole = fileURLToPath(new URL('../../console/dist', import.meta.url))

/** What operators may see of the settings: nothing that is a secret or leads to one. */
function settingsShown(config: Config): Record<string, string | number | boolean | string[]> {
  return {
    mode: config.mode,
    role: config.role,
    time_zone: config.timeZone,
    database: config.databaseUrl === undefined ? 'embedded' : 'external',
    separate_database_owner: config.databaseOwnerUrl !== undefined,
    secret_key: config.secretKeys.length > 0 ? 'set' : 'made by the service',
    secret_key_previous: config.secretKeys.length > 1 ? 'set' : 'not set',
    metrics_token: config.metricsToken === undefined ? 'not set' : 'set',
    trusted_proxies: config.trustedProxies,
    log_level: config.logLevel,
    callbacks_per_agent: config.callbacksPerAgent,
    callback_attempts_days: config.attemptsKeptDays,
    notices_kept_days: config.noticesKeptDays,
    teller_batch: config.tellerBatch,
  }
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
  { clock = systemClock, resolveHost = makeResolveHost(), ca, ...outside }: Outside = {},
): Promise<Service> {
  const metrics = new Metrics()
  let publicUrl = config.publicUrl ?? `http://localhost:${config.port}`
  let draining = false
  const onError = (error: unknown) => {
    // Ctrl-C reaches the database at the same moment as the service.
    if (!draining || !isConnectionLost(error)) log.error({ err: error })
  }
  for (const name of await unsafeSettings(backend.pool)) {
    log.error(
      `${name} is off in the database: what was acknowledged may be lost or spoilt when its machine fails. Turn it on`,
    )
  }
  const works = config.role !== 'api'
  let noticeUrl: string | undefined
  const bank =
    config.mode === 'sandbox'
      ? await openSandboxBank(backend, {
          clock,
          // A worker takes no notices: the stories go on where they can be told.
          tellStories: config.role !== 'worker',
          noticeUrl: () => noticeUrl,
          onError,
        })
      : undefined
  const {
    desk,
    teller,
    pool: tellerPool,
    close,
  } = openDesk(config, backend, {
    clock,
    publicUrl: () => publicUrl,
    ...(bank && { bankUrl: () => bank.url }),
    ...(outside.providers && { providers: outside.providers }),
    ...(outside.moreProviders && { moreProviders: outside.moreProviders }),
    onBatch: (batch) => metrics.batch(batch),
    onFault: (error) => {
      metrics.fault()
      onError(error)
    },
    onOrder: (order) => {
      metrics.order(order.kind, order.status)
      if (order.kind === 'withdraw' && order.status === 'WAITING') payouts?.offer(order)
    },
    onCallbacks: (agentIds) => wake(agentIds),
  })
  const payouts =
    works && outside.paysOut !== false ? new PayoutRunner(desk, 64, onError) : undefined
  // Nobody's reads are in the way of finding out who asks.
  const doorPool = openPool({ url: backend.databaseUrl, max: 3, name: 'sluice door', onError })
  const listPool = openPool({
    url: backend.databaseUrl,
    max: 4,
    name: 'sluice lists',
    onError,
    // Lists go along keys: a plan that reads a whole table first is not bounded.
    settings: { statement_timeout: '2s', enable_seqscan: 'off', enable_bitmapscan: 'off' },
  })
  const buckets = new SharedBuckets(doorPool, clock, onError)
  const agents = new AgentFinder(doorPool, backend.secretKeys, clock, onError)
  const callbackPool = openCallbackPool(backend.databaseUrl, onError)
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
    onAttempt: ({ startedAt, durationMs, error, reason }, { createdAtMs }) =>
      metrics.callback(
        reason,
        error === null ? (startedAt.getTime() + durationMs - createdAtMs) / 1000 : undefined,
      ),
  })
  const wakeUp = new WakeUp(backend.pool, onError)
  const wake = (agentIds: Iterable<bigint>) => {
    const named = [...agentIds]
    if (works) sender.wake(named)
    else wakeUp.tell(named)
  }
  const listening = works
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
    {
      main: backend.pool,
      door: doorPool,
      lists: listPool,
      teller: tellerPool,
      callbacks: callbackPool,
      proof: proofPool,
    },
    () => teller.queueDepth,
    clock,
  )

  const app = await buildServer({
    log,
    ...(outside.exportLimits && { exportLimits: outside.exportLimits }),
    ...(outside.connectionLimits && { connectionLimits: outside.connectionLimits }),
    version,
    desk,
    listPool,
    buckets,
    metrics,
    agents,
    keyUse: new KeyUse(backend.pool, clock, onError),
    trustedProxies: config.trustedProxies,
    publicUrl: () => publicUrl,
    metricsToken: config.metricsToken,
    mode: config.mode,
    role: config.role,
    timeZone: config.timeZone,
    consoleDir: outside.consoleDir ?? builtConsole,
    poster,
    resolveHost,
    settings: settingsShown(config),
    isDraining: () => draining,
    wake,
    onResponse: (answer) => metrics.answered(answer),
  })
  app.addHook('onSend', async (_request, reply) => {
    if (draining) reply.header('connection', 'close')
  })
  const worker = works
    ? startWorker({
        desk,
        payouts,
        proofPool,
        sender,
        attemptsKeptMs: config.attemptsKeptDays * 86_400_000,
        noticesKeptMs: config.noticesKeptDays * 86_400_000,
        onError,
        onProofFailure: (finding) => log.fatal({ finding }, 'the ledger does not prove'),
      })
    : undefined
  const closeAll = async () => {
    draining = true
    // Connections whose last answer was on its way before anybody could tell them to close.
    const sweep = setInterval(() => app.server.closeIdleConnections(), 100)
    await app.close().finally(() => clearInterval(sweep))
    await worker?.stop()
    await bank?.close()
    await listening?.stop()
    await poster.close()
    await close()
    await callbackPool.end()
    await doorPool.end()
    await listPool.end()
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
  if (config.role !== 'worker') {
    const here = host === '0.0.0.0' ? '127.0.0.1' : host === '[::]' ? '[::1]' : host
    noticeUrl = `http://${here}:${port}/providers/sandbox/notices`
  }
  const drain = () => {
    draining = true
  }
  return { app, desk, url: `http://${host}:${port}`, drain, close: closeAll }
}
