import Fastify from 'fastify'
import { AgentFinder } from '../agents/agent-finder.ts'
import { makeResolveHost } from '../agents/resolve-host.ts'
import type { Backend } from '../backend.ts'
import { CallbackPoster } from '../callbacks/post-callback.ts'
import type { Config } from '../config.ts'
import { SharedBuckets } from '../db/shared-buckets.ts'
import type { ApprovalsDesk } from '../http/operator-api/approvals-desk.ts'
import { operatorRoutes } from '../http/operator-api/operator-routes.ts'
import { systemClock } from '../lib/clock.ts'
import { version } from '../version.ts'
import { openDesk } from './open-desk.ts'

/**
 * Opens what makes proposals of requests to the console's API, without a listener: the command line proposes
 * the same requests, checked and shown as those of the console.
 */
export async function openApprovals(
  config: Config,
  backend: Backend,
  onError: (error: unknown) => void,
): Promise<{ approvals: ApprovalsDesk; close: () => Promise<void> }> {
  const { desk, close } = openDesk(config, backend, { onFault: onError })
  await desk.providers.freshen()
  const { mode, timeZone, callbackTargets } = config
  const resolveHost = makeResolveHost()
  const poster = new CallbackPoster({ targets: callbackTargets, resolveHost, now: systemClock })
  const { approvals } = operatorRoutes(Fastify(), {
    desk,
    buckets: new SharedBuckets(backend.pool, systemClock, onError),
    agents: new AgentFinder(backend.pool, backend.secretKeys, systemClock, onError),
    mode,
    callbackTargets,
    timeZone,
    version,
    wake: () => {},
    poster,
    resolveHost,
    settings: {},
    alertChannels: [],
    consoleAddresses: [],
    portalAddresses: [],
    lookAround: undefined,
    oidc: undefined,
  })
  return {
    approvals,
    close: async () => {
      await poster.close()
      await close()
    },
  }
}
