import { type Accounts, accountNames, paidInBy } from '../ledger/accounts.ts'
import type { JournalEvent, JournalRow, Order, OrderEvent, Payment } from '../ledger/book.ts'
import { journalColumns, orderColumns } from '../ledger/book-columns.ts'
import { providerOfPayment, unknownProvider } from '../ledger/house.ts'
import { storedBody } from '../ledger/stored-body.ts'
import { feeOf, parseFeeRule } from '../lib/fee.ts'
import { txnId } from '../lib/ids.ts'
import {
  ensure,
  ensureSame,
  ProofFailure,
  type ProofTx,
  type ProvedAgent,
  type ProvedPage,
  type Stretch,
  statusOf,
} from './proof-failure.ts'
import { proveAnswer } from './prove-answer.ts'
import { type CallbackRow, proveCallback } from './prove-callback.ts'
import { type PayoutFact, proveHandOvers } from './prove-hand-overs.ts'
import { paymentIdIn, proveCredit, readCredited } from './prove-payments.ts'
import { provePayouts } from './prove-payouts.ts'
import { proveReferences } from './prove-references.ts'

/** Which event may follow which in one order; `-` stands for its beginning. */
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
  'withdraw withdraw_failed': ['withdraw_paid_after_failed'],
  'withdraw withdraw_paid_after_failed': ['withdraw_reverted'],
}

/** All other rows in the books that belong to the orders. */
export interface Facts {
  rowsOf: Map<string, JournalRow[]>
  callbacks: Map<bigint, CallbackRow>
  payments: Map<string, Payment>
  payoutsOf: Map<string, PayoutFact[]>
}

/** Proves a page of an agent's orders. Also finds payouts in the range that belong to no order. */
export async function proveOrderPage(
  tx: ProofTx,
  agent: ProvedAgent,
  { after, upTo, limit }: Stretch,
): Promise<ProvedPage> {
  const { rows } = await tx.query<Order>(
    `select ${orderColumns.select('o')} from orders o where agent_id = $1 and order_id > $2
       and ($3::uuid is null or order_id <= $3) order by order_id limit $4`,
    [agent.agentId, after, upTo, limit],
  )
  await proveOrders(tx, agent, rows)
  const isLast = rows.length < limit
  const last = rows.at(-1)?.orderId ?? null
  const { rows: lost } = await tx.query<{ reference: string }>(
    `select p.reference from payouts p
     where p.agent_id = $1 and p.order_id > $2 and ($3::uuid is null or p.order_id <= $3)
       and not exists (
         select 1 from orders o where o.agent_id = p.agent_id and o.order_id = p.order_id
       ) limit 1`,
    [agent.agentId, after, isLast ? null : last],
  )
  ensure(lost.length === 0, () => `payout ${lost[0]?.reference} is of an order that is not there`)
  return { proved: rows.length, last: isLast ? null : last }
}

/** Proves the given orders of an agent. */
export async function proveOrdersById(
  tx: ProofTx,
  agent: ProvedAgent,
  orderIds: readonly string[],
): Promise<void> {
  const { rows } = await tx.query<Order>(
    `select ${orderColumns.select('o')} from orders o where agent_id = $1 and order_id = any($2)`,
    [agent.agentId, orderIds],
  )
  await proveOrders(tx, agent, rows)
}

/** Proves that each order matches its journal rows, and that its callbacks, payments and payouts agree. */
async function proveOrders(
  tx: ProofTx,
  agent: ProvedAgent,
  orders: readonly Order[],
): Promise<void> {
  if (orders.length === 0) return
  const facts = await readFacts(tx, agent.agentId, orders)
  for (const order of orders) proveOrder(agent, order, facts)
  await proveReferences(tx, agent.agentId, facts.payoutsOf)
  await provePayouts(tx, agent.agentId, orders)
}

async function readFacts(tx: ProofTx, agentId: bigint, orders: readonly Order[]): Promise<Facts> {
  const ids = orders.map(({ orderId }) => orderId)
  const { rows: dbRows } = await tx.query(
    `select ${journalColumns.select('j')} from journal j
     where agent_id = $1 and order_id = any($2) order by seq`,
    [agentId, ids],
  )
  const rows = dbRows.map(journalColumns.fromRow)
  const { rows: callbacks } = await tx.query<CallbackRow>(
    `select c.seq, c.order_id, c.kind, c.follows, c.created_at, ${storedBody} as body
     from callbacks c where c.agent_id = $1 and c.seq = any($2)`,
    [agentId, rows.map(({ seq }) => seq)],
  )
  const { rows: payouts } = await tx.query<PayoutFact & { order_id: string }>(
    `select order_id, attempt, provider, reference, state, handed_at, ask_at from payouts
     where agent_id = $1 and order_id = any($2) order by attempt`,
    [agentId, orders.filter(({ kind }) => kind === 'withdraw').map(({ orderId }) => orderId)],
  )
  return {
    rowsOf: grouped(rows, ({ orderId }) => orderId ?? ''),
    callbacks: new Map(callbacks.map((callback) => [callback.seq, callback])),
    payments: await readCredited(tx, agentId, rows),
    payoutsOf: grouped(payouts, ({ order_id }) => order_id),
  }
}

function grouped<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group) group.push(item)
    else groups.set(keyOf(item), [item])
  }
  return groups
}

/** Proves one order with the rows that belong to it. */
export function proveOrder(agent: ProvedAgent, order: Order, facts: Facts): void {
  const name = `order ${txnId(order.agentId, order.orderId)}`
  const every = facts.rowsOf.get(order.orderId) ?? []
  const rows = every.filter(({ event }) => event !== 'cost_charged')
  for (const row of every) if (row.event === 'cost_charged') proveCost(row)
  const payouts = facts.payoutsOf.get(order.orderId) ?? []
  ensureSame(name, 'currency', order.currency, agent.currency)
  const feeBy = feeRuleOf(order, name)
  ensureSame(name, 'fee', order.feeMinor, feeBy(order.amountMinor))
  proveRows(name, order, rows, feeBy, facts.payments)
  proveState(name, order, rows, payouts.length)
  proveHandOvers(name, order, rows, payouts)
  proveAnswer(order, rows[0])
  rows.forEach((row, index) => {
    const callback = facts.callbacks.get(row.seq)
    ensure(
      (callback !== undefined) === (statusOf[row.event] !== undefined),
      () => `journal row ${row.seq} (${row.event}) ${callback ? 'has a' : 'has no'} callback`,
    )
    if (!callback) return
    const follows = rows.slice(0, index).some(({ event }) => statusOf[event] !== undefined)
    const payment = row.event === 'deposit_paid' ? facts.payments.get(row.onceKey ?? '') : undefined
    proveCallback({ order, row, follows, payer: payment?.payer ?? null }, callback)
  })
}

/** Proves that a cost is what the provider keeps of the money that is at it. */
function proveCost(row: JournalRow): void {
  const where = `journal row ${row.seq} (${row.event})`
  const { costs } = row.change
  ensure(
    accountNames.every((name) => {
      const leg = name === 'costs' ? costs : name === 'clearing' ? -costs : 0n
      return row.change[name] === leg
    }),
    () => `${where} moves more than a cost`,
  )
  ensure(
    row.onceKey?.startsWith(`cost:${row.clearingAt}:`) === true,
    () => `${where} is by ${row.onceKey}, which names no cost of ${row.clearingAt}`,
  )
}

/** The fee that the order's own rule gives for an amount. */
function feeRuleOf(order: Order, name: string) {
  const rule = parseFeeRule(order.feeRule, order.currency)
  if (typeof rule === 'string')
    throw new ProofFailure(`${name} has a fee rule that is none: ${rule}`)
  return (amountMinor: bigint) => feeOf(amountMinor, rule)
}

/**
 * Proves that an order's rows follow each other in a valid sequence, and that each moves the right
 * amounts.
 */
function proveRows(
  name: string,
  order: Order,
  rows: readonly JournalRow[],
  feeBy: (amountMinor: bigint) => bigint,
  payments: ReadonlyMap<string, Payment>,
): void {
  let last = '-'
  let paid = { amount: 0n, fee: 0n, at: '' }
  rows.forEach((row, index) => {
    const where = `journal row ${row.seq} (${row.event})`
    ensure(
      followers[`${order.kind} ${last}`]?.includes(row.event) === true,
      () => `${name} has ${row.event} (journal row ${row.seq}) after ${last}`,
    )
    last = row.event
    ensureSame(where, 'currency', row.currency, order.currency)
    if (row.event === 'deposit_paid') {
      const amount = paidInBy(row.change)
      const at = providerOfPayment(paymentIdIn(row) ?? '')
      paid = { amount, fee: feeBy(amount), at }
      const isTakenBack = rows[index + 1]?.event === 'deposit_taken_back'
      proveCredit(row, payments.get(row.onceKey ?? ''), isTakenBack)
    } else ensureSame(where, 'once_key', row.onceKey, null)
    if (row.event === 'withdraw_held') ensureSame(where, 'at', row.at, order.createdAt)
    proveLegs(name, order, row, paid)
    if (row.clearingAt === null) return
    // Before each row named its provider, a withdrawal could be paid without one.
    const at = order.kind === 'deposit' ? paid.at : (order.provider ?? unknownProvider)
    ensureSame(where, 'provider', row.clearingAt, at)
  })
}

/** Proves that an order's status, times, version and paid amounts match its rows. */
function proveState(
  name: string,
  order: Order,
  rows: readonly JournalRow[],
  handOvers: number,
): void {
  const outcomes = rows.filter(({ event }) => statusOf[event] !== undefined)
  const last = outcomes.at(-1)
  const status = last ? statusOf[last.event] : 'WAITING'
  ensure(order.status === status, () => `${name} is ${order.status}, its journal says ${status}`)
  ensure(
    order.kind === 'deposit' || rows.length > 0,
    () => `${name} is a withdrawal without a hold`,
  )
  ensureSame(name, 'completed_at', order.completedAt, last?.at)
  // A deposit gets its reference together with the provider's instructions.
  const instructed = order.kind === 'deposit' && order.providerRef !== null ? 1 : 0
  ensureSame(name, 'version', order.version, 1 + outcomes.length + handOvers + instructed)
  const paying = outcomes.findLast(({ event }) => statusOf[event] === 'PAID')
  const paid = paying && paidInBy(paying.change)
  ensureSame(name, 'paid_amount', order.paidAmountMinor, paid && (paid < 0n ? -paid : paid))
  ensureSame(name, 'paid_fee', order.paidFeeMinor, paying?.change.fees)
}

/** Proves what one row moved, from the order's own amounts. */
function proveLegs(
  name: string,
  order: Order,
  { event, seq, change }: JournalRow,
  paid: { amount: bigint; fee: bigint },
): void {
  // A payment that waited comes from suspense.
  const source = change.suspense === 0n ? 'clearing' : 'suspense'
  const total = order.amountMinor + order.feeMinor
  const expected: Partial<Accounts>[] = {
    deposit_paid: [{ available: paid.amount - paid.fee, fees: paid.fee, [source]: -paid.amount }],
    deposit_taken_back: [
      { available: paid.fee - paid.amount, fees: -paid.fee, clearing: paid.amount },
    ],
    deposit_failed: [{}],
    deposit_expired: [{}],
    deposit_void: [{}],
    withdraw_held: [{ available: -total, held: total }],
    withdraw_paid: [{ held: -total, clearing: order.amountMinor, fees: order.feeMinor }],
    withdraw_paid_after_failed: [
      { available: -total, clearing: order.amountMinor, fees: order.feeMinor },
    ],
    withdraw_failed: [{ available: total, held: -total }],
    withdraw_cancelled: [{ available: total, held: -total }],
    // The fee is returned or kept, depending on the agent's terms at that time.
    withdraw_reverted: [
      { available: total, clearing: -order.amountMinor, fees: -order.feeMinor },
      { available: order.amountMinor, clearing: -order.amountMinor },
    ],
  }[event as OrderEvent]
  const matches = expected.some((legs) =>
    accountNames.every((account) => (legs[account] ?? 0n) === change[account]),
  )
  ensure(matches, () => {
    const [legs = {}] = expected
    const words = (moved: Partial<Accounts>) =>
      accountNames.map((account) => `${account} ${moved[account] ?? 0n}`).join(', ')
    return `journal row ${seq} (${event}) moves ${words(change)}, but ${name} says ${words(legs)}`
  })
}
