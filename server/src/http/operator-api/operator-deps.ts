import type { AgentFinder } from '../../agents/agent-finder.ts'
import type { CallbackTargets } from '../../agents/callback-url.ts'
import type { ResolveHost } from '../../agents/resolve-host.ts'
import type { Channel } from '../../alerts/alert.ts'
import type { CallbackPoster } from '../../callbacks/post-callback.ts'
import type { SharedBuckets } from '../../db/shared-buckets.ts'
import type { OidcSettings } from '../../operators/oidc-issuer.ts'
import type { Desk } from '../../teller/desk.ts'
import type { LookAround } from './look-around.ts'
import type { ExportLimits } from './send-export.ts'
import type { Settings } from './settings.ts'

/** The dependencies of the console's routes. */
export interface OperatorDeps {
  desk: Desk
  /** Rate limits that hold over all processes. */
  buckets: SharedBuckets
  agents: AgentFinder
  mode: 'sandbox' | 'live'
  callbackTargets: CallbackTargets
  timeZone: string
  version: string
  /** Signals that agents have callbacks to send. */
  wake: (agentIds: bigint[]) => void
  /** Sends the test requests to callback addresses. */
  poster: CallbackPoster
  resolveHost: ResolveHost
  settings: Settings
  /** Lets people look around in a sandbox on their own machine; undefined for the command line. */
  lookAround: LookAround | undefined
  /** From where people of the house use the console, and from where users of agents; empty: from everywhere. */
  consoleAddresses: readonly string[]
  portalAddresses: readonly string[]
  /** How people can be told outside of the console. */
  alertChannels: readonly Channel[]
  /** Where people of the house may sign in; undefined: only here. */
  oidc: OidcSettings | undefined
  /** Overrides the default limits on exports. */
  exportLimits?: ExportLimits
}
