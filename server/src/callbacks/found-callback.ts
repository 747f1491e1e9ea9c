import type { JournalEvent, OrderKind } from '../ledger/book.ts'
import { statusOf } from '../proof/proof-failure.ts'
import { deliveryOfCallback, latestAttempt } from './read-callbacks.ts'

/** A callback as the operator's list shows it. */
export interface FoundCallback {
  agentId: bigint
  seq: bigint
  orderId: string
  refId: string
  kind: OrderKind
  status: string
  at: Date
  delivery: string
  attempts: number
  dueAt: Date
  deliveredAt: Date | null
  lastStatus: number | null
  lastError: string | null
}

export interface FoundRow {
  agent_id: bigint
  seq: bigint
  order_id: string
  ref_id: string
  kind: OrderKind
  event: JournalEvent
  created_at: Date
  delivery: string
  attempts: number
  due_at: Date
  delivered_at: Date | null
  last_status: number | null
  last_error: string | null
}

/**
 * Adds the latest attempt and the order's details to the callbacks of one page only. What the callback
 * reported comes from the journal, because the body may contain the agent's own text, which the database
 * never parses.
 */
export const withLatest = (page: string, order: string) => `
  select c.agent_id, c.seq, c.order_id, o.ref_id, c.kind, j.event,
    c.created_at, c.attempts, c.due_at, c.delivered_at, l.error as last_error, l.status as last_status,
    ${deliveryOfCallback} as delivery
  from (${page}) c
  join orders o on o.agent_id = c.agent_id and o.order_id = c.order_id
  join journal j on j.agent_id = c.agent_id and j.seq = c.seq
  left join callback_lanes n on n.agent_id = c.agent_id
  ${latestAttempt}
  order by ${order}`

export function foundFromRow(row: FoundRow): FoundCallback {
  return {
    agentId: row.agent_id,
    seq: row.seq,
    orderId: row.order_id,
    refId: row.ref_id,
    kind: row.kind,
    status: statusOf[row.event] ?? 'WAITING',
    at: row.created_at,
    delivery: row.delivery,
    attempts: row.attempts,
    dueAt: row.due_at,
    deliveredAt: row.delivered_at,
    lastStatus: row.last_status,
    lastError: row.last_error,
  }
}
