import type { Pool } from '../db/pool.ts'
import { readArchiveParts } from '../ledger/archived.ts'
import type { JournalRow } from '../ledger/book.ts'
import { type JournalDbRow, journalFromRow } from '../ledger/read-journal.ts'
import { demand } from '../proof/lie.ts'
import { type ArchiveProof, isSameRow, proveArchive } from './prove-archive.ts'

/**
 * Proves that an archive's files and the books are one: the files are those that were archived, what stayed of
 * their rows is as it was, and every order in them is still in the books or known to have left.
 */
export async function proveWithBooks(
  pool: Pool,
  folder: string,
  options: { appId?: string; onProgress?: (proof: ArchiveProof) => void },
): Promise<ArchiveProof[]> {
  const { rows: agents } = await pool.query<{ agent_id: bigint; app_id: string }>(
    'select agent_id, app_id from agents where $1::text is null or app_id = $1 order by agent_id',
    [options.appId ?? null],
  )
  const proofs: ArchiveProof[] = []
  for (const { agent_id: agentId, app_id: appId } of agents) {
    const recorded = await readArchiveParts(pool, agentId)
    if (recorded.length === 0) continue
    const proof = await proveArchive(folder, appId, recorded.length, {
      recorded,
      onJournal: (rows) => proveKeptRows(pool, agentId, rows),
      onOrders: (orderIds) => proveKnown(pool, agentId, orderIds),
      ...(options.onProgress && { onProgress: options.onProgress }),
    })
    proofs.push(proof)
  }
  return proofs
}

async function proveKeptRows(
  pool: Pool,
  agentId: bigint,
  archived: Map<bigint, JournalRow>,
): Promise<void> {
  const seqs = [...archived.keys()]
  const limit = 2_000
  for (let after = (seqs[0] ?? 1n) - 1n; ; ) {
    const { rows } = await pool.query<JournalDbRow>(
      `select * from journal where agent_id = $1 and seq > $2 and seq <= $3 order by seq limit $4`,
      [agentId, after, seqs.at(-1) ?? 0n, limit],
    )
    for (const row of rows.map(journalFromRow)) {
      demand(
        isSameRow(archived.get(row.seq), row),
        () => `journal row ${row.seq} is not what was archived`,
      )
    }
    if (rows.length < limit) return
    after = rows.at(-1)?.seq ?? after
  }
}

async function proveKnown(pool: Pool, agentId: bigint, orderIds: string[]): Promise<void> {
  const { rows } = await pool.query<{ known: bigint }>(
    `select (select count(*) from archived_refs where agent_id = $1 and order_id = any($2::uuid[]))
       + (select count(*) from orders where agent_id = $1 and order_id = any($2::uuid[])) as known`,
    [agentId, orderIds],
  )
  const known = Number(rows[0]?.known ?? 0n)
  demand(
    known === orderIds.length,
    () =>
      `${orderIds.length - known} archived orders are neither in the books nor known to have left`,
  )
}
