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
