import type { Pool } from '../../db/pool.ts'
import { Turns } from '../../lib/turns.ts'

/** Reads one of an agent's lists. */
export type ReadList = <T>(agentId: bigint, read: (pool: Pool) => Promise<T>) => Promise<T>

/** How many lists of one agent are read at once, and how many may wait. */
const limits = { atOnce: 2, waiting: 20 }

/**
 * Lists are read on separate connections, a few at once per agent. An agent that requests many waits only for
 * its own, and delays neither other agents' lists nor any other requests.
 */
export function makeReadList(pool: Pool): ReadList {
  const turns = new Turns(limits)
  return (agentId, read) => turns.take(String(agentId), () => read(pool))
}
