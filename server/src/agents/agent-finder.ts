import type { Pool } from '../db/pool.ts'
import { type SecretKeys, unseal } from '../lib/secret-box.ts'
import { type Agent, type AgentRow, agentFromRow } from './agent.ts'
import type { SecretScope } from './agent-secrets.ts'

export interface LiveKey {
  /** The slot of one that may do everything, or the number of one that may not. */
  slot: number
  /** What it may do; undefined: everything. */
  scopes?: readonly SecretScope[]
  /** Only requests from these addresses; undefined: every address that the agent allows. */
  allowedIps?: readonly string[]
  createdAt: string
  expiresAt: Date | null
  secret: string
}

export interface AgentWithKeys {
  agent: Agent
  /** Those that may do everything, newest first, at most two. */
  keys: LiveKey[]
  /** Those that may do only some things. */
  scoped: LiveKey[]
}

/** What signs an agent's callbacks: the secrets made for it, or else those that may do everything. */
export function callbackSecrets({ keys, scoped }: AgentWithKeys): string[] {
  const own = scoped.filter(({ scopes }) => scopes?.includes('callback'))
  return (own.length > 0 ? own : keys).map(({ secret }) => secret)
}

/** Changes whenever the agent or one of its secrets does: xmin is the transaction that wrote a row. */
export const stampOfAgent = `concat_ws(' ', a.xmin,
  (select string_agg(k.xmin::text, ' ' order by k.slot) from agent_keys k
   where k.agent_id = a.agent_id), '|',
  (select string_agg(s.xmin::text, ' ' order by s.n) from agent_secrets s
   where s.agent_id = a.agent_id))`

interface KeyRow {
  slot: number
  created_at: string
  sealed: string
  expires_at: string | null
  scopes?: SecretScope[]
  allowed_ips?: string[]
}

interface Asked {
  appId: string
  resolve: (found: AgentWithKeys | undefined) => void
  reject: (error: unknown) => void
}

/**
 * Finds agents with their secrets by app id. Every look-up checks with the database whether the cached agent
 * is still current, so that every process refuses a suspended agent or a revoked key at once. Look-ups that
 * arrive while one is under way share the next.
 */
export class AgentFinder {
  private readonly pool: Pool
  private readonly secretKeys: SecretKeys
  private readonly now: () => Date
  private readonly onError: (error: unknown) => void
  private asked: Asked[] = []
  private underway = false
  private readonly known = new Map<string, AgentWithKeys & { stamp: string }>()
  private readonly knownById = new Map<bigint, AgentWithKeys & { stamp: string }>()
  /**
   * Cached, because unsealing a secret costs more than finding it; the sealed bytes identify exactly one
   * secret.
   */
  private readonly opened = new Map<string, string>()

  constructor(
    pool: Pool,
    secretKeys: SecretKeys,
    now: () => Date,
    onError: (error: unknown) => void,
  ) {
    this.pool = pool
    this.secretKeys = secretKeys
    this.now = now
    this.onError = onError
  }

  find(appId: string): Promise<AgentWithKeys | undefined> {
    return new Promise((resolve, reject) => {
      this.asked.push({ appId, resolve, reject })
      if (this.asked.length === 1) setImmediate(() => this.next())
    })
  }

  /** Finds an agent by its number, for a caller that has just read its stamp. */
  async findById(agentId: bigint, stamp: string): Promise<AgentWithKeys | undefined> {
    const known = this.knownById.get(agentId)
    if (known?.stamp === stamp) return this.live(known)
    const [found] = (await this.read('a.agent_id = $1', agentId)).values()
    if (!found) return undefined
    if (this.knownById.size > 10_000) this.knownById.clear()
    this.knownById.set(agentId, { stamp, ...found })
    return this.live(found)
  }

  private next(): void {
    if (this.underway || this.asked.length === 0) return
    const asked = this.asked
    this.asked = []
    this.underway = true
    this.lookUp([...new Set(asked.map(({ appId }) => appId))])
      .then(
        (found) => {
          for (const { appId, resolve } of asked) resolve(found.get(appId))
        },
        (error) => {
          for (const { reject } of asked) reject(error)
        },
      )
      .finally(() => {
        this.underway = false
        this.next()
      })
      .catch(() => {})
  }

  private async lookUp(appIds: string[]): Promise<Map<string, AgentWithKeys>> {
    const { rows } = await this.pool.query<{ app_id: string; stamp: string }>({
      name: 'stamps-of-agents',
      text: `select a.app_id, ${stampOfAgent} as stamp from agents a where a.app_id = any($1)`,
      values: [appIds],
    })
    const changed = rows.filter(({ app_id, stamp }) => this.known.get(app_id)?.stamp !== stamp)
    if (changed.length > 0) {
      const read = await this.read(
        'a.app_id = any($1)',
        changed.map(({ app_id }) => app_id),
      )
      if (this.known.size > 10_000) this.known.clear()
      // The agent is read after its stamp: if it changed in between, the next look-up reads it again.
      for (const { app_id, stamp } of changed) {
        const found = read.get(app_id)
        if (found) this.known.set(app_id, { stamp, ...found })
      }
    }
    return new Map(
      rows.flatMap(({ app_id }) => {
        const found = this.known.get(app_id)
        return found ? [[app_id, this.live(found)]] : []
      }),
    )
  }

  private async read(where: string, value: unknown): Promise<Map<string, AgentWithKeys>> {
    // Not prepared: `a.*` would fail on this connection once a migration has added a column.
    const { rows } = await this.pool.query<
      AgentRow & { keys: string | null; scoped: string | null }
    >({
      text: `select a.*, (select json_agg(json_build_object('slot', k.slot,
               'created_at', k.created_at, 'sealed', encode(k.sealed_secret, 'base64'), 'expires_at', k.expires_at)
               order by k.created_at desc, k.slot desc)::text
             from agent_keys k where k.agent_id = a.agent_id) as keys,
             (select json_agg(json_build_object('slot', s.n, 'created_at', s.created_at,
               'sealed', encode(s.sealed_secret, 'base64'), 'expires_at', null,
               'scopes', s.scopes, 'allowed_ips', s.allowed_ips) order by s.n desc)::text
             from agent_secrets s where s.agent_id = a.agent_id and s.revoked_at is null) as scoped
             from agents a where ${where}`,
      values: [value],
    })
    return new Map(
      rows.map((row) => [
        row.app_id,
        {
          agent: agentFromRow(row),
          keys: this.openKeys(row.agent_id, row.keys),
          scoped: this.openKeys(row.agent_id, row.scoped),
        },
      ]),
    )
  }

  private live({ agent, keys, scoped }: AgentWithKeys): AgentWithKeys {
    const now = this.now()
    const live = keys.filter(({ expiresAt }) => expiresAt === null || expiresAt > now)
    return { agent, keys: live, scoped }
  }

  private openKeys(agentId: bigint, keys: string | null): LiveKey[] {
    const rows: KeyRow[] = keys === null ? [] : JSON.parse(keys)
    return rows.flatMap(({ slot, created_at, sealed, expires_at, scopes, allowed_ips }) => {
      const secret = this.open(agentId, sealed)
      if (secret === undefined) return []
      const expiresAt = expires_at === null ? null : new Date(expires_at)
      const bounds = scopes && allowed_ips ? { scopes, allowedIps: allowed_ips } : {}
      return [{ slot, createdAt: created_at, expiresAt, secret, ...bounds }]
    })
  }

  /** A secret that no key opens is skipped, so that it does not prevent other agents from being found. */
  private open(agentId: bigint, sealed: string): string | undefined {
    const known = this.opened.get(sealed)
    if (known !== undefined) return known
    const secret = unseal(this.secretKeys, `agent ${agentId}`, Buffer.from(sealed, 'base64'))
    if (secret === undefined) {
      this.onError(
        new Error(
          `a secret of agent ${agentId} does not open with SECRET_KEY: set the key it was encrypted with, as SECRET_KEY or SECRET_KEY_PREVIOUS`,
        ),
      )
      return undefined
    }
    if (this.opened.size > 10_000) this.opened.clear()
    this.opened.set(sealed, secret)
    return secret
  }
}
