import { openPool, type Pool } from '../db/pool.ts'

/** Connections as the teller needs them: for its writers, and for agents that are served by themselves. */
export const tellerWriters = { writers: 3, patientWriters: 2 }

/** The teller's pool. Its statements are pipelined, and wait only shortly for others. */
export function openTellerPool(url: string, onError: (error: Error) => void, max?: number): Pool {
  return openPool({
    url,
    max: max ?? tellerWriters.writers + tellerWriters.patientWriters,
    name: 'sluice teller',
    pipeline: true,
    onError,
    settings: {
      // Whoever waits longer lets the next agent try.
      lock_timeout: '250ms',
      // A process that is frozen loses its wallets before those who wait for them lose their patience.
      idle_in_transaction_session_timeout: '5s',
      // Every statement of the teller names its rows by key. A plan made while a table was small
      // must not scan it when it has grown.
      enable_seqscan: 'off',
      enable_hashjoin: 'off',
      enable_mergejoin: 'off',
    },
  })
}
