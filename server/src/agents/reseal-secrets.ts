import type { Pool } from '../db/pool.ts'
import { type Resealed, resealRows } from '../db/reseal-rows.ts'
import type { SecretKeys } from '../lib/secret-box.ts'

/** Seals the agents' secrets with the current key. For the owner's login. */
export async function resealSecrets(owner: Pool, secretKeys: SecretKeys): Promise<Resealed> {
  const { rows } = await owner.query<{
    agent_id: bigint
    slot: number
    owner: string
    sealed: Buffer
    is_main: boolean
  }>(
    `select agent_id, slot, 'agent ' || agent_id as owner, sealed_secret as sealed,
       true as is_main from agent_keys
     union all
     select agent_id, n, 'agent ' || agent_id, sealed_secret, false from agent_secrets
     order by 1, 5, 2`,
  )
  return resealRows(secretKeys, rows, async (row, sealed) => {
    const { rowCount } = await owner.query(
      row.is_main
        ? `update agent_keys set sealed_secret = $3
           where agent_id = $1 and slot = $2 and sealed_secret = $4`
        : `update agent_secrets set sealed_secret = $3
           where agent_id = $1 and n = $2 and sealed_secret = $4`,
      [row.agent_id, row.slot, sealed, row.sealed],
    )
    return rowCount
  })
}
