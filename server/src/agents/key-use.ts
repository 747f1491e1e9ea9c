import { inTransaction, type Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { addressKey } from '../lib/address-key.ts'
import type { Agent } from './agent.ts'
import type { LiveKey } from './agent-finder.ts'

const writeEveryMs = 30_000
/** An agent that calls from ever new addresses is not worth an alarm each time. */
const mostAddresses = 100

/** A secret was used from an address that it was never used from before. */
export interface NewAddress {
  agent: Agent
  key: LiveKey
  address: string
  at: Date
}

/**
 * Records when each secret was last used, writing at most twice a minute, and from where. What follows from a new
 * address is written with it.
 */
export class KeyUse {
  private readonly written = new Map<string, number>()
  private readonly seen = new Set<string>()
  private readonly pool: Pool
  private readonly now: () => Date
  private readonly onError: (error: unknown) => void
  private readonly onNewAddress: (tx: Tx, seen: NewAddress) => Promise<void>

  constructor(
    pool: Pool,
    now: () => Date,
    onError: (error: unknown) => void,
    onNewAddress: (tx: Tx, seen: NewAddress) => Promise<void>,
  ) {
    this.pool = pool
    this.now = now
    this.onError = onError
    this.onNewAddress = onNewAddress
  }

  note(agent: Agent, key: LiveKey, ip: string): void {
    this.noteAddress(agent, key, addressKey(ip))
    // A later secret reuses the slot, and its first use must be recorded.
    const id = `${agent.agentId} ${key.slot} ${key.secret}`
    const at = this.now()
    if (at.getTime() - (this.written.get(id) ?? Number.NEGATIVE_INFINITY) < writeEveryMs) return
    this.written.set(id, at.getTime())
    const text = key.scopes
      ? 'update agent_secrets set last_used_at = $3 where agent_id = $1 and n = $2'
      : 'update agent_keys set last_used_at = $3 where agent_id = $1 and slot = $2'
    this.pool.query(text, [agent.agentId, key.slot, at]).catch(this.onError)
  }

  private noteAddress(agent: Agent, key: LiveKey, address: string): void {
    const secret = key.scopes ? String(key.slot) : 'main'
    const id = `${agent.agentId} ${secret} ${address}`
    if (this.seen.has(id)) return
    if (this.seen.size > 100_000) this.seen.clear()
    this.seen.add(id)
    const at = this.now()
    this.writeAddress(agent, key, secret, address, at).catch((error) => {
      this.seen.delete(id)
      this.onError(error)
    })
  }

  private async writeAddress(
    agent: Agent,
    key: LiveKey,
    secret: string,
    address: string,
    at: Date,
  ): Promise<void> {
    const { rows } = await this.pool.query<{
      known: bigint
      is_known: boolean | null
      is_new_to_agent: boolean | null
    }>(
      `select count(*) filter (where secret = $2) as known,
         bool_or(secret = $2 and address = $3) as is_known,
         bool_and(address <> $3) as is_new_to_agent
       from secret_addresses where agent_id = $1`,
      [agent.agentId, secret, address],
    )
    const { known = 0n, is_known: isKnown, is_new_to_agent: isNewToAgent } = rows[0] ?? {}
    if (isKnown || known >= mostAddresses) return
    await inTransaction(this.pool, async (tx) => {
      const { rowCount } = await tx.query(
        `insert into secret_addresses (agent_id, secret, address, first_used_at)
         values ($1, $2, $3, $4) on conflict do nothing`,
        [agent.agentId, secret, address, at],
      )
      // The first address of all is where an agent belongs; so is, for a new secret, any that it came from before.
      const isStrange = known > 0n || isNewToAgent === true
      if (rowCount === 1 && isStrange) await this.onNewAddress(tx, { agent, key, address, at })
    })
  }
}
