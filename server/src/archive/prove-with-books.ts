import type { Pool } from '../db/pool.ts'
import { readArchiveParts } from '../ledger/archived.ts'
import type { JournalRow } from '../ledger/book.ts'
import { journalColumns } from '../ledger/book-columns.ts'
import { txnId } from '../lib/ids.ts'
import { ensure } from '../proof/proof-failure.ts'
import { proveReferences } from '../proof/prove-references.ts'
import { paymentKeys } from './order-records.ts'
import type { Manifest } from './part-files.ts'
import { type ArchiveProof, isSameRow, proveArchive } from './prove-archive.ts'

/**
 * Proves that an archive's files match the books: the files are the archived ones, the rows still in the
 * books are unchanged, every order and key in the files is in the books or recorded as removed, and every
 * removed order is in the files.
 */
export async function proveWithBooks(
  pool: Pool,
  folder: string,
  options: {
    appId?: string
    onProgress?: (proof: ArchiveProof) => void
    /** By app id and seq: the hashes that rows in the files must have. */
    hashes?: ReadonlyMap<string, ReadonlyMap<bigint, string>>
  },
): Promise<ArchiveProof[]> {
  const { rows: agents } = await pool.query<{ agent_id: bigint; app_id: string }>(
    'select agent_id, app_id from agents where $1::text is null or app_id = $1 order by agent_id',
    [options.appId ?? null],
  )
  const proofs: ArchiveProof[] = []
  for (const { agent_id: agentId, app_id: appId } of agents) {
    // Read first, so that orders removed during this proof are left to the next one.
    const left = await countLeft(pool, agentId)
    const recorded = await readArchiveParts(pool, agentId)
    if (recorded.length === 0) continue
    let filed = 0n
    const proof = await proveArchive(folder, appId, recorded.length, {
      recorded,
      onJournal: async (rows, manifest) => {
        for (const [seq, hash] of options.hashes?.get(appId) ?? []) {
          ensure(
            [hash, undefined].includes(hashOf(seq, rows, manifest)),
            () => `journal row ${seq} in the archive has another hash than the one that was kept`,
          )
        }
        await proveKeptRows(pool, agentId, rows)
        await proveNothingLost(pool, agentId, [...rows.values()])
      },
      onOrders: async (orders, part) => {
        const orderIds = orders.map(({ order }) => order.orderId)
        await proveKnown(pool, agentId, orderIds)
        const payoutsOf = new Map(orders.flatMap(({ facts }) => [...facts.payoutsOf]))
        await proveReferences(pool, agentId, payoutsOf)
        const refIds = orders.map(({ order }) => order.refId)
        filed += await countLeft(pool, agentId, { orderIds, refIds, part })
      },
      ...(options.onProgress && { onProgress: options.onProgress }),
    })
    if (filed < left) {
      proof.finding ??= `${left - filed} orders have left the books that are not in the file they left for`
    }
    proofs.push(proof)
  }
  return proofs
}

/**
 * The hash of a row according to a part's files; undefined if these do not tell. A file of before the chain has none:
 * the part after it says what the last row's is.
 */
function hashOf(
  seq: bigint,
  rows: ReadonlyMap<bigint, JournalRow>,
  { fromSeq, toSeq, openingHash }: Manifest,
): string | undefined {
  if (seq === fromSeq - 1n) return openingHash
  const hash = rows.get(seq)?.hash
  return hash === '' && seq === toSeq ? undefined : hash
}

const rowsAtOnce = 2_000

/** Counts an agent's removed orders, or those among the given orders that were removed with a part, by their refIds. */
async function countLeft(
  pool: Pool,
  agentId: bigint,
  among?: { orderIds: string[]; refIds: string[]; part: number },
): Promise<bigint> {
  const { rows } = await pool.query<{ count: bigint }>(
    `select count(*) from archived_refs where agent_id = $1
       and ($2::uuid[] is null or part = $4
         and (order_id, ref_id) in (select * from unnest($2::uuid[], $3::text[])))`,
    [agentId, among?.orderIds ?? null, among?.refIds ?? null, among?.part ?? null],
  )
  return rows[0]?.count ?? 0n
}

async function proveKeptRows(
  pool: Pool,
  agentId: bigint,
  archived: Map<bigint, JournalRow>,
): Promise<void> {
  const seqs = [...archived.keys()]
  for (let after = (seqs[0] ?? 1n) - 1n; ; ) {
    const { rows } = await pool.query(
      `select ${journalColumns.select('j')} from journal j
       where agent_id = $1 and seq > $2 and seq <= $3 order by seq limit $4`,
      [agentId, after, seqs.at(-1) ?? 0n, rowsAtOnce],
    )
    for (const row of rows.map(journalColumns.fromRow)) {
      ensure(
        isSameRow(archived.get(row.seq), row),
        () => `journal row ${row.seq} is not what was archived`,
      )
    }
    if (rows.length < rowsAtOnce) return
    after = rows.at(-1)?.seq ?? after
  }
}

/** Proves that the order and the once-only key of every row in the files are still known. */
async function proveNothingLost(pool: Pool, agentId: bigint, rows: JournalRow[]): Promise<void> {
  for (let at = 0; at < rows.length; at += rowsAtOnce) {
    const some = rows.slice(at, at + rowsAtOnce)
    await proveKnown(pool, agentId, [...new Set(some.flatMap(({ orderId }) => orderId ?? []))])
    await proveKeys(
      pool,
      agentId,
      some.flatMap(({ onceKey }) => onceKey ?? []),
    )
  }
}

async function proveKnown(pool: Pool, agentId: bigint, orderIds: string[]): Promise<void> {
  const { rows } = await pool.query<{ order_id: string }>(
    `select order_id from unnest($2::uuid[]) named(order_id)
     where not exists (select 1 from archived_refs a where a.agent_id = $1 and a.order_id = named.order_id)
       and not exists (select 1 from orders o where o.agent_id = $1 and o.order_id = named.order_id)
     limit 1`,
    [agentId, orderIds],
  )
  const [lost] = rows
  ensure(
    lost === undefined,
    () =>
      `order ${txnId(agentId, lost?.order_id ?? '')} is neither in the books nor known to have left`,
  )
}

const ofPayment = new RegExp(`^(${paymentKeys.join('|')}):`)

/** A payment that was archived with its order is known by one key. */
async function proveKeys(pool: Pool, agentId: bigint, keys: string[]): Promise<void> {
  const { rows } = await pool.query<{ once_key: string }>(
    `select once_key from unnest($2::text[]) named(once_key)
     where not exists (select 1 from archived_keys a where a.agent_id = $1 and a.once_key = named.once_key)
       and not exists (select 1 from journal j where j.agent_id = $1 and j.once_key = named.once_key)
       and not exists (select 1 from payments p
         where p.agent_id = $1 and 'payment:' || p.payment_id = named.once_key)
     limit 1`,
    [agentId, keys.map((key) => key.replace(ofPayment, 'payment:'))],
  )
  ensure(
    rows.length === 0,
    () => `${rows[0]?.once_key} is in the archive, but not known to have counted`,
  )
}
