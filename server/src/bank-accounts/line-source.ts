import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { Problem } from '../lib/problem.ts'

/**
 * A connector reports the lines of this account from now on, and of no other. Throws if somebody else reports them
 * already: two sources would each report the same money under an id of their own.
 */
export async function reportLines(
  tx: Tx,
  connector: string,
  account: string | null,
): Promise<void> {
  await tx.query('delete from line_sources where connector = $1 and account is distinct from $2', [
    connector,
    account,
  ])
  if (account !== null) await take(tx, account, connector)
}

/** The feed of an account reports its lines, or does not any more. Throws if a connector does. */
export async function feedLines(db: Pool | Tx, account: string, isOn: boolean): Promise<void> {
  if (isOn) return take(db, account, null)
  await db.query('delete from line_sources where account = $1 and connector is null', [account])
}

async function take(db: Pool | Tx, account: string, connector: string | null): Promise<void> {
  await db.query(
    'insert into line_sources (account, connector) values ($1, $2) on conflict (account) do nothing',
    [account, connector],
  )
  const { rows } = await db.query<{ connector: string | null }>(
    'select connector from line_sources where account = $1',
    [account],
  )
  const [source] = rows
  if (source?.connector === connector) return
  throw new Problem(
    'invalid_transition',
    source?.connector
      ? `The connector ${source.connector} reports the lines of ${account} already.`
      : `The bank account ${account} has a feed, which reports the same lines: switch it off first.`,
  )
}
