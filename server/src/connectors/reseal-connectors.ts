import type { Pool } from '../db/pool.ts'
import { type Resealed, resealRows } from '../db/reseal-rows.ts'
import type { SecretKeys } from '../lib/secret-box.ts'

/** Seals the secrets of the connectors with the current key. For the owner's login. */
export async function resealConnectors(owner: Pool, secretKeys: SecretKeys): Promise<Resealed> {
  const { rows } = await owner.query<{
    connector: string
    secret: string
    n: number
    owner: string
    sealed: Buffer
  }>(
    `select connector, secret, n, 'connector ' || connector || ' ' || secret as owner, sealed
     from connector_secrets order by connector, secret, n`,
  )
  return resealRows(secretKeys, rows, async (row, sealed) => {
    const { rowCount } = await owner.query(
      `update connector_secrets set sealed = $4
       where connector = $1 and secret = $2 and n = $3 and sealed = $5`,
      [row.connector, row.secret, row.n, sealed, row.sealed],
    )
    return rowCount
  })
}
