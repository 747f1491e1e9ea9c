import pg from 'pg'
import { addressNow } from './hosts.ts'

/** What a login may do in the database that the service must not. */
export interface LoginRights {
  login: string
  /** Each completes the sentence "the login …"; empty for a login that fits the service. */
  excesses: string[]
}

/**
 * Looks at what the login of this address may do or become. What a session switches to does not matter: whoever
 * makes it run a statement can switch back.
 */
export async function loginRights(url: string): Promise<LoginRights> {
  const client = new pg.Client({
    connectionString: await addressNow(url),
    application_name: 'sluice login',
    connectionTimeoutMillis: 5_000,
    query_timeout: 10_000,
  })
  client.on('error', () => {})
  await client.connect()
  try {
    const { rows } = await client.query<{ login: string; excesses: string[] }>(rightsSql)
    const [row] = rows
    if (!row) throw new Error('the database says nothing of its login')
    return row
  } finally {
    await client.end().catch(() => {})
  }
}

/** Before PostgreSQL 16, whoever may create roles may also join any role but a superuser's. */
const rightsSql = `
  with me as (
    select rolsuper, rolcreaterole and current_setting('server_version_num')::int < 160000 as may_join
      from pg_roles where rolname = session_user
  ), ours as (
    select c.oid, c.relname, c.relowner from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'sluice' and c.relkind in ('r', 'p')
  ), found as (
    select 1 as at, 'is a superuser' as excess from me where rolsuper
    union all
    select 2, 'owns the schema or can become its owner' from me where not rolsuper and (
      exists (select from ours where pg_has_role(session_user, relowner, 'member'))
      or exists (select from pg_namespace
                  where nspname = 'sluice' and pg_has_role(session_user, nspowner, 'member')))
    union all
    select 3, 'owns the database or can become its owner' from me, pg_database
     where not rolsuper and datname = current_database() and pg_has_role(session_user, datdba, 'member')
    union all
    select 4, 'may create roles, and so make itself the owner' from me where not rolsuper and may_join
    union all
    select 5, 'may act on the server''s files, and so become a superuser' from me
     where not rolsuper and (pg_has_role(session_user, 'pg_execute_server_program', 'member')
       or pg_has_role(session_user, 'pg_write_server_files', 'member'))
    union all
    select 6, 'may change the journal or the audit log' from me where not rolsuper and exists (
      -- Also by a role that it does not inherit from, but can become.
      select from ours, pg_roles r where relname ~ '^(journal|audit_log)'
        and pg_has_role(session_user, r.oid, 'member')
        and (has_table_privilege(r.oid, ours.oid, 'delete, truncate, trigger')
          or has_any_column_privilege(r.oid, ours.oid, 'update')))
  )
  select session_user::text as login,
    coalesce((select array_agg(excess order by at) from found), '{}') as excesses`
