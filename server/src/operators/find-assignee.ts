import type { Pool } from '../db/pool.ts'
import { type Permission, permissionsOf, roles } from './operator.ts'

/** Whether this address belongs to a user who may decide on payments. */
export function mayDecidePayments(pool: Pool, email: string): Promise<boolean> {
  return hasPermission(pool, email, 'decide_payments')
}

/** Whether this address belongs to a user who can sign in and has this permission. */
export async function hasPermission(
  pool: Pool,
  email: string,
  permission: Permission,
): Promise<boolean> {
  const permitted = roles.filter((role) => permissionsOf[role].includes(permission))
  const { rows } = await pool.query(
    'select 1 from users where email = $1 and disabled_at is null and role = any($2::text[])',
    [email, permitted],
  )
  return rows.length > 0
}

/** The addresses of all who may decide on payments and look into orders. */
export async function listAssignees(pool: Pool): Promise<string[]> {
  const permitted = roles.filter((role) => permissionsOf[role].includes('decide_payments'))
  const { rows } = await pool.query<{ email: string }>(
    'select email from users where disabled_at is null and role = any($1::text[]) order by email',
    [permitted],
  )
  return rows.map(({ email }) => email)
}
