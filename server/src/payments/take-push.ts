import { createHash } from 'node:crypto'
import type { BankAccount } from '../bank-accounts/bank-account.ts'
import { lockAccount, type ReportOfStatement, takeReports } from '../bank-accounts/take-reports.ts'
import { inTransaction, type Tx } from '../db/in-transaction.ts'
import { localTimeIn, startOfDay } from '../lib/local-time.ts'
import { Problem } from '../lib/problem.ts'
import { noIds } from '../statements/statement.ts'
import type { Desk } from '../teller/desk.ts'

/** What a bank, or what reads its messages, reports of one movement as it happens. */
export interface BankPush {
  /** The bank's own id, if it has one. */
  id: string | null
  /** Positive for money that came in. */
  amountMinor: bigint
  bookedAt: Date
  text: string
  payer: { accountNo: string | null; name: string | null; bank: string | null }
  balanceAfterMinor: bigint | null
}

/**
 * Records a push. Returns the movement that it is about: the same for every repetition. `trust` says whether it is the
 * bank's word: always, never, or as far as the account believes a token.
 */
export async function takePush(
  { pool, now }: Pick<Desk, 'pool' | 'now'>,
  account: BankAccount,
  push: BankPush,
  trust: boolean | 'within limits',
): Promise<string> {
  const report: ReportOfStatement = {
    source: 'push',
    key: keyOf(push),
    line: null,
    amountMinor: push.amountMinor,
    bookedOn: localTimeIn(account.zone)(push.bookedAt).slice(0, 10),
    bookedAt: push.bookedAt,
    balanceAfterMinor: push.balanceAfterMinor,
    chargesMinor: 0n,
    ids: { ...noIds, feedId: push.id },
    text: push.text,
    payer: push.payer,
    isReturn: false,
    batchCount: null,
    statementId: null,
  }
  return inTransaction(pool, async (tx) => {
    await lockAccount(tx, account.name)
    const { rows } = await tx.query<{ amount: bigint }>(
      `select amount from bank_reports where account = $1 and source = 'push' and report_key = $2`,
      [account.name, report.key],
    )
    if (rows[0] && rows[0].amount !== push.amountMinor) {
      throw new Problem('invalid_transition', 'This id was reported before with another amount.')
    }
    const at = now()
    const isTrusted =
      trust === 'within limits'
        ? // What was not believed the first time is not believed when it is repeated.
          rows.length === 0 && (await isWithinTokenLimits(tx, account, push.amountMinor, at))
        : trust
    const origin = { fileId: null, isTrusted, at }
    const { movementIds } = await takeReports(tx, account, 'push', [report], origin)
    return movementIds[0] ?? ''
  })
}

/** Whether a push with a token is believed; in the transaction that has locked the account. */
async function isWithinTokenLimits(
  tx: Tx,
  { name, zone }: BankAccount,
  amountMinor: bigint,
  at: Date,
): Promise<boolean> {
  const { rows } = await tx.query<{
    is_confirmed: boolean
    most: bigint
    day: bigint
    used: bigint
    deduction: bigint
  }>(
    // A credit may count for as much more as the rail deducts.
    `select confirmed_at is not null as is_confirmed, token_limit as most, token_day_limit as day,
       expected_deduction as deduction,
       (select coalesce(sum(abs(amount) + expected_deduction), 0)::bigint from bank_reports
        where account = $1 and source = 'push' and is_trusted and reported_at >= $2) as used
     from bank_accounts where name = $1`,
    [name, startOfDay(at, zone)],
  )
  const [limits] = rows
  if (!limits?.is_confirmed) return false
  const size = (amountMinor < 0n ? -amountMinor : amountMinor) + limits.deduction
  return size <= limits.most && limits.used + size <= limits.day
}

/** Without an id, a message is the same if amount, balance, text and minute are. */
function keyOf({ id, amountMinor, balanceAfterMinor, bookedAt, text }: BankPush): string {
  const said =
    id === null
      ? ['said', amountMinor, balanceAfterMinor, bookedAt.toISOString().slice(0, 16), text]
      : ['id', id]
  return createHash('sha256')
    .update(JSON.stringify(said.map(String)))
    .digest('hex')
}
