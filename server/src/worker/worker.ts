import type { Pool } from '../db/pool.ts'
import { proveOnward } from '../ledger/verify.ts'
import type { Desk } from '../orders/desk.ts'
import { expireOrders, expiryPage } from '../orders/expire-orders.ts'
import { type Repeated, repeat } from './repeat.ts'

export interface WorkerOptions {
  desk: Desk
  /** For the proof, so that it never takes a connection from a request. */
  proofPool: Pool
  onError: (error: unknown) => void
}

/** Everything that happens by itself. Any number of processes may do it at once. */
export function startWorker({ desk, proofPool, onError }: WorkerOptions): Repeated {
  const loops = [
    repeat(500, async () => ((await expireOrders(desk)) >= expiryPage ? 'more' : 'done'), onError),
    // A bounded number of rows each time, so that the proof costs the same on a large ledger.
    repeat(
      1_000,
      async () => {
        await proveOnward(proofPool, desk.now())
        return 'done'
      },
      onError,
    ),
  ]
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()))
    },
  }
}
