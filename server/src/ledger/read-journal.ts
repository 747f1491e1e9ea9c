import type { Pool } from '../db/pool.ts'
import { archivedSeq } from './archived.ts'
import type { JournalRow } from './book.ts'
import { journalColumns } from './book-columns.ts'

/**
 * The reason that an agent may see: only that of an adjustment. A person's reason for ending a payout or a
 * payment stays between the operator and its banks.
 */
export function reasonForAgent({ event, reason }: JournalRow): string | null {
  return event === 'adjustment' ? reason : null
}

/** The fee that a row charged the agent, or gave back. A sweep only moves fees charged before. */
export function feeChargedBy({ event, change }: JournalRow): bigint {
  return event === 'swept' ? 0n : change.fees
}

/** Reads an agent's journal rows after a seq, oldest first. */
export async function readJournal(
  pool: Pool,
  agentId: bigint,
  after: bigint,
  limit: number,
): Promise<JournalRow[]> {
  const { rows } = await pool.query({
    text: `select ${journalColumns.select('j')} from journal j
      where agent_id = $1 and seq > $2 order by seq limit $3`,
    values: [agentId, after, limit],
  })
  return rows.map(journalColumns.fromRow)
}

/** Reads an agent's journal rows before a seq, newest first, back to the archived ones. */
export async function readJournalBack(
  pool: Pool,
  agentId: bigint,
  before: bigint,
  limit: number,
): Promise<JournalRow[]> {
  const { rows } = await pool.query(
    `select ${journalColumns.select('j')} from journal j
     where agent_id = $1 and seq < $2 and seq > $3 order by seq desc limit $4`,
    [agentId, before, await archivedSeq(pool, agentId), limit],
  )
  return rows.map(journalColumns.fromRow)
}

/** Finds the journal row with a once-only key. */
export async function readJournalByKey(
  pool: Pool,
  agentId: bigint,
  onceKey: string,
): Promise<JournalRow | undefined> {
  const { rows } = await pool.query(
    `select ${journalColumns.select('j')} from journal j
      where agent_id = $1 and once_key = $2`,
    [agentId, onceKey],
  )
  return rows[0] && journalColumns.fromRow(rows[0])
}

/** Reads the journal rows of one order. */
export async function readJournalOfOrder(
  pool: Pool,
  agentId: bigint,
  orderId: string,
): Promise<JournalRow[]> {
  const { rows } = await pool.query(
    `select ${journalColumns.select('j')} from journal j
      where agent_id = $1 and order_id = $2 order by seq`,
    [agentId, orderId],
  )
  return rows.map(journalColumns.fromRow)
}
