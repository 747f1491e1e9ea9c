import { type Accounts, accountNames, paidInBy } from '../ledger/accounts.ts'
import { archivedSeq } from '../ledger/archived.ts'
import {
  type JournalEvent,
  type JournalRow,
  type Order,
  type OrderEvent,
  type Payment,
  sideEvents,
} from '../ledger/book.ts'
import { journalColumns, orderColumns } from '../ledger/book-columns.ts'
import { providerOfPayment, unknownProvider } from '../ledger/house.ts'
import { refundKey } from '../ledger/refunds.ts'
import { storedBody } from '../ledger/stored-body.ts'
import { feeOf, parseFeeRule } from '../lib/fee.ts'
import { txnId } from '../lib/ids.ts'
import { parseReserveRule, releaseTime, reserveOf } from '../lib/reserve-rule.ts'
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
import {
  type ItemFact,
  proveBooked,
  proveClosings,
  proveItems,
  readItems,
  waitsForPerson,
} from './prove-items.ts'
import { paymentIdIn, proveCredit, readCredited } from './prove-payments.ts'
import { provePayouts } from './prove-payouts.ts'
import { proveReferences } from './prove-references.ts'
import { proveRefunds } from './prove-refunds.ts'

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
  itemsOf: Map<string, ItemFact[]>
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
    `select ${orderColumns.select('o')} from orders o where agent_id = $1 and order_id = any($2)
     order by order_id`,
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
  await proveHeldLater(tx, agent.agentId, orders, facts)
  await proveReferences(tx, agent.agentId, facts.payoutsOf)
  const items = [...facts.itemsOf.values()].flat()
  await proveClosings(tx, items)
  await proveBooked(tx, items)
  await provePayouts(tx, agent.agentId, orders)
  await proveRefunds(tx, agent.agentId, orders)
}

/** Proves that withdrawals were held when they were created or, if the book was later than that, at its time. */
async function proveHeldLater(
  tx: ProofTx,
  agentId: bigint,
  orders: readonly Order[],
  { rowsOf }: Facts,
): Promise<void> {
  const later = orders.flatMap(({ orderId, createdAt }) =>
    (rowsOf.get(orderId) ?? []).filter(
      (row) => row.event === 'withdraw_held' && row.at > createdAt,
    ),
  )
  if (later.length === 0) return
  const { rows } = await tx.query<{ seq: bigint; at: Date }>(
    'select seq, at from journal where agent_id = $1 and seq = any($2::bigint[])',
    [agentId, later.map(({ seq }) => seq - 1n)],
  )
  const times = new Map(rows.map(({ seq, at }) => [seq, at]))
  const archived = await archivedSeq(tx, agentId)
  for (const { seq, event, at } of later) {
    // The row before may have been archived; both were proved before that.
    if (seq - 1n < archived && !times.has(seq - 1n)) continue
    const where = `journal row ${seq} (${event}), which is later than its order,`
    ensureSame(where, 'at', at, times.get(seq - 1n))
  }
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
  const withdrawals = orders.filter(({ kind }) => kind === 'withdraw').map(({ orderId }) => orderId)
  const { rows: payouts } = await tx.query<PayoutFact & { order_id: string }>(
    `select order_id, attempt, provider, reference, state, handed_at, ask_at from payouts
     where agent_id = $1 and order_id = any($2) order by attempt`,
    [agentId, withdrawals],
  )
  const items = await readItems(tx, agentId, withdrawals)
  return {
    rowsOf: grouped(rows, ({ orderId }) => orderId ?? ''),
    callbacks: new Map(callbacks.map((callback) => [callback.seq, callback])),
    payments: await readCredited(tx, agentId, rows),
    payoutsOf: grouped(payouts, ({ order_id }) => order_id),
    itemsOf: grouped(items, ({ orderId }) => orderId),
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
  const isOfOutcome = ({ event }: JournalRow) => !(sideEvents as readonly string[]).includes(event)
  const rows = every.filter(isOfOutcome)
  for (const row of every) if (row.event === 'cost_charged') proveCost(row)
  const reserve = proveReserve(name, order, every)
  const payouts = facts.payoutsOf.get(order.orderId) ?? []
  ensureSame(name, 'currency', order.currency, agent.currency)
  proveTerms(name, order)
  const feeBy = feeRuleOf(order, name)
  ensureSame(name, 'fee', order.feeMinor, feeBy(order.amountMinor))
  proveRows(name, order, rows, feeBy, facts.payments, reserve.movedBy)
  proveState(name, order, rows, payouts.length + reserve.releases)
  const items = facts.itemsOf.get(order.orderId) ?? []
  proveHandOvers(name, order, rows, payouts, waitsForPerson(items))
  proveItems(order, rows, payouts, items)
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

/**
 * Proves that what is held back of a deposit is what its rule says: it is released once and not too early, and
 * goes first if the deposit is taken back. Returns what each outcome moves into the reserve, by seq, and how
 * often something was released.
 */
function proveReserve(
  name: string,
  order: Order,
  rows: readonly JournalRow[],
): { movedBy: Map<bigint, bigint>; releases: number } {
  const movedBy = new Map<bigint, bigint>()
  const rule = order.reserveRule === null ? undefined : parseReserveRule(order.reserveRule)
  if (typeof rule === 'string')
    throw new ProofFailure(`${name} has a reserve that is none: ${rule}`)
  // A deposit gets its reference together with the provider's instructions, before it is paid.
  let version = order.kind === 'deposit' && order.providerRef !== null ? 2 : 1
  let releases = 0
  let held: { minor: bigint; until: Date } | undefined
  for (const row of rows) {
    if (row.event === 'reserve_released') {
      const where = `journal row ${row.seq} (${row.event})`
      const { minor, until } = held ?? { minor: 0n, until: row.at }
      ensure(held !== undefined, () => `${where} releases what was not held back`)
      ensure(
        until <= row.at,
        () => `${where} releases what is held back until ${until.toISOString()}`,
      )
      ensure(
        accountNames.every((account) => {
          const leg = account === 'available' ? minor : account === 'reserve' ? -minor : 0n
          return row.change[account] === leg
        }),
        () => `${where} moves other amounts than the ${minor} that ${name} had held back`,
      )
      ensureSame(where, 'once_key', row.onceKey, `reserve:${order.orderId}:${version}`)
      held = undefined
      releases++
      version++
    } else if (row.event === 'deposit_paid') {
      const minor = rule
        ? reserveOf({ paidMinor: paidInBy(row.change), feeMinor: row.change.fees }, rule)
        : 0n
      if (rule && minor > 0n) held = { minor, until: releaseTime(row.at, rule) }
      movedBy.set(row.seq, minor)
    } else if (row.event === 'deposit_taken_back') {
      movedBy.set(row.seq, -(held?.minor ?? 0n))
      held = undefined
    }
    if (statusOf[row.event] !== undefined) version++
  }
  ensureSame(name, 'release_at', order.releaseAt, held?.until)
  return { movedBy, releases }
}

/** Proves that the order has the terms that its kind needs, and only those. */
function proveTerms(name: string, { kind, lateMoney, revertFee, reserveRule }: Order): void {
  const [mine, other] = kind === 'deposit' ? [lateMoney, revertFee] : [revertFee, lateMoney]
  const known = kind === 'deposit' ? ['review', 'credit'] : ['return', 'keep']
  ensure(
    known.includes(mine ?? '') && other === null && (kind === 'deposit' || reserveRule === null),
    () => `${name} is a ${kind} with other terms than a ${kind} has`,
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
  reserveMovedBy: ReadonlyMap<bigint, bigint>,
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
    } else if (row.event !== 'withdraw_held' || row.onceKey !== null) {
      // Refunds from before their rows named the deposit have no key.
      const { onceKey = null } = row.event === 'withdraw_held' ? refundKey(order) : {}
      ensureSame(where, 'once_key', row.onceKey, onceKey)
    }
    if (row.event === 'withdraw_held') {
      ensure(
        row.at >= order.createdAt,
        () => `${where} is of ${row.at.toISOString()}, before the order was created`,
      )
    }
    proveLegs(name, order, row, paid, reserveMovedBy.get(row.seq) ?? 0n)
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
  otherChanges: number,
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
  ensureSame(name, 'version', order.version, 1 + outcomes.length + otherChanges + instructed)
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
  reserve: bigint,
): void {
  // A payment that waited comes from suspense.
  const source = change.suspense === 0n ? 'clearing' : 'suspense'
  const total = order.amountMinor + order.feeMinor
  const returnedFee = order.revertFee === 'return' ? order.feeMinor : 0n
  const legsOf: Record<OrderEvent, Partial<Accounts>> = {
    deposit_paid: {
      available: paid.amount - paid.fee - reserve,
      reserve,
      fees: paid.fee,
      [source]: -paid.amount,
    },
    deposit_taken_back: {
      available: paid.fee - paid.amount - reserve,
      reserve,
      fees: -paid.fee,
      clearing: paid.amount,
    },
    deposit_failed: {},
    deposit_expired: {},
    deposit_void: {},
    withdraw_held: { available: -total, held: total },
    withdraw_paid: { held: -total, clearing: order.amountMinor, fees: order.feeMinor },
    withdraw_paid_after_failed: {
      available: -total,
      clearing: order.amountMinor,
      fees: order.feeMinor,
    },
    withdraw_failed: { available: total, held: -total },
    withdraw_cancelled: { available: total, held: -total },
    withdraw_reverted: {
      available: order.amountMinor + returnedFee,
      clearing: -order.amountMinor,
      fees: -returnedFee,
    },
  }
  const legs = legsOf[event as OrderEvent]
  const matches = accountNames.every((account) => (legs[account] ?? 0n) === change[account])
  ensure(matches, () => {
    const words = (moved: Partial<Accounts>) =>
      accountNames.map((account) => `${account} ${moved[account] ?? 0n}`).join(', ')
    return `journal row ${seq} (${event}) moves ${words(change)}, but ${name} says ${words(legs)}`
  })
}
