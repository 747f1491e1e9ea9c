import type { OrderKind } from '../ledger/book.ts'
import type { Lease } from './lease.ts'

/** A callback that this process is to send: no other does while its lease holds. */
export interface ClaimedCallback {
  agentId: bigint
  seq: bigint
  kind: OrderKind
  body: string
  /** Attempts before this one. */
  attempts: number
  createdAtMs: number
  /** The turn of the lane in which it was claimed. */
  turn: bigint
  lease: Lease
}
