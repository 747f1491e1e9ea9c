import type { Pool, PoolClient } from '../db/pool.ts'
import { noChange } from '../ledger/accounts.ts'
import { type ArchivePart, clearingsText, readArchiveParts } from '../ledger/archived.ts'
import { accountColumns } from '../ledger/book-columns.ts'
import { noHash } from '../lib/chain-hash.ts'
import type { ProofTx } from '../proof/proof-failure.ts'
import { clearingsBefore } from '../proof/prove-clearings.ts'
import { proveOrdersById } from '../proof/prove-orders.ts'
import { finishedOrders, type OrderRecords, orderRecords } from './order-records.ts'
import {
  ArchiveFault,
  type Manifest,
  partName,
  readManifest,
  writeManifest,
  writeTable,
} from './part-files.ts'
import { inProvedSnapshot, proveStretch } from './prove-stretch.ts'
import { removePart } from './remove-part.ts'
import { columnsOf } from './row-text.ts'
import type { AgentToArchive, Archived, ArchiveOptions } from './what-to-archive.ts'

/** Held by the session that archives, so that a second one does not do the same work. */
const archiveLock = 7_358_404
const rowsAtOnce = 2_000
const ordersAtOnce = 500

/**
 * Moves the oldest part of every agent's book, or of one agent's, to files. It runs as the schema's
 * owner, because the service's role may not delete anything. An interrupted run resumes when it is run
 * again.
 */
export async function archive(ownerPool: Pool, options: ArchiveOptions): Promise<Archived[]> {
  const client = await ownerPool.connect()
  try {
    const { rows } = await client.query<{ mine: boolean }>(
      'select pg_try_advisory_lock($1) as mine',
      [archiveLock],
    )
    if (!rows[0]?.mine) {
      throw new ArchiveFault('another process is archiving: wait until it has ended')
    }
    const { rows: agents } = await client.query<AgentToArchive>(
      `select agent_id, app_id, currency from agents where $1::text is null or app_id = $1
       order by agent_id`,
      [options.appId ?? null],
    )
    const archived: Archived[] = []
    for (const agent of agents) archived.push(await archiveAgent(client, agent, options))
    return archived
  } finally {
    // PostgreSQL may need a moment to notice that a session has ended, and its lock would stand until then.
    await client.query('select pg_advisory_unlock_all()').catch(() => {})
    // The session may still hold the lock, so it must not go back to the pool.
    client.release(true)
  }
}

async function archiveAgent(
  client: PoolClient,
  agent: AgentToArchive,
  options: ArchiveOptions,
): Promise<Archived> {
  const records = await orderRecords(client)
  let last = (await readArchiveParts(client, agent.agent_id)).at(-1)
  const archived: Archived = {
    appId: agent.app_id,
    parts: 0,
    journalRows: 0,
    orders: 0,
    removedOrders: 0,
    toSeq: last?.toSeq ?? 0n,
  }
  const remove = async (part: ArchivePart) => {
    archived.removedOrders += await removePart(client, agent, part, records, options)
  }
  if (last && !options.dryRun) {
    await checkFolder(agent, last, options.folder)
    if (last.state === 'written') await remove(last)
  }
  // Every run looks again at orders that earlier runs left behind, in its first part.
  let ordersAfter = 0n
  for (;;) {
    const fromSeq = archived.toSeq + 1n
    const toSeq = await lastSeqBefore(client, agent.agent_id, fromSeq, options)
    if (toSeq === undefined) return archived
    const stretch = { fromSeq, toSeq, ordersAfter }
    if (options.dryRun) {
      const count = async (_tx: ProofTx, orderIds: string[]) => orderIds.length
      for await (const some of finishedIn(client, agent, stretch, count)) archived.orders += some
    } else {
      last = await writePart(client, agent, last, stretch, records, options)
      archived.orders += Number(last.orders)
      await remove(last)
    }
    archived.parts++
    archived.journalRows += Number(toSeq - fromSeq + 1n)
    archived.toSeq = toSeq
    // The last row of a part stays in the journal, so the next part looks at its order again.
    ordersAfter = toSeq - 1n
  }
}

/** A folder without the previous part belongs to another archive; the chain of parts must stay together. */
async function checkFolder(
  { app_id }: AgentToArchive,
  last: ArchivePart,
  folder: string,
): Promise<void> {
  const { sha256 } = await readManifest(folder, app_id, last.part)
  if (sha256 === last.sha256) return
  throw new ArchiveFault(
    `${last.name} in ${folder} is not the part that was archived last: name the folder that has it`,
  )
}

/**
 * The last row of the next part: before the first row that is too recent, and at most `partRows` rows on. Orders
 * that still count for limits stay.
 */
async function lastSeqBefore(
  client: PoolClient,
  agentId: bigint,
  fromSeq: bigint,
  { before, partRows = 100_000 }: ArchiveOptions,
): Promise<bigint | undefined> {
  const { rows } = await client.query<{ seq: bigint | null }>(
    `select coalesce(min(seq) filter (where at >= least($4, (
         select min(counts_from) from limit_counting
         where agent_id = $1 and per <> 'payee'))) - 1, max(seq)) as seq
     from journal where agent_id = $1 and seq between $2 and $3`,
    [agentId, fromSeq, fromSeq + BigInt(partRows) - 1n, before],
  )
  const seq = rows[0]?.seq ?? 0n
  return seq >= fromSeq ? seq : undefined
}

interface Stretch {
  fromSeq: bigint
  toSeq: bigint
  /** Only orders whose last row is after this one are considered. */
  ordersAfter: bigint
}

async function writePart(
  client: PoolClient,
  agent: AgentToArchive,
  last: ArchivePart | undefined,
  stretch: Stretch,
  records: OrderRecords,
  options: ArchiveOptions,
): Promise<ArchivePart> {
  const { agent_id: agentId, app_id: appId } = agent
  const { fromSeq, toSeq } = stretch
  const part = (last?.part ?? 0) + 1
  const ending = await proveStretch(client, agent, fromSeq, toSeq)
  const clearingsAt = (seq: bigint) =>
    inProvedSnapshot(client, agent, (tx) => clearingsBefore(tx, agentId, seq))
  const clearings = await clearingsAt(toSeq)
  const columns = await columnsOf(client, 'journal')
  const tell = (rows: number, what: string) =>
    options.onProgress?.(`${appId}: writing part ${part}: ${rows} ${what}`)
  const journal = await writeTable(
    options.folder,
    partName(appId, part, 'journal.csv.gz'),
    columns.names.join(','),
    journalRecords(client, agentId, columns.record('j'), stretch, (rows) => tell(rows, 'rows')),
  )
  options.onStep?.('journal')
  const orders = await writeTable(
    options.folder,
    partName(appId, part, 'orders.csv.gz'),
    records.header,
    finishedRecords(client, agent, records, stretch, (rows) => tell(rows, 'orders')),
  )
  options.onStep?.('orders')
  const manifest: Manifest = {
    format: 'sluice-archive-1',
    appId,
    agentId,
    currency: agent.currency,
    part,
    fromSeq,
    toSeq,
    opening: last?.closing ?? noChange,
    closing: ending.balances,
    openingClearings: clearingsText(await clearingsAt(fromSeq - 1n)),
    closingClearings: clearingsText(clearings),
    openingHash: await hashBefore(client, agentId, fromSeq),
    closingHash: ending.hash,
    previous: last?.sha256 ?? null,
    journal,
    orders,
  }
  const sha256 = await writeManifest(options.folder, manifest)
  options.onStep?.('manifest')
  const name = partName(appId, part, 'json')
  const balances = accountColumns.values([ending.balances]).map(([balance]) => balance)
  await client.query(
    `insert into archive_parts (agent_id, part, from_seq, to_seq, clearings, ended_at, name, sha256,
       orders, removed_orders, state, made_at, hash, ${accountColumns.names})
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0, 'written', $10, $11,
       ${balances.map((_, at) => `$${at + 12}`).join(', ')})`,
    [
      agentId,
      part,
      fromSeq,
      toSeq,
      clearingsText(clearings),
      ending.at,
      name,
      sha256,
      orders.rows,
      options.now(),
      ending.hash,
      ...balances,
    ],
  )
  options.onStep?.('recorded')
  return {
    part,
    fromSeq,
    toSeq,
    closing: ending.balances,
    clearings,
    endedAt: ending.at,
    name,
    sha256,
    hash: ending.hash,
    orders: BigInt(orders.rows),
    removedOrders: 0n,
    state: 'written',
  }
}

/** The hash of the row before a part, which is in the journal until the next part is archived. */
async function hashBefore(client: PoolClient, agentId: bigint, fromSeq: bigint): Promise<string> {
  if (fromSeq === 1n) return noHash
  const { rows } = await client.query<{ hash: string }>(
    'select hash from journal where agent_id = $1 and seq = $2',
    [agentId, fromSeq - 1n],
  )
  if (!rows[0]) throw new ArchiveFault(`journal row ${fromSeq - 1n} is missing`)
  return rows[0].hash
}

async function* journalRecords(
  client: PoolClient,
  agentId: bigint,
  record: string,
  { fromSeq, toSeq }: Stretch,
  onRows: (rows: number) => void,
): AsyncGenerator<string[]> {
  for (let seq = fromSeq; seq <= toSeq; seq += BigInt(rowsAtOnce)) {
    const upTo = seq + BigInt(rowsAtOnce) - 1n
    const { rows } = await client.query<{ record: string }>(
      `select ${record} as record from journal j
       where j.agent_id = $1 and j.seq between $2 and $3 order by j.seq`,
      [agentId, seq, upTo < toSeq ? upTo : toSeq],
    )
    onRows(Number(seq - fromSeq) + rows.length)
    yield rows.map((row) => row.record)
  }
}

async function* finishedRecords(
  client: PoolClient,
  agent: AgentToArchive,
  records: OrderRecords,
  stretch: Stretch,
  onRows: (rows: number) => void,
): AsyncGenerator<string[]> {
  const { agent_id: agentId, currency } = agent
  let written = 0
  const read = async (tx: ProofTx, orderIds: string[]) => {
    // Proves each order here: one left behind by an earlier run is from a range that was proved long ago.
    await proveOrdersById(tx, { agentId, currency }, orderIds)
    const found = await records.of(tx, agentId, orderIds)
    return orderIds.map((orderId) => found.get(orderId) ?? fail(orderId))
  }
  for await (const some of finishedIn(client, agent, stretch, read)) {
    written += some.length
    onRows(written)
    yield some
  }
}

function fail(orderId: string): never {
  throw new Error(`order ${orderId} is gone while it is being archived`)
}

/**
 * Reads the finished orders in batches, each batch on the snapshot in which it was found. An order that
 * changes later must not be written in its new state, with rows that are not in the part and callbacks
 * not yet sent.
 */
async function* finishedIn<T>(
  client: PoolClient,
  agent: AgentToArchive,
  { ordersAfter, toSeq }: Stretch,
  read: (tx: ProofTx, orderIds: string[]) => Promise<T>,
): AsyncGenerator<T> {
  let after: bigint | null = ordersAfter
  while (after !== null) {
    const range = { after, before: toSeq, limit: ordersAtOnce }
    const page: { some: T; lastSeq: bigint | null } = await inProvedSnapshot(
      client,
      agent,
      async (tx) => {
        const { orderIds, lastSeq } = await finishedOrders(tx, agent.agent_id, range)
        return { some: await read(tx, orderIds), lastSeq }
      },
    )
    yield page.some
    after = page.lastSeq
  }
}
