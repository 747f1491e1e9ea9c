import { type PoolClient, sqlState } from '../db/pool.ts'
import { orderIdFromUuid } from '../lib/ids.ts'
import type { Accounts } from './accounts.ts'
import type {
  HandedPayout,
  OpenItem,
  Order,
  PaidAttempt,
  Payment,
  PaymentClaim,
  Terms,
} from './book.ts'
import { type Command, needsWallet } from './commands.ts'
import { adjustmentKey } from './decide.ts'
import { type Books, keyOf, onceKeyOf, orderIdAfterNo, paymentIdOf, type Writes } from './fold.ts'
import { type OrderRow, orderFromRow } from './order-row.ts'
import { payerFromRow } from './payer-from-row.ts'
import {
  type ClaimRow,
  claimFromRow,
  claimsById,
  claimValues,
  insertClaims,
} from './payment-claims.ts'
import { insertReferences, payoutsByReference, type ReferenceRow } from './payout-references.ts'

/** Another process changed what this batch had read: it has to be read and folded again. */
export class BooksChanged extends Error {
  /** Whose books changed, where that is known. */
  readonly agentIds: ReadonlySet<bigint>

  constructor(message: string, agentIds: ReadonlySet<bigint> = new Set()) {
    super(message)
    this.agentIds = agentIds
  }
}

/** A connection inside a transaction that the teller has begun. */
export type BatchTx = PoolClient & { readonly inBatch: unique symbol }

type AccountRow = Accounts & {
  agent_id: bigint
  seq: bigint
  currency: Terms['currency']
  revert_fee: Terms['revertFee']
  late_money: Terms['lateMoney']
}

interface PaymentRow {
  agent_id: bigint
  payment_id: string
  order_id: string | null
  amount: bigint
  paid_at: Date
  reported_at: Date
  payer_account_no: string | null
  payer_account_name: string | null
  payer_bank_code: string | null
  state: Payment['state']
  why: Payment['why']
  credited_to: Payment['creditedTo']
  evidence: string | null
}

const lockWallet = `select w.agent_id, w.seq, w.available, w.held, w.clearing, w.fees, w.adjustments,
    a.currency, a.revert_fee, a.late_money
  from wallets w join agents a using (agent_id)
  where w.agent_id = $1 for no key update of w`

const lockFreeWallet = `${lockWallet} skip locked`

const ordersByRefId = `select o.* from orders o
  join unnest($1::bigint[], $2::text[]) k(agent_id, ref_id)
    on o.agent_id = k.agent_id and o.ref_id = k.ref_id`

const ordersById = `select o.* from orders o
  join unnest($1::bigint[], $2::uuid[]) k(agent_id, order_id)
    on o.agent_id = k.agent_id and o.order_id = k.order_id`

const paymentsById = `select p.* from payments p
  join unnest($1::bigint[], $2::text[]) k(agent_id, payment_id)
    on p.agent_id = k.agent_id and p.payment_id = k.payment_id`

const paidAttempts = `select i.agent_id, i.order_id, i.provider, i.reference from open_items i
  join unnest($1::bigint[], $2::uuid[]) k(agent_id, order_id)
    on i.agent_id = k.agent_id and i.order_id = k.order_id
  where i.provider_said = 'PAID' order by i.opened_at, i.item_id`

const archivedByRefId = `select a.agent_id, a.ref_id from archived_refs a
  join unnest($1::bigint[], $2::text[]) k(agent_id, ref_id)
    on a.agent_id = k.agent_id and a.ref_id = k.ref_id`

const archivedByKey = `select a.agent_id, a.once_key from archived_keys a
  join unnest($1::bigint[], $2::text[]) k(agent_id, once_key)
    on a.agent_id = k.agent_id and a.once_key = k.once_key`

const adjustmentsByKey = `select j.agent_id, j.once_key from journal j
  join unnest($1::bigint[], $2::text[]) k(agent_id, once_key)
    on j.agent_id = k.agent_id and j.once_key = k.once_key`

/**
 * Locks the wallets that the commands may change, in id order, and reads all they look at. A wallet that
 * somebody else has locked is waited for, or left out of the books.
 */
export async function readBooks(
  tx: BatchTx,
  commands: readonly Command[],
  ifLocked: 'wait' | 'skip' = 'wait',
): Promise<Books> {
  const locked = new Set(commands.filter(needsWallet).map(({ agentId }) => agentId))

  const refIds = pairs(commands, (c) => (c.type === 'create' ? c.order.refId : undefined))
  const orderIds = pairs(commands, (c) => ('orderId' in c ? (c.orderId ?? undefined) : undefined))
  const paymentIds = pairs(commands, paymentIdOf)
  const received = commands.flatMap((c) =>
    c.type === 'receive_payment' ? c.payment.paymentId : [],
  )
  const keys = pairs(commands, (c) => (c.type === 'adjust' ? adjustmentKey(c.ref) : undefined))
  const onceKeys = pairs(commands, onceKeyOf)
  const references = commands.flatMap((c) => (c.type === 'hand_over' ? c.references : []))
  const afterNo = pairs(commands, orderIdAfterNo)

  // Sent in one go; the database runs them one after the other, so the reads see what the locks saw. What was
  // archived is looked for after what is in the books: between the two it can only have gone there.
  const [
    accounts,
    byRefId,
    byId,
    payments,
    claims,
    taken,
    paid,
    adjustments,
    archivedRefs,
    archivedKeys,
  ] = await all([
    all(
      [...locked]
        .sort((a, b) => (a < b ? -1 : 1))
        .map((agentId) =>
          ifLocked === 'wait'
            ? run<AccountRow>(tx, 'lock-wallet', lockWallet, [agentId])
            : run<AccountRow>(tx, 'lock-free-wallet', lockFreeWallet, [agentId]),
        ),
    ),
    read<OrderRow>(tx, 'orders-by-ref-id', ordersByRefId, refIds),
    read<OrderRow>(tx, 'orders-by-id', ordersById, orderIds),
    read<PaymentRow>(tx, 'payments-by-id', paymentsById, paymentIds),
    received.length === 0
      ? Promise.resolve([])
      : run<ClaimRow>(tx, 'claims-by-id', claimsById, [received]).then(({ rows }) => rows),
    references.length === 0
      ? Promise.resolve([])
      : run<ReferenceRow>(tx, 'references', payoutsByReference, [references]).then(
          ({ rows }) => rows,
        ),
    read<PaidAttempt & { agent_id: bigint; order_id: string }>(
      tx,
      'paid-attempts',
      paidAttempts,
      afterNo,
    ),
    read<{ agent_id: bigint; once_key: string }>(tx, 'adjustments-by-key', adjustmentsByKey, keys),
    read<{ agent_id: bigint; ref_id: string }>(tx, 'archived-by-ref-id', archivedByRefId, refIds),
    read<{ agent_id: bigint; once_key: string }>(tx, 'archived-by-key', archivedByKey, onceKeys),
  ])

  const books: Books = {
    wallets: new Map(),
    orders: new Map(),
    refIds: new Map(),
    payments: new Map(),
    claims: new Map(claims.map((row) => [row.payment_id, claimFromRow(row)])),
    payers: new Map(),
    takenReferences: new Set(taken.map(({ reference }) => reference)),
    adjustments: new Set(adjustments.map((row) => keyOf(row.agent_id, row.once_key))),
    archivedRefs: new Set(archivedRefs.map((row) => keyOf(row.agent_id, row.ref_id))),
    archivedKeys: new Set(archivedKeys.map((row) => keyOf(row.agent_id, row.once_key))),
  }
  for (const { rows } of accounts) {
    for (const { agent_id, seq, currency, revert_fee, late_money, ...balances } of rows) {
      books.wallets.set(agent_id, {
        wallet: { agentId: agent_id, seq, balances },
        terms: { currency, revertFee: revert_fee, lateMoney: late_money },
      })
    }
  }
  for (const row of [...byRefId, ...byId]) {
    const key = keyOf(row.agent_id, orderIdFromUuid(row.order_id))
    const order = books.orders.get(key) ?? orderFromRow(row)
    books.orders.set(key, order)
    books.refIds.set(keyOf(order.agentId, order.refId), order)
  }
  for (const { agent_id, order_id, provider, reference } of paid) {
    const key = keyOf(agent_id, orderIdFromUuid(order_id))
    if (!books.payers.has(key)) books.payers.set(key, { provider, reference })
  }
  for (const row of payments) {
    books.payments.set(keyOf(row.agent_id, row.payment_id), paymentFromRow(row))
  }
  return books
}

const ordersInsert = `insert into orders (agent_id, order_id, kind, ref_id, user_id, amount, fee,
    fee_rule, account_name, account_no, bank_code, extra_params, status, version, answer,
    created_at, expires_at, completed_at, paid_amount, paid_fee, provider, provider_ref,
    handed_over_at, instructions)
  select * from unnest($1::bigint[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::bigint[],
    $7::bigint[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[],
    $14::int[], $15::text[], $16::timestamptz[], $17::timestamptz[], $18::timestamptz[],
    $19::bigint[], $20::bigint[], $21::text[], $22::text[], $23::timestamptz[],
    $24::text[])
  on conflict do nothing
  returning order_id`

const updateOrders = `update orders o set status = u.status, version = u.version,
    completed_at = u.completed_at, paid_amount = u.paid_amount, paid_fee = u.paid_fee,
    provider = u.provider, provider_ref = u.provider_ref, handed_over_at = u.handed_over_at,
    answer = coalesce(u.answer, o.answer), instructions = u.instructions
  from unnest($1::bigint[], $2::uuid[], $3::int[], $4::text[], $5::int[], $6::timestamptz[],
    $7::bigint[], $8::bigint[], $9::text[], $10::text[], $11::timestamptz[], $12::text[], $13::text[])
    u(agent_id, order_id, version_read, status, version, completed_at, paid_amount, paid_fee,
      provider, provider_ref, handed_over_at, answer, instructions)
  where o.agent_id = u.agent_id and o.order_id = u.order_id and o.version = u.version_read`

const insertJournal = `insert into journal (agent_id, seq, order_id, event, at, available_change,
    held_change, clearing_change, fees_change, adjustments_change, available, held, clearing, fees,
    adjustments, once_key, reason)
  select * from unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::text[], $5::timestamptz[],
    $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[],
    $12::bigint[], $13::bigint[], $14::bigint[], $15::bigint[], $16::text[], $17::text[])`

/** Due at once, also where the clock of this process is ahead of the database's. */
const insertCallbacks = `insert into callbacks (agent_id, seq, order_id, kind, follows, state,
    created_at, due_at, attempts, again)
  select agent_id, seq, order_id, kind, follows, 'waiting', created_at, least(created_at, now()), 0, 0
  from unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::text[], $5::boolean[], $6::timestamptz[])
    c(agent_id, seq, order_id, kind, follows, created_at)`

const insertBodies = `insert into callback_bodies (agent_id, seq, created_at, body)
  select * from unnest($1::bigint[], $2::bigint[], $3::timestamptz[], $4::text[])`

const insertPayments = `insert into payments (agent_id, payment_id, order_id, amount, paid_at,
    reported_at, payer_account_no, payer_account_name, payer_bank_code, state, why, credited_to,
    evidence)
  select * from unnest($1::bigint[], $2::text[], $3::uuid[], $4::bigint[], $5::timestamptz[],
    $6::timestamptz[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[],
    $13::text[])`

const updatePayments = `update payments p set order_id = u.order_id, state = u.state, why = u.why,
    credited_to = u.credited_to, evidence = u.evidence
  from unnest($1::bigint[], $2::text[], $3::text[], $4::uuid[], $5::text[], $6::text[], $7::text[],
    $8::text[])
    u(agent_id, payment_id, state_read, order_id, state, why, credited_to, evidence)
  where p.agent_id = u.agent_id and p.payment_id = u.payment_id and p.state = u.state_read`

/** The attempt that this one takes the place of was surely refused. */
const closePayouts = `update payouts p set state = 'rejected', ask_at = null
  from unnest($1::bigint[], $2::uuid[], $3::int[]) u(agent_id, order_id, attempt)
  where p.agent_id = u.agent_id and p.order_id = u.order_id and p.attempt < u.attempt
    and p.ask_at is not null`

const insertPayouts = `insert into payouts (agent_id, order_id, attempt, provider, reference, token,
    state, handed_at, asks, ask_at)
  select agent_id, order_id, attempt, provider, reference, token,
    case when ask_at is null and ask_in_ms is null then 'rejected' else 'handed' end, handed_at, 0,
    coalesce(ask_at, now() + ask_in_ms * interval '1 millisecond')
  from unnest($1::bigint[], $2::uuid[], $3::int[], $4::text[], $5::text[], $6::uuid[],
    $7::timestamptz[], $8::timestamptz[], $9::bigint[])
    u(agent_id, order_id, attempt, provider, reference, token, handed_at, ask_at, ask_in_ms)`

/** The same said again, or more of it, is the same item. What came back is not paid by older news. */
const insertItems = `insert into open_items (agent_id, item_id, kind, order_id, provider, reference,
    amount, currency, provider_said, order_status, order_provider, opened_at)
  select * from unnest($1::bigint[], $2::text[], $3::text[], $4::uuid[], $5::text[], $6::text[],
    $7::bigint[], $8::text[], $9::text[], $10::text[], $11::text[], $12::timestamptz[])
  on conflict (agent_id, item_id) do update set provider_said =
    case open_items.provider_said when 'REVERT' then 'REVERT' else excluded.provider_said end`

/** What the provider says of its payout is what its row says, whatever the order says. */
const contradictPayouts = `update payouts p set state = u.state, ask_at = null
  from unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) u(agent_id, provider, reference, state)
  where p.agent_id = u.agent_id and p.provider = u.provider and p.reference = u.reference
    and p.state <> 'returned'`

/** An order that is PAID does not settle that its money came back. */
const closeItems = `update open_items i set closed_at = u.at, resolution = 'order_paid',
    evidence = u.evidence
  from unnest($1::bigint[], $2::uuid[], $3::text[], $4::timestamptz[], $5::text[])
    u(agent_id, order_id, reference, at, evidence)
  where i.agent_id = u.agent_id and i.order_id = u.order_id and i.reference = u.reference
    and i.closed_at is null and i.kind <> 'failed_after_paid' and i.provider_said <> 'REVERT'`

const updateWallets = `update wallets w set seq = u.seq, available = u.available, held = u.held,
    clearing = u.clearing, fees = u.fees, adjustments = u.adjustments
  from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],
    $7::bigint[], $8::bigint[])
    u(agent_id, seq_read, seq, available, held, clearing, fees, adjustments)
  where w.agent_id = u.agent_id and w.seq = u.seq_read`

const orderValues = (o: Order): Value[] => [
  o.agentId,
  o.orderId,
  o.kind,
  o.refId,
  o.userId,
  o.amountMinor,
  o.feeMinor,
  o.feeRule,
  o.accountName,
  o.accountNo,
  o.bankCode,
  o.extraParams,
  o.status,
  o.version,
  o.answer,
  o.createdAt,
  o.expiresAt,
  o.completedAt,
  o.paidAmountMinor,
  o.paidFeeMinor,
  o.provider,
  o.providerRef,
  o.handedOverAt,
  o.instructions,
]

/** Fails where one of these orders has the refId of an archived one: nothing but an error ends a pipeline. */
const refusal = `select 1 / case when count(*) = 0 then 1 else 0 end from (${archivedByRefId}) archived`

/**
 * An order whose refId is free in the books may have the refId of one that was archived. That one's refId was
 * written down before or with its removal, so whoever looks after the insert went through is sure to see it.
 */
async function refuseArchivedRefs(client: PoolClient, orders: Order[]): Promise<void> {
  if (orders.length === 0) return
  const values = columnsOf(orders, ({ agentId, refId }) => [agentId, refId])
  try {
    await client.query({ name: 'refuse-archived-refs', text: refusal, values })
  } catch (error) {
    const isDivision = sqlState(error) === '22012'
    throw isDivision ? new BooksChanged('a refId was archived') : error
  }
}

/** Inserts new orders, as many as have a refId of their own. Returns the ids of those. */
export async function insertOrders(client: PoolClient, orders: Order[]): Promise<Set<string>> {
  // In one order by everybody: two that insert the same refIds never wait for each other in a circle.
  const sorted = orders.toSorted((a, b) =>
    a.agentId === b.agentId ? (a.refId < b.refId ? -1 : 1) : a.agentId < b.agentId ? -1 : 1,
  )
  const { rows } = await client.query<{ order_id: string }>({
    name: 'insert-orders',
    text: ordersInsert,
    values: columnsOf(sorted, orderValues),
  })
  return new Set(rows.map(({ order_id }) => orderIdFromUuid(order_id)))
}

/** The same by itself and on disk. Where one has a refId that was archived, none is inserted. */
export async function commitOrders(client: PoolClient, orders: Order[]): Promise<Set<string>> {
  const [, inserted] = await all([
    client.query('begin'),
    insertOrders(client, orders),
    refuseArchivedRefs(client, orders),
    client.query('commit'),
  ])
  return inserted
}

/** The same beside other changes: each of them must have a refId of its own. */
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

/** The key over all agents: whoever was first has the payment, and everybody else looks again. */
async function insertAllClaims(tx: BatchTx, claims: PaymentClaim[]): Promise<void> {
  if (claims.length === 0) return
  const values = columnsOf(claims, claimValues)
  const { rows } = await run<{ payment_id: string }>(tx, 'insert-claims', insertClaims, values)
  if (rows.length === claims.length) return
  const inserted = new Set(rows.map(({ payment_id }) => payment_id))
  const taken = claims.filter(({ paymentId }) => !inserted.has(paymentId))
  throw new BooksChanged(
    `${taken.length} payments were claimed meanwhile`,
    new Set(taken.map(({ agentId }) => agentId)),
  )
}

/** The same for the references of payouts: a payout whose reference was taken gets another. */
async function insertAllReferences(tx: BatchTx, payouts: HandedPayout[]): Promise<void> {
  if (payouts.length === 0) return
  const sorted = [...payouts].sort((a, b) => (a.reference < b.reference ? -1 : 1))
  const { rows } = await run<{ reference: string }>(tx, 'insert-references', insertReferences, [
    sorted.map(({ reference }) => reference),
    sorted.map(({ agentId }) => agentId),
    sorted.map(({ orderId }) => orderId),
    sorted.map(({ attempt }) => attempt),
  ])
  if (rows.length === payouts.length) return
  const inserted = new Set(rows.map(({ reference }) => reference))
  const taken = payouts.filter(({ reference }) => !inserted.has(reference))
  throw new BooksChanged(
    `${taken.length} references of payouts were taken meanwhile`,
    new Set(taken.map(({ agentId }) => agentId)),
  )
}

/** Writes what a batch came to. Every statement must meet as many rows as it names. */
export async function writeBooks(tx: BatchTx, writes: Writes): Promise<void> {
  await all([
    insertAllClaims(tx, writes.newClaims),
    insertAllReferences(tx, writes.newPayouts),
    insertAllOrders(tx, writes.newOrders),
    refuseArchivedRefs(tx, writes.newOrders),
    write(tx, 'update-orders', updateOrders, writes.changedOrders, ({ order, versionRead }) => [
      order.agentId,
      order.orderId,
      versionRead,
      order.status,
      order.version,
      order.completedAt,
      order.paidAmountMinor,
      order.paidFeeMinor,
      order.provider,
      order.providerRef,
      order.handedOverAt,
      // Only a deposit's instructions come later than its creation.
      order.kind === 'deposit' && order.providerRef !== null ? order.answer : null,
      order.instructions,
    ]),
    // One that is taken back makes room for another that pays its order.
    write(
      tx,
      'update-payments',
      updatePayments,
      writes.changedPayments,
      ({ payment: p, stateRead }) => [
        p.agentId,
        p.paymentId,
        stateRead,
        p.orderId,
        p.state,
        p.why,
        p.creditedTo,
        p.evidence,
      ],
    ),
    write(tx, 'insert-payments', insertPayments, writes.newPayments, (p) => [
      p.agentId,
      p.paymentId,
      p.orderId,
      p.amountMinor,
      p.paidAt,
      p.reportedAt,
      p.payer?.accountNo ?? null,
      p.payer?.accountName ?? null,
      p.payer?.bankCode ?? null,
      p.state,
      p.why,
      p.creditedTo,
      p.evidence,
    ]),
    closeRefused(tx, writes.newPayouts),
    write(tx, 'insert-payouts', insertPayouts, writes.newPayouts, (p) => [
      p.agentId,
      p.orderId,
      p.attempt,
      p.provider,
      p.reference,
      p.token,
      p.handedAt,
      typeof p.askAt === 'number' ? null : p.askAt,
      typeof p.askAt === 'number' ? p.askAt : null,
    ]),
    openItems(tx, writes.newItems),
    closeItemsOf(tx, writes.closedItems),
    write(tx, 'insert-journal', insertJournal, writes.journal, (row) => [
      row.agentId,
      row.seq,
      row.orderId,
      row.event,
      row.at,
      row.change.available,
      row.change.held,
      row.change.clearing,
      row.change.fees,
      row.change.adjustments,
      row.balances.available,
      row.balances.held,
      row.balances.clearing,
      row.balances.fees,
      row.balances.adjustments,
      row.onceKey,
      row.reason,
    ]),
    write(tx, 'insert-callbacks', insertCallbacks, writes.callbacks, (c) => [
      c.agentId,
      c.seq,
      c.orderId,
      c.kind,
      c.follows,
      c.createdAt,
    ]),
    write(tx, 'insert-callback-bodies', insertBodies, writes.callbacks, (c) => [
      c.agentId,
      c.seq,
      c.createdAt,
      c.body,
    ]),
    write(tx, 'update-wallets', updateWallets, writes.wallets, ({ wallet, seqRead }) => [
      wallet.agentId,
      seqRead,
      wallet.seq,
      wallet.balances.available,
      wallet.balances.held,
      wallet.balances.clearing,
      wallet.balances.fees,
      wallet.balances.adjustments,
    ]),
  ])
}

const writtenRows = `select 1 from journal j
  join unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::text[], $5::timestamptz[], $6::text[])
    w(agent_id, seq, order_id, event, at, once_key)
    on j.agent_id = w.agent_id and j.seq = w.seq and j.event = w.event and j.at = w.at
      and j.order_id is not distinct from w.order_id
      and j.once_key is not distinct from w.once_key`

const writtenPayout = `select 1 from payouts
  where agent_id = $1 and order_id = $2 and attempt = $3 and token = $4`

/**
 * Whether a batch whose commit got lost is on disk. Ids and tokens are made afresh for every order and
 * hand-over, so one of them tells of the whole batch. Otherwise all of its journal rows and payments
 * must be there as it made them, or an order's change that no other would have made.
 */
export async function isBatchCommitted(tx: BatchTx, writes: Writes): Promise<boolean> {
  const { newOrders, newPayouts, journal, newPayments, changedOrders } = writes
  const [order] = newOrders
  if (order) {
    const ids: [bigint[], string[]] = [[order.agentId], [order.orderId]]
    return (await read<OrderRow>(tx, 'orders-by-id', ordersById, ids)).length > 0
  }
  const [payout] = newPayouts
  if (payout) {
    const { agentId, orderId, attempt, token } = payout
    const values = [agentId, orderId, attempt, token]
    return (await run(tx, 'written-payout', writtenPayout, values)).rowCount === 1
  }
  if (journal.length > 0) {
    const { rowCount } = await run(tx, 'written-rows', writtenRows, [
      journal.map(({ agentId }) => agentId),
      journal.map(({ seq }) => seq),
      journal.map(({ orderId }) => orderId),
      journal.map(({ event }) => event),
      journal.map(({ at }) => at.toISOString()),
      journal.map(({ onceKey }) => onceKey),
    ])
    if (rowCount !== journal.length) return false
  }
  if (newPayments.length > 0) {
    const ids: [bigint[], string[]] = [
      newPayments.map(({ agentId }) => agentId),
      newPayments.map(({ paymentId }) => paymentId),
    ]
    const found = await read<PaymentRow>(tx, 'payments-by-id', paymentsById, ids)
    const times = new Map(found.map((p) => [keyOf(p.agent_id, p.payment_id), p.reported_at]))
    return newPayments.every(
      ({ agentId, paymentId, reportedAt }) =>
        times.get(keyOf(agentId, paymentId))?.getTime() === reportedAt.getTime(),
    )
  }
  if (journal.length > 0) return true
  const [changed] = changedOrders
  if (!changed) return false
  const ids: [bigint[], string[]] = [[changed.order.agentId], [changed.order.orderId]]
  const [found] = await read<OrderRow>(tx, 'orders-by-id', ordersById, ids)
  return (
    found?.version === changed.order.version &&
    found.provider_ref === changed.order.providerRef &&
    found.handed_over_at?.getTime() === changed.order.handedOverAt?.getTime()
  )
}

async function closeRefused(tx: BatchTx, payouts: Writes['newPayouts']): Promise<void> {
  const later = payouts.filter(({ attempt }) => attempt > 1)
  if (later.length === 0) return
  const keys = columnsOf(later, (p) => [p.agentId, p.orderId, p.attempt])
  await run(tx, 'close-payouts', closePayouts, keys)
}

async function openItems(tx: BatchTx, items: Writes['newItems']): Promise<void> {
  if (items.length === 0) return
  // A statement cannot write one row twice: the last word on an item counts, unless the money came back.
  const words = new Map<string, OpenItem>()
  for (const item of items) {
    const key = keyOf(item.agentId, item.itemId)
    if (words.get(key)?.providerSaid !== 'REVERT') words.set(key, item)
  }
  const latest = [...words.values()]
  const paid = latest.filter(({ kind }) => kind !== 'failed_after_paid')
  const statements = [
    run(
      tx,
      'insert-items',
      insertItems,
      columnsOf(latest, (item) => [
        item.agentId,
        item.itemId,
        item.kind,
        item.orderId,
        item.provider,
        item.reference,
        item.amountMinor,
        item.currency,
        item.providerSaid,
        item.orderStatus,
        item.orderProvider,
        item.openedAt,
      ]),
    ),
  ]
  if (paid.length > 0) {
    const said = columnsOf(paid, ({ agentId, provider, reference, providerSaid }) => [
      agentId,
      provider,
      reference,
      providerSaid === 'REVERT' ? 'returned' : 'paid',
    ])
    statements.push(run(tx, 'contradict-payouts', contradictPayouts, said))
  }
  await all(statements)
}

async function closeItemsOf(tx: BatchTx, closed: Writes['closedItems']): Promise<void> {
  if (closed.length === 0) return
  const values = columnsOf(closed, (c) => [c.agentId, c.orderId, c.reference, c.at, c.evidence])
  await run(tx, 'close-items', closeItems, values)
}

type Value = bigint | string | number | boolean | Date | null

async function write<T>(
  tx: BatchTx,
  name: string,
  text: string,
  items: readonly T[],
  valuesOf: (item: T) => Value[],
): Promise<void> {
  if (items.length === 0) return
  const { rowCount } = await run(tx, name, text, columnsOf(items, valuesOf))
  if (rowCount !== items.length) {
    throw new BooksChanged(`${name} met ${rowCount} rows instead of ${items.length}`)
  }
}

/** Rows turned into the columns that a statement takes. */
function columnsOf<T>(items: readonly T[], valuesOf: (item: T) => Value[]): Value[][] {
  const columns: Value[][] = []
  for (const item of items) {
    valuesOf(item).forEach((value, at) => {
      const column = columns[at]
      const sent = value instanceof Date ? value.toISOString() : value
      if (column) column.push(sent)
      else columns.push([sent])
    })
  }
  return columns
}

async function read<Row extends object>(
  tx: BatchTx,
  name: string,
  text: string,
  [agentIds, ids]: [bigint[], string[]],
): Promise<Row[]> {
  return ids.length === 0 ? [] : (await run<Row>(tx, name, text, [agentIds, ids])).rows
}

function run<Row extends object>(tx: BatchTx, name: string, text: string, values: unknown[]) {
  return tx.query<Row>({ name, text, values })
}

/** Each agent and id that the commands name, once, as the two columns a statement takes. */
function pairs(
  commands: readonly Command[],
  idOf: (command: Command) => string | undefined,
): [bigint[], string[]] {
  const seen = new Set<string>()
  const agentIds: bigint[] = []
  const ids: string[] = []
  for (const command of commands) {
    const id = idOf(command)
    if (id === undefined || seen.has(keyOf(command.agentId, id))) continue
    seen.add(keyOf(command.agentId, id))
    agentIds.push(command.agentId)
    ids.push(id)
  }
  return [agentIds, ids]
}

/**
 * Waits for all of the statements, then reports the first fault. In a pipeline the first one is the
 * cause; those behind it only say that the transaction was aborted.
 */
async function all<T extends readonly unknown[]>(
  promises: readonly [...{ [K in keyof T]: Promise<T[K]> }],
): Promise<T> {
  await Promise.allSettled(promises)
  return Promise.all(promises) as unknown as Promise<T>
}

function paymentFromRow(row: PaymentRow): Payment {
  return {
    agentId: row.agent_id,
    paymentId: row.payment_id,
    orderId: row.order_id === null ? null : orderIdFromUuid(row.order_id),
    amountMinor: row.amount,
    paidAt: row.paid_at,
    reportedAt: row.reported_at,
    payer: payerFromRow(row),
    state: row.state,
    why: row.why,
    creditedTo: row.credited_to,
    evidence: row.evidence,
  }
}
