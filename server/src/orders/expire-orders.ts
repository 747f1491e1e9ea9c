import type { Desk } from '../teller/desk.ts'

/** How many orders one round reads. */
export const expiryPage = 1_000

/**
 * Expires deposits whose time is up. Several processes may find the same ones; the teller expires each once.
 * Returns how many were due.
 */
export async function expireOrders(desk: Pick<Desk, 'pool' | 'teller' | 'now'>): Promise<number> {
  const at = desk.now()
  const { rows } = await desk.pool.query<{ agent_id: bigint; order_id: string }>({
    text: `select agent_id, order_id from orders
           where status = 'WAITING' and kind = 'deposit' and expires_at <= $1
           order by expires_at limit $2`,
    values: [at, expiryPage],
  })
  const outcomes = await Promise.allSettled(
    rows.map((row) =>
      desk.teller.do({
        type: 'expire',
        agentId: row.agent_id,
        orderId: row.order_id,
        at,
      }),
    ),
  )
  const failed = outcomes.find((outcome) => outcome.status === 'rejected')
  if (failed) throw failed.reason
  return rows.length
}
