import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import type { PaymentClaim } from './book.ts'
import { claimColumns } from './book-columns.ts'

export const claimsById = `select ${claimColumns.select('c')} from payment_claims c
  where c.payment_id = any($1::text[])`

export const insertClaims = `insert into payment_claims (${claimColumns.names})
  select * from ${claimColumns.unnest}
  on conflict do nothing
  returning payment_id`

/** The claim to a payment: the agent it belongs to, and what the first report said. */
export async function findClaim(
  pool: Pool | Tx,
  paymentId: string,
): Promise<PaymentClaim | undefined> {
  const { rows } = await pool.query<PaymentClaim>(claimsById, [[paymentId]])
  return rows[0]
}

/** Claims a payment that belongs to no agent. Returns false if it was already claimed. */
export async function claimForNobody(
  tx: Tx,
  claim: Omit<PaymentClaim, 'agentId' | 'orderId'>,
): Promise<boolean> {
  const values = claimColumns.values([{ ...claim, agentId: 0n, orderId: null }])
  const { rowCount } = await tx.query(insertClaims, values)
  return rowCount === 1
}

/** Assigns a payment without an agent to one. Returns false if it already belongs to an agent. */
export async function giveClaim(
  tx: Tx,
  paymentId: string,
  to: { agentId: bigint; orderId: string | null },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update payment_claims set agent_id = $2, order_id = $3
     where payment_id = $1 and agent_id = 0`,
    [paymentId, to.agentId, to.orderId],
  )
  return rowCount === 1
}
