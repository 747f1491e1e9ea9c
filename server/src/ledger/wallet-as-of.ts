import type { Pool } from '../db/pool.ts'
import { type Accounts, noChange } from './accounts.ts'
import type { JournalRow } from './book.ts'
import { type JournalDbRow, journalFromRow, readWallet } from './read-journal.ts'

/**
 * The last journal row that was written at or before a time; 0 where there was none. The journal has no
 * gaps and its times go up with it, so halving finds the row by its key, without an index that every
 * row would pay for. Clocks of several processes may differ: then the answer is off by as much, and
 * still the same whenever it is asked, since the rows that are looked at do not depend on how many
 * there are. So statements of one time after another share their ends, and hold every row once.
 */
export async function seqAsOf(pool: Pool, agentId: bigint, at: Date): Promise<bigint> {
  const { seq: last } = await readWallet(pool, agentId)
  let seq = 0n
  for (let step = 1n << 62n; step > 0n; step /= 2n) {
    if (seq + step > last) continue
    const row = await readRow(pool, agentId, seq + step)
    if (!row) throw new Error(`agent ${agentId}: journal row ${seq + step} is missing`)
    if (row.at <= at) seq += step
  }
  return seq
}

/** The balances after a journal row; nothing where there is no row before. */
export async function balancesAfter(
  pool: Pool,
  agentId: bigint,
  seq: bigint,
): Promise<{ seq: bigint; at: Date | null; balances: Accounts }> {
  const row = seq === 0n ? undefined : await readRow(pool, agentId, seq)
  return { seq, at: row?.at ?? null, balances: row?.balances ?? noChange }
}

async function readRow(pool: Pool, agentId: bigint, seq: bigint): Promise<JournalRow | undefined> {
  const { rows } = await pool.query<JournalDbRow>({
    name: 'journal-row',
    text: 'select * from journal where agent_id = $1 and seq = $2',
    values: [agentId, seq],
  })
  return rows[0] && journalFromRow(rows[0])
}

/** Rows of an agent's journal before a seq, newest first. */
export async function readJournalBack(
  pool: Pool,
  agentId: bigint,
  before: bigint,
  limit: number,
): Promise<JournalRow[]> {
  const { rows } = await pool.query<JournalDbRow>(
    'select * from journal where agent_id = $1 and seq < $2 order by seq desc limit $3',
    [agentId, before, limit],
  )
  return rows.map(journalFromRow)
}

export interface ProofOfAgent {
  provedSeq: bigint
  finding: string | null
  checkedAt: Date | null
}

/** How far the background proof has come with an agent's book. */
export async function proofOf(pool: Pool, agentId: bigint): Promise<ProofOfAgent> {
  const { rows } = await pool.query<{
    proved_seq: bigint
    finding: string | null
    checked_at: Date
  }>('select proved_seq, finding, checked_at from proofs where agent_id = $1', [agentId])
  const row = rows[0]
  return {
    provedSeq: row?.proved_seq ?? 0n,
    finding: row?.finding ?? null,
    checkedAt: row?.checked_at ?? null,
  }
}

/** The wallets of some agents. */
export async function readWallets(
  pool: Pool,
  agentIds: readonly bigint[],
): Promise<Map<bigint, { seq: bigint; balances: Accounts }>> {
  const { rows } = await pool.query<Accounts & { agent_id: bigint; seq: bigint }>(
    `select agent_id, seq, available, held, clearing, fees, adjustments from wallets
     where agent_id = any($1::bigint[])`,
    [agentIds],
  )
  return new Map(rows.map(({ agent_id, seq, ...balances }) => [agent_id, { seq, balances }]))
}
