import { databaseTime, timeToPass } from '../db/database-time.ts'
import { inTransaction } from '../db/in-transaction.ts'
import { isContention, type Pool } from '../db/pool.ts'
import type { Clock } from '../lib/clock.ts'
import { lockLane } from './lane-row.ts'

/** Rows that one step updates, and steps per agent in one round. */
const stepRows = 1_000
const roundSteps = 10

/**
 * Queues the callbacks that had no address, for agents that have one now. Agents take turns in small steps,
 * so an agent with millions of callbacks does not hold up the others; the next round continues. The lane
 * records the kinds for which nothing is left, so no agent is scanned again needlessly and a crash loses
 * nothing. A step that fails is reported and does not affect other agents.
 */
export async function sendToNewAddresses(
  pool: Pool,
  now: Clock,
  onError: (error: unknown) => void,
): Promise<void> {
  let open = await addressedAgents(pool)
  for (let step = 0; step < roundSteps && open.length > 0; step++) {
    const left: AddressedAgent[] = []
    for (const agent of open) {
      const isDone = await setSomeGoing(pool, agent, now).catch((error) => {
        // Another process holds the lane's lock; the next round tries again.
        if (!isContention(error)) onError(error)
        return true
      })
      if (!isDone) left.push(agent)
    }
    open = left
  }
}

interface AddressedAgent {
  agent_id: bigint
  /** The order kinds that have an address now. */
  kinds: string[]
}

/** Agents with an address for a kind that their lane does not yet list as cleared. */
async function addressedAgents(pool: Pool): Promise<AddressedAgent[]> {
  const { rows } = await pool.query<AddressedAgent>(
    `select agent_id, kinds from (
       select a.agent_id, l.addressed, array_remove(array[
         case when a.deposit_callback_url is not null then 'deposit' end,
         case when a.withdraw_callback_url is not null then 'withdraw' end], null) as kinds
       from agents a join callback_lanes l using (agent_id)
     ) known where not kinds <@ addressed`,
  )
  return rows
}

/** Returns true when nothing is left. */
async function setSomeGoing(
  pool: Pool,
  { agent_id, kinds }: AddressedAgent,
  now: Clock,
): Promise<boolean> {
  return inTransaction(pool, async (tx) => {
    const at = timeToPass(now)
    await tx.query('set local lock_timeout = 200')
    // A process that records a missing address takes the same lock and clears `addressed`.
    await tx.query(lockLane, [agent_id, at])
    for (const kind of kinds) {
      const { rowCount } = await tx.query(
        `with at as (select ${databaseTime('$3')} as now)
         update callbacks set state = 'waiting', due_at = (select now from at)
         where agent_id = $1 and seq = any(array(
           select seq from callbacks
           where agent_id = $1 and kind = $2 and state = 'no_address' order by seq limit $4))`,
        [agent_id, kind, at, stepRows],
      )
      if (rowCount === stepRows) return false
    }
    await tx.query('update callback_lanes set addressed = $2 where agent_id = $1', [
      agent_id,
      kinds,
    ])
    return true
  })
}
