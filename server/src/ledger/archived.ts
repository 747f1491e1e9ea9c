import type { Pool, PoolClient } from '../db/pool.ts'
import { Problem } from '../lib/problem.ts'
import type { Accounts } from './accounts.ts'
import { accountColumns } from './book-columns.ts'

/** A range of an agent's journal that has been moved to a file. */
export interface ArchivePart {
  part: number
  fromSeq: bigint
  toSeq: bigint
  closing: Accounts
  /** What of clearing was at each provider then; null if it was archived before that was kept. */
  clearings: Map<string, bigint> | null
  endedAt: Date
  name: string
  sha256: string
  /** The hash of the last row; null if it was archived before rows were chained. */
  hash: string | null
  orders: bigint
  removedOrders: bigint
  state: 'written' | 'removed'
}

interface PartRow {
  clearings: string | null
  part: number
  from_seq: bigint
  to_seq: bigint
  ended_at: Date
  name: string
  sha256: string
  hash: string | null
  orders: bigint
  removed_orders: bigint
  state: ArchivePart['state']
}

/** The archived parts of an agent's book, oldest first. */
export async function readArchiveParts(
  db: Pool | PoolClient,
  agentId: bigint,
): Promise<ArchivePart[]> {
  const { rows } = await db.query<PartRow>(
    `select part, from_seq, to_seq, ${accountColumns.select('p')}, clearings, ended_at, name, sha256,
       hash, orders, removed_orders, state
     from archive_parts p where agent_id = $1 order by part`,
    [agentId],
  )
  return rows.map((row) => ({
    part: row.part,
    fromSeq: row.from_seq,
    toSeq: row.to_seq,
    closing: accountColumns.fromRow(row),
    clearings: row.clearings === null ? null : clearingsFrom(row.clearings),
    endedAt: row.ended_at,
    name: row.name,
    sha256: row.sha256,
    hash: row.hash,
    orders: row.orders,
    removedOrders: row.removed_orders,
    state: row.state,
  }))
}

/** Clearing by provider, as text that keeps every digit. */
export function clearingsText(clearings: ReadonlyMap<string, bigint>): string {
  const sorted = [...clearings].sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify(sorted.map(([provider, balance]) => [provider, String(balance)]))
}

export function clearingsFrom(text: string): Map<string, bigint> {
  const pairs = JSON.parse(text) as [string, string][]
  return new Map(pairs.map(([provider, balance]) => [provider, BigInt(balance)]))
}

/**
 * The last archived row of an agent's journal; 0 if none is archived. That row and all later ones stay in
 * the journal. Of the earlier rows, only those of orders that are not archived remain.
 */
export async function archivedSeq(db: Pool | PoolClient, agentId: bigint): Promise<bigint> {
  return (await archivedSeqs(db, [agentId])).get(agentId) ?? 0n
}

/** The same for several agents; the map leaves out agents without archived rows. */
export async function archivedSeqs(
  db: Pool | PoolClient,
  agentIds: readonly bigint[],
): Promise<Map<bigint, bigint>> {
  const { rows } = await db.query<{ agent_id: bigint; seq: bigint }>({
    name: 'archived-seqs',
    text: `select agent_id, max(to_seq) as seq from archive_parts
      where agent_id = any($1::bigint[]) group by agent_id`,
    values: [agentIds],
  })
  return new Map(rows.map(({ agent_id, seq }) => [agent_id, seq]))
}

/** Refuses to list a journal from before the last archived row: the list would have gaps. */
export async function refuseArchived(pool: Pool, agentId: bigint, after: bigint): Promise<void> {
  const archived = await archivedSeq(pool, agentId)
  if (after >= archived) return
  throw new Problem(
    'not_found',
    `What was written up to seq ${archived} is archived: list from after=${archived}, and ask the operator for what was before.`,
  )
}

export const archivedOrderDetail =
  'The order ended long ago and was archived; the operator has it on file.'

/** Explains why an order was not found: it never existed, or it was archived. */
export async function noSuchOrder(
  pool: Pool,
  agentId: bigint,
  by: { orderId: string } | { refId: string },
): Promise<Problem> {
  const isArchived =
    'orderId' in by
      ? await isArchivedOrder(pool, agentId, by.orderId)
      : await isArchivedRef(pool, agentId, by.refId)
  return new Problem(
    'order_not_found',
    isArchived ? archivedOrderDetail : 'The agent has no such order.',
  )
}

/** Whether the order with this id was archived. */
export async function isArchivedOrder(
  pool: Pool,
  agentId: bigint,
  orderId: string,
): Promise<boolean> {
  const { rowCount } = await pool.query(
    'select 1 from archived_refs where agent_id = $1 and order_id = $2',
    [agentId, orderId],
  )
  return rowCount === 1
}

/** Whether the order with this refId was archived. */
export async function isArchivedRef(pool: Pool, agentId: bigint, refId: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    'select 1 from archived_refs where agent_id = $1 and ref_id = $2',
    [agentId, refId],
  )
  return rowCount === 1
}
