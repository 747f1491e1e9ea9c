import { openCallbackPool } from '../callbacks/callback-pool.ts'
import { openPool, type Pool } from '../db/pool.ts'
import { prepareReads } from '../db/prepare-reads.ts'
import type { Ground } from './ground.ts'

export interface Pools {
  door: Pool
  lists: Pool
  callbacks: Pool
  proof: Pool
  watch: Pool
}

/**
 * Opens one pool per kind of work, so that none waits for another. The teller and the bank have their own
 * pools.
 */
export function openPools({ backend, closing, onError }: Ground): Pools {
  const { databaseUrl: url, gate } = backend
  const pools = {
    // Authentication has its own pool, so that slow reads cannot delay it.
    door: openPool({ url, max: 3, name: 'sluice door', gate, onError }),
    lists: openPool({
      url,
      max: 4,
      name: 'sluice lists',
      gate,
      onError,
      // Lists are read in key order; a plan that reads a whole table first has no upper bound.
      settings: { statement_timeout: '2s', enable_seqscan: 'off', enable_bitmapscan: 'off' },
    }),
    callbacks: openCallbackPool(url, onError, gate),
    proof: prepareReads(openPool({ url, max: 1, name: 'sluice proof', gate, onError })),
    // What people are told of may take long to find, and must not keep the proof from coming round.
    watch: openPool({ url, max: 2, name: 'sluice watch', gate, onError }),
  }
  for (const pool of Object.values(pools)) closing.add(() => pool.end())
  return pools
}
