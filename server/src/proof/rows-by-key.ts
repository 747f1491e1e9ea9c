import type { JournalRow } from '../ledger/book.ts'
import { journalColumns } from '../ledger/book-columns.ts'
import type { ProofTx } from './proof-failure.ts'

export const keyOf = (agentId: bigint, onceKey: string | null) => `${agentId} ${onceKey}`

/** Rows of any book, by book and key; null for one that was archived. */
export async function readRowsByKey(
  tx: ProofTx,
  named: readonly { agentId: bigint; onceKey: string }[],
): Promise<Map<string, JournalRow | null>> {
  if (named.length === 0) return new Map()
  const keys = [named.map(({ agentId }) => agentId), named.map(({ onceKey }) => onceKey)]
  const { rows: archived } = await tx.query<{ agent_id: bigint; once_key: string }>(
    `select a.agent_id, a.once_key from archived_keys a
     join unnest($1::bigint[], $2::text[]) k(agent_id, once_key)
       on a.agent_id = k.agent_id and a.once_key = k.once_key`,
    keys,
  )
  const { rows } = await tx.query(
    `select ${journalColumns.select('j')} from journal j
     join unnest($1::bigint[], $2::text[]) k(agent_id, once_key)
       on j.agent_id = k.agent_id and j.once_key = k.once_key`,
    keys,
  )
  return new Map<string, JournalRow | null>([
    ...archived.map((row) => [keyOf(row.agent_id, row.once_key), null] as const),
    ...rows
      .map(journalColumns.fromRow)
      .map((row) => [keyOf(row.agentId, row.onceKey), row] as const),
  ])
}
