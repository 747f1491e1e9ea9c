import type { Agent } from './agent.ts'
import type { KeyInfo } from './find-agent.ts'
import { termsView } from './terms.ts'

/** An agent as operators see it on the command line and in the console. */
export function agentView(agent: Agent) {
  const { name, ...terms } = termsView(agent)
  return {
    app_id: agent.appId,
    name,
    currency: agent.currency,
    status: agent.status,
    ...terms,
    created_at: agent.createdAt.toISOString(),
    updated_at: agent.updatedAt.toISOString(),
  }
}

/** When a secret was created and last used; never the secret itself. */
export function keyView(key: KeyInfo) {
  return {
    slot: key.slot,
    created_at: key.createdAt.toISOString(),
    expires_at: key.expiresAt?.toISOString() ?? null,
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
  }
}
