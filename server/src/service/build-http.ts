import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'
import { buildServer, type ServerOptions } from '../http/server.ts'
import { version } from '../version.ts'
import type { Ground } from './ground.ts'
import { settingsShown } from './settings-shown.ts'

/** The same place seen from src and from dist. */
const builtConsole = fileURLToPath(new URL('../../../console/dist', import.meta.url))

/** What of the server's options is made for this service. */
type Given = Pick<
  ServerOptions,
  | 'desk'
  | 'listPool'
  | 'agents'
  | 'keyUse'
  | 'buckets'
  | 'poster'
  | 'resolveHost'
  | 'wake'
  | 'exportLimits'
  | 'connectionLimits'
> & { consoleDir?: string }

/** All doors. Once the end has begun, each answer asks its client to come back on another connection. */
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
    trustedProxies: config.trustedProxies,
    publicUrl: () => address.publicUrl,
    mode: config.mode,
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
    // Connections whose last answer was on its way before anybody could tell them to close.
    const sweep = setInterval(() => app.server.closeIdleConnections(), 100)
    await app.close().finally(() => clearInterval(sweep))
  })
  return app
}
