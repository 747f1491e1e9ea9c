import type { Pool } from '../db/pool.ts'
import { type Agent, type AgentRow, agentFromRow } from './agent.ts'

export interface KeyInfo {
  slot: number
  createdAt: Date
  expiresAt: Date | null
  lastUsedAt: Date | null
}

export async function findAgent(pool: Pool, appId: string): Promise<Agent | undefined> {
  const { rows } = await pool.query<AgentRow>('select * from agents where app_id = $1', [appId])
  return rows[0] && agentFromRow(rows[0])
}

export async function findAgentById(pool: Pool, agentId: bigint): Promise<Agent | undefined> {
  const { rows } = await pool.query<AgentRow>('select * from agents where agent_id = $1', [agentId])
  return rows[0] && agentFromRow(rows[0])
}

export async function listAgents(pool: Pool): Promise<Agent[]> {
  const { rows } = await pool.query<AgentRow>('select * from agents order by agent_id')
  return rows.map(agentFromRow)
}

/** When an agent's newest key was made, though it may have been revoked. */
export async function newestKeyAt(pool: Pool, agentId: bigint): Promise<Date | null> {
  const { rows } = await pool.query<{ at: Date | null }>(
    'select max(created_at) as at from agent_keys where agent_id = $1',
    [agentId],
  )
  return rows[0]?.at ?? null
}

/** Lists an agent's live keys, newest first, without their secrets. */
export async function listKeys(pool: Pool, agentId: bigint, now: Date): Promise<KeyInfo[]> {
  const { rows } = await pool.query<{
    slot: number
    created_at: Date
    expires_at: Date | null
    last_used_at: Date | null
  }>(
    `select slot, created_at, expires_at, last_used_at from agent_keys
     where agent_id = $1 and (expires_at is null or expires_at > $2)
     order by created_at desc, slot desc`,
    [agentId, now],
  )
  return rows.map((row) => ({
    slot: row.slot,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
  }))
}
