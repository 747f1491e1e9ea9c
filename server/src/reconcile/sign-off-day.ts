import type { BankAccount } from '../bank-accounts/bank-account.ts'
import { lockAccount } from '../bank-accounts/take-reports.ts'
import { inTransaction, type Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { Problem } from '../lib/problem.ts'
import type { Day } from '../statements/statement.ts'
import { reconcileAccount } from './reconcile-account.ts'
import { insertSignOff, type SignOff } from './sign-offs.ts'

/**
 * A person signs a day of an account off, as they saw it: `shown` is the digest of what they were shown. A day
 * that is not green needs a reason. Nothing can arrive at the account meanwhile.
 */
export async function signOffDay(
  pool: Pool,
  account: BankAccount,
  day: Day,
  asked: { by: string; at: Date; shown: string; reason: string | null },
  also: (tx: Tx, signOff: SignOff) => Promise<void>,
): Promise<SignOff> {
  return inTransaction(pool, async (tx) => {
    await lockAccount(tx, account.name)
    // On a connection of its own, so that it sees what came before the lock.
    const { days } = await reconcileAccount(pool, account, asked.at, day)
    const judged = days.find((each) => each.day === day)
    if (!judged) throw new Problem('not_found', 'Nothing moved on this day.')
    if (judged.digests.shown !== asked.shown) throw changedMeanwhile()
    const isSigned = judged.signOff?.movements === judged.digests.movements
    if (isSigned && judged.signOff?.state === judged.state) {
      throw new Problem('invalid_transition', `${judged.signOff.by} has signed it off already.`)
    }
    if (judged.state !== 'green' && asked.reason === null) {
      throw new Problem('reason_required', 'The day is not green: say why you sign it off.')
    }
    const signOff: SignOff = {
      account: account.name,
      day,
      no: (judged.signOff?.no ?? 0) + 1,
      by: asked.by,
      at: asked.at,
      state: judged.state,
      shown: judged.digests.shown,
      movements: judged.digests.movements,
      reason: asked.reason,
    }
    if (!(await insertSignOff(tx, signOff))) throw changedMeanwhile()
    await also(tx, signOff)
    return signOff
  })
}

function changedMeanwhile(): Problem {
  return new Problem('changed_meanwhile', 'The day has changed since you looked at it. Look again.')
}
