import type { Pool } from '../db/pool.ts'
import { orderIdFromUuid } from '../lib/ids.ts'
import type { Accounts } from './accounts.ts'
import { archivedSeq } from './archived.ts'
import type { JournalEvent, JournalRow } from './book.ts'

export interface JournalDbRow extends Accounts {
  agent_id: bigint
  seq: bigint
  order_id: string | null
  event: JournalEvent
  at: Date
  available_change: bigint
  held_change: bigint
  clearing_change: bigint
  fees_change: bigint
  adjustments_change: bigint
  once_key: string | null
  reason: string | null
}

export function journalFromRow(row: JournalDbRow): JournalRow {
  return {
    agentId: row.agent_id,
    seq: row.seq,
    orderId: row.order_id === null ? null : orderIdFromUuid(row.order_id),
    event: row.event,
    at: row.at,
    change: {
      available: row.available_change,
      held: row.held_change,
      clearing: row.clearing_change,
      fees: row.fees_change,
      adjustments: row.adjustments_change,
    },
    balances: {
      available: row.available,
      held: row.held,
      clearing: row.clearing,
      fees: row.fees,
      adjustments: row.adjustments,
    },
    onceKey: row.once_key,
    reason: row.reason,
  }
}

/**
 * Why, as an agent is told: of an adjustment. What a person ended a payout by is between the operator
 * and its banks.
 */
export function reasonForAgent({ orderId, reason }: JournalRow): string | null {
  return orderId === null ? reason : null
}

/** Rows of an agent's journal after a seq, oldest first. */
export async function readJournal(
  pool: Pool,
  agentId: bigint,
  after: bigint,
  limit: number,
): Promise<JournalRow[]> {
  const { rows } = await pool.query<JournalDbRow>({
    text: 'select * from journal where agent_id = $1 and seq > $2 order by seq limit $3',
    values: [agentId, after, limit],
  })
  return rows.map(journalFromRow)
}

/** Rows of an agent's journal before a seq, newest first, down to what is archived. */
export async function readJournalBack(
  pool: Pool,
  agentId: bigint,
  before: bigint,
  limit: number,
): Promise<JournalRow[]> {
  const { rows } = await pool.query<JournalDbRow>(
    'select * from journal where agent_id = $1 and seq < $2 and seq > $3 order by seq desc limit $4',
    [agentId, before, await archivedSeq(pool, agentId), limit],
  )
  return rows.map(journalFromRow)
}

/** The row that a key, which counts once, stands for. */
export async function readJournalByKey(
  pool: Pool,
  agentId: bigint,
  onceKey: string,
): Promise<JournalRow | undefined> {
  const { rows } = await pool.query<JournalDbRow>(
    'select * from journal where agent_id = $1 and once_key = $2',
    [agentId, onceKey],
  )
  return rows[0] && journalFromRow(rows[0])
}

/** The journal of one order. */
export async function readJournalOfOrder(
  pool: Pool,
  agentId: bigint,
  orderId: string,
): Promise<JournalRow[]> {
  const { rows } = await pool.query<JournalDbRow>(
    'select * from journal where agent_id = $1 and order_id = $2 order by seq',
    [agentId, orderId],
  )
  return rows.map(journalFromRow)
}
