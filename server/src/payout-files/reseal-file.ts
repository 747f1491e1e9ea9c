import { type BankAccount, findBankAccount } from '../bank-accounts/bank-account.ts'
import { inTransaction } from '../db/in-transaction.ts'
import { Problem } from '../lib/problem.ts'
import { writeAudit } from '../operators/audit.ts'
import type { Operator } from '../operators/operator.ts'
import type { PayoutDesk } from '../payouts/pay-out.ts'
import { whyHeldBack } from './after-restore.ts'
import { executionDay } from './banking-day.ts'
import { whyAnswered } from './may-leave.ts'
import {
  askAgain,
  lockFile,
  type PayoutFile,
  readItemsLeft,
  readLines,
  readSeal,
  wrongState,
} from './payout-file.ts'

/**
 * Has a file sealed again for a later day, if nobody has downloaded it and its day is over. The bank gets other bytes,
 * so another person approves it once more; it is sealed for the day that it is then.
 */
export async function resealFile(
  desk: Pick<PayoutDesk, 'pool' | 'now'>,
  named: Pick<PayoutFile, 'account' | 'fileId'>,
  reason: string,
  operator: Operator,
): Promise<void> {
  const at = desk.now()
  await inTransaction(desk.pool, async (tx) => {
    const file = await lockFile(tx, named)
    const seal = await readSeal(tx, file)
    const account = await findBankAccount(tx, file.account)
    if (file.state !== 'approved' || !seal || !account) throw wrongState(file, 'sealed again')
    if (!hasLaterDay(account, seal, at)) {
      throw new Problem(
        'invalid_transition',
        `It is for ${seal.executionDate}, and that is not over: download it.`,
      )
    }
    const why = (await whyAnswered(tx, file)) ?? (await whyHeldBack(tx, file.account, at))
    if (why !== undefined) throw new Problem('invalid_transition', why)
    const items = (await readItemsLeft(tx, file)).filter(({ state }) => state !== 'dropped')
    const stays = new Set(items.map(({ n }) => n))
    const lines = (await readLines(tx, file)).filter(({ n }) => stays.has(n))
    await tx.query(
      `insert into payout_file_reseals (account, file_id, round, asked_by, asker, reason, at)
       values ($1, $2, $3, $4, $5, $6, $7)`,
      [file.account, file.fileId, file.round, operator.userId, operator.email, reason, at],
    )
    await askAgain(tx, file, lines, at)
    await writeAudit(tx, {
      at,
      operator,
      action: 'reseal_payout_file',
      subject: { kind: 'payout_file', id: file.fileId },
      agentId: null,
      before: { round: file.round, execution_date: seal.executionDate, sha256: seal.sha256 },
      reason,
    })
  })
}

/** Whether a file that is sealed now would be for a later day: a day is over with its last cut-off. */
export function hasLaterDay(
  account: BankAccount,
  { executionDate }: { executionDate: string },
  now: Date,
): boolean {
  return executionDay(account, now) > executionDate
}
