import type { Tx } from '../db/in-transaction.ts'
import type { BankBalance, BankStatement } from '../statements/statement.ts'

/** Keeps what a file says of a day's balances, and whether that is the bank's word. */
export async function insertStatement(
  tx: Tx,
  account: string,
  { fileId, statementId, isTrusted }: { fileId: string; statementId: string; isTrusted: boolean },
  source: 'intraday' | 'statement',
  statement: BankStatement,
): Promise<void> {
  const booked = statement.entries.filter(({ status }) => status === 'booked')
  const days = booked.map(({ bookedOn }) => bookedOn).sort()
  const { opening, closing } = statement
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
      statement.from ?? opening?.day ?? days[0] ?? closing?.day ?? null,
      statement.to ?? closing?.day ?? days.at(-1) ?? null,
      balanceOf(statement, opening),
      balanceOf(statement, closing),
      booked.length,
      booked.reduce((sum, { amountMinor }) => sum + amountMinor, 0n),
      isTrusted,
      statement.page?.number ?? null,
    ],
  )
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
