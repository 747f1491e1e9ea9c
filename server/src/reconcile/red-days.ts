import { heardBy } from '../alerts/alert.ts'
import type { Trouble } from '../alerts/keep-watch.ts'
import { readBankAccounts } from '../bank-accounts/bank-account.ts'
import type { Pool } from '../db/pool.ts'
import { localTimeIn } from '../lib/local-time.ts'
import type { Day } from '../statements/statement.ts'
import { reconcileAccount } from './reconcile-account.ts'

/** Older days are looked at by people, day by day, but for payments by hand that the bank has not reported. */
const lookBackMs = 7 * 86_400_000

/** Days of bank accounts on which books and bank differ, and which nobody has signed off as they are now. */
export async function redDays(pool: Pool, now: Date): Promise<Trouble[]> {
  const troubles: Trouble[] = []
  for (const account of await readBankAccounts(pool)) {
    const since = localTimeIn(account.zone)(new Date(now.getTime() - lookBackMs)).slice(0, 10)
    const byHand = await firstByHand(pool, account.name)
    const first = byHand !== null && byHand < since ? byHand : since
    const { days } = await reconcileAccount(pool, account, now, first)
    for (const { day, state, signOff, digests, breaks } of days) {
      const isSigned = signOff?.state === state && signOff.movements === digests.movements
      if (state !== 'red' || isSigned) continue
      if (day < since && !breaks.some(({ name }) => name === 'never_booked')) continue
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

/** The first day of what only a hand has reported: it is watched until the bank has it, or a person says that it is none. */
async function firstByHand(pool: Pool, account: string): Promise<Day | null> {
  const { rows } = await pool.query<{ first: Day | null }>(
    `select min(m.booked_on) as first from bank_reports h
     join bank_movements m on m.account = h.account and m.movement_id = h.movement_id
     where h.account = $1 and h.source = 'hand' and m.explained_by is distinct from 'never_booked'
       and not exists (select 1 from bank_reports r where r.account = m.account
         and r.movement_id = m.movement_id and r.source <> 'hand' and r.is_trusted)`,
    [account],
  )
  return rows[0]?.first ?? null
}
