import type { PoolClient } from '../db/pool.ts'
import type { JournalRow } from '../ledger/book.ts'
import { journalColumns } from '../ledger/book-columns.ts'
import { ProofFailure, type ProofTx } from '../proof/proof-failure.ts'
import { proveJournalPage } from '../proof/prove.ts'
import { ArchiveFault } from './part-files.ts'
import type { AgentToArchive } from './what-to-archive.ts'

const rowsAtOnce = 2_000

/** Runs a proof on one short snapshot of the books. Rows that fail it are not archived. */
export async function inProvedSnapshot<T>(
  client: PoolClient,
  { app_id }: AgentToArchive,
  prove: (tx: ProofTx) => Promise<T>,
): Promise<T> {
  await client.query('begin isolation level repeatable read read only')
  try {
    return await prove(client as unknown as ProofTx)
  } catch (error) {
    if (!(error instanceof ProofFailure)) throw error
    throw new ArchiveFault(
      `the book of ${app_id} does not prove, so it is not archived: ${error.message}`,
    )
  } finally {
    await client.query('rollback')
  }
}

/** Proves a range of a journal before it is archived. Returns its last row. */
export async function proveStretch(
  client: PoolClient,
  agent: AgentToArchive,
  fromSeq: bigint,
  toSeq: bigint,
): Promise<JournalRow> {
  const { agent_id, app_id, currency } = agent
  for (let seq = fromSeq - 1n; seq < toSeq; ) {
    const limit = Math.min(rowsAtOnce, Number(toSeq - seq))
    const page = await inProvedSnapshot(client, agent, (tx) =>
      proveJournalPage(tx, { agentId: agent_id, currency }, seq, limit),
    )
    seq = page.lastSeq
  }
  const { rows } = await client.query(
    `select ${journalColumns.select('j')} from journal j where agent_id = $1 and seq = $2`,
    [agent_id, toSeq],
  )
  if (!rows[0]) throw new ArchiveFault(`journal row ${toSeq} of ${app_id} is missing`)
  return journalColumns.fromRow(rows[0])
}
