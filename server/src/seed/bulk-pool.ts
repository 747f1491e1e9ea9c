import { openPool, type Pool } from '../db/pool.ts'

/** Connections that write many made-up orders at once. */
export function openBulkPool(url: string, onError: (error: Error) => void): Pool {
  return openPool({
    url,
    // One connection per agent, so that none waits for another.
    max: 8,
    name: 'sluice seed',
    pipeline: true,
    onError,
    settings: {
      // Rows are found by key, as in the teller; and made-up data that is lost can be made up again.
      enable_seqscan: 'off',
      enable_hashjoin: 'off',
      enable_mergejoin: 'off',
      synchronous_commit: 'off',
    },
  })
}
