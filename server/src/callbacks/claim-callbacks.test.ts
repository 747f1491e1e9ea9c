import { expect, it } from 'vitest'
import type { Pool } from '../db/pool.ts'
import { claimThoroughly } from './claim-callbacks.ts'

it('a process that stands still after it began to claim counts its lease from before', async () => {
  let nowMs = Date.UTC(2026, 0, 1)
  const lane = { turn: 1n, healthy: true, room: 1, agent_stamp: '', packed: '1 deposit 0 0 {}' }
  const client = {
    query: async (asked: string | { name: string }) => {
      // The database has taken its time by now: that of a transaction is when it begins.
      if (asked === 'begin') nowMs += 50_000
      return { rows: typeof asked === 'object' && asked.name === 'claim' ? [lane] : [] }
    },
    release: () => {},
  }
  const pool = { connect: async () => client } as unknown as Pool
  const { callbacks } = await claimThoroughly(
    pool,
    { agentId: 1n, turn: null, most: 1, underWay: 0, firstWidth: 1 },
    { sender: '', now: () => new Date(nowMs), widest: 1 },
  )
  expect(callbacks[0]?.lease.leftMs()).toBeLessThanOrEqual(10_000)
})
