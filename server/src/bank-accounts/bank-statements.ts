import type { Tx } from '../db/in-transaction.ts'
import type { BankBalance, BankStatement, Day } from '../statements/statement.ts'
import { dayAfter } from './statement-pages.ts'

/** Keeps what a file says of a day's balances, and whether that is the bank's word. */
export async function insertStatement(
  tx: Tx,
  account: string,
  { fileId, statementId, isTrusted }: { fileId: string; statementId: string; isTrusted: boolean },
  source: 'intraday' | 'statement',
  statement: BankStatement,
): Promise<void> {
  const booked = statement.entries.filter(({ status }) => status === 'booked')
  const { opening, closing } = statement
  const { from, to } = daysOf(statement)
  await tx.query(
    `insert into bank_statements (account, statement_id, file_id, source, bank_id, bank_seq, from_day,
       to_day, opening, closing, entries, booked, is_trusted, page, read_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, now())`,
    [
      account,
      statementId,
      fileId,
      source,
      statement.id?.slice(0, 100) ?? null,
      statement.seq?.slice(0, 40) ?? null,
      from,
      to,
      balanceOf(statement, opening),
      closesPeriod(statement, to) ? balanceOf(statement, closing) : null,
      booked.length,
      booked.reduce((sum, { amountMinor }) => sum + amountMinor, 0n),
      isTrusted,
      statement.page?.number ?? null,
    ],
  )
}

/**
 * The first and the last day that a statement tells of. The day of a closing balance is the last one: the end of its
 * period may be the midnight after. An opening balance is often dated with the day before the first one, on which it
 * was the closing balance.
 */
export function daysOf(statement: BankStatement): { from: Day | null; to: Day | null } {
  const { opening, closing, entries } = statement
  const days = entries.flatMap(({ status, bookedOn }) => (status === 'booked' ? [bookedOn] : []))
  days.sort()
  const closed = closing?.type === 'CLBD' ? closing.day : null
  const to = closed ?? statement.to ?? closing?.day ?? days.at(-1) ?? null
  const opened = opening?.day ?? null
  const isDayBefore =
    opened !== null &&
    (opening?.type === 'PRCD' || (to !== null && opened < to && !days.includes(opened)))
  const begun = isDayBefore ? dayAfter(opened) : opened
  // A period that its closing balance is not of says nothing.
  const isOfPeriod =
    closed === null || (closed >= (statement.from ?? closed) && closed <= (statement.to ?? closed))
  const from = (isOfPeriod ? statement.from : null) ?? begun ?? days[0] ?? to
  return { from: from !== null && to !== null && from > to ? to : from, to }
}

/**
 * Whether a closing balance is that of the days that a statement tells of. OFX gives the balance of the moment of its export,
 * which may have moved since the last of them.
 */
export function closesPeriod({ closing, entries }: BankStatement, to: Day | null): boolean {
  const day = closing?.day ?? null
  if (day === null || to === null || closing?.type === 'CLBD') return true
  const isPassed = entries.some(({ status, bookedOn }) => status === 'booked' && bookedOn > day)
  return day <= to && !isPassed
}

/** Where one page ends and the next begins is no balance of the statement: only its first and last page close it. */
function balanceOf({ page }: BankStatement, balance: BankBalance | null): bigint | null {
  if (!balance?.booked || (page !== null && balance.type === 'ITBD')) return null
  return balance.amountMinor
}

/** A file is the bank's word from now on: its balances count. */
export async function trustStatements(tx: Tx, account: string, fileId: string): Promise<void> {
  await tx.query(
    `update bank_statements set is_trusted = true
     where account = $1 and file_id = $2 and not is_trusted`,
    [account, fileId],
  )
}
