import { heardBy } from '../alerts/alert.ts'
import type { Trouble } from '../alerts/keep-watch.ts'
import type { Pool } from '../db/pool.ts'

const to = { roles: heardBy.proof_red }

/** Books, of agents and of the house, that the background proof has found wrong. */
export async function redBooks(pool: Pool): Promise<Trouble[]> {
  const { rows } = await pool.query<{ agent_id: bigint }>(
    'select agent_id from proofs where finding is not null order by agent_id limit 1000',
  )
  return rows.map(({ agent_id }) => ({
    subject: String(agent_id),
    topic: 'books',
    words: `${agent_id < 0n ? 'A book of the house' : `The book of agent ${agent_id}`} does not prove. Run "sluice verify", and read what it names before anything is paid out.`,
    to,
  }))
}

/** What the proof found that is of no one agent's book. */
export const otherFault = {
  kind: 'proof_red',
  subject: 'the rest',
  words: 'The proof has found a fault. Run "sluice verify"; the log of the service names it, too.',
  to,
} as const
