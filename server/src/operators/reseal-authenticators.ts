import type { Pool } from '../db/pool.ts'
import { type Resealed, resealRows } from '../db/reseal-rows.ts'
import type { SecretKeys } from '../lib/secret-box.ts'

/** Seals the users' authenticator secrets with the current key. For the owner's login. */
export async function resealAuthenticators(owner: Pool, secretKeys: SecretKeys): Promise<Resealed> {
  const { rows } = await owner.query<{ user_id: bigint; owner: string; sealed: Buffer }>(
    `select user_id, 'user ' || user_id as owner, sealed_totp_secret as sealed from users
     where sealed_totp_secret is not null order by user_id`,
  )
  return resealRows(secretKeys, rows, async (row, sealed) => {
    const { rowCount } = await owner.query(
      'update users set sealed_totp_secret = $2 where user_id = $1 and sealed_totp_secret = $3',
      [row.user_id, sealed, row.sealed],
    )
    return rowCount
  })
}
