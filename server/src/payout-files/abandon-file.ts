import { type BankAccount, findBankAccount } from '../bank-accounts/bank-account.ts'
import { lockAccount } from '../bank-accounts/take-reports.ts'
import { inTransaction, type Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { localTimeIn } from '../lib/local-time.ts'
import { findPaymentCodes } from '../lib/payment-code.ts'
import { Problem } from '../lib/problem.ts'
import { writeAudit } from '../operators/audit.ts'
import type { Operator } from '../operators/operator.ts'
import { takeEffect } from '../operators/take-effect.ts'
import type { PayoutDesk } from '../payouts/pay-out.ts'
import type { Day } from '../statements/statement.ts'
import { patienceDays, wholeDays, whyHeldBack } from './after-restore.ts'
import { bankingDays, bankingDaysAfter } from './banking-day.ts'
import { unconfirmed } from './draft-file.ts'
import { insertEnds } from './item-ends.ts'
import { whyAnswered } from './may-leave.ts'
import {
  lockFile,
  type PayoutFile,
  type PayoutItem,
  type PayoutSeal,
  readItemsLeft,
  readSeal,
  sumOf,
} from './payout-file.ts'

/** How many things that are missing a refusal names. */
const mostNamed = 5

/**
 * Says that the bank has not paid payouts of a file and never will, since it was never brought or the bank dropped them,
 * after two people decided so on evidence and the account's statements show no debit of them. What the bank has answered
 * before does not matter then: an answer that it took a file is no payment, and not every bank says what it refuses.
 * `endItems` then gives the money back, in this or any other process.
 */
export async function abandonFile(
  desk: Pick<PayoutDesk, 'pool' | 'now'>,
  named: Pick<PayoutFile, 'account' | 'fileId'>,
  { reason, evidence, codes }: { reason: string; evidence: string; codes?: readonly string[] },
  operator: Operator,
): Promise<void> {
  const at = desk.now()
  await inTransaction(desk.pool, async (tx) => {
    // A statement that is being imported is either looked at here, or finds the file abandoned.
    await lockAccount(tx, named.account)
    const file = await lockFile(tx, named)
    const { items } = await readAbandoned(tx, file, codes, at)
    const words = `${reason} (${evidence})`
    const end = { how: 'abandoned', mayTryAnother: false, reason: words, operator, at } as const
    await insertEnds(tx, file, items, end)
    await takeEffect(tx, operator, at)
    await writeAudit(tx, {
      at,
      operator,
      action: 'abandon_payout_file',
      subject: { kind: 'payout_file', id: file.fileId },
      agentId: null,
      before: { state: file.state },
      after: { items: items.length, amount: sumOf(items), evidence },
      reason,
    })
  })
}

/**
 * What would be given back of a file: the payouts of these codes, or all that are open. Refuses it, naming everything that
 * is missing.
 */
export async function readAbandoned(
  db: Pool | Tx,
  file: PayoutFile,
  codes: readonly string[] | undefined,
  now: Date,
): Promise<{ items: PayoutItem[] }> {
  const refuse = (detail: string) => new Problem('invalid_transition', detail)
  const seal = await readSeal(db, file)
  const account = await findBankAccount(db, file.account)
  // If the bank has it nevertheless, as it seems, nothing of it leaves or is taken out any more: this is how it ends.
  const isHere = file.state === 'approved' && (await whyAnswered(db, file)) === undefined
  if (!seal || !account || isHere) {
    throw refuse('Nobody has downloaded it: take payouts out of it instead.')
  }
  // Its holidays and cut-offs say how long to wait: one person must not shorten that.
  if (account.confirmedAt === null) throw unconfirmed(account.name)
  const why = await whyHeldBack(db, file.account, now)
  if (why !== undefined) throw refuse(why)
  const left = await readItemsLeft(db, file)
  const open = left.filter(isOpen)
  if (open.length === 0) throw refuse('Every payout of it has ended, or is said to.')
  const items = codes ? open.filter(({ reference }) => codes.includes(reference ?? '')) : open
  if (items.length === 0 || items.length < (codes?.length ?? 0)) {
    const known = new Set(items.map(({ reference }) => reference))
    const missing = codes?.find((code) => !known.has(code))
    throw new Problem('changed_meanwhile', `The file has no open payout ${missing}, or no more.`)
  }
  const missing = [
    ...(await missingStatements(db, file, account, seal, now)),
    ...(await doubtfulDebits(db, account, seal, left, items)),
  ]
  if (missing.length > 0) {
    const more = missing.length > mostNamed ? ` And ${missing.length - mostNamed} more.` : ''
    throw refuse(missing.slice(0, mostNamed).join(' ') + more)
  }
  return { items }
}

/** Whether the bank may still pay an item, as far as is known. */
function isOpen({ state, debitedBy, returnedBy, ended }: PayoutItem): boolean {
  const hasNoEnd = state === 'waiting' || state === 'accepted' || state === 'unknown'
  return hasNoEnd && debitedBy === null && returnedBy === null && ended === null
}

/** Which of the bank's statements have to be there before it is sure that it has not paid. */
async function missingStatements(
  db: Pool | Tx,
  file: PayoutFile,
  account: BankAccount,
  { sealedAt, executionDate }: PayoutSeal,
  now: Date,
): Promise<string[]> {
  const localDay = (at: Date): Day => localTimeIn(account.zone)(at).slice(0, 10)
  const first = localDay(sealedAt)
  // Who got the bytes after their day may have brought them then, and the bank may pay what it spoke of; a restore has
  // forgotten who got them before it.
  const { rows: handed } = await db.query<{ at: Date }>(
    `select at from payout_file_downloads where account = $1 and file_id = $2
     union all select at from payout_file_sendings where account = $1 and file_id = $2
     union all select at from payout_file_put_steps where account = $1 and file_id = $2
     union all select at from payout_file_reports where account = $1 and file_id = $2
     union all select marked_at from restores`,
    [file.account, file.fileId],
  )
  const [latest = executionDate] = [executionDate, ...handed.map(({ at }) => localDay(at))]
    .sort()
    .reverse()
  const last = bankingDaysAfter(account, latest, patienceDays)
  if (localDay(now) <= last) {
    return [`The bank may pay it until ${last}: wait until that is over.`]
  }
  const told = await wholeDays(db, account, first)
  const lacking = bankingDays(account, first, last).filter(
    (day) => !told.some(({ fromDay, toDay }) => fromDay <= day && day <= toDay),
  )
  return lacking.length === 0
    ? []
    : [`Statements of ${account.name} are missing, or not confirmed: of ${lacking.join(', ')}.`]
}

/**
 * Debits since the file was sealed that may be of these items of it. One sum of exactly the others that names the file is
 * of it without them, and is booked so once they have ended. An amount alone says nothing: it may be the very payout.
 */
async function doubtfulDebits(
  db: Pool | Tx,
  account: BankAccount,
  { sealedAt, messageId }: PayoutSeal,
  left: readonly PayoutItem[],
  items: readonly PayoutItem[],
): Promise<string[]> {
  const { rows } = await db.query<{
    movement_id: string
    amount: bigint
    booked_on: Day
    state: string
    text: string
    ids: string | null
  }>(
    `select m.movement_id, m.amount, m.booked_on, m.state, m.text,
       (select string_agg(r.ids || ' ' || r.text, ' ') from bank_reports r
        where r.account = m.account and r.movement_id = m.movement_id) as ids
     from bank_movements m
     where m.account = $1 and m.amount < 0 and m.booked_on >= $2
       and m.explained_by is distinct from 'payout'
     order by m.booked_on, m.movement_id`,
    [account.name, localTimeIn(account.zone)(sealedAt).slice(0, 10)],
  )
  const codes = new Set(items.map(({ reference }) => reference))
  const others = sumOf(left.filter((each) => isOpen(each) && !items.includes(each)))
  // Where one of them, or all, make the same sum, nobody can say whose it is.
  const isPlain =
    others > 0n && sumOf(items) !== others && items.every((each) => each.amountMinor !== others)
  let isOthersFound = false
  return rows.flatMap(({ movement_id, amount, booked_on, state, text, ids }) => {
    const texts = [text, ids ?? '']
    const code = findPaymentCodes(texts).find((each) => codes.has(each))
    const isOfFile = texts.some((each) => each.toUpperCase().includes(messageId))
    const isOthers = !code && isOfFile && -amount === others && state === 'unexplained'
    if (isOthers && isPlain && !isOthersFound) {
      isOthersFound = true
      return []
    }
    const named = code ?? (isOfFile ? messageId : undefined)
    const which = `Movement ${account.name}:${movement_id} of ${booked_on}`
    if (named) return [`${which} names ${named}: find out what it is.`]
    if (state === 'unexplained') {
      return [`${which} is a debit that nobody has explained: it may be of this file.`]
    }
    return state === 'new' || state === 'matched' ? [`${which} is being booked: try again.`] : []
  })
}
