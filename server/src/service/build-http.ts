import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'
import { availableChannels } from '../alerts/alert-senders.ts'
import { buildServer, type ServerOptions } from '../http/server.ts'
import { version } from '../version.ts'
import type { Ground } from './ground.ts'
import { settingsShown } from './settings-shown.ts'

/** Where the built console is: in the package of the service, or beside it in the repository. */
const builtConsole =
  ['../../console', '../../../console/dist']
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((path) => existsSync(path)) ?? ''

/** The server options that differ from service to service. */
type Given = Pick<
  ServerOptions,
  | 'desk'
  | 'passOn'
  | 'listPool'
  | 'agents'
  | 'keyUse'
  | 'apiLog'
  | 'lookAround'
  | 'buckets'
  | 'poster'
  | 'resolveHost'
  | 'wake'
  | 'tracer'
  | 'exportLimits'
  | 'connectionLimits'
> & { consoleDir?: string }

/** Builds the HTTP server. While the service is closing, every response asks the client to reconnect. */
export async function buildHttp(
  { config, log, address, metrics, closing }: Ground,
  given: Given,
): Promise<FastifyInstance> {
  const app = await buildServer({
    consoleDir: builtConsole,
    ...given,
    log,
    version,
    metrics,
    metricsToken: config.metricsToken,
    securityContact: config.securityContact,
    trustedProxies: config.trustedProxies,
    alertChannels: availableChannels(config.alerts),
    oidc: config.oidc,
    consoleAddresses: config.consoleAddresses,
    portalAddresses: config.portalAddresses,
    publicUrl: () => address.publicUrl,
    mode: config.mode,
    callbackTargets: config.callbackTargets,
    role: config.role,
    timeZone: config.timeZone,
    settings: settingsShown(config),
    isDraining: () => closing.hasBegun,
    onResponse: (answer) => metrics.answered(answer),
  })
  app.addHook('onSend', async (_request, reply) => {
    if (closing.hasBegun) reply.header('connection', 'close')
  })
  closing.add(async () => {
    // Closes connections whose last response was sent before they could be asked to close.
    const sweep = setInterval(() => app.server.closeIdleConnections(), 100)
    await app.close().finally(() => clearInterval(sweep))
  })
  return app
}
