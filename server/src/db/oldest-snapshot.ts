import { inTransaction } from './in-transaction.ts'
import type { Pool } from './pool.ts'

/** The oldest snapshot of the database that is still in use. */
export interface OldestSnapshot {
  /** Such as "session 4711 (pg_dump)". */
  holder: string
  /** Null if our login may not see the details of other sessions. */
  since: Date | null
  ageS: number | null
  /** Transactions begun since then: the row versions that they replaced cannot be cleaned up. */
  transactions: number
}

const snapshots = `select holder, since, age(xmin)::int as transactions,
    extract(epoch from clock_timestamp() - since)::float8 as age_s
  from (
    select format('session %s (%s)', pid, coalesce(nullif(application_name, ''), usename, backend_type))
      as holder, backend_xmin as xmin, xact_start as since
    from pg_stat_activity
    where backend_xmin is not null and pid <> pg_backend_pid()
      and (datname = current_database() or datname is null)
      and backend_type is distinct from 'autovacuum worker'
    union all
    select 'prepared transaction ' || gid, transaction, prepared
    from pg_prepared_xacts where database = current_database()
    union all
    select 'replication slot ' || slot_name, xmin, null
    from pg_replication_slots where xmin is not null
  ) held
  order by age(xmin) desc, since limit 1`

/** Finds what keeps old row versions from being cleaned up; null if nothing does. */
export async function oldestSnapshot(pool: Pool): Promise<OldestSnapshot | null> {
  const { rows } = await inTransaction(pool, async (tx) => {
    // The service's role sees only the numbers of sessions. The login sees its own sessions, a superuser
    // all.
    await tx.query('set local role none')
    return tx.query<{
      holder: string
      since: Date | null
      transactions: number
      age_s: number | null
    }>(snapshots)
  })
  const [row] = rows
  if (!row) return null
  const { holder, since, transactions, age_s } = row
  return { holder, since, ageS: age_s === null ? null : Math.max(0, age_s), transactions }
}
