import type { Pool } from '../../db/pool.ts'
import { Turns } from '../../lib/turns.ts'

/** Reads one of an agent's lists. */
export type ReadList = <T>(agentId: bigint, read: (pool: Pool) => Promise<T>) => Promise<T>

/** Lists of one agent that are read at once, and that wait for their turn. */
const limits = { atOnce: 2, waiting: 20 }

/**
 * Lists are read on connections of their own, a few at once for each agent: one who asks for many waits
 * for its own, and neither another's lists nor anything but lists waits for it.
 */
export function makeReadList(pool: Pool): ReadList {
  const turns = new Turns(limits)
  return (agentId, read) => turns.take(String(agentId), () => read(pool))
}
