import type { DatabaseGate } from '../db/database-gate.ts'
import { openPool, type Pool } from '../db/pool.ts'

/**
 * The connections that the teller needs: for batches of many agents, and for agents that it settles one
 * by one.
 */
export const tellerWriters = { writers: 3, patientWriters: 2 }

/** The teller's pool. Its statements are pipelined and wait only briefly for locks. */
export function openTellerPool(
  url: string,
  onError: (error: Error) => void,
  max?: number,
  gate?: DatabaseGate,
): Pool {
  return openPool({
    url,
    max: max ?? tellerWriters.writers + tellerWriters.patientWriters,
    name: 'sluice teller',
    pipeline: true,
    onError,
    gate,
    settings: {
      // After a longer wait the teller tries the next agent.
      lock_timeout: '250ms',
      // A frozen process loses its wallet locks before the processes that wait for them give up.
      idle_in_transaction_session_timeout: '5s',
      // Every statement of the teller finds its rows by key. A plan made while a table was small must not
      // scan it after it has grown.
      enable_seqscan: 'off',
      enable_hashjoin: 'off',
      enable_mergejoin: 'off',
    },
  })
}
