import type { Currency } from '../lib/money.ts'
import { type Terms, termsFromRow } from './terms.ts'

/** An agent, which creates orders, and its terms. */
export interface Agent extends Terms {
  agentId: bigint
  appId: string
  /** Never changes. */
  currency: Currency
  status: 'active' | 'suspended'
  createdAt: Date
  updatedAt: Date
}

/** A row of `agents`; the columns of its terms come in addition. */
export interface AgentRow extends Record<string, unknown> {
  agent_id: bigint
  app_id: string
  currency: Currency
  status: Agent['status']
  created_at: Date
  updated_at: Date
}

export function agentFromRow(row: AgentRow): Agent {
  return {
    agentId: row.agent_id,
    appId: row.app_id,
    currency: row.currency,
    status: row.status,
    ...termsFromRow(row),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
