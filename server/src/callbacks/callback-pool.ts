import type { DatabaseGate } from '../db/database-gate.ts'
import { openPool, type Pool } from '../db/pool.ts'

/** Opens the connections on which the sender claims callbacks and records results. */
export function openCallbackPool(
  url: string,
  onError: (error: unknown) => void,
  gate?: DatabaseGate,
): Pool {
  return openPool({
    url,
    max: 4,
    name: 'sluice callbacks',
    pipeline: true,
    onError,
    gate,
    settings: {
      // Claims and results do not wait for the disk. If PostgreSQL crashes and loses some, those callbacks
      // are only sent once more. Claiming a later state of an order does wait.
      synchronous_commit: 'off',
      // Every statement finds its rows by an index. A plan made while the table was small must not scan the
      // whole table once it has grown, and a bitmap scan never marks dead index entries.
      plan_cache_mode: 'force_generic_plan',
      enable_seqscan: 'off',
      enable_bitmapscan: 'off',
      enable_hashjoin: 'off',
      enable_mergejoin: 'off',
    },
  })
}
