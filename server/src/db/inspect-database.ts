import { type Mode, modeOf } from './deployment.ts'
import { unsafeSettings } from './durability.ts'
import { addressNow } from './hosts.ts'
import { loginRights } from './login-rights.ts'
import { migrationState } from './migrate.ts'
import { type OldestSnapshot, oldestSnapshot } from './oldest-snapshot.ts'
import { openPool, type Pool, serviceRole } from './pool.ts'

export interface DatabaseFindings {
  /** PostgreSQL's number, such as 180004. */
  version: number
  login: string
  /** What the login may do that the service must not. */
  excesses: string[]
  isReadOnly: boolean
  /** How far the database's clock is ahead of ours. */
  clockAheadMs: number
  /** The mode that the database was first started in. */
  mode: Mode | undefined
  pending: string[]
  unknown: string[]
  roleExists: boolean
  /** Whether the login has the rights of the service's role. */
  hasRights: boolean
  /** Whether the service's role could change the journal, which it must not. */
  journalIsOpen: boolean
  /** Settings that are off and must be on. */
  unsafeSettings: string[]
  /** The setting of the database or the login; the service raises it if it is too low. */
  synchronousCommit: string
  /** Whether a commit waits for another server, so that a failover loses nothing. */
  hasSynchronousStandby: boolean
  /** How many servers follow this one at the moment. */
  replicas: number
  oldestSnapshot: OldestSnapshot | null
  /** On Citus, the tables that lie on one node alone; undefined elsewhere. */
  undistributed: string[] | undefined
}

/** Undefined before the first start, or if the login may not read it. */
function modeIn(pool: Pool): Promise<Mode | undefined> {
  return modeOf(pool).catch(() => undefined)
}

/** Citus lists in a view which tables it knows, distributed or copied to every node. */
async function undistributedTables(pool: Pool): Promise<string[] | undefined> {
  const { rows: citus } = await pool.query<{ view: string | null }>(
    `select to_regclass('citus_tables')::text as view`,
  )
  if (!citus[0]?.view) return undefined
  const { rows } = await pool.query<{ name: string }>(
    `select c.relname as name from pg_class c
     where c.relnamespace = to_regnamespace('sluice') and c.relkind in ('r', 'p')
       and not c.relispartition
       and c.oid not in (select t.table_name::oid from citus_tables t)
     order by 1`,
  )
  return rows.map(({ name }) => name)
}

/** Inspects a database without changing anything. Throws if it cannot be reached. */
export async function inspectDatabase(url: string): Promise<DatabaseFindings> {
  // Of several servers, the one that the service would use.
  await addressNow(url)
  const pool = openPool({ url, max: 1, name: 'sluice doctor', as: 'owner', onError: () => {} })
  try {
    const asked = Date.now()
    const { rows } = await pool.query<{
      version: number
      login: string
      is_read_only: boolean
      clock_ms: number
      role_exists: boolean
      journal: string | null
      synchronous_commit: string
      standbys: string
      replicas: number
    }>(
      `select current_setting('server_version_num')::int as version, current_user as login,
         pg_is_in_recovery() as is_read_only,
         (extract(epoch from clock_timestamp()) * 1000)::float8 as clock_ms,
         exists (select from pg_roles where rolname = $1) as role_exists,
         current_setting('synchronous_standby_names') as standbys,
         (select count(*)::int from pg_stat_replication) as replicas,
         to_regclass('sluice.journal')::text as journal,
         (select reset_val from pg_settings where name = 'synchronous_commit') as synchronous_commit`,
      [serviceRole],
    )
    const [row] = rows
    if (!row) throw new Error('the database says nothing of itself')
    const halfway = (asked + Date.now()) / 2
    const rights = row.role_exists
      ? await pool.query<{ has_rights: boolean; journal_is_open: boolean | null }>(
          `select pg_has_role(current_user, $1, 'usage') as has_rights,
             has_table_privilege($1, to_regclass('sluice.journal'), 'delete, truncate')
             or has_any_column_privilege($1, to_regclass('sluice.journal'), 'update')
               as journal_is_open`,
          [serviceRole],
        )
      : undefined
    return {
      version: row.version,
      login: row.login,
      excesses: (await loginRights(url)).excesses,
      isReadOnly: row.is_read_only,
      clockAheadMs: Math.round(row.clock_ms - halfway),
      mode: await modeIn(pool),
      ...(await migrationState(pool)),
      roleExists: row.role_exists,
      hasRights: rights?.rows[0]?.has_rights ?? false,
      journalIsOpen: rights?.rows[0]?.journal_is_open ?? false,
      unsafeSettings: await unsafeSettings(pool),
      synchronousCommit: row.synchronous_commit,
      hasSynchronousStandby: row.standbys.trim() !== '',
      replicas: row.replicas,
      oldestSnapshot: await oldestSnapshot(pool),
      undistributed: await undistributedTables(pool),
    }
  } finally {
    await pool.end()
  }
}
