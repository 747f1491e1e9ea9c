import type { OrderKind } from '../ledger/book.ts'
import type { Lease } from './lease.ts'

/** A callback that this process is to send. No other process sends it until the lease ends. */
export interface ClaimedCallback {
  agentId: bigint
  seq: bigint
  kind: OrderKind
  body: string
  /** Attempts made before this one. */
  attempts: number
  createdAtMs: number
  /** The lane's turn in which it was claimed. */
  turn: bigint
  lease: Lease
}
