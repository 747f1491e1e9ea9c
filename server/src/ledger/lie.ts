import type { PoolClient } from '../db/pool.ts'
import type { JournalEvent } from './book.ts'

/** A connection inside a read-only transaction with one snapshot. */
export type ProofTx = PoolClient & { readonly inSnapshot: unique symbol }

/** The first thing that is not as it must be. */
export class Lie extends Error {}

export function demand(holds: boolean, lie: () => string): asserts holds {
  if (!holds) throw new Lie(lie())
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
