import type { PoolClient } from '../db/pool.ts'
import type { JournalEvent } from '../ledger/book.ts'
import type { Currency } from '../lib/money.ts'

/** A connection inside a read-only transaction with one snapshot. */
export type ProofTx = PoolClient & { readonly inSnapshot: unique symbol }

/** Whose book is being proved, and what its money is. */
export interface ProvedAgent {
  agentId: bigint
  currency: Currency
}

/** A stretch of what is ordered by its key: after one, and up to another where that is given. */
export interface Stretch {
  after: string
  upTo: string | null
  limit: number
}

/** How much of a stretch there was, and where to go on; null at the end. */
export interface ProvedPage {
  proved: number
  last: string | null
}

/** The first thing that is not as it must be. */
export class ProofFailure extends Error {}

export function ensure(holds: boolean, lie: () => string): asserts holds {
  if (!holds) throw new ProofFailure(lie())
}

/** What is written somewhere must be what the rest of the books say. */
export function ensureSame(where: string, what: string, found: unknown, expected: unknown): void {
  if (asText(found) !== asText(expected)) {
    throw new ProofFailure(`${where} says ${what} ${asText(found)}, but it is ${asText(expected)}`)
  }
}

/** The same for what is nobody's business: findings are logged, and say where to look instead. */
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

/** What each event must be told as, and none for those that are not an outcome. */
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
  adjustment: undefined,
}
