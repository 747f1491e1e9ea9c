import { openPool, type Pool } from '../db/pool.ts'

/** The connections on which callbacks are claimed and recorded. */
export function openCallbackPool(url: string, onError: (error: unknown) => void): Pool {
  return openPool({
    url,
    max: 4,
    name: 'sluice callbacks',
    pipeline: true,
    onError,
    settings: {
      // What is lost when PostgreSQL itself crashes is sent once more, which a crash may cost: so
      // claims and results do not wait for the disk. The claim of a later state does.
      synchronous_commit: 'off',
      // Every statement names its rows by an index. A plan made while the table was small must not
      // read all of it when it has grown, and a bitmap would never tell the index what is dead.
      plan_cache_mode: 'force_generic_plan',
      enable_seqscan: 'off',
      enable_bitmapscan: 'off',
      enable_hashjoin: 'off',
      enable_mergejoin: 'off',
    },
  })
}
