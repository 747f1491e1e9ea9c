import type { Accounts } from '../ledger/accounts.ts'
import type { JournalRow, Order } from '../ledger/book.ts'
import { itemColumns } from '../ledger/book-columns.ts'
import { itemRowsOf } from '../ledger/decide-item.ts'
import { houseBook } from '../ledger/house.ts'
import type { FoundItem } from '../ledger/open-items.ts'
import { txnId } from '../lib/ids.ts'
import { ensure, ensureSame, type ProofTx, statusOf } from './proof-failure.ts'
import type { PayoutFact } from './prove-hand-overs.ts'
import { keyOf, readRowsByKey } from './rows-by-key.ts'

export type ItemFact = Omit<FoundItem, 'assignee'>

/** Reads the items of orders, open and closed. */
export async function readItems(
  tx: ProofTx,
  agentId: bigint,
  orderIds: readonly string[],
): Promise<ItemFact[]> {
  const { rows } = await tx.query<ItemFact>(
    `select ${itemColumns.select('i')}, i.closed_at as "closedAt", i.resolution, i.closed_by as "closedBy",
       i.evidence, i.booked_as as "bookedAs", i.reopened_at as "reopenedAt"
     from open_items i where i.agent_id = $1 and i.order_id = any($2) order by i.item_id`,
    [agentId, orderIds],
  )
  return rows
}

/**
 * Proves an order's items: each is about one of its payouts and its whole amount, and says what that payout's row says.
 * One that is closed because the order was paid has a row that says so.
 */
export function proveItems(
  order: Order,
  rows: readonly JournalRow[],
  payouts: readonly PayoutFact[],
  items: readonly ItemFact[],
): void {
  for (const item of items) {
    const name = `open item ${item.itemId}`
    ensureSame(name, 'kind and reference', item.itemId, `${item.kind}-${item.reference}`)
    ensureSame(name, 'amount', item.amountMinor, order.amountMinor)
    ensureSame(name, 'currency', item.currency, order.currency)
    // A refund that a person marked as paid, without a provider, is known by its own id.
    const isWithout = item.kind === 'refunded_and_taken_back' && item.reference === order.orderId
    const payout = payouts.find(({ reference }) => reference === item.reference)
    ensure(
      isWithout || payout?.provider === item.provider,
      () => `${name} is about no payout of order ${txnId(order.agentId, order.orderId)}`,
    )
    ensure(
      saysSo(item, payout, isPaidBy(order, rows, item) || isBackBy(items, item)),
      () => `${name} says ${item.providerSaid}, but its payout is ${payout?.state ?? 'not there'}`,
    )
    const isPaid = rows.some(
      ({ event, at }) =>
        (event === 'withdraw_paid' || event === 'withdraw_paid_after_failed') &&
        at.getTime() === item.closedAt?.getTime(),
    )
    ensure(
      item.resolution !== 'order_paid' || isPaid,
      () => `${name} was closed because its order was paid, but at that time it was not`,
    )
  }
}

/** Whether the order was paid by an item's payout: if its money comes back, it comes back to the order. */
function isPaidBy(order: Order, rows: readonly JournalRow[], { reference }: ItemFact): boolean {
  const isPaid = rows.some(({ event }) => statusOf[event] === 'PAID')
  return isPaid && order.providerRef === reference
}

/** Whether another item of the same payout says that its money came back. */
function isBackBy(items: readonly ItemFact[], { reference }: ItemFact): boolean {
  return items.some((other) => other.reference === reference && other.providerSaid === 'REVERT')
}

/** Whether an item says the same as the row of its payout; `isKnownBack` if money that came back is told elsewhere. */
function saysSo(
  { kind, providerSaid }: ItemFact,
  payout: PayoutFact | undefined,
  isKnownBack: boolean,
): boolean {
  if (kind === 'refunded_and_taken_back') return providerSaid === 'VOID'
  if (kind === 'failed_after_paid') return providerSaid === 'FAILED' || providerSaid === 'CANCEL'
  if (providerSaid === 'REVERT') return payout?.state === 'returned'
  const isBack = payout?.state === 'returned' && isKnownBack
  return providerSaid === 'PAID' && (payout?.state === 'paid' || isBack)
}

/** Proves that a person closed what is said to be closed by one: the audit log has them. */
export async function proveClosings(tx: ProofTx, items: readonly ItemFact[]): Promise<void> {
  const closed = items.filter(({ resolution }) => resolution === 'looked_into')
  if (closed.length === 0) return
  const { rows } = await tx.query<{ subject_id: string; email: string }>(
    `select distinct subject_id, email from audit_log
     where subject_kind = 'open_item' and subject_id = any($1) and action = 'close_open_item'`,
    [closed.map(({ itemId }) => itemId)],
  )
  for (const { itemId, closedBy } of closed) {
    ensure(
      rows.some(({ subject_id, email }) => subject_id === itemId && email === closedBy),
      () =>
        `open item ${itemId} is said to be closed by ${closedBy}, but the audit log says otherwise`,
    )
  }
}

/**
 * Proves that the money of items is booked as they say: the house bears it, or the agent does, or all that was booked is
 * booked back. Rows of the agent may be archived; those of the house never are.
 */
export async function proveBooked(tx: ProofTx, items: readonly ItemFact[]): Promise<void> {
  const ofMoney = items.filter(({ kind }) => kind === 'paid_after_failed' || kind === 'paid_twice')
  const namesOf = (item: ItemFact) => itemRowsOf({ ...item, houseId: houseBook(item.currency) })
  const named = ofMoney.flatMap((item) => Object.values(namesOf(item)))
  const rows = await readRowsByKey(tx, named)
  for (const item of ofMoney) {
    const { amountMinor, provider, bookedAs } = item
    const name = `open item ${item.itemId}`
    const keys = namesOf(item)
    const rowOf = (which: keyof typeof keys) =>
      rows.get(keyOf(keys[which].agentId, keys[which].onceKey))
    const before = rowOf('lostBefore')
    const house = [before?.clearingAt === provider ? before : rowOf('lost'), rowOf('lostBack')]
    const agent = [rowOf('charged'), rowOf('chargedBack')]
    const sum = (of: keyof Accounts, ...all: typeof house) =>
      all.reduce((total, row) => total + (row?.change[of] ?? 0n), 0n)
    const isArchived = agent.includes(null)
    const isCharged = bookedAs === 'charge_agent'
    const isLost = bookedAs === 'write_off'
    // Under its id people may have booked by hand what is booked by no item.
    if (bookedAs === null) {
      ensureSame(name, 'what is passed on to the agent', sum('transfers', ...house), 0n)
      continue
    }
    const left = isCharged || isLost ? amountMinor : 0n
    ensureSame(name, 'what left its provider', sum('clearing', ...house), left)
    if (isArchived) continue
    const paid = -sum('available', ...agent)
    ensureSame(name, 'what the agent was charged', paid, isCharged ? amountMinor : 0n)
    const lost = -sum('differences', ...house) - sum('adjustments', ...agent)
    ensureSame(name, 'what the house has lost', lost, isLost ? amountMinor : 0n)
  }
}

/**
 * Whether a person has to say how an order ended: one provider says that it paid, a person has found otherwise, and the
 * latest provider has refused it. If the first then says that it got the money back, they still have to.
 */
export function waitsForPerson(items: readonly ItemFact[]): boolean {
  return items.some(
    ({ providerSaid, reopenedAt }) =>
      (providerSaid === 'PAID' || providerSaid === 'REVERT') && reopenedAt !== null,
  )
}
