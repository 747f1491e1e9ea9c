import { parseReserveRule, type ReserveRule, releaseTime, reserveOf } from '../lib/reserve-rule.ts'
import { noChange } from './accounts.ts'
import type { Order } from './book.ts'
import type { BookView, Command, Decision } from './commands.ts'
import { beyondBound, nothingElse, writeRow } from './entry.ts'

/** What is held back of a paid deposit, by the rule that it was created under, and until when. */
export function reserveMadeBy(order: Order, paidAt: Date): { minor: bigint; until: Date | null } {
  const rule = ruleOf(order)
  const minor = rule ? shareBy(rule, order) : 0n
  return { minor, until: rule && minor > 0n ? releaseTime(paidAt, rule) : null }
}

/** What of a deposit is in reserve now. */
export function reservedOf(order: Order): bigint {
  const rule = ruleOf(order)
  return rule && order.releaseAt !== null ? shareBy(rule, order) : 0n
}

function shareBy(rule: ReserveRule, { paidAmountMinor, paidFeeMinor }: Order): bigint {
  return reserveOf({ paidMinor: paidAmountMinor ?? 0n, feeMinor: paidFeeMinor ?? 0n }, rule)
}

function ruleOf({ orderId, reserveRule }: Order): ReserveRule | undefined {
  if (reserveRule === null) return undefined
  const rule = parseReserveRule(reserveRule)
  if (typeof rule === 'string') throw new Error(`order ${orderId}: ${rule}`)
  return rule
}

/** Makes available what was held back of a deposit, once its time has come. */
export function releaseReserve(
  book: BookView,
  order: Order,
  { at }: Command & { type: 'release_reserve' },
): Decision {
  if (order.releaseAt === null || order.releaseAt > at) return { type: 'unchanged', order }
  const minor = reservedOf(order)
  const entry = writeRow(
    book.wallet,
    { ...noChange, available: minor, reserve: -minor },
    {
      orderId: order.orderId,
      event: 'reserve_released',
      at,
      clearingAt: null,
      onceKey: releaseKey(order),
      reason: null,
    },
  )
  if (!entry) return beyondBound
  const released: Order = { ...order, version: order.version + 1, releaseAt: null }
  return { type: 'changed', ...nothingElse, ...entry, order: released }
}

/** A deposit that was taken back can be paid, and released, again: its version tells the two apart. */
export function releaseKey({ orderId, version }: Pick<Order, 'orderId' | 'version'>): string {
  return `reserve:${orderId}:${version}`
}
