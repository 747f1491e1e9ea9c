import { chainHash, type HashedField } from '../lib/chain-hash.ts'
import type { JournalRow } from './book.ts'

type Value = bigint | string | Date | null

/** Every column but the hash itself, in the order of their names. */
const hashed: readonly (readonly [name: string, value: (row: JournalRow) => Value])[] = [
  ['adjustments', ({ balances }) => balances.adjustments],
  ['adjustments_change', ({ change }) => change.adjustments],
  ['agent_id', ({ agentId }) => agentId],
  ['at', ({ at }) => at],
  ['available', ({ balances }) => balances.available],
  ['available_change', ({ change }) => change.available],
  ['clearing', ({ balances }) => balances.clearing],
  ['clearing_at', ({ clearingAt }) => clearingAt],
  ['clearing_change', ({ change }) => change.clearing],
  ['clearing_there', ({ clearingThere }) => clearingThere],
  ['costs', ({ balances }) => balances.costs],
  ['costs_change', ({ change }) => change.costs],
  ['currency', ({ currency }) => currency],
  ['differences', ({ balances }) => balances.differences],
  ['differences_change', ({ change }) => change.differences],
  ['event', ({ event }) => event],
  ['fees', ({ balances }) => balances.fees],
  ['fees_change', ({ change }) => change.fees],
  ['held', ({ balances }) => balances.held],
  ['held_change', ({ change }) => change.held],
  ['once_key', ({ onceKey }) => onceKey],
  ['order_id', ({ orderId }) => orderId],
  ['reason', ({ reason }) => reason],
  ['reserve', ({ balances }) => balances.reserve],
  ['reserve_change', ({ change }) => change.reserve],
  ['seq', ({ seq }) => seq],
  ['suspense', ({ balances }) => balances.suspense],
  ['suspense_change', ({ change }) => change.suspense],
  ['transfers', ({ balances }) => balances.transfers],
  ['transfers_change', ({ change }) => change.transfers],
  ['unexplained', ({ balances }) => balances.unexplained],
  ['unexplained_change', ({ change }) => change.unexplained],
]

export const hashedColumns: readonly string[] = hashed.map(([name]) => name)

/** The hash of a journal row: over the hash of the row before it in its book, and all that it says. */
export function journalHash(before: string, row: JournalRow): string {
  return chainHash(
    before,
    'journal',
    hashed.map(([name, value]): HashedField => [name, textOf(value(row))]),
  )
}

/** An amount of zero is left out like null: no row differs in that alone. */
function textOf(value: Value): string | null {
  if (value === null || value === 0n) return null
  return value instanceof Date ? value.toISOString() : String(value)
}
