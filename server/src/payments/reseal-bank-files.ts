import type { Pool } from '../db/pool.ts'
import { type Resealed, resealRows } from '../db/reseal-rows.ts'
import type { SecretKeys } from '../lib/secret-box.ts'

/** Seals the banks' files with the current key, one at a time, because they may be large. For the owner's login. */
export async function resealBankFiles(owner: Pool, secretKeys: SecretKeys): Promise<Resealed> {
  const { rows: files } = await owner.query<{ account: string; file_id: string }>(
    'select account, file_id from bank_files order by account, file_id',
  )
  const done: Resealed = { moved: 0, current: 0, shut: 0 }
  for (const { account, file_id } of files) {
    const { rows } = await owner.query<{ owner: string; sealed: Buffer }>(
      `select 'bank file ' || account as owner, bytes as sealed from bank_files
       where account = $1 and file_id = $2`,
      [account, file_id],
    )
    const one = await resealRows(secretKeys, rows, async (row, sealed) => {
      const { rowCount } = await owner.query(
        'update bank_files set bytes = $3 where account = $1 and file_id = $2 and bytes = $4',
        [account, file_id, sealed, row.sealed],
      )
      return rowCount
    })
    for (const name of ['moved', 'current', 'shut'] as const) done[name] += one[name]
  }
  return done
}
