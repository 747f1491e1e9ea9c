import { inTransaction } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import type { ProofTx } from './proof-failure.ts'

/**
 * Runs a piece of a proof on one snapshot of the database. While a snapshot is held, dead rows cannot be
 * cleaned up and frequently changed rows get slow, so each piece is small.
 */
export async function inSnapshot<T>(pool: Pool, prove: (tx: ProofTx) => Promise<T>): Promise<T> {
  return inTransaction(
    pool,
    (tx) => prove(tx as unknown as ProofTx),
    'isolation level repeatable read read only',
  )
}

const fewest = 50
const most = 2_000
const slowMs = 300

/**
 * Adapts the page size so that each page is quick: fewer rows if the database is busy or its cache is
 * cold.
 */
export class Pace {
  private readonly pool: Pool
  private limit = 500

  constructor(pool: Pool) {
    this.pool = pool
  }

  async page<T>(prove: (tx: ProofTx, limit: number) => Promise<T>): Promise<T> {
    const started = performance.now()
    const { limit } = this
    const proved = await inSnapshot(this.pool, (tx) => prove(tx, limit))
    const tookMs = performance.now() - started
    if (tookMs > slowMs) this.limit = Math.max(fewest, Math.floor(limit / 2))
    else if (tookMs < slowMs / 3) this.limit = Math.min(most, limit * 2)
    return proved
  }
}
