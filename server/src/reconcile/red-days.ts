import { heardBy } from '../alerts/alert.ts'
import type { Trouble } from '../alerts/keep-watch.ts'
import { readBankAccounts } from '../bank-accounts/bank-account.ts'
import type { Pool } from '../db/pool.ts'
import { localTimeIn } from '../lib/local-time.ts'
import { reconcileAccount } from './reconcile-account.ts'

/** Older days are looked at by people, day by day. */
const lookBackMs = 7 * 86_400_000

/** Days of bank accounts on which books and bank differ, and which nobody has signed off as they are now. */
export async function redDays(pool: Pool, now: Date): Promise<Trouble[]> {
  const troubles: Trouble[] = []
  for (const account of await readBankAccounts(pool)) {
    const since = localTimeIn(account.zone)(new Date(now.getTime() - lookBackMs)).slice(0, 10)
    const { days } = await reconcileAccount(pool, account, now, since)
    for (const { day, state, signOff, digests } of days) {
      const isSigned = signOff?.state === state && signOff.movements === digests.movements
      if (state !== 'red' || isSigned) continue
      troubles.push({
        subject: `${account.name} ${day}`,
        topic: account.name,
        words: `On ${day} the books and the bank do not agree about the account ${account.name}. See Reconciliation.`,
        to: { roles: heardBy.reconcile_break },
      })
    }
  }
  return troubles
}
