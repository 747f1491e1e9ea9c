import ipaddr from 'ipaddr.js'
import { modeOf } from '../db/deployment.ts'
import { inTransaction, type Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { isPrintable } from '../lib/printable.ts'
import { type FieldError, Problem } from '../lib/problem.ts'
import { type SecretKeys, seal } from '../lib/secret-box.ts'
import { newAgentSecret } from './agent-secret.ts'
import { alertOfSecret, lockAgent } from './save-agent.ts'

/** What a secret may do; `callback` signs callbacks, and opens nothing. */
export const secretScopes = ['deposit', 'withdraw', 'read', 'callback'] as const
export type SecretScope = (typeof secretScopes)[number]

/** A secret of an agent that may do only some things, without the secret itself. */
export interface AgentSecret {
  n: number
  name: string
  scopes: SecretScope[]
  allowedIps: string[]
  createdAt: Date
  createdBy: string
  revokedAt: Date | null
  lastUsedAt: Date | null
}

export type NewSecret = Pick<AgentSecret, 'name' | 'scopes' | 'allowedIps' | 'createdBy'>

const mostLive = 10

/** Describes everything that is wrong with a secret that somebody wants to make. */
export function secretFaults(made: Omit<NewSecret, 'createdBy' | 'scopes'> & { scopes: string[] }) {
  const faults: FieldError[] = []
  if (!isPrintable(made.name, 60)) {
    faults.push({ field: 'name', message: 'must be 1 to 60 printable characters' })
  }
  const isKnown = made.scopes.every((each) => secretScopes.some((scope) => scope === each))
  if (made.scopes.length === 0 || !isKnown) {
    faults.push({ field: 'scopes', message: `must be some of ${secretScopes.join(', ')}` })
  }
  if (made.scopes.includes('callback') && made.scopes.length > 1) {
    faults.push({ field: 'scopes', message: 'callback goes alone' })
  }
  for (const range of made.allowedIps) {
    if (ipaddr.isValid(range) || ipaddr.isValidCIDR(range)) continue
    faults.push({ field: 'allow_ip', message: `"${range}" is not an address or a CIDR range` })
  }
  return faults
}

/** Makes a secret; it is shown only here, once. */
export async function createSecret(
  pool: Pool,
  secretKeys: SecretKeys,
  agentId: bigint,
  made: NewSecret,
  now: Date,
  also?: (tx: Tx, made: { secret: string; n: number }) => Promise<void>,
): Promise<{ secret: string; n: number }> {
  return inTransaction(pool, async (tx) => {
    // Of two at once, each gets a number of its own.
    const name = await lockAgent(tx, agentId)
    const { rows } = await tx.query<{ n: number; live: bigint }>(
      `select coalesce(max(n), 0) + 1 as n, count(*) filter (where revoked_at is null) as live
       from agent_secrets where agent_id = $1`,
      [agentId],
    )
    const { n = 1, live = 0n } = rows[0] ?? {}
    if (live >= mostLive) {
      throw new Problem('invalid_request', `An agent has at most ${mostLive}; revoke one first.`)
    }
    const secret = newAgentSecret((await modeOf(tx)) ?? 'sandbox')
    await tx.query(
      `insert into agent_secrets (agent_id, n, name, scopes, allowed_ips, sealed_secret,
         created_at, created_by) values ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [
        agentId,
        n,
        made.name,
        made.scopes,
        made.allowedIps,
        seal(secretKeys, `agent ${agentId}`, secret),
        now,
        made.createdBy,
      ],
    )
    await also?.(tx, { secret, n })
    await alertOfSecret(tx, { agentId, name }, now)
    return { secret, n }
  })
}

/** Ends a secret at once, in every process. Returns false if there is none, or if it was revoked before. */
export async function revokeSecret(
  tx: Tx,
  agentId: bigint,
  n: number,
  now: Date,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update agent_secrets set revoked_at = $3
     where agent_id = $1 and n = $2 and revoked_at is null`,
    [agentId, n, now],
  )
  return rowCount === 1
}

/** An agent's secrets, those that were revoked too, oldest first. */
export async function listSecrets(pool: Pool, agentId: bigint): Promise<AgentSecret[]> {
  const { rows } = await pool.query<AgentSecret>(
    `select n, name, scopes, allowed_ips as "allowedIps", created_at as "createdAt",
       created_by as "createdBy", revoked_at as "revokedAt", last_used_at as "lastUsedAt"
     from agent_secrets where agent_id = $1 order by n`,
    [agentId],
  )
  return rows
}

export function secretView(secret: AgentSecret) {
  return {
    id: secret.n,
    name: secret.name,
    scopes: secret.scopes,
    allow_ip: secret.allowedIps,
    created_at: secret.createdAt.toISOString(),
    created_by: secret.createdBy,
    revoked_at: secret.revokedAt?.toISOString() ?? null,
    last_used_at: secret.lastUsedAt?.toISOString() ?? null,
  }
}
