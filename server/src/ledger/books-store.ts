import type { Columns } from '../db/columns.ts'
import { type PoolClient, raiseForTransaction, sqlState } from '../db/pool.ts'
import type {
  BookableItem,
  Clearing,
  HandedPayout,
  ItemKind,
  JournalRow,
  OpenItem,
  Order,
  OrderStatus,
  Payment,
  PaymentClaim,
  SaidPaid,
} from './book.ts'
import {
  claimColumns,
  clearingColumns,
  itemColumns,
  journalColumns,
  orderColumns,
  paymentColumns,
  unmatchedColumns,
  walletColumns,
} from './book-columns.ts'
import * as sql from './books-sql.ts'
import { booksOf, type Command } from './commands.ts'
import { itemRowsOf } from './decide-item.ts'
import {
  type Books,
  isAboutClaim,
  keyOf,
  keysReadOf,
  onceKeyOf,
  orderIdAfterNo,
  paymentIdOf,
  refundsNeededOf,
  type Writes,
} from './fold.ts'
import { houseBook } from './house.ts'
import { rulesOf } from './limit-rule-columns.ts'
import type { LimitRule } from './limits.ts'
import { writeLimits } from './limits-store.ts'
import { claimsById, insertClaims } from './payment-claims.ts'
import {
  insertReferences,
  type NamedPayout,
  payoutsByReference,
  referenceColumns,
} from './payout-references.ts'
import {
  type BookedNotice,
  bookedEventColumns,
  bookedNoticeColumns,
  eventKeyOf,
  insertBookedEvents,
  insertBookedNotices,
  recordedEvents,
  type TakenNotice,
} from './taken-notices.ts'
import { lastTimes } from './wallet-as-of.ts'

/** Another process changed what this batch had read: the batch must be read and folded again. */
export class BooksChanged extends Error {
  /** The agents whose books changed, if known. */
  readonly agentIds: ReadonlySet<bigint>

  constructor(message: string, agentIds: ReadonlySet<bigint> = new Set()) {
    super(message)
    this.agentIds = agentIds
  }
}

/** A connection inside a transaction that the teller has begun. */
export type BatchTx = PoolClient & { readonly inBatch: unique symbol }

/**
 * Locks the wallets that the commands may change, in id order, and reads everything the commands need. If
 * another transaction holds a wallet, this waits for it or leaves it out of the books.
 */
export async function readBooks(
  tx: BatchTx,
  commands: readonly Command[],
  ifLocked: 'wait' | 'skip' = 'wait',
): Promise<Books> {
  const locked = [...new Set(commands.flatMap(booksOf))].sort((a, b) => (a < b ? -1 : 1))

  const refIds = pairs(commands, (c) => (c.type === 'create' ? c.order.refId : undefined))
  const orderIds = pairs(commands, (c) =>
    c.type === 'create' ? c.order.refundOf : 'orderId' in c ? c.orderId : undefined,
  )
  const refunded = pairs(commands, refundsNeededOf)
  const handedOn = pairs(commands, (c) =>
    c.type === 'hand_over' && c.insteadOf !== null ? c.orderId : undefined,
  )
  const paymentIds = pairs(commands, paymentIdOf)
  const claimed = commands.flatMap((c) => (isAboutClaim(c) ? (paymentIdOf(c) ?? []) : []))
  const unmatchedIds = commands.flatMap((c) =>
    c.type === 'end_unmatched' || c.type === 'assign_payment' ? c.paymentId : [],
  )
  const keys = pairsOfAll(commands, keysReadOf)
  const itemIds = pairs(commands, (c) => (c.type === 'book_item' ? c.itemId : undefined))
  const itemKeys = keysOfItems(commands)
  const onceKeys = pairs(commands, onceKeyOf)
  const references = commands.flatMap((c) => (c.type === 'hand_over' ? c.references : []))
  const afterNo = pairs(commands, orderIdAfterNo)
  const notices = commands.flatMap((c) => ('notice' in c && c.notice ? c.notice : []))

  // The queries are sent together; the database runs them in order, so the reads see the state under the
  // locks. The archive is read after the books, because orders only ever move from the books to the
  // archive.
  const [
    accounts,
    byRefId,
    byId,
    clearings,
    times,
    refunds,
    refundedDeposits,
    payments,
    unmatched,
    claims,
    taken,
    against,
    done,
    archivedRefs,
    archivedKeys,
    recorded,
    limitRules,
    items,
    itemRows,
    archivedItemRows,
  ] = await all([
    all(
      locked.map((agentId) =>
        ifLocked === 'wait'
          ? run<object>(tx, 'lock-wallet', sql.lockWallet, [agentId])
          : run<object>(tx, 'lock-free-wallet', sql.lockFreeWallet, [agentId]),
      ),
    ),
    read<Order>(tx, 'orders-by-ref-id', sql.ordersByRefId, refIds),
    read<Order>(tx, 'orders-by-id', sql.ordersById, orderIds),
    readList<Clearing>(tx, 'clearings', sql.clearingsOf, locked),
    readList<{ agent_id: bigint; at: Date }>(tx, 'last-times', lastTimes, locked),
    read<Order>(tx, 'refunds-of', sql.refundsOf, refunded),
    read<Order>(tx, 'deposits-of-refunds', sql.depositsOfRefunds, handedOn),
    readPayments(tx, paymentIds),
    readList<object>(tx, 'unmatched-by-id', sql.unmatchedById, unmatchedIds),
    readList<PaymentClaim>(tx, 'claims-by-id', claimsById, claimed),
    readList<NamedPayout>(tx, 'references', payoutsByReference, references),
    read<
      SaidPaid & { agent_id: bigint; order_id: string; kind: ItemKind; provider_said: OrderStatus }
    >(tx, 'items-against', sql.itemsAgainst, afterNo),
    read<{ agent_id: bigint; once_key: string }>(tx, 'rows-by-key', sql.rowsByKey, keys),
    read<{ agent_id: bigint; ref_id: string }>(
      tx,
      'archived-by-ref-id',
      sql.archivedByRefId,
      refIds,
    ),
    read<{ agent_id: bigint; once_key: string }>(
      tx,
      'archived-by-key',
      sql.archivedByKey,
      onceKeys,
    ),
    readRecorded(tx, notices),
    readList<LimitRule>(tx, 'limit-rules', rulesOf, [...new Set(commands.map((c) => c.agentId))]),
    read<BookableItem>(tx, 'items-by-id', sql.itemsById, itemIds),
    read<object>(tx, 'whole-rows-by-key', sql.wholeRowsByKey, itemKeys),
    read<{ agent_id: bigint; once_key: string }>(
      tx,
      'archived-by-key',
      sql.archivedByKey,
      itemKeys,
    ),
  ])

  const books: Books = {
    wallets: new Map(),
    orders: new Map(),
    refIds: new Map(),
    payments: new Map(),
    unmatched: new Map(),
    clearings: new Map(clearings.map((each) => [keyOf(each.agentId, each.provider), each])),
    lastTimes: new Map(times.map(({ agent_id, at }) => [agent_id, at])),
    claims: new Map(claims.map((claim) => [claim.paymentId, claim])),
    payers: new Map(),
    cameBack: new Set(),
    takenBack: new Set(),
    items: new Map(items.map((item) => [keyOf(item.agentId, item.itemId), item])),
    itemRows: new Map<string, JournalRow | null>([
      ...archivedItemRows.map((row) => [keyOf(row.agent_id, row.once_key), null] as const),
      ...itemRows
        .map(journalColumns.fromRow)
        .map((row) => [keyOf(row.agentId, row.onceKey ?? ''), row] as const),
    ]),
    takenReferences: new Set(taken.map(({ reference }) => reference)),
    doneKeys: new Set(done.map((row) => keyOf(row.agent_id, row.once_key))),
    archivedRefs: new Set(archivedRefs.map((row) => keyOf(row.agent_id, row.ref_id))),
    archivedKeys: new Set(archivedKeys.map((row) => keyOf(row.agent_id, row.once_key))),
    recordedEvents: new Set(recorded.map(eventKeyOf)),
    limitRules,
    limits: new Map(),
  }
  for (const { rows } of accounts) {
    for (const row of rows) {
      const wallet = walletColumns.fromRow(row)
      books.wallets.set(wallet.agentId, wallet)
    }
  }
  for (const row of [...byRefId, ...byId, ...refunds, ...refundedDeposits]) {
    const key = keyOf(row.agentId, row.orderId)
    const order = books.orders.get(key) ?? row
    books.orders.set(key, order)
    books.refIds.set(keyOf(order.agentId, order.refId), order)
  }
  for (const { agent_id, order_id, kind, provider_said, ...payer } of against) {
    const key = keyOf(agent_id, order_id)
    if (kind === 'refunded_and_taken_back') books.takenBack.add(key)
    else if (provider_said === 'REVERT') books.cameBack.add(keyOf(agent_id, payer.reference))
    else books.payers.set(key, [...(books.payers.get(key) ?? []), payer])
  }
  for (const payment of unmatched.map(unmatchedColumns.fromRow)) {
    books.unmatched.set(payment.paymentId, payment)
  }
  for (const payment of payments) {
    books.payments.set(keyOf(payment.agentId, payment.paymentId), payment)
  }
  return books
}

/**
 * An order whose refId is free in the books may still have the refId of an archived order. Archiving
 * records the refId before or together with the removal, so a check after the insert is sure to find it. The
 * same holds for limits on deposits that were not measured: who sets one waits until this is committed, or this
 * sees it.
 */
async function refuseArchivedRefs(
  client: PoolClient,
  orders: Order[],
  unlimited: bigint[],
): Promise<void> {
  if (orders.length === 0) return
  const values = [...sql.refColumns.values(orders), unlimited]
  try {
    await client.query({ name: 'refuse-archived-refs', text: sql.refuseArchivedRefs, values })
  } catch (error) {
    const isDivision = sqlState(error) === '22012'
    throw isDivision ? new BooksChanged('a refId was archived, or deposits are limited') : error
  }
}

/** Fails if it is not yet that time by the database's clock: only an error stops a pipeline. */
async function refuseBefore(client: PoolClient, time: Date): Promise<void> {
  try {
    await client.query({ name: 'refuse-before', text: sql.refuseBefore, values: [time] })
  } catch (error) {
    throw sqlState(error) === '22012' ? new BooksChanged('an order is of a later time') : error
  }
}

/** Inserts the new orders whose refId is free. Returns their ids. */
export async function insertOrders(client: PoolClient, orders: Order[]): Promise<Set<string>> {
  // All processes insert in the same order, so that two that insert the same refIds cannot deadlock.
  const sorted = orders.toSorted((a, b) =>
    a.agentId === b.agentId ? (a.refId < b.refId ? -1 : 1) : a.agentId < b.agentId ? -1 : 1,
  )
  const { rows } = await client.query<{ order_id: string }>({
    name: 'insert-orders',
    text: sql.insertOrders,
    values: orderColumns.values(sorted),
  })
  return new Set(rows.map(({ order_id }) => order_id))
}

/**
 * Inserts orders in their own transaction and commits it. If any order has an archived refId, or it is not yet `from` by the
 * database's clock, none is inserted.
 */
export async function commitOrders(
  client: PoolClient,
  orders: Order[],
  from?: Date,
): Promise<Set<string>> {
  const [, , inserted] = await all([
    client.query('begin'),
    client.query(raiseForTransaction),
    insertOrders(client, orders),
    refuseArchivedRefs(client, orders, [...new Set(orders.map(({ agentId }) => agentId))]),
    from ? refuseBefore(client, from) : Promise.resolve(),
    client.query('commit'),
  ])
  return inserted
}

/** Inserts orders together with other changes: every refId must be free. */
async function insertAllOrders(tx: BatchTx, orders: Order[]): Promise<void> {
  if (orders.length === 0) return
  const inserted = await insertOrders(tx, orders)
  const taken = orders.filter(({ orderId }) => !inserted.has(orderId))
  if (taken.length === 0) return
  throw new BooksChanged(
    `${taken.length} refIds were taken meanwhile`,
    new Set(taken.map(({ agentId }) => agentId)),
  )
}

/**
 * The key is unique across all agents: the first claim gets the payment, and the others read the books
 * again.
 */
async function insertAllClaims(tx: BatchTx, claims: PaymentClaim[]): Promise<void> {
  if (claims.length === 0) return
  const values = claimColumns.values(claims)
  const { rows } = await run<{ payment_id: string }>(tx, 'insert-claims', insertClaims, values)
  if (rows.length === claims.length) return
  const inserted = new Set(rows.map(({ payment_id }) => payment_id))
  const taken = claims.filter(({ paymentId }) => !inserted.has(paymentId))
  throw new BooksChanged(
    `${taken.length} payments were claimed meanwhile`,
    new Set(taken.map(({ agentId, currency }) => agentId || houseBook(currency))),
  )
}

/** The same for payout references: a payout whose reference is taken gets another. */
async function insertAllReferences(tx: BatchTx, payouts: HandedPayout[]): Promise<void> {
  if (payouts.length === 0) return
  const sorted = [...payouts].sort((a, b) => (a.reference < b.reference ? -1 : 1))
  const { rows } = await run<{ reference: string }>(
    tx,
    'insert-references',
    insertReferences,
    referenceColumns.values(sorted),
  )
  if (rows.length === payouts.length) return
  const inserted = new Set(rows.map(({ reference }) => reference))
  const taken = payouts.filter(({ reference }) => !inserted.has(reference))
  throw new BooksChanged(
    `${taken.length} references of payouts were taken meanwhile`,
    new Set(taken.map(({ agentId }) => agentId)),
  )
}

/** An event that another process has recorded meanwhile is decided on from its record. */
async function insertAllNotices(tx: BatchTx, notices: BookedNotice[]): Promise<void> {
  if (notices.length === 0) return
  // Inserted in key order, so that two processes with the same events do not deadlock.
  const sorted = notices.toSorted((a, b) => (eventKeyOf(a) < eventKeyOf(b) ? -1 : 1))
  const values = bookedEventColumns.values(sorted)
  const [{ rows }] = await all([
    run<EventRow>(tx, 'insert-booked-events', insertBookedEvents, values),
    run(tx, 'insert-booked-notices', insertBookedNotices, bookedNoticeColumns.values(sorted)),
  ])
  if (rows.length === notices.length) return
  const inserted = new Set(rows.map(eventOfRow).map(eventKeyOf))
  const taken = notices.filter((notice) => !inserted.has(eventKeyOf(notice)))
  throw new BooksChanged(
    `${taken.length} events were recorded meanwhile`,
    new Set(taken.map(({ agentId }) => agentId)),
  )
}

interface EventRow {
  agent_id: bigint
  provider: string
  event_id: string
}

const eventOfRow = ({ agent_id, provider, event_id }: EventRow) => ({
  agentId: agent_id,
  provider,
  eventId: event_id,
})

async function readRecorded(tx: BatchTx, notices: TakenNotice[]) {
  if (notices.length === 0) return []
  const { rows } = await run<EventRow>(tx, 'recorded-events', recordedEvents, [
    notices.map(({ agentId }) => agentId),
    notices.map(({ provider }) => provider),
    notices.map(({ eventId }) => eventId),
  ])
  return rows.map(eventOfRow)
}

/** Writes the result of a batch. Every statement must affect exactly the rows it names. */
export async function writeBooks(tx: BatchTx, writes: Writes): Promise<void> {
  await all([
    insertAllClaims(tx, writes.newClaims),
    insertAllReferences(tx, writes.newPayouts),
    insertAllOrders(tx, writes.newOrders),
    refuseArchivedRefs(tx, writes.newOrders, writes.unlimited),
    write(
      tx,
      'update-orders',
      sql.updateOrders,
      sql.changedOrderColumns,
      writes.changedOrders.map(({ order, versionRead }) => ({
        order,
        versionRead,
        // Only the answer of a deposit can change after creation, when its instructions arrive.
        answer: order.kind === 'deposit' && order.providerRef !== null ? order.answer : null,
      })),
    ),
    // Updates come first: a payment that is taken back lets another one pay its order.
    write(
      tx,
      'update-payments',
      sql.updatePayments,
      sql.changedPaymentColumns,
      writes.changedPayments,
    ),
    write(tx, 'insert-payments', sql.insertPayments, paymentColumns, writes.newPayments),
    write(tx, 'give-claims', sql.giveClaims, sql.givenColumns, writes.givenClaims),
    write(tx, 'decide-unmatched', sql.decideUnmatched, sql.decidedColumns, writes.changedUnmatched),
    write(tx, 'insert-unmatched', sql.insertUnmatched, unmatchedColumns, writes.newUnmatched),
    closeRefused(tx, writes.newPayouts),
    write(
      tx,
      'insert-payouts',
      sql.insertPayouts,
      sql.newPayoutColumns,
      writes.newPayouts.map(({ askAt, ...payout }) =>
        typeof askAt === 'number'
          ? { ...payout, askAt: null, askInMs: askAt }
          : { ...payout, askAt, askInMs: null },
      ),
    ),
    openItems(tx, writes.newItems),
    reopenItems(tx, writes.reopenedItems),
    closeItemsOf(tx, writes.closedItems),
    write(tx, 'book-items', sql.bookItems, sql.bookedItemColumns, writes.bookedItems),
    write(tx, 'insert-journal', sql.insertJournal, journalColumns, writes.journal),
    write(tx, 'write-clearings', sql.writeClearings, clearingColumns, writes.clearings),
    write(tx, 'insert-callbacks', sql.insertCallbacks, sql.queuedColumns, writes.callbacks),
    write(tx, 'insert-callback-bodies', sql.insertBodies, sql.bodyColumns, writes.callbacks),
    write(
      tx,
      'update-wallets',
      sql.updateWallets,
      sql.changedWalletColumns,
      writes.wallets.map(({ wallet, seqRead }) => ({ ...wallet, seqRead })),
    ),
    writeLimits(tx, writes),
    insertAllNotices(tx, writes.notices),
  ])
}

/**
 * Whether a batch is on disk although the answer to its commit was lost. Order ids and hand-over tokens
 * are unique, so one of them is proof for the whole batch. Otherwise all of its journal rows and payments
 * must be there as it wrote them, or a change of an order that no other batch would have made.
 */
export async function isBatchCommitted(tx: BatchTx, writes: Writes): Promise<boolean> {
  const { newOrders, newPayouts, journal, newPayments, changedOrders } = writes
  const [order] = newOrders
  if (order) {
    const ids: [bigint[], string[]] = [[order.agentId], [order.orderId]]
    return (await read<Order>(tx, 'orders-by-id', sql.ordersById, ids)).length > 0
  }
  const [payout] = newPayouts
  if (payout) {
    const { agentId, orderId, attempt, token } = payout
    const values = [agentId, orderId, attempt, token]
    return (await run(tx, 'written-payout', sql.writtenPayout, values)).rowCount === 1
  }
  if (journal.length > 0) {
    const values = sql.writtenColumns.values(journal)
    const { rowCount } = await run(tx, 'written-rows', sql.writtenRows, values)
    if (rowCount !== journal.length) return false
  }
  if (newPayments.length > 0) {
    const ids: [bigint[], string[]] = [
      newPayments.map(({ agentId }) => agentId),
      newPayments.map(({ paymentId }) => paymentId),
    ]
    const found = await readPayments(tx, ids)
    const times = new Map(found.map((p) => [keyOf(p.agentId, p.paymentId), p.reportedAt]))
    return newPayments.every(
      ({ agentId, paymentId, reportedAt }) =>
        times.get(keyOf(agentId, paymentId))?.getTime() === reportedAt.getTime(),
    )
  }
  if (journal.length > 0) return true
  const [changed] = changedOrders
  if (!changed) return false
  const ids: [bigint[], string[]] = [[changed.order.agentId], [changed.order.orderId]]
  const [found] = await read<Order>(tx, 'orders-by-id', sql.ordersById, ids)
  return (
    found?.version === changed.order.version &&
    found.providerRef === changed.order.providerRef &&
    found.handedOverAt?.getTime() === changed.order.handedOverAt?.getTime()
  )
}

async function closeRefused(tx: BatchTx, payouts: Writes['newPayouts']): Promise<void> {
  const later = payouts.filter(({ attempt }) => attempt > 1)
  if (later.length === 0) return
  await run(tx, 'close-payouts', sql.closePayouts, sql.attemptColumns.values(later))
}

async function openItems(tx: BatchTx, items: Writes['newItems']): Promise<void> {
  if (items.length === 0) return
  // A statement cannot write a row twice: the last report on an item counts, unless the money came back.
  const words = new Map<string, OpenItem>()
  for (const item of items) {
    const key = keyOf(item.agentId, item.itemId)
    if (words.get(key)?.providerSaid !== 'REVERT') words.set(key, item)
  }
  const latest = [...words.values()]
  // The others say that a payout was paid which the books did not count as paid.
  const isPaid = ({ kind }: OpenItem) => kind === 'paid_after_failed' || kind === 'paid_twice'
  const paid = latest.filter(isPaid)
  const statements = [run(tx, 'insert-items', sql.insertItems, itemColumns.values(latest))]
  if (paid.length > 0) {
    const said = paid.map((item) => ({
      ...item,
      state: item.providerSaid === 'REVERT' ? ('returned' as const) : ('paid' as const),
    }))
    const values = sql.contradictionColumns.values(said)
    statements.push(run(tx, 'contradict-payouts', sql.contradictPayouts, values))
    statements.push(run(tx, 'return-items', sql.returnItems, values))
  }
  await all(statements)
}

async function reopenItems(tx: BatchTx, items: Writes['reopenedItems']): Promise<void> {
  if (items.length === 0) return
  await run(tx, 'reopen-items', sql.reopenItems, sql.reopenedColumns.values(items))
}

async function closeItemsOf(tx: BatchTx, closed: Writes['closedItems']): Promise<void> {
  if (closed.length === 0) return
  await run(tx, 'close-items', sql.closeItems, sql.closedItemColumns.values(closed))
}

async function write<T>(
  tx: BatchTx,
  name: string,
  text: string,
  columns: Columns<T>,
  items: readonly T[],
): Promise<void> {
  if (items.length === 0) return
  const { rowCount } = await run(tx, name, text, columns.values(items))
  if (rowCount !== items.length) {
    throw new BooksChanged(`${name} met ${rowCount} rows instead of ${items.length}`)
  }
}

async function read<Row extends object>(
  tx: BatchTx,
  name: string,
  text: string,
  [agentIds, ids]: [bigint[], string[]],
): Promise<Row[]> {
  return ids.length === 0 ? [] : (await run<Row>(tx, name, text, [agentIds, ids])).rows
}

async function readList<Row extends object>(
  tx: BatchTx,
  name: string,
  text: string,
  ids: readonly (string | bigint)[],
): Promise<Row[]> {
  return ids.length === 0 ? [] : (await run<Row>(tx, name, text, [ids])).rows
}

async function readPayments(tx: BatchTx, ids: [bigint[], string[]]): Promise<Payment[]> {
  return (await read(tx, 'payments-by-id', sql.paymentsById, ids)).map(paymentColumns.fromRow)
}

function run<Row extends object>(tx: BatchTx, name: string, text: string, values: unknown[]) {
  return tx.query<Row>({ name, text, values })
}

/** The keys of the rows that may have booked the items of commands before, in both books. */
function keysOfItems(commands: readonly Command[]): [bigint[], string[]] {
  const keys = commands.flatMap((c) => (c.type === 'book_item' ? Object.values(itemRowsOf(c)) : []))
  return [keys.map(({ agentId }) => agentId), keys.map(({ onceKey }) => onceKey)]
}

/** Each pair of agent and id that the commands name, once, as two column arrays. */
function pairs(
  commands: readonly Command[],
  idOf: (command: Command) => string | null | undefined,
): [bigint[], string[]] {
  return pairsOfAll(commands, (command) => idOf(command) ?? [])
}

function pairsOfAll(
  commands: readonly Command[],
  idsOf: (command: Command) => string | readonly string[],
): [bigint[], string[]] {
  const seen = new Set<string>()
  const agentIds: bigint[] = []
  const ids: string[] = []
  for (const command of commands) {
    for (const id of [idsOf(command)].flat()) {
      if (seen.has(keyOf(command.agentId, id))) continue
      seen.add(keyOf(command.agentId, id))
      agentIds.push(command.agentId)
      ids.push(id)
    }
  }
  return [agentIds, ids]
}

/**
 * Waits for all statements, then throws the first error. In a pipeline the first error is the cause; the
 * later ones only say that the transaction was aborted.
 */
async function all<T extends readonly unknown[]>(
  promises: readonly [...{ [K in keyof T]: Promise<T[K]> }],
): Promise<T> {
  await Promise.allSettled(promises)
  return Promise.all(promises) as unknown as Promise<T>
}
