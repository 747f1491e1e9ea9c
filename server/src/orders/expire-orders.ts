import type { Desk } from '../teller/desk.ts'
import { HeldUpAgents } from '../teller/held-up-agents.ts'

/** How many orders one round reads. */
export const expiryPage = 1_000

/**
 * Expires deposits whose time is up. Several processes may find the same ones; the teller expires each once.
 * Returns how many were due.
 */
export async function expireOrders(
  desk: Pick<Desk, 'pool' | 'teller' | 'now'>,
  heldUp = new HeldUpAgents(),
): Promise<number> {
  const at = desk.now()
  const { rows } = await desk.pool.query<{ agent_id: bigint; order_id: string }>({
    text: `select agent_id, order_id from orders
           where status = 'WAITING' and kind = 'deposit' and expires_at <= $1
             and agent_id <> all($3::bigint[])
           order by expires_at limit $2`,
    values: [at, expiryPage, heldUp.ids],
  })
  await heldUp.run(
    desk.teller,
    rows.map(({ agent_id: agentId, order_id: orderId }) => ({
      type: 'expire',
      agentId,
      orderId,
      at,
    })),
  )
  return rows.length
}
