import { inTransaction, type Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { startOfDay } from '../lib/local-time.ts'
import { Problem } from '../lib/problem.ts'
import { type Signature, signatureOf, tieBetween } from '../operators/credentials.ts'
import type { BankAccount } from './bank-account.ts'
import { trustStatements } from './bank-statements.ts'
import {
  bookedByStatement,
  joinLateBatches,
  lockAccount,
  lockMovements,
  lookAgain,
} from './take-reports.ts'

/** A file, and the user who brought it; 0: the command line, or not known. */
interface BroughtFile {
  broughtBy: string
  via: string
  userId: bigint
  resetBy: bigint
}

/** What only a file that a person brought reports. */
export interface UnconfirmedOfFile {
  movements: number
  /** Without signs, together, with what the bank kept by their word: a credit may count for as much more. */
  amountMinor: bigint
}

/**
 * Another person believes the file that somebody brought: its movements are matched from now on, as if the bank
 * had sent it. The database refuses whoever brought it, and who could have brought it in their name. What came by the
 * command line anyone with a shell may have brought, so an admin has to confirm it.
 */
export async function confirmMovements(
  pool: Pool,
  account: BankAccount,
  fileId: string,
  by: {
    name: string
    userId: bigint
    isAdmin: boolean
    at: Date
    also: (tx: Tx, confirmed: UnconfirmedOfFile) => Promise<void>
  },
): Promise<UnconfirmedOfFile> {
  return inTransaction(pool, async (tx) => {
    await lockAccount(tx, account.name)
    const { rows } = await tx.query<BroughtFile>(
      `select brought_by as "broughtBy", via, bringer_user_id as "userId",
         bringer_reset_by as "resetBy"
       from bank_files where account = $1 and file_id = $2`,
      [account.name, fileId],
    )
    if (!(await readLocked(tx, account.name)).isConfirmed) {
      throw new Problem(
        'invalid_transition',
        'Confirm the account first: one person has changed it.',
      )
    }
    const [file] = rows
    if (!file) throw new Problem('not_found', 'There is no such file.')
    if (file.broughtBy === by.name) {
      throw new Problem(
        'not_permitted',
        'You brought this file: another person has to confirm what it says.',
      )
    }
    if (file.via === 'command' && !by.isAdmin) {
      throw new Problem('not_permitted', 'It came by the command line: only an admin confirms it.')
    }
    const signature = await signatureOf(tx, by.userId, by.at)
    const tie = tieBetween(file, signature, 'the person who brought it')
    if (tie !== undefined) throw new Problem('same_person', tie)
    const waiting = await unconfirmedOf(tx, account.name, fileId)
    if (await isBelieved(tx, account.name, fileId)) {
      throw new Problem('changed_meanwhile', 'Nothing in this file waits for a second person.')
    }
    const second = { name: by.name, signature }
    await confirm(tx, account, fileId, { file, waiting, by: second, at: by.at })
    await by.also(tx, waiting)
    return waiting
  })
}

/**
 * Believes a file that a person brought if it is within what the account believes in a day without a second
 * person; in the transaction that has locked the account.
 */
export async function confirmWithinLimit(
  tx: Tx,
  account: BankAccount,
  fileId: string,
  at: Date,
): Promise<void> {
  if (await isBelieved(tx, account.name, fileId)) return
  const waiting = await unconfirmedOf(tx, account.name, fileId)
  // A limit, or a way to read files, that one person has set counts for nothing yet.
  const { isConfirmed, fileLimitMinor, deductionMinor } = await readLocked(tx, account.name)
  // Without a limit, the balances of a file are not believed either.
  if (!isConfirmed || fileLimitMinor === 0n) return
  const { rows } = await tx.query<BroughtFile & { used: bigint }>(
    `select f.brought_by as "broughtBy", f.via, f.bringer_user_id as "userId",
       f.bringer_reset_by as "resetBy",
       (select coalesce(sum(c.amount + c.movements * $4::bigint), 0)::bigint
        from bank_file_confirmations c
        where c.account = $1 and c.confirmed_by is null and c.confirmed_at >= $3) as used
     from bank_files f where f.account = $1 and f.file_id = $2`,
    [account.name, fileId, startOfDay(at, account.zone), deductionMinor],
  )
  const [file] = rows
  if (!file) return
  // A credit may count for as much more as the rail deducts.
  const most = waiting.amountMinor + BigInt(waiting.movements) * deductionMinor
  if (file.used + most > fileLimitMinor) return
  await confirm(tx, account, fileId, { file, waiting, by: null, at })
}

/** The account as it is now, under its lock. */
async function readLocked(
  tx: Tx,
  name: string,
): Promise<{ isConfirmed: boolean; fileLimitMinor: bigint; deductionMinor: bigint }> {
  const { rows } = await tx.query<{ confirmed: boolean; file_limit: bigint; deduction: bigint }>(
    `select confirmed_at is not null as confirmed, file_limit, expected_deduction as deduction
     from bank_accounts where name = $1`,
    [name],
  )
  const [row] = rows
  return {
    isConfirmed: row?.confirmed ?? false,
    fileLimitMinor: row?.file_limit ?? 0n,
    deductionMinor: row?.deduction ?? 0n,
  }
}

/** Whether everything in a file is the bank's word. */
async function isBelieved(tx: Tx, account: string, fileId: string): Promise<boolean> {
  const { rows } = await tx.query(
    `select 1 from bank_statements where account = $1 and file_id = $2 and not is_trusted
     union all
     select 1 from bank_reports where account = $1 and file_id = $2 and not is_trusted limit 1`,
    [account, fileId],
  )
  return rows.length === 0
}

/**
 * The movements of a file that wait for a second person, in SQL; `$1` is the account and `$2` the file. Those that were
 * recorded by hand, and that the bank has not reported, are among them: the file would prove them.
 */
const waitingOfFile = `select m.movement_id, m.amount,
    (select max(r.charges) from bank_reports r
      where r.account = m.account and r.movement_id = m.movement_id) as charges
  from bank_movements m
  where m.account = $1 and exists (select 1 from bank_reports r
    where r.account = m.account and r.movement_id = m.movement_id and r.file_id = $2::uuid)
  and (m.state = 'unconfirmed' or (
    select bool_or(r.source = 'hand') and not bool_or(r.source <> 'hand' and r.is_trusted)
    from bank_reports r where r.account = m.account and r.movement_id = m.movement_id))`

async function unconfirmedOf(tx: Tx, account: string, fileId: string): Promise<UnconfirmedOfFile> {
  const { rows } = await tx.query<{ movements: number; amount: bigint }>(
    `select count(*)::int as movements, coalesce(sum(abs(w.amount) + case when w.amount > 0 then w.charges else 0 end), 0)::bigint as amount
     from (${waitingOfFile}) w`,
    [account, fileId],
  )
  return { movements: rows[0]?.movements ?? 0, amountMinor: rows[0]?.amount ?? 0n }
}

async function confirm(
  tx: Tx,
  of: Pick<BankAccount, 'name' | 'payoutHolidays'>,
  fileId: string,
  said: {
    file: BroughtFile
    waiting: UnconfirmedOfFile
    by: { name: string; signature: Signature } | null
    at: Date
  },
): Promise<void> {
  const { file, waiting, by, at } = said
  const account = of.name
  const { rowCount } = await tx.query(
    `insert into bank_file_confirmations (account, file_id, brought_by, bringer_user_id,
       bringer_reset_by, confirmed_by, confirmer_user_id, confirmer_credential,
       confirmer_reset_by, confirmed_at, movements, amount)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
     on conflict (account, file_id) do nothing`,
    [
      account,
      fileId,
      file.broughtBy,
      file.userId,
      file.resetBy,
      by?.name ?? null,
      by?.signature.userId ?? null,
      by?.signature.credential ?? null,
      by?.signature.resetBy ?? null,
      at,
      waiting.movements,
      waiting.amountMinor,
    ],
  )
  if (rowCount === 0) {
    throw new Problem('changed_meanwhile', 'This file is confirmed already. Read it again.')
  }
  await trustStatements(tx, account, fileId)
  await tx.query(
    'update bank_reports set is_trusted = true where account = $1 and file_id = $2 and not is_trusted',
    [account, fileId],
  )
  // Another file, which nobody has confirmed, may have reported it first and in other words.
  await tx.query(
    `update bank_movements u set text = r.text,
       state = case when r.batch_count is null then 'new' else 'unexplained' end,
       act_at = case when r.batch_count is null then $3::timestamptz end,
       payer_account_no = r.payer_account_no, booked_on = r.booked_on, booked_at = r.booked_at,
       is_return = coalesce(r.is_return, u.is_return),
       payer_name = case when r.is_as_kept then u.payer_name end,
       payer_bank = case when r.is_as_kept then u.payer_bank end
     from (select distinct on (w.movement_id) r.*, (m.text, m.payer_account_no) is not distinct from
         (r.text, r.payer_account_no) as is_as_kept
       from (${waitingOfFile}) w
       join bank_movements m on m.account = $1 and m.movement_id = w.movement_id
       join bank_reports r on r.account = $1 and r.movement_id = w.movement_id and r.file_id = $2
       order by w.movement_id, r.line) r
     where u.account = $1 and u.movement_id = r.movement_id and u.state = 'unconfirmed'`,
    [account, fileId, at],
  )
  await hearFile(tx, account, fileId, at)
  // A sum of the bank may be explained by payments that nobody believed until now.
  const { rows: days } = await tx.query<{ bookedOn: string }>(
    `select distinct booked_on as "bookedOn" from bank_reports where account = $1 and file_id = $2`,
    [account, fileId],
  )
  await joinLateBatches(tx, of, days, at)
}

/** What the file says of movements that the bank had reported too counts from now on. */
async function hearFile(tx: Tx, account: string, fileId: string, at: Date): Promise<void> {
  const { rows } = await tx.query<{
    movement_id: string
    source: string
    booked_on: string
    text: string
    payer_account_no: string | null
    batch_count: number | null
    is_part: boolean
  }>(
    `select movement_id, source, booked_on, text, payer_account_no, batch_count,
       report_key like '%/%' as is_part
     from bank_reports where account = $1 and file_id = $2`,
    [account, fileId],
  )
  const heard = rows.map((row) => ({
    movementId: row.movement_id,
    isOfStatement: row.source === 'statement',
    isPart: row.is_part,
    report: {
      bookedOn: row.booked_on,
      text: row.text,
      payer: { accountNo: row.payer_account_no, name: null, bank: null },
      batchCount: row.batch_count,
    },
  }))
  const told = heard.map(({ movementId }) => movementId)
  await lockMovements(tx, account, told)
  const ofNoSum = heard.filter(({ isPart }) => !isPart)
  await lookAgain(tx, account, ofNoSum, at)
  const ofStatement = heard.filter(({ isOfStatement }) => isOfStatement)
  await bookedByStatement(tx, account, ofStatement)
}
