import { openCallbackPool } from '../callbacks/callback-pool.ts'
import { openPool, type Pool } from '../db/pool.ts'
import type { Ground } from './ground.ts'

export interface Pools {
  door: Pool
  lists: Pool
  callbacks: Pool
  proof: Pool
}

/** Connections for each kind of work, so that none waits for another's. The teller and the bank have their own. */
export function openPools({ backend, closing, onError }: Ground): Pools {
  const { databaseUrl: url } = backend
  const pools = {
    // Nobody's reads are in the way of finding out who asks.
    door: openPool({ url, max: 3, name: 'sluice door', onError }),
    lists: openPool({
      url,
      max: 4,
      name: 'sluice lists',
      onError,
      // Lists go along keys: a plan that reads a whole table first is not bounded.
      settings: { statement_timeout: '2s', enable_seqscan: 'off', enable_bitmapscan: 'off' },
    }),
    callbacks: openCallbackPool(url, onError),
    proof: openPool({ url, max: 1, name: 'sluice proof', onError }),
  }
  for (const pool of Object.values(pools)) closing.add(() => pool.end())
  return pools
}
