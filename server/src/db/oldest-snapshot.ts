import { inTransaction } from './in-transaction.ts'
import type { Pool } from './pool.ts'

/** The oldest look at the database that is still being used. */
export interface OldestSnapshot {
  /** Such as "session 4711 (pg_dump)". */
  holder: string
  /** Unknown where the database does not tell our login about others' sessions. */
  since: Date | null
  ageS: number | null
  /** Transactions begun since: what they replaced cannot be cleaned up. */
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

/** Finds who keeps old versions of rows from being cleaned up; null where nobody does. */
export async function oldestSnapshot(pool: Pool): Promise<OldestSnapshot | null> {
  const { rows } = await inTransaction(pool, async (tx) => {
    // The service's role sees no session but by its number, the login sees its own, a superuser all.
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
