import type { PoolClient } from '../db/pool.ts'
import type { JournalEvent } from '../ledger/book.ts'
import type { Currency } from '../lib/money.ts'

/** A connection inside a read-only transaction with one snapshot. */
export type ProofTx = PoolClient & { readonly inSnapshot: unique symbol }

/** The agent whose book is being proved, and the book's currency. */
export interface ProvedAgent {
  agentId: bigint
  currency: Currency
}

/** A range of rows in key order: after one key and, if `upTo` is given, up to another. */
export interface Stretch {
  after: string
  upTo: string | null
  limit: number
}

/** How many rows were proved, and the key to continue after; null at the end. */
export interface ProvedPage {
  proved: number
  last: string | null
}

/** The first contradiction that a proof found. */
export class ProofFailure extends Error {}

export function ensure(holds: boolean, lie: () => string): asserts holds {
  if (!holds) throw new ProofFailure(lie())
}

/** Throws if a value differs from what the rest of the books says. */
export function ensureSame(where: string, what: string, found: unknown, expected: unknown): void {
  if (asText(found) !== asText(expected)) {
    throw new ProofFailure(`${where} says ${what} ${asText(found)}, but it is ${asText(expected)}`)
  }
}

/**
 * The same for private data: findings are logged, so the message says where to look instead of the
 * values.
 */
export function ensureSameUnshown(
  where: string,
  what: string,
  found: unknown,
  expected: unknown,
): void {
  if (asText(found) !== asText(expected))
    throw new ProofFailure(`${where} says another ${what} than it is`)
}

function asText(value: unknown): string {
  return value instanceof Date ? value.toISOString() : String(value ?? null)
}

/** The status in each event's callback; undefined for events that are not outcomes. */
export const statusOf: Record<JournalEvent, string | undefined> = {
  withdraw_held: undefined,
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
  cost_charged: undefined,
  reserve_released: undefined,
  adjustment: undefined,
  payment_received: undefined,
  payment_returned: undefined,
  payment_dismissed: undefined,
  payment_assigned: undefined,
  payment_reclassified: undefined,
  swept: undefined,
  written_off: undefined,
  debit_reported: undefined,
  debit_explained: undefined,
}
