import type { Pool } from '../db/pool.ts'
import { Problem } from '../lib/problem.ts'
import { type Accounts, noChange } from './accounts.ts'
import { archivedSeq, archivedSeqs } from './archived.ts'
import type { JournalRow } from './book.ts'
import { journalColumns } from './book-columns.ts'
import { readWallets } from './read-wallet.ts'

/** The last journal row written at or before a given time; 0 if there is none. */
export async function seqAsOf(pool: Pool, agentId: bigint, at: Date): Promise<bigint> {
  const seq = (await seqsAsOf(pool, [agentId], at)).get(agentId) ?? 0n
  const archived = await archivedSeq(pool, agentId)
  if (archived === 0n || seq > archived) return seq
  const last = await readRow(pool, agentId, archived)
  if (last && last.at <= at) return seq
  throw new Problem(
    'not_found',
    `The journal up to ${last?.at.toISOString()} was archived: take a later time, or look into the archive's files.`,
  )
}

/**
 * The same for many agents at once. The journal has no gaps and its times never go down (`fold`), so a binary
 * search finds the row by key, without an index that would cost something for every row. Both rows of a move
 * between two books have the same time, so the result has both or neither. Rows of earlier releases may be out of
 * order by as much as the clocks of processes differed; the result is then off by as much, but it is the same for
 * every call, because the rows that are examined do not depend on the journal's length. So consecutive statements
 * share their boundaries and contain every row once. Archived rows count as written before any given time, because
 * nothing older can be reported.
 */
export async function seqsAsOf(
  pool: Pool,
  agentIds: readonly bigint[],
  at: Date,
): Promise<Map<bigint, bigint>> {
  const wallets = await readWallets(pool, agentIds)
  const archived = await archivedSeqs(pool, agentIds)
  const found = new Map([...wallets.keys()].map((agentId) => [agentId, 0n]))
  for (let step = 1n << 62n; step > 0n; step /= 2n) {
    const asked = [...found]
      .map(([agentId, seq]) => ({ agentId, seq: seq + step }))
      .filter(({ agentId, seq }) => seq <= (wallets.get(agentId)?.seq ?? 0n))
    const isKept = ({ agentId, seq }: JournalName) => seq > (archived.get(agentId) ?? 0n)
    const kept = asked.filter(isKept)
    for (const name of asked) if (!isKept(name)) found.set(name.agentId, name.seq)
    if (kept.length === 0) continue
    const times = await timesOf(pool, kept)
    for (const { agentId, seq } of kept) {
      const time = times.get(agentId)
      if (!time) throw new Error(`agent ${agentId}: journal row ${seq} is missing`)
      if (time <= at) found.set(agentId, seq)
    }
  }
  return found
}

/** The time of the last row of each book, to be read under the books' locks. */
export const lastTimes = `select w.agent_id, j.at from wallets w
  join journal j on j.agent_id = w.agent_id and j.seq = w.seq where w.agent_id = any($1::bigint[])`

interface JournalName {
  agentId: bigint
  seq: bigint
}

/** When the given journal row of each agent was written. */
async function timesOf(pool: Pool, asked: JournalName[]): Promise<Map<bigint, Date>> {
  const { rows } = await pool.query<{ agent_id: bigint; at: Date }>({
    name: 'journal-times',
    text: `select j.agent_id, j.at from unnest($1::bigint[], $2::bigint[]) a(agent_id, seq)
      join journal j on j.agent_id = a.agent_id and j.seq = a.seq`,
    values: [asked.map(({ agentId }) => agentId), asked.map(({ seq }) => seq)],
  })
  return new Map(rows.map(({ agent_id, at }) => [agent_id, at]))
}

/** The balances after a journal row; zero if there is no such row. */
export async function balancesAfter(
  pool: Pool,
  agentId: bigint,
  seq: bigint,
): Promise<{ seq: bigint; at: Date | null; balances: Accounts }> {
  const row = seq === 0n ? undefined : await readRow(pool, agentId, seq)
  return { seq, at: row?.at ?? null, balances: row?.balances ?? noChange }
}

async function readRow(pool: Pool, agentId: bigint, seq: bigint): Promise<JournalRow | undefined> {
  const { rows } = await pool.query({
    name: 'journal-row',
    text: `select ${journalColumns.select('j')} from journal j where agent_id = $1 and seq = $2`,
    values: [agentId, seq],
  })
  return rows[0] && journalColumns.fromRow(rows[0])
}
