import type { AgentFinder } from '../../agents/agent-finder.ts'
import type { ResolveHost } from '../../agents/resolve-host.ts'
import type { CallbackPoster } from '../../callbacks/post-callback.ts'
import type { SharedBuckets } from '../../db/shared-buckets.ts'
import type { Desk } from '../../teller/desk.ts'
import type { ExportLimits } from './send-export.ts'
import type { Settings } from './settings.ts'

/** What the console's routes stand on. */
export interface OperatorDeps {
  desk: Desk
  /** Limits that hold over all processes. */
  buckets: SharedBuckets
  agents: AgentFinder
  mode: 'sandbox' | 'live'
  timeZone: string
  version: string
  /** Says that agents have callbacks to be sent. */
  wake: (agentIds: bigint[]) => void
  /** How callback addresses are tried out. */
  poster: CallbackPoster
  resolveHost: ResolveHost
  settings: Settings
  /** Other limits than the usual ones on files that leave. */
  exportLimits?: ExportLimits
}
