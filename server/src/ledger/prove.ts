import type { PoolClient } from '../db/pool.ts'
import { orderIdFromUuid, txnId } from '../lib/ids.ts'
import { type Currency, decimalText } from '../lib/money.ts'
import { type Accounts, accountNames, add, noChange, sumOf } from './accounts.ts'
import type { JournalEvent, JournalRow, Order } from './book.ts'
import { type OrderRow, orderFromRow } from './order-row.ts'
import { type JournalDbRow, journalFromRow } from './read-journal.ts'

/**
 * The proof of an agent's book, piece by piece. It works from the rows alone and shares nothing with
 * the code that wrote them, so that a mistake there cannot hide here.
 */

/** A connection inside a read-only transaction with one snapshot. */
export type ProofTx = PoolClient & { readonly inSnapshot: unique symbol }

/** The first thing that is not as it must be. */
export class Lie extends Error {}

function demand(holds: boolean, lie: () => string): asserts holds {
  if (!holds) throw new Lie(lie())
}

/** What each event must be told as, and none for those that are not an outcome. */
const statusOf: Record<JournalEvent, string | undefined> = {
  withdraw_held: undefined,
  withdraw_paid: 'PAID',
  withdraw_failed: 'FAILED',
  withdraw_cancelled: 'CANCEL',
  withdraw_reverted: 'REVERT',
  deposit_paid: 'PAID',
  deposit_failed: 'FAILED',
  deposit_expired: 'EXPIRED',
  deposit_void: 'VOID',
  deposit_taken_back: 'VOID',
  adjustment: undefined,
}

/** Which event may follow which, for one order; `-` stands for its beginning. */
const followers: Record<string, JournalEvent[]> = {
  'deposit -': ['deposit_paid', 'deposit_failed', 'deposit_expired', 'deposit_void'],
  'deposit deposit_paid': ['deposit_taken_back'],
  'deposit deposit_failed': ['deposit_paid'],
  'deposit deposit_expired': ['deposit_paid'],
  'deposit deposit_void': ['deposit_paid'],
  'deposit deposit_taken_back': ['deposit_paid'],
  'withdraw -': ['withdraw_held'],
  'withdraw withdraw_held': ['withdraw_paid', 'withdraw_failed', 'withdraw_cancelled'],
  'withdraw withdraw_paid': ['withdraw_reverted'],
}

export interface Span {
  lastSeq: bigint
  rows: number
  callbacks: number
}

/** Proves up to `limit` journal rows after a seq, with their callbacks, payments and orders. */
export async function proveSpan(
  tx: ProofTx,
  agentId: bigint,
  currency: Currency,
  afterSeq: bigint,
  limit: number,
): Promise<Span> {
  const { rows: dbRows } = await tx.query<JournalDbRow>(
    'select * from journal where agent_id = $1 and seq >= $2 order by seq limit $3',
    // The row before the span comes along, except where there is none.
    [agentId, afterSeq, afterSeq === 0n ? limit : limit + 1],
  )
  const rows = dbRows.map(journalFromRow)
  const before = rows[0]?.seq === afterSeq ? rows.shift() : undefined
  demand(before !== undefined || afterSeq === 0n, () => `journal row ${afterSeq} is missing`)
  proveChain(rows, before)
  const callbacks = await proveCallbacks(tx, agentId, currency, rows)
  await provePayments(tx, agentId, rows)
  const orderIds = [...new Set(rows.flatMap(({ orderId }) => orderId ?? []))]
  const { rows: orderRows } = await tx.query<OrderRow>(
    'select * from orders where agent_id = $1 and order_id = any($2)',
    [agentId, orderIds],
  )
  demand(
    orderRows.length === orderIds.length,
    () => `the journal tells of ${orderIds.length - orderRows.length} orders that are not there`,
  )
  await proveOrders(tx, agentId, orderRows.map(orderFromRow))
  return {
    lastSeq: rows.at(-1)?.seq ?? afterSeq,
    rows: rows.length,
    callbacks,
  }
}

/** Seq is gapless, legs add up to zero, and each row's balances follow from the row before. */
function proveChain(rows: JournalRow[], before: JournalRow | undefined): void {
  let seq = before?.seq ?? 0n
  let balances: Accounts = before?.balances ?? noChange
  for (const row of rows) {
    seq++
    demand(row.seq === seq, () => `journal row ${seq} is missing`)
    demand(sumOf(row.change) === 0n, () => `the legs of journal row ${seq} do not add up to zero`)
    balances = add(balances, row.change)
    for (const name of accountNames) {
      demand(
        row.balances[name] === balances[name],
        () =>
          `journal row ${seq} says ${name} is ${row.balances[name]}, but it is ${balances[name]}`,
      )
    }
    const { held, clearing, fees } = row.change
    demand(
      row.event !== 'adjustment' || (held === 0n && clearing === 0n && fees === 0n),
      () => `journal row ${seq} is an adjustment and moves more than that`,
    )
    demand(balances.held >= 0n, () => `held is below zero at journal row ${seq}`)
    demand(
      balances.available >= 0n ||
        row.change.available >= 0n ||
        row.event === 'deposit_taken_back' ||
        row.event === 'adjustment',
      () => `journal row ${seq} (${row.event}) takes available below zero`,
    )
  }
}

/** Every outcome has one callback that tells it as it was; nothing else has one. */
async function proveCallbacks(
  tx: ProofTx,
  agentId: bigint,
  currency: Currency,
  rows: JournalRow[],
): Promise<number> {
  const { rows: callbacks } = await tx.query<{ seq: bigint; order_id: string; body: string }>(
    `select seq, order_id, body from callbacks
     where agent_id = $1 and seq between $2 and $3`,
    [agentId, rows[0]?.seq ?? 0n, rows.at(-1)?.seq ?? -1n],
  )
  const bySeq = new Map(callbacks.map((callback) => [callback.seq, callback]))
  for (const row of rows) {
    const status = statusOf[row.event]
    const callback = bySeq.get(row.seq)
    demand(
      (callback !== undefined) === (status !== undefined),
      () => `journal row ${row.seq} (${row.event}) ${callback ? 'has a' : 'has no'} callback`,
    )
    if (callback === undefined) continue
    const body = parsedBody(callback.body, row.seq)
    const says = (field: string, got: unknown, expected: unknown) =>
      demand(
        got === expected,
        () => `the callback of journal row ${row.seq} says ${field} ${got}, but it is ${expected}`,
      )
    says('status', body.status, status)
    says('order', orderIdFromUuid(callback.order_id), row.orderId)
    says('transactionId', body.transactionId, txnId(agentId, row.orderId ?? ''))
    says('balance', body.wallet?.balance, Number(decimalText(row.balances.available, currency)))
    if (row.event === 'deposit_paid' || row.event === 'withdraw_paid') {
      const paid = row.change.clearing < 0n ? -row.change.clearing : row.change.clearing
      says('amount', body.amount, Number(decimalText(paid, currency)))
      says('fee', body.fee, Number(decimalText(row.change.fees, currency)))
    } else if (row.event !== 'withdraw_reverted') says('fee', body.fee, 0)
  }
  return callbacks.length
}

function parsedBody(text: string, seq: bigint) {
  try {
    return JSON.parse(text) ?? {}
  } catch {
    throw new Lie(`the callback of journal row ${seq} is not JSON`)
  }
}

/** Every payment that was credited is recorded as such, with the amount that was credited. */
async function provePayments(tx: ProofTx, agentId: bigint, rows: JournalRow[]): Promise<void> {
  const credits = rows.filter(({ event }) => event === 'deposit_paid')
  if (credits.length === 0) return
  const { rows: payments } = await tx.query<{
    payment_id: string
    order_id: string | null
    amount: bigint
    state: string
  }>(
    `select payment_id, order_id, amount, state from payments
     where agent_id = $1 and payment_id = any($2)`,
    [agentId, credits.map(({ onceKey }) => onceKey?.replace(/^payment:/, ''))],
  )
  const known = new Map(payments.map((payment) => [`payment:${payment.payment_id}`, payment]))
  for (const { seq, orderId, onceKey, change } of credits) {
    const payment = known.get(onceKey ?? '')
    demand(
      (payment?.state === 'credited' || payment?.state === 'taken_back') &&
        payment.amount === -change.clearing &&
        orderIdFromUuid(payment.order_id ?? '') === orderId,
      () => `journal row ${seq} credits ${onceKey}, which is not recorded so`,
    )
  }
}

/** Each order's state, amounts and version are what its journal rows come to. */
export async function proveOrders(tx: ProofTx, agentId: bigint, orders: Order[]): Promise<void> {
  const { rows } = await tx.query<JournalDbRow>(
    'select * from journal where agent_id = $1 and order_id = any($2) order by seq',
    [agentId, orders.map(({ orderId }) => orderId)],
  )
  const rowsOf = new Map<string, JournalRow[]>()
  for (const row of rows.map(journalFromRow)) {
    const own = rowsOf.get(row.orderId ?? '') ?? []
    own.push(row)
    rowsOf.set(row.orderId ?? '', own)
  }
  const handedOver = await readHandOvers(tx, agentId, orders)
  for (const order of orders) {
    const handOvers = handedOver.get(order.orderId) ?? 0
    proveOrder(order, rowsOf.get(order.orderId) ?? [], handOvers)
  }
}

/** How often each withdrawal was handed to a provider. */
async function readHandOvers(
  tx: ProofTx,
  agentId: bigint,
  orders: Order[],
): Promise<Map<string, number>> {
  const handed = orders.filter(({ handedOverAt }) => handedOverAt !== null)
  if (handed.length === 0) return new Map()
  const { rows } = await tx.query<{ order_id: string; times: bigint }>(
    `select order_id, count(*) as times from payouts
     where agent_id = $1 and order_id = any($2) group by order_id`,
    [agentId, handed.map(({ orderId }) => orderId)],
  )
  return new Map(rows.map(({ order_id, times }) => [orderIdFromUuid(order_id), Number(times)]))
}

function proveOrder(order: Order, rows: JournalRow[], handOvers: number): void {
  const name = `order ${txnId(order.agentId, order.orderId)}`
  let last = '-'
  let paid = { amount: 0n, fee: 0n }
  for (const row of rows) {
    demand(
      followers[`${order.kind} ${last}`]?.includes(row.event) === true,
      () => `${name} has ${row.event} (journal row ${row.seq}) after ${last}`,
    )
    last = row.event
    if (row.event === 'deposit_paid') paid = { amount: -row.change.clearing, fee: row.change.fees }
    proveLegs(name, order, row, paid)
  }
  const status =
    last === '-' ? 'WAITING' : (statusOf[rows.at(-1)?.event ?? 'adjustment'] ?? 'WAITING')
  demand(order.status === status, () => `${name} is ${order.status}, its journal says ${status}`)
  demand(
    order.kind === 'deposit' || rows.length > 0,
    () => `${name} is a withdrawal without a hold`,
  )
  const steps = rows.filter(({ event }) => event !== 'withdraw_held').length
  demand(
    (order.handedOverAt !== null) === handOvers > 0,
    () => `${name} was handed to a provider ${handOvers} times, but does not say so`,
  )
  // A deposit gets a reference together with the provider's instructions.
  const instructed = order.kind === 'deposit' && order.providerRef !== null ? 1 : 0
  const version = 1 + steps + handOvers + instructed
  demand(
    order.version === version,
    () => `${name} has version ${order.version}, its journal says ${version}`,
  )
  if (status === 'PAID') {
    const expected =
      order.kind === 'deposit' ? paid : { amount: order.amountMinor, fee: order.feeMinor }
    demand(
      order.paidAmountMinor === expected.amount && order.paidFeeMinor === expected.fee,
      () =>
        `${name} says it was paid ${order.paidAmountMinor}, its journal says ${expected.amount}`,
    )
  }
}

/** What one row of an order must have moved, from the order's own amounts. */
function proveLegs(
  name: string,
  order: Order,
  { event, seq, change }: JournalRow,
  paid: { amount: bigint; fee: bigint },
): void {
  const total = order.amountMinor + order.feeMinor
  const expected: Partial<Accounts>[] = {
    deposit_paid: [{ available: paid.amount - paid.fee, fees: paid.fee, clearing: -paid.amount }],
    deposit_taken_back: [
      { available: paid.fee - paid.amount, fees: -paid.fee, clearing: paid.amount },
    ],
    deposit_failed: [{}],
    deposit_expired: [{}],
    deposit_void: [{}],
    withdraw_held: [{ available: -total, held: total }],
    withdraw_paid: [{ held: -total, clearing: order.amountMinor, fees: order.feeMinor }],
    withdraw_failed: [{ available: total, held: -total }],
    withdraw_cancelled: [{ available: total, held: -total }],
    // The fee is given back or kept, as the agent's terms said that day.
    withdraw_reverted: [
      { available: total, clearing: -order.amountMinor, fees: -order.feeMinor },
      { available: order.amountMinor, clearing: -order.amountMinor },
    ],
    adjustment: [],
  }[event]
  const matches = expected.some((legs) =>
    accountNames.every((account) => (legs[account] ?? 0n) === change[account]),
  )
  demand(matches, () => `journal row ${seq} (${event}) does not move what ${name} is about`)
}

/** The wallet is the last row, and what is held is what open withdrawals hold. */
export async function proveTotals(tx: ProofTx, agentId: bigint): Promise<bigint> {
  const { rows } = await tx.query<Accounts & { seq: bigint; open: bigint; told: bigint | null }>(
    `select w.seq, w.available, w.held, w.clearing, w.fees, w.adjustments,
       (select max(c.seq) from callbacks c where c.agent_id = w.agent_id) as told,
       (select coalesce(sum(o.amount + o.fee), 0)::bigint from orders o
        where o.agent_id = w.agent_id and o.kind = 'withdraw' and o.status = 'WAITING') as open
     from wallets w where w.agent_id = $1`,
    [agentId],
  )
  const wallet = rows[0]
  demand(wallet !== undefined, () => 'there is no wallet')
  demand(
    wallet.held === wallet.open,
    () => `held is ${wallet.held}, but open withdrawals hold ${wallet.open}`,
  )
  const { rows: lastRows } = await tx.query<JournalDbRow>(
    'select * from journal where agent_id = $1 order by seq desc limit 1',
    [agentId],
  )
  const last = lastRows[0]
  demand(
    wallet.seq === (last?.seq ?? 0n),
    () => `the wallet is at seq ${wallet.seq}, the journal at ${last?.seq ?? 0n}`,
  )
  demand(
    wallet.told === null || wallet.told <= wallet.seq,
    () => `there is a callback of journal row ${wallet.told}, which is not there`,
  )
  for (const name of accountNames) {
    demand(
      wallet[name] === (last?.[name] ?? 0n),
      () => `the wallet says ${name} is ${wallet[name]}, the journal ${last?.[name] ?? 0n}`,
    )
  }
  return wallet.seq
}

/** No payment counts as credited without the journal row that credited it. */
export async function proveCredits(tx: ProofTx, agentId: bigint): Promise<void> {
  const { rows } = await tx.query<{ payment_id: string }>(
    `select p.payment_id from payments p
     where p.agent_id = $1 and p.credited_to is not null and not exists (
       select 1 from journal j
       where j.agent_id = p.agent_id and j.once_key = 'payment:' || p.payment_id
     ) limit 1`,
    [agentId],
  )
  const lost = rows[0]?.payment_id
  demand(lost === undefined, () => `payment ${lost} counts as credited, but no journal row does so`)
}
