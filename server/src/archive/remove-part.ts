import { setTimeout as pause } from 'node:timers/promises'
import { isContention, type PoolClient } from '../db/pool.ts'
import type { ArchivePart } from '../ledger/archived.ts'
import { csvCells } from '../lib/csv-records.ts'
import { orderIdFromUuid } from '../lib/ids.ts'
import { isRowOfPayment, type OrderRecords, paymentKeys } from './order-records.ts'
import { ArchiveFault, type Manifest, readManifest, readTable } from './part-files.ts'
import type { AgentToArchive, ArchiveOptions } from './what-to-archive.ts'

const ordersAtOnce = 100
const rowsAtOnce = 500
/** How often to try again while another session holds the wallet. */
const mostTries = 10

/**
 * Removes a part's orders and rows from the books, in small transactions. An order is removed only if it
 * still matches its record in the file byte for byte. After an interruption it skips what is already
 * gone. Returns how many orders it removed.
 */
export async function removePart(
  client: PoolClient,
  agent: AgentToArchive,
  part: ArchivePart,
  records: OrderRecords,
  options: ArchiveOptions,
): Promise<number> {
  const { manifest } = await readManifest(options.folder, agent.app_id, part.part)
  await checkFiles(manifest, options.folder)
  let removed = 0
  for await (const written of inBatches(orderRecordsOf(manifest, options.folder))) {
    removed += await gently(client, () =>
      removeOrders(client, part, agent.agent_id, written, records),
    )
    options.onProgress?.(`${agent.app_id}: removing part ${part.part}: ${removed} orders`)
    options.onStep?.('some removed')
  }
  for (let left = true; left; ) {
    await gently(client, async () => {
      left = await removeBookRows(client, agent.agent_id, part)
    })
    options.onStep?.('some removed')
  }
  await client.query(
    `update archive_parts set state = 'removed' where agent_id = $1 and part = $2`,
    [agent.agent_id, part.part],
  )
  options.onStep?.('removed')
  return removed
}

/** Reads both files to the end before anything is removed, to check that they are as they were written. */
async function checkFiles(manifest: Manifest, folder: string): Promise<void> {
  for (const file of [manifest.journal, manifest.orders]) {
    for await (const _ of readTable(folder, file));
  }
}

interface WrittenOrder {
  orderId: string
  record: string
}

async function* orderRecordsOf(manifest: Manifest, folder: string): AsyncGenerator<WrittenOrder> {
  let at = -1
  for await (const record of readTable(folder, manifest.orders)) {
    const cells = csvCells(record)
    if (at === -1) at = cells.indexOf('order_id')
    else yield { orderId: orderIdFromUuid(cells[at] ?? ''), record }
  }
}

async function* inBatches(orders: AsyncIterable<WrittenOrder>): AsyncGenerator<WrittenOrder[]> {
  let batch: WrittenOrder[] = []
  for await (const order of orders) {
    batch.push(order)
    if (batch.length < ordersAtOnce) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

/**
 * Runs a transaction, and retries it if other sessions were in the way. Afterwards it pauses for as long
 * as it held the wallet, to let others have it.
 */
async function gently<T>(client: PoolClient, work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    const started = performance.now()
    try {
      await client.query('begin')
      const done = await work()
      await client.query('commit')
      await pause(performance.now() - started)
      return done
    } catch (error) {
      await client.query('rollback')
      if (!isContention(error)) throw error
      if (tries === mostTries) {
        throw new ArchiveFault('a wallet is held by another session: run it again to go on', {
          cause: error,
        })
      }
    }
  }
}

/** While its wallet is locked, nothing about an agent's orders can change except callbacks. */
async function holdWallet(client: PoolClient, agentId: bigint): Promise<void> {
  await client.query('select 1 from wallets where agent_id = $1 for no key update', [agentId])
}

async function removeOrders(
  client: PoolClient,
  { part }: ArchivePart,
  agentId: bigint,
  written: WrittenOrder[],
  records: OrderRecords,
): Promise<number> {
  // Resending callbacks takes the lane too, so it finds a callback either kept or gone for good. The lane
  // is locked before the wallet, so that no command waits for the wallet while this waits for the lane.
  await client.query('select 1 from callback_lanes where agent_id = $1 for update', [agentId])
  await holdWallet(client, agentId)
  const found = await records.of(
    client,
    agentId,
    written.map(({ orderId }) => orderId),
  )
  const orderIds = written
    .filter(({ orderId, record }) => found.get(orderId) === record)
    .map(({ orderId }) => orderId)
  if (orderIds.length === 0) return 0
  const these = [agentId, orderIds]
  // The keys are written first, so that either the order or its key exists at every moment.
  await client.query(
    `insert into archived_refs (agent_id, ref_id, order_id, part)
     select agent_id, ref_id, order_id, $3 from orders
     where agent_id = $1 and order_id = any($2::uuid[])`,
    [...these, part],
  )
  await client.query(
    `insert into archived_keys (agent_id, once_key)
     select agent_id, 'payment:' || payment_id from payments
     where agent_id = $1 and order_id = any($2::uuid[]) on conflict do nothing`,
    these,
  )
  await client.query(
    `insert into archived_keys (agent_id, once_key)
     select agent_id, once_key from journal
     where agent_id = $1 and order_id = any($2::uuid[]) and once_key is not null
       and split_part(once_key, ':', 1) <> all($3)
     on conflict do nothing`,
    [...these, paymentKeys],
  )
  // The rows of a payment that has waited, or was credited to the wallet, are removed with it.
  const { rows } = await client.query<{ seq: bigint }>(
    `select seq from journal where agent_id = $1 and order_id = any($2::uuid[])
     union all
     select j.seq from payments p join journal j on j.agent_id = p.agent_id
       and ${isRowOfPayment('j', 'p')}
     where p.agent_id = $1 and p.order_id = any($2::uuid[]) and j.order_id is null`,
    these,
  )
  const rowsOf = [agentId, rows.map(({ seq }) => seq)]
  await client.query(
    'delete from callback_bodies where agent_id = $1 and seq = any($2::bigint[])',
    rowsOf,
  )
  await client.query(
    'delete from callback_attempts where agent_id = $1 and seq = any($2::bigint[])',
    rowsOf,
  )
  await client.query(
    'delete from callbacks where agent_id = $1 and seq = any($2::bigint[])',
    rowsOf,
  )
  await client.query('delete from journal where agent_id = $1 and seq = any($2::bigint[])', rowsOf)
  await client.query(
    'delete from payments where agent_id = $1 and order_id = any($2::uuid[])',
    these,
  )
  await client.query(
    'delete from payouts where agent_id = $1 and order_id = any($2::uuid[])',
    these,
  )
  await client.query(
    'delete from open_items where agent_id = $1 and order_id = any($2::uuid[])',
    these,
  )
  await client.query('delete from orders where agent_id = $1 and order_id = any($2::uuid[])', these)
  await client.query(
    `update archive_parts set removed_orders = removed_orders + $3 where agent_id = $1 and part = $2`,
    [agentId, part, orderIds.length],
  )
  return orderIds.length
}

/**
 * Removes some of a part's rows without an order, except those of payments that are still in the books,
 * and the last row of the previous part, which stayed until now. Returns whether there may be more.
 */
async function removeBookRows(
  client: PoolClient,
  agentId: bigint,
  { fromSeq, toSeq }: ArchivePart,
): Promise<boolean> {
  await holdWallet(client, agentId)
  const { rows } = await client.query<{ seq: bigint }>(
    `select j.seq from journal j
     where j.agent_id = $1 and j.seq >= $2 and j.seq < $3 and j.order_id is null and not exists (
       select 1 from payments p where p.agent_id = j.agent_id
         and p.payment_id = regexp_replace(j.once_key, '^(${paymentKeys.join('|')}):', ''))
     order by j.seq limit $4`,
    [agentId, fromSeq - 1n, toSeq, rowsAtOnce],
  )
  const these = [agentId, rows.map(({ seq }) => seq)]
  await client.query(
    `insert into archived_keys (agent_id, once_key)
     select agent_id, once_key from journal where agent_id = $1 and seq = any($2::bigint[])
     on conflict do nothing`,
    these,
  )
  await client.query('delete from journal where agent_id = $1 and seq = any($2::bigint[])', these)
  return rows.length === rowsAtOnce
}
