import { heardBy } from '../alerts/alert.ts'
import type { Trouble } from '../alerts/keep-watch.ts'
import { databaseTime } from '../db/database-time.ts'
import type { Pool } from '../db/pool.ts'

/** How the connection to an account's bank is. */
export interface BankConnection {
  account: string
  /** In words; null if it works. */
  fault: string | null
  /** Since when it is so. */
  since: Date
  lookedAt: Date
}

/** Whether it is time to visit a bank, and for which process: the one that says so first. */
export async function takeTurn(
  pool: Pool,
  account: string,
  /** Null for the database's own time; see `timeToPass`. */
  at: Date | null,
  everyMs: number,
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `insert into bank_connections (account, fault, since, looked_at)
     select $1, null, at.now, at.now from (select ${databaseTime('$2')} as now) at
     on conflict (account) do update set looked_at = excluded.looked_at
     where bank_connections.looked_at <= excluded.looked_at - $3 * interval '1 ms'`,
    [account, at, everyMs],
  )
  return rowCount === 1
}

/** Keeps how the last visit to a bank went. When its folder is looked at next is left as it is. */
export async function noteConnection(
  pool: Pool,
  account: string,
  fault: string | null,
  at: Date,
): Promise<void> {
  await pool.query(
    `insert into bank_connections (account, fault, since, looked_at) values ($1, $2, $3, $3)
     on conflict (account) do update set fault = excluded.fault,
       since = case when (bank_connections.fault is null) = (excluded.fault is null)
         then bank_connections.since else excluded.since end`,
    [account, fault?.slice(0, 1_000) ?? null, at],
  )
}

export async function readConnections(pool: Pool): Promise<Map<string, BankConnection>> {
  const { rows } = await pool.query<BankConnection>(
    `select account, fault, since, looked_at as "lookedAt" from bank_connections`,
  )
  return new Map(rows.map((row) => [row.account, row]))
}

/** The banks that cannot be reached, or that are not who they were. */
export async function brokenConnections(pool: Pool): Promise<Trouble[]> {
  return [...(await readConnections(pool)).values()].flatMap(({ account, fault }) =>
    fault === null
      ? []
      : [
          {
            subject: `bank account ${account}`,
            topic: `bank account ${account}`,
            words: `Files of ${account} do not come or go by SFTP. ${fault}`,
            to: { roles: heardBy.bank_connection },
          },
        ],
  )
}
