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
 * Says that a file was never brought to the bank, after two people decided so on evidence and the account's statements
 * show that the bank has not paid any of it. `endItems` then gives its money back, in this or any other process.
 */
export async function abandonFile(
  desk: Pick<PayoutDesk, 'pool' | 'now'>,
  named: Pick<PayoutFile, 'account' | 'fileId'>,
  { reason, evidence }: { reason: string; evidence: string },
  operator: Operator,
): Promise<void> {
  const at = desk.now()
  await inTransaction(desk.pool, async (tx) => {
    // A statement that is being imported is either looked at here, or finds the file abandoned.
    await lockAccount(tx, named.account)
    const file = await lockFile(tx, named)
    const { items } = await readAbandoned(tx, file, at)
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

/** What would be given back of a file that was never brought. Refuses it, naming everything that is missing. */
export async function readAbandoned(
  db: Pool | Tx,
  file: PayoutFile,
  now: Date,
): Promise<{ items: PayoutItem[] }> {
  const refuse = (detail: string) => new Problem('invalid_transition', detail)
  const seal = await readSeal(db, file)
  const account = await findBankAccount(db, file.account)
  if (!seal || !account || file.state === 'approved') {
    throw refuse('Nobody has downloaded it: take payouts out of it instead.')
  }
  // Its holidays and cut-offs say how long to wait: one person must not shorten that.
  if (account.confirmedAt === null) throw unconfirmed(account.name)
  const why = await whyHeldBack(db, file.account, now)
  if (why !== undefined) throw refuse(why)
  const items = (await readItemsLeft(db, file)).filter(({ state }) => state !== 'dropped')
  if (items.some(({ ended }) => ended !== null)) {
    throw refuse('It is said already that it was never brought to the bank.')
  }
  const known = items.find(({ state, debitedBy }) => state !== 'waiting' || debitedBy !== null)
  if (known || file.state === 'acknowledged' || file.state === 'closed') {
    const what = known ? `payout ${known.reference} of it is ${known.state}` : 'it has answered'
    throw refuse(`The bank has the file: ${what}. What is open ends by what the bank says.`)
  }
  const missing = [
    ...(await missingStatements(db, file, account, seal, now)),
    ...(await doubtfulDebits(db, account, seal, items)),
  ]
  if (missing.length > 0) {
    const more = missing.length > mostNamed ? ` And ${missing.length - mostNamed} more.` : ''
    throw refuse(missing.slice(0, mostNamed).join(' ') + more)
  }
  return { items }
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
  // Who got the bytes after their day may have brought them then; a restore has forgotten who got them before it.
  const { rows: handed } = await db.query<{ at: Date }>(
    `select at from payout_file_downloads where account = $1 and file_id = $2
     union all select at from payout_file_sendings where account = $1 and file_id = $2
     union all select at from payout_file_put_steps where account = $1 and file_id = $2
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

/** Debits since the file was sealed that may be of it. */
async function doubtfulDebits(
  db: Pool | Tx,
  account: BankAccount,
  { sealedAt, messageId }: PayoutSeal,
  items: readonly PayoutItem[],
): Promise<string[]> {
  const { rows } = await db.query<{
    movement_id: string
    booked_on: Day
    state: string
    text: string
    ids: string | null
  }>(
    `select m.movement_id, m.booked_on, m.state, m.text,
       (select string_agg(r.ids || ' ' || r.text, ' ') from bank_reports r
        where r.account = m.account and r.movement_id = m.movement_id) as ids
     from bank_movements m
     where m.account = $1 and m.amount < 0 and m.booked_on >= $2
       and m.explained_by is distinct from 'payout'
     order by m.booked_on, m.movement_id`,
    [account.name, localTimeIn(account.zone)(sealedAt).slice(0, 10)],
  )
  const codes = new Set(items.map(({ reference }) => reference))
  return rows.flatMap(({ movement_id, booked_on, state, text, ids }) => {
    const texts = [text, ids ?? '']
    const named =
      findPaymentCodes(texts).find((code) => codes.has(code)) ??
      texts.map((each) => each.toUpperCase().includes(messageId) && messageId).find(Boolean)
    const which = `Movement ${account.name}:${movement_id} of ${booked_on}`
    if (named) return [`${which} names ${named}: find out what it is.`]
    if (state === 'unexplained') {
      return [`${which} is a debit that nobody has explained: it may be of this file.`]
    }
    return state === 'new' || state === 'matched' ? [`${which} is being booked: try again.`] : []
  })
}
