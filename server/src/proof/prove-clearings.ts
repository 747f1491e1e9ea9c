import { readArchiveParts } from '../ledger/archived.ts'
import type { Clearing } from '../ledger/book.ts'
import { clearingColumns } from '../ledger/book-columns.ts'
import { archivedProvider, isHouse } from '../ledger/house.ts'
import { ensure, ensureSame, type ProofTx, type ProvedAgent } from './proof-failure.ts'

/**
 * What of a book's clearing is at each provider after a journal row: what the row there says that comes
 * last, or what the archive ends with if there is none since.
 */
export async function clearingsBefore(
  tx: ProofTx,
  agentId: bigint,
  seq: bigint,
): Promise<Map<string, bigint>> {
  const last = (await readArchiveParts(tx, agentId)).findLast(({ toSeq }) => toSeq <= seq)
  const found = new Map(last?.clearings ?? (await archivedWithoutProvider(tx, agentId)))
  // Rows that stayed behind in an archived part count there already, unless it does not tell.
  const after = last?.clearings ? last.toSeq : 0n
  const { rows } = await tx.query<{ provider: string; there: bigint }>(
    `select c.provider, j.clearing_there as there from clearings c cross join lateral (
       select clearing_there from journal j where j.agent_id = c.agent_id
         and j.clearing_at = c.provider and j.seq > $2 and j.seq <= $3
       order by j.seq desc limit 1
     ) j where c.agent_id = $1`,
    [agentId, after, seq],
  )
  for (const { provider, there } of rows) found.set(provider, there)
  return found
}

async function archivedWithoutProvider(tx: ProofTx, agentId: bigint): Promise<[string, bigint][]> {
  const { rows } = await tx.query<Clearing>(
    // Only the migration writes one of no row.
    `select ${clearingColumns.select('c')} from clearings c
     where agent_id = $1 and provider = $2 and seq = 0`,
    [agentId, archivedProvider],
  )
  return rows.map(({ provider, balance }) => [provider, balance])
}

/** Proves that what is kept for each provider is what its last row says, and adds up to clearing. */
export async function proveClearings(
  tx: ProofTx,
  agentId: bigint,
  clearing: bigint,
): Promise<void> {
  const { rows } = await tx.query<Clearing>(
    `select ${clearingColumns.select('c')} from clearings c where agent_id = $1`,
    [agentId],
  )
  const { rows: lastRows } = await tx.query<{ provider: string; seq: bigint }>(
    `select c.provider, j.seq from clearings c cross join lateral (
       select seq from journal j where j.agent_id = c.agent_id and j.clearing_at = c.provider
       order by j.seq desc limit 1
     ) j where c.agent_id = $1`,
    [agentId],
  )
  const seqs = new Map(lastRows.map(({ provider, seq }) => [provider, seq]))
  const parts = await readArchiveParts(tx, agentId)
  const archived = parts.at(-1)?.toSeq ?? 0n
  const known = await clearingsBefore(tx, agentId, 2n ** 62n)
  let sum = 0n
  for (const { provider, balance, seq } of rows) {
    const where = `what is kept for ${provider}`
    ensureSame(where, 'balance', balance, known.get(provider) ?? 0n)
    // The last row there may have been archived.
    const last = seqs.get(provider)
    ensure(
      last === seq || (seq <= archived && (last ?? 0n) <= seq),
      () => `${where} is of journal row ${seq}, the last one there is ${last ?? 'none'}`,
    )
    sum += balance
  }
  ensure(sum === clearing, () => `clearing is ${clearing}, but at providers it is ${sum}`)
}

/** With more waiting payments than this, the sum is skipped: each of them is proved anyway. */
const mostAddedUp = 50_000

/** Proves that suspense is the sum of the payments that wait for a decision. */
export async function proveSuspense(
  tx: ProofTx,
  { agentId, currency }: ProvedAgent,
  suspense: bigint,
): Promise<void> {
  const waiting = isHouse(agentId)
    ? `select amount from unmatched_payments where currency = $1 and state = 'waiting' limit $2`
    : `select amount from payments where agent_id = $1 and state = 'waiting' limit $2`
  const { rows } = await tx.query<{ times: bigint; total: bigint }>(
    `select count(*) as times, coalesce(sum(amount), 0)::bigint as total from (${waiting}) waiting`,
    [isHouse(agentId) ? currency : agentId, mostAddedUp + 1],
  )
  const { times = 0n, total = 0n } = rows[0] ?? {}
  if (times > mostAddedUp) return
  ensure(suspense === total, () => `suspense is ${suspense}, but payments that wait are ${total}`)
}
