import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { orderIdFromUuid } from '../lib/ids.ts'
import type { Currency } from '../lib/money.ts'
import type { PaymentClaim } from './book.ts'

export interface ClaimRow {
  payment_id: string
  agent_id: bigint
  order_id: string | null
  amount: bigint
  currency: Currency
  claimed_at: Date
}

export const claimsById = 'select * from payment_claims where payment_id = any($1::text[])'

export const insertClaims = `insert into payment_claims (payment_id, agent_id, order_id, amount,
    currency, claimed_at)
  select * from unnest($1::text[], $2::bigint[], $3::uuid[], $4::bigint[], $5::text[],
    $6::timestamptz[])
  on conflict do nothing
  returning payment_id`

export const claimValues = (claim: PaymentClaim) => [
  claim.paymentId,
  claim.agentId,
  claim.orderId,
  claim.amountMinor,
  claim.currency,
  claim.claimedAt,
]

export function claimFromRow(row: ClaimRow): PaymentClaim {
  return {
    paymentId: row.payment_id,
    agentId: row.agent_id,
    orderId: row.order_id && orderIdFromUuid(row.order_id),
    amountMinor: row.amount,
    currency: row.currency,
    claimedAt: row.claimed_at,
  }
}

/** Whose a payment is, and what it was first reported for. */
export async function findClaim(
  pool: Pool | Tx,
  paymentId: string,
): Promise<PaymentClaim | undefined> {
  const { rows } = await pool.query<ClaimRow>(claimsById, [[paymentId]])
  return rows[0] && claimFromRow(rows[0])
}

/** Claims a payment that is nobody's. False where it was claimed before. */
export async function claimForNobody(
  tx: Tx,
  claim: Omit<PaymentClaim, 'agentId' | 'orderId'>,
): Promise<boolean> {
  const values = claimValues({ ...claim, agentId: 0n, orderId: null })
  const { rowCount } = await tx.query(
    insertClaims,
    values.map((value) => [value instanceof Date ? value.toISOString() : value]),
  )
  return rowCount === 1
}

/** A payment that was nobody's becomes an agent's. False where it is somebody's already. */
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
