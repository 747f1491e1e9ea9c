import { heardBy } from '../alerts/alert.ts'
import type { Trouble } from '../alerts/keep-watch.ts'
import type { Pool } from '../db/pool.ts'

/** Agents whose callbacks fail one after the other, so that only single ones are tried. */
export async function stuckLanes(pool: Pool): Promise<Trouble[]> {
  const { rows } = await pool.query<{ agent_id: bigint; name: string }>(
    `select l.agent_id, a.name from callback_lanes l join agents a using (agent_id)
     where l.probe_at is not null and not l.paused order by l.agent_id limit 1000`,
  )
  return rows.map(({ agent_id: agentId, name }) => ({
    subject: String(agentId),
    topic: String(agentId),
    words: `Callbacks to ${name} are failing. They are kept, and tried until they are accepted.`,
    to: { roles: heardBy.callbacks_failing, agentId },
  }))
}
