import { type BankAccount, readBankAccounts } from '../bank-accounts/bank-account.ts'
import type { Pool } from '../db/pool.ts'
import { Problem } from '../lib/problem.ts'
import type { Outsider } from '../operators/audit.ts'
import type { PayoutDesk } from '../payouts/pay-out.ts'
import { nextCutoff } from './banking-day.ts'
import { draftPayoutFile } from './draft-file.ts'

/** Who makes a draft that nobody asked for. An admin approves it, and another person says that the bank has it. */
export const schedule: Outsider = { userId: null, email: 'schedule', ip: null }

/**
 * Makes the drafts whose time before a cut-off has come: one for each account and cut-off, in whichever process, and
 * none while nothing waits. A draft moves nothing.
 */
export async function draftBeforeCutoffs(
  desk: PayoutDesk,
  onError: (error: unknown) => void,
): Promise<void> {
  for (const account of await readBankAccounts(desk.pool)) {
    const cutoff = dueCutoff(account, desk.now())
    if (cutoff === null || (await isDrafted(desk.pool, account.name, cutoff))) continue
    try {
      await draftPayoutFile(desk, account, schedule, { cutoff })
    } catch (error) {
      // Nothing waits yet, or another process was first.
      if (!(error instanceof Problem)) onError(error)
    }
  }
}

/** The cut-off that a draft of an account is due for; null if none is. */
export function dueCutoff(account: BankAccount, now: Date): Date | null {
  const { payout, payoutDraftBefore, confirmedAt } = account
  if (payout !== 'file' || payoutDraftBefore === null || confirmedAt === null) return null
  const cutoff = nextCutoff(account, now)
  const isDue = cutoff !== null && cutoff.getTime() - now.getTime() <= payoutDraftBefore * 60_000
  return isDue ? cutoff : null
}

async function isDrafted(pool: Pool, account: string, cutoff: Date): Promise<boolean> {
  const { rows } = await pool.query(
    'select 1 from payout_file_schedules where account = $1 and cutoff = $2',
    [account, cutoff],
  )
  return rows.length > 0
}
