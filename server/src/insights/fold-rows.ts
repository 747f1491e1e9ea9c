import type { JournalEvent, OrderKind } from '../ledger/book.ts'
import type { LocalTime } from '../lib/local-time.ts'
import type { Currency } from '../lib/money.ts'
import {
  bandOf,
  type EndStatus,
  type Facet,
  type Moments,
  type MoneyCell,
  momentsBy,
  type OrderCell,
  spanOf,
} from './insight-cells.ts'

/** What an event makes of its order. Other events change no order. */
export const statusAfter: Partial<Record<JournalEvent, EndStatus>> = {
  withdraw_paid: 'PAID',
  withdraw_paid_after_failed: 'PAID',
  withdraw_failed: 'FAILED',
  withdraw_cancelled: 'CANCEL',
  withdraw_reverted: 'REVERT',
  deposit_paid: 'PAID',
  deposit_failed: 'FAILED',
  deposit_expired: 'EXPIRED',
  deposit_void: 'VOID',
  deposit_taken_back: 'VOID',
}

/** The part of a journal row that says what became of an order. */
export interface Outcome {
  seq: bigint
  event: JournalEvent
  at: Date
  /** What the row credited: to the agent, its reserve and the operator's fees. */
  creditedMinor: bigint
  clearingAt: string | null
}

/** What of an order never changes once it has an outcome. */
export interface OrderFacts {
  orderId: string
  kind: OrderKind
  currency: Currency
  createdAt: Date
  amountMinor: bigint
  bankCode: string
  /** A deposit's provider; of a withdrawal, the one that had it last. */
  provider: string | null
}

export interface FoldedRow extends Outcome {
  change: { available: bigint; held: bigint; reserve: bigint; fees: bigint; costs: bigint }
  order: OrderFacts | null
  /** The outcome that this one replaces. */
  prior: Outcome | null
  /** Whether the prior outcome's callback is among those that were not accepted yet. */
  isPriorOpen: boolean
  /** The callback about this outcome: when it was written, and accepted. */
  callback: Called | null
}

export interface Called {
  createdAt: Date
  deliveredAt: Date | null
}

/** What some rows of an agent's journal change. */
export interface Folded {
  orders: OrderCell[]
  money: MoneyCell[]
  /** Callbacks that are looked at again, and those that need not be any more. */
  opened: bigint[]
  closed: bigint[]
}

/** Folds rows of one agent's journal, in order of seq. */
export function foldRows(rows: readonly FoldedRow[], localTime: LocalTime): Folded {
  const moments = momentsBy(localTime)
  const orders = new Map<string, OrderCell>()
  const money = new Map<string, MoneyCell>()
  const opened = new Set<bigint>()
  const closed = new Set<bigint>()
  const count = (cell: OrderCell) => addOrder(orders, cell)

  for (const row of rows) {
    const { order, prior } = row
    // A sweep moves fees and costs that were charged before.
    const isSweep = row.event === 'swept'
    const { hour, day } = moments(row.at)
    for (const unit of [{ unit: 'hour', at: hour } as const, { unit: 'day', at: day } as const]) {
      addMoney(money, {
        ...unit,
        provider: row.clearingAt ?? '',
        ...row.change,
        fees: isSweep ? 0n : row.change.fees,
        costs: isSweep ? 0n : row.change.costs,
      })
    }
    if (!order || statusAfter[row.event] === undefined) continue
    if (prior) {
      const wasOpen = opened.delete(prior.seq) || row.isPriorOpen
      if (row.isPriorOpen) closed.add(prior.seq)
      for (const cell of cellsOf(order, prior, moments)) {
        count(negative({ ...cell, called: cell.facet === 'all' && !wasOpen ? 1n : 0n }))
      }
    }
    for (const cell of cellsOf(order, row, moments)) count(cell)
    if (row.callback?.deliveredAt) {
      for (const cell of calledCells(order, row, row.callback, moments)) count(cell)
    } else {
      opened.add(row.seq)
    }
  }
  return {
    orders: [...orders.values()],
    money: [...money.values()],
    opened: [...opened],
    closed: [...closed],
  }
}

/** Where an order in a status is counted. Depends on nothing that changes, so that it can be taken out again. */
function cellsOf(order: OrderFacts, outcome: Outcome, moments: Moments): OrderCell[] {
  const status = statusAfter[outcome.event]
  if (status === undefined) return []
  const { kind, amountMinor } = order
  const isPaid = status === 'PAID'
  const paidMinor = kind === 'withdraw' ? amountMinor : outcome.creditedMinor
  const provider = (kind === 'withdraw' ? outcome.clearingAt : null) ?? order.provider ?? ''
  const { hour, day, hourOfDay } = moments(order.createdAt)
  const under = (facet: Facet, value: string) => ({
    ...{ facet, value, kind, status, amountMinor },
    ...{ orders: 1n, paidMinor: isPaid ? paidMinor : 0n, called: 0n },
  })
  const cells = [
    under('all', ''),
    under('provider', provider),
    under('bank', order.bankCode),
    under('amount', bandOf(amountMinor, order.currency)),
    ...(isPaid ? [under('paid_within', spanOf(order.createdAt, outcome.at))] : []),
  ]
  return [
    ...cells.map((cell) => ({ unit: 'hour' as const, at: hour, ...cell })),
    ...[...cells, under('hour', hourOfDay)].map((cell) => ({
      ...{ unit: 'day' as const, at: day },
      ...cell,
    })),
  ]
}

/** Where an order is counted whose callback was accepted. */
export function calledCells(
  { kind, createdAt }: Pick<OrderFacts, 'kind' | 'createdAt'>,
  { event }: Pick<Outcome, 'event'>,
  callback: Called,
  moments: Moments,
): OrderCell[] {
  const status = statusAfter[event]
  if (status === undefined || callback.deliveredAt === null) return []
  const { hour, day } = moments(createdAt)
  const none = { orders: 0n, amountMinor: 0n, paidMinor: 0n, called: 0n }
  const within = spanOf(callback.createdAt, callback.deliveredAt)
  return [
    { unit: 'hour' as const, at: hour },
    { unit: 'day' as const, at: day },
  ].flatMap((unit) => [
    { ...unit, facet: 'all', value: '', kind, status, ...none, called: 1n },
    { ...unit, facet: 'called_within', value: within, kind, status, ...none, orders: 1n },
  ])
}

function negative(cell: OrderCell): OrderCell {
  const { orders, amountMinor, paidMinor, called } = cell
  return {
    ...cell,
    ...{ orders: -orders, amountMinor: -amountMinor, paidMinor: -paidMinor, called: -called },
  }
}

export function addOrder(cells: Map<string, OrderCell>, cell: OrderCell): void {
  const { unit, at, facet, kind, status, value } = cell
  const key = [unit, at.getTime(), facet, kind, status, value].join(' ')
  const known = cells.get(key)
  if (!known) {
    cells.set(key, { ...cell })
    return
  }
  known.orders += cell.orders
  known.amountMinor += cell.amountMinor
  known.paidMinor += cell.paidMinor
  known.called += cell.called
}

function addMoney(cells: Map<string, MoneyCell>, cell: MoneyCell): void {
  const key = [cell.unit, cell.at.getTime(), cell.provider].join(' ')
  const known = cells.get(key)
  if (!known) {
    cells.set(key, { ...cell })
    return
  }
  known.available += cell.available
  known.held += cell.held
  known.reserve += cell.reserve
  known.fees += cell.fees
  known.costs += cell.costs
}
