import type { Pool } from '../db/pool.ts'
import { permissionsOf, roles } from './operator.ts'

/** Whether this is the address of somebody who may decide on payments. */
export async function mayDecidePayments(pool: Pool, email: string): Promise<boolean> {
  const deciding = roles.filter((role) => permissionsOf[role].includes('decide_payments'))
  const { rows } = await pool.query(
    'select 1 from users where email = $1 and disabled_at is null and role = any($2::text[])',
    [email, deciding],
  )
  return rows.length > 0
}
