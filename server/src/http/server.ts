import type { FastifyInstance } from 'fastify'
import type { AgentFinder } from '../agents/agent-finder.ts'
import { AgentRate } from '../agents/agent-rate.ts'
import { isAllowedIp } from '../agents/allowed-ip.ts'
import type { ApiLog } from '../agents/api-log.ts'
import type { KeyUse } from '../agents/key-use.ts'
import type { Pool } from '../db/pool.ts'
import type { SharedBuckets } from '../db/shared-buckets.ts'
import { Problem } from '../lib/problem.ts'
import type { CallWatch } from '../payouts/pay-out.ts'
import type { Desk } from '../teller/desk.ts'
import { cancelOrderRoute, triggerRoute } from './agent-api/change-order.ts'
import { createOrderRoutes } from './agent-api/create-order.ts'
import { describeApi } from './agent-api/describe-api.ts'
import { makeDoor } from './agent-api/door.ts'
import { eventRoutes } from './agent-api/events.ts'
import { logRequests } from './agent-api/log-requests.ts'
import { makeReadList } from './agent-api/read-list.ts'
import { readOrderRoutes } from './agent-api/read-orders.ts'
import { readWalletRoutes } from './agent-api/read-wallet.ts'
import { type AppOptions, buildApp, publicPath } from './app.ts'
import { bankFeedRoute } from './bank-feed/bank-feed.ts'
import { consoleRoutes } from './console-pages.ts'
import { frontPageRoute } from './front-page.ts'
import { healthRoutes } from './health.ts'
import { type Metrics, metricsRoute } from './metrics.ts'
import type { OperatorDeps } from './operator-api/operator-deps.ts'
import { operatorRoutes } from './operator-api/operator-routes.ts'
import { paymentPageRoutes } from './payment-page/routes.ts'
import { noticeRoutes } from './provider-webhooks/notices.ts'
import { referencePage } from './reference-page.ts'
import { type SecurityContact, securityTxtRoute } from './security-txt.ts'
import { fiveMinutes, madeOnce, sendDocument, staticDocument } from './static-document.ts'

export interface ServerOptions
  extends AppOptions,
    Pick<
      OperatorDeps,
      | 'poster'
      | 'resolveHost'
      | 'callbackTargets'
      | 'settings'
      | 'lookAround'
      | 'alertChannels'
      | 'oidc'
      | 'exportLimits'
    > {
  desk: Desk
  /** Hands a payout that a notice says was refused to the next provider; undefined if a worker does. */
  passOn?: CallWatch['passOn']
  /** Only for agents' lists. */
  listPool: Pool
  agents: AgentFinder
  keyUse: KeyUse
  apiLog: ApiLog
  buckets: SharedBuckets
  metrics: Metrics
  metricsToken: string | undefined
  mode: 'sandbox' | 'live'
  role: 'all' | 'api' | 'worker'
  /** The time zone of the times shown to payers. */
  timeZone: string
  /** Whom to tell about a weakness; undefined if that is not said. */
  securityContact: SecurityContact | undefined
  /** The directory of the built console. */
  consoleDir: string
  /** The addresses that the console is open to; empty: every address. */
  consoleAddresses: readonly string[]
  portalAddresses: readonly string[]
  isDraining: () => boolean
  /** Signals that agents have callbacks to send. */
  wake: (agentIds: bigint[]) => void
}

/** Builds all endpoints of the service. A worker has only the health endpoints. */
export function buildServer(options: ServerOptions): Promise<FastifyInstance> {
  const { desk, agents, keyUse, metrics, metricsToken, mode, role } = options
  return buildApp(options, (app) => {
    healthRoutes(app, desk.pool, options.isDraining)
    // Metrics reveal much about a business, so live mode shows them only with the token.
    if (mode === 'sandbox' || metricsToken !== undefined) metricsRoute(app, metrics, metricsToken)
    if (role === 'worker') return
    const rootPath = () => publicPath(desk.publicUrl())
    frontPageRoute(app, rootPath, eitherList(options))
    const door = makeDoor({
      agents,
      keyUse,
      rate: new AgentRate(options.buckets, desk.now),
      now: desk.now,
      publicPath: rootPath,
    })
    logRequests(app, options.apiLog, { now: desk.now, publicPath: rootPath })
    createOrderRoutes(app, door, desk)
    const readList = makeReadList(options.listPool)
    readOrderRoutes(app, door, desk, readList)
    cancelOrderRoute(app, door, desk)
    readWalletRoutes(app, door, desk, readList)
    eventRoutes(app, door, desk, readList, options.wake)
    noticeRoutes(app, desk, { mode, passOn: options.passOn })
    bankFeedRoute(app, desk, { mode, publicPath: rootPath })
    if (mode === 'sandbox') triggerRoute(app, door, desk)
    paymentPageRoutes(app, options)
    closeConsoleTo(app, eitherList(options))
    operatorRoutes(app, options)
    consoleRoutes(app, options.consoleDir, rootPath)
    descriptionRoutes(app)
    if (options.securityContact) {
      securityTxtRoute(app, options.securityContact, desk.publicUrl, desk.now)
    }
  })
}

/** From where anybody may come to the console; the session tells who, and whether they may. */
function eitherList({
  consoleAddresses,
  portalAddresses,
}: Pick<ServerOptions, 'consoleAddresses' | 'portalAddresses'>): readonly string[] {
  const isOpen = consoleAddresses.length === 0 || portalAddresses.length === 0
  return isOpen ? [] : [...consoleAddresses, ...portalAddresses]
}

/** Refuses requests to the console and its API from other addresses, before anything else of them is looked at. */
function closeConsoleTo(app: FastifyInstance, addresses: readonly string[]): void {
  app.addHook('onRequest', async ({ routeOptions, ip }) => {
    // The pattern that was matched: a path can be written in many ways.
    const isConsole = /^\/console(\/|$)/.test(routeOptions.url ?? '')
    if (isConsole && !isAllowedIp(ip, addresses)) {
      throw new Problem('ip_not_allowed', `The console is not open to your address, ${ip}.`)
    }
  })
}

/** The description of the API, for programs and for people. */
function descriptionRoutes(app: FastifyInstance): void {
  const described = madeOnce(() => describeApi(app.swagger()))
  const json = madeOnce(() =>
    staticDocument('application/json; charset=utf-8', JSON.stringify(described())),
  )
  const page = madeOnce(() => {
    const { html, contentSecurityPolicy } = referencePage(described())
    return { document: staticDocument('text/html; charset=utf-8', html), contentSecurityPolicy }
  })
  app.get('/openapi.json', async (request, reply) =>
    sendDocument(request, reply, json(), fiveMinutes),
  )
  app.get('/docs', async (request, reply) => {
    const { document, contentSecurityPolicy } = page()
    reply.header('content-security-policy', contentSecurityPolicy)
    return sendDocument(request, reply, document, fiveMinutes)
  })
}
