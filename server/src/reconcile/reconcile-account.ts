import type { BankAccount } from '../bank-accounts/bank-account.ts'
import { holidaysIn } from '../bank-accounts/pair-reports.ts'
import { isSplitSql } from '../bank-accounts/split-batches.ts'
import { inTransaction } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { localTimeIn } from '../lib/local-time.ts'
import { type AccountSides, differenceOf, readAccountSides } from '../proof/prove-bank-account.ts'
import type { Day } from '../statements/statement.ts'
import {
  type BreakName,
  type JudgedDay,
  judgeDays,
  type MovementFact,
  type PayoutFault,
  payoutFaults,
  type StatementFact,
} from './judge-days.ts'
import { type DayDigests, readSignOffs, type SignOff, withSignOffs } from './sign-offs.ts'

/** A day of an account, with what was signed off of it. */
export interface ReconciledDay extends JudgedDay {
  signOff: SignOff | null
  /** Identify what is shown of the day, and its movements. */
  digests: DayDigests
}

export interface Reconciled {
  account: string
  days: ReconciledDay[]
}

/** How far before the first day that is asked for, statements are looked at: its opening is the closing before. */
const lookBackDays = 45

/** Lays the books beside the bank, for every day of an account, or for those from a day on. */
export async function reconcileAccount(
  pool: Pool,
  account: Pick<BankAccount, 'name' | 'zone' | 'currency' | 'payoutHolidays'>,
  now: Date,
  since: Day | null = null,
): Promise<Reconciled> {
  // One snapshot: a movement that is booked in between would be in one half only.
  const { statements, movements, sides, signOffs } = await inTransaction(
    pool,
    async (tx) => {
      const { rows: statements } = await tx.query<{
        from_day: Day
        to_day: Day
        opening: bigint | null
        closing: bigint | null
        booked: bigint
        entries: number
        bank_id: string | null
        bank_seq: string | null
        page: number | null
        is_trusted: boolean
      }>(
        `select from_day, to_day, opening, closing, booked, entries, bank_id, bank_seq, page, is_trusted
       from bank_statements
       where account = $1 and source = 'statement' and from_day is not null and to_day is not null
         and ($2::date is null or to_day >= $2::date - $3::int)
       order by read_at`,
        [account.name, since, lookBackDays],
      )
      // A statement is judged by all of its days.
      const from =
        since === null
          ? null
          : (statements
              .map(({ from_day }) => from_day)
              .concat(since)
              .sort()[0] ?? since)
      const { rows: movements } = await tx.query<{
        movement_id: string
        booked_on: Day
        amount: bigint
        state: string
        in_statement: boolean
        by_hand: boolean
        sum_twice: boolean
        waits_since: Date | null
        fault: PayoutFault | null
      }>(
        `select m.movement_id, m.booked_on, m.amount, m.state,
         substring(m.detail from '^(${payoutFaults.join('|')}):') as fault,
         exists (select 1 from bank_reports r where r.account = m.account
           and r.movement_id = m.movement_id and r.source = 'statement' and r.is_trusted)
           as in_statement,
         not exists (select 1 from bank_reports r where r.account = m.account
           and r.movement_id = m.movement_id and r.source <> 'hand' and r.is_trusted) as by_hand,
         ${isSplitSql('m.account', 'm.movement_id')} as sum_twice,
         coalesce(
           (select u.reported_at from unmatched_payments u
            where u.payment_id = m.account || ':' || replace(m.movement_id::text, '-', '')
              and u.state = 'waiting'),
           (select p.reported_at from payment_claims c
            join payments p on p.agent_id = c.agent_id and p.payment_id = c.payment_id
            where c.payment_id = m.account || ':' || replace(m.movement_id::text, '-', '')
              and p.state = 'waiting')
         ) as waits_since
       from bank_movements m
       where m.account = $1 and coalesce(m.explained_by, '') not in ('batch', 'never_booked')
         and ($2::date is null or m.booked_on >= $2)
       order by m.booked_on, m.movement_id`,
        [account.name, from],
      )
      const sides = await readAccountSides(tx, account)
      return { statements, movements, sides, signOffs: await readSignOffs(tx, account.name, since) }
    },
    'isolation level repeatable read read only',
  )
  const localTime = localTimeIn(account.zone)
  const today = localTime(now).slice(0, 10)
  const judged = judgeDays(
    statements.map(
      (row): StatementFact => ({
        from: row.from_day,
        to: row.to_day,
        opening: row.opening,
        closing: row.closing,
        booked: row.booked,
        entries: row.entries,
        seq: row.bank_seq !== null && /^\d{1,18}$/.test(row.bank_seq) ? BigInt(row.bank_seq) : null,
        isTrusted: row.is_trusted,
        id: row.bank_id,
        page: row.page,
      }),
    ),
    movements.map(
      (row): MovementFact => ({
        movementId: row.movement_id,
        day: row.booked_on,
        amountMinor: row.amount,
        isInStatement: row.in_statement,
        isUnexplained: row.state === 'unexplained',
        fault: row.fault,
        isByHand: row.by_hand,
        isSumTwice: row.sum_twice,
        waitsSince: row.waits_since && localTime(row.waits_since).slice(0, 10),
        isOpen: row.state === 'new' || row.state === 'matched',
        isUnconfirmed: row.state === 'unconfirmed',
      }),
    ),
    today,
    holidaysIn(account.payoutHolidays),
  )
  const days = judged.filter(({ day }) => since === null || day >= since)
  const last = days.at(-1)
  if (last) addBreaks(last, sides)
  const ids = new Map<Day, string[]>()
  for (const { booked_on, movement_id, amount } of movements) {
    const same = ids.get(booked_on)
    if (same) same.push(`${movement_id} ${amount}`)
    else ids.set(booked_on, [`${movement_id} ${amount}`])
  }
  return { account: account.name, days: withSignOffs(days, ids, signOffs) }
}

/** Adds to the last day what the books and the bank do not have in common. */
function addBreaks(last: JudgedDay, sides: AccountSides): void {
  const { books, bank, goneByHand, writtenOffByHand, isBooking } = sides
  const { paidNotDebited, debitedNotPaid } = sides
  const say = (name: BreakName, amountMinor: bigint, detail: string) =>
    last.breaks.push({ name, amountMinor, movementId: null, detail })
  if (goneByHand !== 0n) {
    say(
      'return_not_debited',
      -goneByHand,
      'Payments were returned or taken back by hand, and no debit is explained as one of them yet.',
    )
  }
  if (writtenOffByHand !== 0n) {
    say(
      'written_off',
      writtenOffByHand,
      'This much was written off at the account by hand, and no movement has it. When the bank books it, explain that movement and write the opposite off.',
    )
  }
  if (paidNotDebited !== 0n) {
    say(
      'paid_not_debited',
      -paidNotDebited,
      'The bank says that it paid payouts of files, and has not booked them yet.',
    )
  }
  if (debitedNotPaid !== 0n) {
    say(
      'paid_after_failed',
      debitedNotPaid,
      'The bank has debited payouts of files that failed in the books. Look at the open items.',
    )
  }
  if (last.state === 'green' && last.breaks.length > 0) last.state = 'amber'
  if (debitedNotPaid !== 0n) last.state = 'red'
  const difference = differenceOf(sides)
  // While movements are being booked, the books run ahead of what is marked as booked.
  if (difference === 0n || isBooking) return
  say(
    'books_differ',
    difference,
    `The books have ${books} at this account and the movements say ${bank}, in minor units, which no return or write-off by hand explains. Run "sluice verify".`,
  )
  last.state = 'red'
}
