import { orderIdFromUuid, txnId } from '../lib/ids.ts'
import { type Accounts, accountNames } from './accounts.ts'
import type { JournalEvent, JournalRow, Order } from './book.ts'
import { demand, type ProofTx, statusOf } from './lie.ts'
import { type JournalDbRow, journalFromRow } from './read-journal.ts'

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

/** An order's state, amounts and version are what its rows come to. */
export function proveOrder(order: Order, rows: JournalRow[], handOvers: number): void {
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
