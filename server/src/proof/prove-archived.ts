import { accountNames } from '../ledger/accounts.ts'
import { readArchiveParts } from '../ledger/archived.ts'
import { journalColumns } from '../ledger/book-columns.ts'
import { journalHash } from '../ledger/journal-hash.ts'
import { ensure, type ProofTx } from './proof-failure.ts'

/**
 * Proves that the archived parts form one chain, and that the chain's last row is unchanged in the
 * journal. Returns the seq of that row, from which the journal is proved; 0 if nothing is archived.
 */
export async function proveParts(tx: ProofTx, agentId: bigint): Promise<bigint> {
  const parts = await readArchiveParts(tx, agentId)
  let seq = 0n
  for (const [at, { part, fromSeq, toSeq }] of parts.entries()) {
    ensure(
      part === at + 1 && fromSeq === seq + 1n,
      () => `part ${at + 1} of the archive, from journal row ${seq + 1n}, is missing`,
    )
    seq = toSeq
  }
  const last = parts.at(-1)
  if (!last) return 0n
  const { rows } = await tx.query(
    `select ${journalColumns.select('j')} from journal j where agent_id = $1 and seq = $2`,
    [agentId, seq],
  )
  const row = rows[0] && journalColumns.fromRow(rows[0])
  ensure(row !== undefined, () => `journal row ${seq}, which the archive ends with, is missing`)
  for (const name of accountNames) {
    ensure(
      row.balances[name] === last.closing[name],
      () =>
        `journal row ${seq} says ${name} is ${row.balances[name]}, the archive ends with ${last.closing[name]}`,
    )
  }
  // The chain begins after the parts from before it, with the digest of the last of them.
  const hash = last.hash ?? journalHash(last.sha256, row)
  ensure(row.hash === hash, () => `journal row ${seq} has another hash than the archive ends with`)
  return seq
}

/** Proves that every removed order has left its refId in archived_refs. */
export async function proveArchivedRefs(tx: ProofTx, agentId: bigint): Promise<void> {
  const { rows } = await tx.query<{ removed: bigint; known: bigint }>(
    `select (select coalesce(sum(removed_orders), 0)::bigint from archive_parts where agent_id = $1) as removed,
       (select count(*) from archived_refs where agent_id = $1) as known`,
    [agentId],
  )
  const { removed, known } = rows[0] ?? { removed: 0n, known: 0n }
  ensure(
    removed === known,
    () => `${removed} orders were archived, but ${known} are known to have been`,
  )
}
