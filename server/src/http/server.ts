import type { FastifyInstance } from 'fastify'
import type { AgentFinder } from '../agents/agent-finder.ts'
import type { KeyUse } from '../agents/key-use.ts'
import type { Desk } from '../orders/desk.ts'
import { cancelOrderRoute, triggerRoute } from './agent-api/change-order.ts'
import { createOrderRoutes } from './agent-api/create-order.ts'
import { describeApi } from './agent-api/describe-api.ts'
import { makeDoor } from './agent-api/door.ts'
import { eventRoutes } from './agent-api/events.ts'
import { readOrderRoutes } from './agent-api/read-orders.ts'
import { readWalletRoutes } from './agent-api/read-wallet.ts'
import { type AppOptions, buildApp, publicPath } from './app.ts'
import { consoleRoutes } from './console-pages.ts'
import { healthRoutes } from './health.ts'
import { type Metrics, metricsRoute } from './metrics.ts'
import { type OperatorDeps, operatorRoutes } from './operator-api/operator-routes.ts'
import { paymentPageRoutes } from './payment-page/routes.ts'
import { noticeRoutes } from './provider-webhooks/notices.ts'
import { referencePage } from './reference-page.ts'

export interface ServerOptions
  extends AppOptions,
    Pick<OperatorDeps, 'poster' | 'resolveHost' | 'settings' | 'exportLimits'> {
  desk: Desk
  agents: AgentFinder
  keyUse: KeyUse
  metrics: Metrics
  metricsToken: string | undefined
  mode: 'sandbox' | 'live'
  role: 'all' | 'api' | 'worker'
  /** The zone in which payers are told the time. */
  timeZone: string
  /** Where the built console is. */
  consoleDir: string
  isDraining: () => boolean
  /** Says that agents have callbacks to be sent. */
  wake: (agentIds: bigint[]) => void
}

/** All doors of the service. A worker has only those for its health. */
export function buildServer(options: ServerOptions): Promise<FastifyInstance> {
  const { desk, agents, keyUse, metrics, metricsToken, mode, role } = options
  return buildApp(options, (app) => {
    healthRoutes(app, desk.pool, options.isDraining)
    // Figures tell much about a business: in live they are shown only to who has the token.
    if (mode === 'sandbox' || metricsToken !== undefined) metricsRoute(app, metrics, metricsToken)
    if (role === 'worker') return
    const door = makeDoor({
      agents,
      keyUse,
      now: desk.now,
      publicPath: () => publicPath(desk.publicUrl()),
    })
    createOrderRoutes(app, door, desk)
    readOrderRoutes(app, door, desk)
    cancelOrderRoute(app, door, desk)
    readWalletRoutes(app, door, desk)
    eventRoutes(app, door, desk, options.wake)
    noticeRoutes(app, desk)
    if (mode === 'sandbox') triggerRoute(app, door, desk)
    paymentPageRoutes(app, options)
    operatorRoutes(app, options)
    consoleRoutes(app, options.consoleDir, () => publicPath(desk.publicUrl()))
    app.get('/openapi.json', async (_request, reply) => reply.send(describeApi(app.swagger())))
    app.get('/docs', async (_request, reply) => {
      const { html, contentSecurityPolicy } = referencePage(describeApi(app.swagger()))
      reply.header('content-security-policy', contentSecurityPolicy)
      return reply.type('text/html; charset=utf-8').send(html)
    })
  })
}
