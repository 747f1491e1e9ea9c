import type { Desk } from '../teller/desk.ts'
import { HeldUpAgents } from '../teller/held-up-agents.ts'

/** How many deposits one round releases, and how many of them may be of one agent. */
export const releasePage = 1_000
const perAgent = 200

/**
 * Makes available what was held back of deposits whose time has come. Several processes may find the same
 * ones; the teller releases each once. Returns how many were due.
 */
export async function releaseReserves(
  desk: Pick<Desk, 'pool' | 'teller' | 'now'>,
  heldUp = new HeldUpAgents(),
): Promise<number> {
  const at = desk.now()
  const { rows } = await desk.pool.query<{ agent_id: bigint; order_id: string }>({
    text: `select due.agent_id, due.order_id from wallets w cross join lateral (
             select o.agent_id, o.order_id from orders o
             where o.agent_id = w.agent_id and o.release_at <= $1 order by o.release_at limit $2
           ) due where w.reserve > 0 and w.agent_id <> all($4::bigint[]) limit $3`,
    values: [at, perAgent, releasePage, heldUp.ids],
  })
  await heldUp.run(
    desk.teller,
    rows.map(({ agent_id: agentId, order_id: orderId }) => ({
      type: 'release_reserve',
      agentId,
      orderId,
      at,
    })),
  )
  return rows.length
}
