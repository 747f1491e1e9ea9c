import type { Pool } from '../db/pool.ts'
import { type Resealed, resealRows } from '../db/reseal-rows.ts'
import type { SecretKeys } from '../lib/secret-box.ts'

/** Seals the private keys for the banks' servers with the current key. For the owner's login. */
export async function resealSftpKeys(owner: Pool, secretKeys: SecretKeys): Promise<Resealed> {
  const { rows } = await owner.query<{ name: string; owner: string; sealed: Buffer }>(
    `select name, 'sftp key of ' || name as owner, decode(sftp_key, 'base64') as sealed
     from bank_accounts where sftp_key is not null order by name`,
  )
  return resealRows(secretKeys, rows, async (row, sealed) => {
    const { rowCount } = await owner.query(
      'update bank_accounts set sftp_key = $2 where name = $1 and sftp_key = $3',
      [row.name, sealed.toString('base64'), row.sealed.toString('base64')],
    )
    return rowCount
  })
}

/** Seals the secrets of the banks' feeds with the current key. For the owner's login. */
export async function resealFeeds(owner: Pool, secretKeys: SecretKeys): Promise<Resealed> {
  const { rows } = await owner.query<{ name: string; owner: string; sealed: Buffer }>(
    `select name, 'bank account ' || name as owner, decode(feed_secret, 'base64') as sealed
     from bank_accounts where feed_secret is not null order by name`,
  )
  return resealRows(secretKeys, rows, async (row, sealed) => {
    const { rowCount } = await owner.query(
      'update bank_accounts set feed_secret = $2 where name = $1 and feed_secret = $3',
      [row.name, sealed.toString('base64'), row.sealed.toString('base64')],
    )
    return rowCount
  })
}
