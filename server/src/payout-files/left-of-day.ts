import type { BankAccount } from '../bank-accounts/bank-account.ts'
import type { Tx } from '../db/in-transaction.ts'
import { localDayOf, localTimeIn } from '../lib/local-time.ts'

/**
 * What files of an account may still pay today; null if it has no ceiling for a day. A file counts on the day of its
 * last approval, with what is left of it, and not at all once it is cancelled or if the bank paid it before. `withDrafts` counts those too that
 * somebody may approve yet.
 */
export async function leftOfDay(
  tx: Tx,
  { name, zone, payoutDayLimitMinor }: BankAccount,
  at: Date,
  { besides, withDrafts }: { besides: string | null; withDrafts: boolean },
): Promise<bigint | null> {
  if (payoutDayLimitMinor === null) return null
  const { rows } = await tx.query<{ listed: bigint }>(
    `select coalesce(sum(l.amount), 0)::bigint as listed from payout_files f
     join payout_file_lists l on l.account = f.account and l.file_id = f.file_id and l.round = f.round
     where f.account = $1 and f.file_id is distinct from $3 and f.state <> 'cancelled'
       and not f.already_paid
       and (f.file_id in (select a.file_id from payout_file_approvals a
           where a.account = $1 and a.approved_at >= $2)
         or ($4 and f.state = 'draft'))`,
    [name, localDayOf(at, localTimeIn(zone)).start, besides, withDrafts],
  )
  return payoutDayLimitMinor - (rows[0]?.listed ?? 0n)
}
