import { createHash } from 'node:crypto'
import type { BankAccount } from '../bank-accounts/bank-account.ts'
import { type BankMovement, movementColumns } from '../bank-accounts/bank-movement.ts'
import { lockAccount } from '../bank-accounts/take-reports.ts'
import { type Tx, triedOut, withPatience } from '../db/in-transaction.ts'
import { newOrderId } from '../lib/ids.ts'
import type { BankStatement } from '../statements/statement.ts'
import type { Desk } from '../teller/desk.ts'
import { readStatements, takeStatements } from './import-bank-file.ts'
import { type MovementMatch, matchCredits, matchDebits } from './match-movements.ts'

/** How many new movements are laid beside the orders. */
const shownMovements = 50

export interface BankFilePreview {
  /** Who imported the same bytes before, and when. */
  before: { by: string; at: Date } | null
  statements: BankStatement[]
  /** Booked entries. */
  entries: number
  pending: number
  /** Movements that nobody has reported before. */
  added: number
  /** Booked entries about movements that are known. */
  known: number
  /** The first of the new movements, with the line that each is on and what it would be. */
  movements: { movement: BankMovement; line: number | null; match: MovementMatch }[]
}

/**
 * What importing a file would do: all of it is done, looked at and undone. Throws a `BankFileFault` if the file
 * would be refused.
 */
export async function previewBankFile(
  { pool, now }: Pick<Desk, 'pool' | 'now'>,
  account: BankAccount,
  { name, bytes }: { name: string; bytes: Buffer },
): Promise<BankFilePreview> {
  const statements = await readStatements(account, { bytes })
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return triedOut(pool, (tx) =>
    withPatience(tx, 120, async () => {
      await lockAccount(tx, account.name)
      const { rows } = await tx.query<{ by: string; at: Date }>(
        `select brought_by as by, received_at as at from bank_files
         where account = $1 and sha256 = $2 and fault is null`,
        [account.name, sha256],
      )
      const fileId = newOrderId(now())
      await tx.query(
        `insert into bank_files (account, file_id, sha256, name, size, bytes, via, brought_by, received_at)
         values ($1, $2, $3, $4, $5, '', 'console', 'preview', $6)`,
        // Not the file's own digest, which may be there already.
        [account.name, fileId, sha256Of(fileId), name.slice(-255) || 'file', bytes.length, now()],
      )
      const added = await takeStatements(tx, account, statements, fileId, true, now())
      const entries = statements.flatMap((each) => each.entries)
      const booked = entries.filter(
        ({ status, amountMinor }) => status === 'booked' && amountMinor !== 0n,
      ).length
      return {
        before: rows[0] ?? null,
        statements,
        entries: booked,
        pending: entries.filter(({ status }) => status === 'pending').length,
        added,
        known: Math.max(0, booked - added),
        movements: await newMovements(tx, account, fileId),
      }
    }),
  )
}

function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

async function newMovements(
  tx: Tx,
  account: BankAccount,
  fileId: string,
): Promise<BankFilePreview['movements']> {
  const { rows } = await tx.query<BankMovement & { line: number | null }>(
    `select ${movementColumns.select('m')}, r.line from bank_movements m
     join bank_reports r on r.account = m.account and r.movement_id = m.movement_id
     where m.account = $1 and r.file_id = $2 and not exists (select 1 from bank_reports o
       where o.account = m.account and o.movement_id = m.movement_id and o.file_id is distinct from $2)
     order by r.line nulls first, m.movement_id limit $3`,
    [account.name, fileId, shownMovements],
  )
  const open = rows.filter(({ state }) => state !== 'unexplained')
  const matches = new Map([
    ...(await matchCredits(
      tx,
      account,
      open.filter(({ amountMinor }) => amountMinor > 0n),
    )),
    ...(await matchDebits(
      tx,
      account,
      open.filter(({ amountMinor }) => amountMinor < 0n),
    )),
  ])
  return rows.map(({ line, ...movement }) => ({
    movement,
    line,
    match: matches.get(movement.movementId) ?? {
      type: 'unexplained',
      detail: movement.detail ?? 'It may take back a payment of this file.',
    },
  }))
}
