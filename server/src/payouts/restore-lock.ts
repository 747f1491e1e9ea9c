import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import type { Order } from '../ledger/book.ts'
import { openHold } from './restore-hold.ts'

/**
 * The accounts of a currency by whose files withdrawals may have left in the time that a restore lost: they pay by
 * files, or did once.
 */
export async function fileAccounts(db: Pool | Tx, currency: string): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select b.name from bank_accounts b where b.currency = $1
       and (b.payout = 'file' or b.name in (select f.account from payout_files f))
     order by b.name`,
    [currency],
  )
  return rows.map(({ name }) => name)
}

/**
 * Why nobody may pay a withdrawal nor give its money back at this moment, in words: it was there before the database
 * was restored from a backup, and an account of its currency may have paid it by a file since.
 */
export async function whyRestoreHolds(
  db: Pool | Tx,
  { kind, currency, createdAt }: Pick<Order, 'kind' | 'currency' | 'createdAt'>,
): Promise<string | undefined> {
  if (kind !== 'withdraw') return undefined
  const { rows: restores } = await db.query<{ restore_id: string }>({
    name: 'restores-since',
    text: 'select restore_id from restores where marked_at >= $1',
    values: [createdAt],
  })
  if (restores.length === 0) return undefined
  const hold = await openHold(db)
  if (hold && hold.markedAt >= createdAt) {
    return 'The database was restored from a backup, and a provider may have paid it since: it waits until that is known.'
  }
  const ids = restores.map(({ restore_id }) => restore_id)
  const { rows: releases } = await db.query<{ account: string; restore_id: string }>(
    'select account, restore_id from payout_lock_releases where restore_id = any($1::uuid[])',
    [ids],
  )
  const released = new Set(releases.map(({ account, restore_id }) => `${account} ${restore_id}`))
  const locked = (await fileAccounts(db, currency)).find((name) =>
    ids.some((id) => !released.has(`${name} ${id}`)),
  )
  return locked === undefined
    ? undefined
    : `The database was restored from a backup, and ${locked} may have paid it since: it waits until that is known.`
}
