import { raiseAlarm } from '../approvals/alarms.ts'
import { findBankAccount } from '../bank-accounts/bank-account.ts'
import { inTransaction, type Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { findOrder } from '../ledger/find-order.ts'
import { inParallel } from '../lib/in-parallel.ts'
import { handOver, type PayoutDesk } from '../payouts/pay-out.ts'
import { payoutsOfOrder } from '../payouts/payouts.ts'
import type { Provider } from '../providers/provider.ts'
import { whyItMustStay } from './may-leave.ts'
import {
  askAgain,
  fileColumns,
  findPayoutFile,
  lockFile,
  type PayoutFile,
  type PayoutItem,
  type PayoutLine,
  readItems,
  readItemsLeft,
  readLines,
  readList,
  setState,
  sumOf,
} from './payout-file.ts'
import { messageIdOf, paymentFileOf, rendered } from './seal-file.ts'

type Named = Pick<PayoutFile, 'account' | 'fileId'>

/** How many payouts are handed over at once; the teller puts them into batches. */
const atOnce = 64

/** Files that wait for a person, and until when they are left alone. */
export type Rests = Map<string, { untilMs: number; forMs: number }>

const longestRestMs = 30_000

/**
 * Goes on with every file that somebody approved. Any number of processes may do so at the same time. A file that
 * waits for a person is looked at less and less often: its items are many, and a stop may last for days.
 */
export async function goForwardWithAll(
  desk: PayoutDesk,
  onError: (error: unknown) => void,
  rests: Rests = new Map(),
): Promise<void> {
  const { rows } = await desk.pool.query<PayoutFile>({
    name: 'files-approving',
    text: `select ${fileColumns.select('f')} from payout_files f where state = 'approving'`,
  })
  for (const fileId of rests.keys()) {
    if (!rows.some((file) => file.fileId === fileId)) rests.delete(fileId)
  }
  for (const file of rows) {
    const before = rests.get(file.fileId)
    if (before && performance.now() < before.untilMs) continue
    try {
      if (await goForward(desk, file)) rests.delete(file.fileId)
      else {
        const forMs = Math.min((before?.forMs ?? 500) * 2, longestRestMs)
        rests.set(file.fileId, { untilMs: performance.now() + forMs, forMs })
      }
    } catch (error) {
      onError(error)
    }
  }
}

/**
 * Hands over what is approved, and seals the file once all of it is: never more nor less than was approved. What
 * ended before drops out, and the rest waits for another approval. Each step may be repeated at any time. Returns
 * false if something of it has to wait.
 */
export async function goForward(desk: PayoutDesk, file: Named): Promise<boolean> {
  await desk.providers.freshen()
  const provider = desk.providers.find(file.account)
  if (!provider?.paysByFile || (await desk.providers.stateOf(file.account)) === 'off') return false
  const waiting = (await readItems(desk.pool, file)).filter(
    ({ state, reference }) => state === 'waiting' && reference === null,
  )
  const isDebited = (await findPayoutFile(desk.pool, file.fileId))?.alreadyPaid === true
  await inParallel(atOnce, waiting, (item) => handItem(desk, provider, item, isDebited))
  return finish(desk, file)
}

/** Hands an item over, unless it is, or drops it if that can never be. Otherwise it waits. */
async function handItem(
  desk: PayoutDesk,
  provider: Provider,
  item: PayoutItem,
  isDebited: boolean,
): Promise<void> {
  const { agentId, orderId } = item
  const order = await findOrder(desk.pool, agentId, orderId)
  // Read after the order: only the file that has claimed the attempt hands it over, so it is this file's.
  const before = await referenceOf(desk.pool, item)
  if (before !== undefined) return noteReference(desk.pool, item, before)
  if (order?.status !== 'WAITING' || order.handedOverAt !== null) {
    return drop(desk.pool, item)
  }
  const taken = await handOver(desk, order, provider, { isDebited })
  if (taken) await noteReference(desk.pool, item, taken.reference)
}

async function referenceOf(pool: Pool, item: PayoutItem): Promise<string | undefined> {
  const payouts = await payoutsOfOrder(pool, item.agentId, item.orderId)
  return payouts.find(
    ({ attempt, provider }) => attempt === item.attempt && provider === item.account,
  )?.reference
}

async function noteReference(pool: Pool, item: PayoutItem, reference: string): Promise<void> {
  await pool.query(
    `update payout_items set reference = $4
     where account = $1 and file_id = $2 and n = $3 and reference is null and state = 'waiting'`,
    [item.account, item.fileId, item.n, reference],
  )
}

async function drop(pool: Pool, item: PayoutItem): Promise<void> {
  await pool.query(
    `update payout_items set state = 'dropped'
     where account = $1 and file_id = $2 and n = $3 and reference is null and state = 'waiting'`,
    [item.account, item.fileId, item.n],
  )
}

/** Seals the file, or asks for another approval if it became shorter, once nothing waits any more. */
async function finish(desk: PayoutDesk, named: Named): Promise<boolean> {
  return inTransaction(desk.pool, async (tx) => {
    const file = await lockFile(tx, named)
    if (file.state !== 'approving') return true
    const items = await readItemsLeft(tx, file)
    if (items.some(({ state, reference }) => state === 'waiting' && reference === null)) {
      return false
    }
    if (file.alreadyPaid && items.some(({ reference }) => reference !== null)) {
      return (await isShorter(tx, file, items, desk.now())) || closePaid(tx, file, items)
    }
    const why = await whyItMustStay(tx, file, items, desk.now())
    if (why !== undefined) {
      const words = `Payout file ${file.fileId} of ${file.account} is approved, but is kept back. ${why}`
      await raiseAlarm(tx, { id: file.fileId, at: desk.now(), by: 'sluice', words })
      return false
    }
    const references = new Map(items.map(({ n, reference }) => [n, reference]))
    const lines = (await readLines(tx, file)).flatMap((line) => {
      const reference = references.get(line.n) ?? null
      return reference === null ? [] : [{ ...line, reference }]
    })
    const list = await readList(tx, file)
    if (lines.length === 0) await setState(tx, file, 'cancelled')
    else if (lines.length === list.items) await seal(tx, file, list.digest, lines, desk.now())
    else await askAgain(tx, file, lines, desk.now())
    return true
  })
}

/**
 * A debit that two people said what it paid does not pay some of that: if a line dropped out, people are asked again, and
 * the rest of the debit is the house's cost then.
 */
async function isShorter(
  tx: Tx,
  file: PayoutFile,
  items: readonly PayoutItem[],
  at: Date,
): Promise<boolean> {
  if (file.debit === null) return false
  const left = new Set(items.flatMap(({ n, reference }) => (reference === null ? [] : [n])))
  if (left.size === (await readList(tx, file)).items) return false
  const lines = (await readLines(tx, file)).filter(({ n }) => left.has(n))
  await askAgain(tx, file, lines, at)
  return true
}

/** A file of what the bank has debited ends when the debits have: there is nothing to seal. */
async function closePaid(tx: Tx, file: PayoutFile, items: readonly PayoutItem[]): Promise<boolean> {
  const isOpen = ({ state }: PayoutItem) =>
    state === 'waiting' || state === 'accepted' || state === 'unknown'
  if (items.some(isOpen)) return false
  await setState(tx, file, 'closed')
  return true
}

/** Fixes the bytes, and everything in them, for ever. */
async function seal(
  tx: Tx,
  file: PayoutFile,
  digest: string,
  lines: readonly (PayoutLine & { reference: string })[],
  at: Date,
): Promise<void> {
  const account = await findBankAccount(tx, file.account)
  if (!account) throw new Error(`there is no bank account ${file.account}`)
  const payment = paymentFileOf(file, account, lines, at)
  const { bytes, name, contentType, sha256 } = rendered(file, payment)
  await tx.query(
    `insert into payout_file_seals (account, file_id, round, digest, message_id, name, content_type,
       sealed_at, execution_date, items, amount, sha256, bytes)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    [
      file.account,
      file.fileId,
      file.round,
      digest,
      messageIdOf(file),
      name,
      contentType,
      at,
      payment.executionDate,
      lines.length,
      sumOf(lines),
      sha256,
      bytes,
    ],
  )
  await setState(tx, file, 'approved')
}
