import { type BankMovement, paymentIdOf } from '../bank-accounts/bank-movement.ts'
import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { txnId } from '../lib/ids.ts'

/** The order that a movement's money has. */
export async function orderOfMovement(
  db: Pool | Tx,
  movement: Pick<BankMovement, 'account' | 'movementId' | 'agentId' | 'orderId'>,
): Promise<string | null> {
  const { rows } = await db.query<{ agent_id: bigint; order_id: string | null }>(
    `select p.agent_id, p.order_id from payment_claims c
     join payments p on p.agent_id = c.agent_id and p.payment_id = c.payment_id
     where c.payment_id = $1`,
    [paymentIdOf(movement)],
  )
  const [paid] = rows
  if (paid?.order_id) return txnId(paid.agent_id, paid.order_id)
  const { agentId, orderId } = movement
  return agentId !== null && orderId !== null ? txnId(agentId, orderId) : null
}
