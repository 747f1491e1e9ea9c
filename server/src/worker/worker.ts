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
  /** Called when the proof finds a lie that it had not found a moment before. */
  onLie: (finding: string) => void
}

/** Everything that happens by itself. Any number of processes may do it at once. */
export function startWorker({ desk, proofPool, onError, onLie }: WorkerOptions): Repeated {
  let known: string[] = []
  const loops = [
    repeat(500, async () => ((await expireOrders(desk)) >= expiryPage ? 'more' : 'done'), onError),
    // A bounded number of rows each time, so that the proof costs the same on a large ledger.
    repeat(
      1_000,
      async () => {
        const { findings } = await proveOnward(proofPool, desk.now())
        for (const finding of findings) if (!known.includes(finding)) onLie(finding)
        known = findings
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
