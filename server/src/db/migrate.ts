import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import pg from 'pg'
import { addressNow } from './hosts.ts'
import { serviceRole, sqlState } from './pool.ts'
import { refuseTransactionPooler } from './refuse-pooler.ts'
import { DatabaseFault, type MigratingSession, runMigration } from './run-migration.ts'

const ourMigrations = new URL('../../src/db/migrations/', import.meta.url)

/** Held while migrating, so that a second process waits instead of doing the same work. */
const migrationLock = 7_358_401

export interface MigrateOptions {
  /** The login that the service runs as, if it is not the owner. */
  serviceLogin?: string | undefined
  /** Reports which session blocks the migration, while one does. */
  log?: (message: string) => void
  folder?: URL
}

/**
 * Brings the schema up to date: applies each file in `migrations/` once, in order of number, without
 * blocking others who use the database. Returns the names it applied. An applied file must not change. An
 * interrupted migration resumes when it is run again.
 */
export async function migrate(ownerUrl: string, options: MigrateOptions = {}): Promise<string[]> {
  const { log = () => {} } = options
  const address = await addressNow(ownerUrl)
  await refuseTransactionPooler(
    ownerUrl,
    'a pooler before it gives each transaction another session (pool_mode = transaction), and a migration needs its own: name the server itself in DATABASE_OWNER_URL',
  )
  const client = newClient(address)
  const onlooker = newClient(address)
  await client.connect()
  try {
    await onlooker.connect()
    await takeMigrationLock(client, log)
    await createRole(client)
    await joinRole(client, options.serviceLogin)
    await client.query('create schema if not exists sluice')
    await client.query('set search_path to sluice')
    await client.query(
      'create table if not exists schema_migrations (name text primary key, sha256 text not null, applied_at timestamptz not null)',
    )
    await client.query(`grant usage on schema sluice to ${serviceRole}`)
    await client.query(`grant select on schema_migrations to ${serviceRole}`)
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    const session = { client, pid: rows[0]?.pid ?? 0, onlooker, log }
    return await applyPending(session, options.folder ?? ourMigrations)
  } finally {
    await Promise.all([client.end(), onlooker.end()])
  }
}

function newClient(url: string): pg.Client {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'sluice migrate',
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  })
  // Queries report the same error; this listener only keeps it from ending the process.
  client.on('error', () => {})
  return client
}

/**
 * Polls instead of waiting inside a statement: a concurrent index build waits for every earlier
 * statement, so the two would wait for each other.
 */
async function takeMigrationLock(client: pg.Client, log: (message: string) => void): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const { rows } = await client.query<{ taken: boolean }>(
      'select pg_try_advisory_lock($1) as taken',
      [migrationLock],
    )
    if (rows[0]?.taken === true) return
    if (attempt === 10) log('another process is migrating the database: waiting for it to end')
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

async function applyPending(session: MigratingSession, folder: URL): Promise<string[]> {
  const applied = new Map(
    (
      await session.client.query<{ name: string; sha256: string }>(
        'select name, sha256 from schema_migrations',
      )
    ).rows.map((row) => [row.name, row.sha256]),
  )
  const names = await namesIn(folder)
  for (const name of applied.keys()) {
    if (!names.includes(name)) {
      throw new DatabaseFault(
        `it has migration ${name}, which this version does not know: run a newer version`,
      )
    }
  }
  const done: string[] = []
  for (const name of names) {
    const sql = await readFile(new URL(name, folder), 'utf8')
    const sha256 = createHash('sha256').update(sql).digest('hex')
    const known = applied.get(name)
    if (known === sha256) continue
    if (known !== undefined) {
      throw new DatabaseFault(`migration ${name} is not the file that was applied: restore it`)
    }
    await runMigration(session, { name, sql, sha256 })
    done.push(name)
  }
  return done
}

async function namesIn(folder: URL): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
}

/**
 * Roles belong to the whole server, so the migration of another database may be creating it at the same
 * time.
 */
async function createRole(client: pg.Client): Promise<void> {
  const { rows } = await client.query('select 1 from pg_roles where rolname = $1', [serviceRole])
  if (rows.length === 0) {
    try {
      await client.query(`create role ${serviceRole} nologin`)
    } catch (error) {
      if (isForbidden(error)) {
        throw new DatabaseFault(
          `the login may not create roles: let an administrator run "create role ${serviceRole} nologin; grant ${serviceRole} to <login>"`,
          { cause: error },
        )
      }
      if (!['42710', '23505'].includes(sqlState(error) ?? '')) throw error
    }
  }
}

/**
 * Gives the service's login the role's rights. Creating the role is not enough: only a superuser has the rights of
 * a role without being a member.
 */
async function joinRole(client: pg.Client, serviceLogin: string | undefined): Promise<void> {
  if (await hasRights(client, serviceLogin)) return
  const login = serviceLogin === undefined ? 'current_user' : pg.escapeIdentifier(serviceLogin)
  // Since PostgreSQL 16 a membership says whether its rights are inherited; before that the login does.
  const { rows } = await client.query<{ says: boolean }>(
    `select current_setting('server_version_num')::int >= 160000 as says`,
  )
  const inherits = rows[0]?.says ? ' with inherit true' : ''
  try {
    await client.query(`grant ${serviceRole} to ${login}${inherits}`)
  } catch (error) {
    if (!isForbidden(error)) throw error
    throw new DatabaseFault(
      `the service's login has not the rights of ${serviceRole}: let an administrator run "grant ${serviceRole} to <login>${inherits}"`,
      { cause: error },
    )
  }
  if (await hasRights(client, serviceLogin)) return
  throw new DatabaseFault(
    `the service's login is a member of ${serviceRole} but does not inherit its rights: let an administrator run "alter role <login> inherit"`,
  )
}

/** Whether the login has the role's rights without switching to it. */
async function hasRights(client: pg.Client, serviceLogin: string | undefined): Promise<boolean> {
  const { rows } = await client.query<{ has_rights: boolean }>(
    `select pg_has_role(coalesce($1, current_user), $2, 'usage') as has_rights`,
    [serviceLogin, serviceRole],
  )
  return rows[0]?.has_rights === true
}

function isForbidden(error: unknown): boolean {
  return sqlState(error) === '42501'
}

/** Migrations that have not been applied, and applied ones that this version does not know. */
export async function migrationState(
  pool: pg.Pool,
): Promise<{ pending: string[]; unknown: string[] }> {
  try {
    return await compareWithFiles(pool)
  } catch (error) {
    // The role does not exist, or the login has not its rights or may not see the schema.
    if (sqlState(error) !== '22023' && !isForbidden(error)) throw error
    return { pending: ['the role or the schema'], unknown: [] }
  }
}

async function compareWithFiles(pool: pg.Pool): Promise<{ pending: string[]; unknown: string[] }> {
  const names = await namesIn(ourMigrations)
  const { rows } = await pool.query<{ table: string | null }>(
    `select to_regclass('sluice.schema_migrations')::text as table`,
  )
  if (!rows[0]?.table) return { pending: names, unknown: [] }
  const applied = await pool.query<{ name: string }>('select name from schema_migrations')
  const known = new Set(applied.rows.map((row) => row.name))
  return {
    pending: names.filter((name) => !known.has(name)),
    unknown: [...known].filter((name) => !names.includes(name)).sort(),
  }
}
