import type pg from 'pg'
import { sqlState } from './pool.ts'
import { splitStatements } from './split-statements.ts'

/** Why a database cannot be used as it is, and what to do. */
export class DatabaseFault extends Error {}

/** The session that migrates, and another that looks who is in its way. */
export interface MigratingSession {
  client: pg.Client
  /** The number that the database knows the session by. */
  pid: number
  onlooker: pg.Client
  log: (message: string) => void
}

/** A file of the folder of migrations. */
export interface Migration {
  name: string
  sql: string
  sha256: string
}

/** The first line of a file whose statements are run one by one, each a transaction of its own. */
const outsideTransaction = '-- outside a transaction\n'

/**
 * Whoever comes after a lock that is waited for waits behind it, so it is waited for shortly and asked
 * for again: for less than the second after which PostgreSQL looks for a deadlock and may end a writer
 * instead of us. Only now and then it is longer, because an autovacuum that is in the way is ended after
 * that second too.
 */
const lockTimeoutMs = 500
const longLockTimeoutMs = 1_500
const longEvery = 5
const patienceMs = 10 * 60_000
const lookEveryMs = 200

/**
 * Applies one migration and records it. What fails inside a transaction leaves nothing behind. What is
 * run outside one may stop between two statements, so each of them can be run again.
 */
export async function runMigration(session: MigratingSession, migration: Migration): Promise<void> {
  const { client } = session
  const { name, sql } = migration
  // The login's own may be too short for an index of a large table.
  await client.query('set statement_timeout = 0')
  if (!sql.startsWith(outsideTransaction)) {
    await untilUnlocked(session, name, async () => {
      await client.query('begin')
      try {
        await client.query(sql)
        await record(client, migration)
        await client.query('commit')
      } catch (error) {
        await client.query('rollback').catch(() => {})
        throw error
      }
    }).catch((error) => {
      throw faultOf(`migration ${name} failed and was rolled back`, error)
    })
    return
  }
  for (const statement of splitStatements(sql)) {
    await untilUnlocked(session, name, () => runAlone(client, statement)).catch((error) => {
      throw faultOf(
        `migration ${name} failed at "${statement.slice(0, 80)}"; what it did before stays, and it goes on when it is run again`,
        error,
      )
    })
  }
  await record(client, migration)
}

async function record(client: pg.Client, { name, sha256 }: Migration): Promise<void> {
  await client.query('insert into schema_migrations values ($1, $2, $3)', [
    name,
    sha256,
    new Date(),
  ])
}

/**
 * An index that is built while others write waits for every transaction that was there before it, but
 * nobody waits for it: it may take its time. One that was interrupted is there but of no use. One that is
 * whole is left alone, whatever has become of its table since: PostgreSQL refuses a partitioned one before
 * it looks whether the index is there.
 */
async function runAlone(client: pg.Client, statement: string): Promise<void> {
  const index = /^create\s+(?:unique\s+)?index\s+concurrently\s+(?:if\s+not\s+exists\s+)?(\w+)/i
  const [, name] = index.exec(statement) ?? []
  if (name === undefined && !/^(drop|reindex)\s.*\bconcurrently\b/i.test(statement)) {
    await client.query(statement)
    return
  }
  await client.query('set lock_timeout = 0')
  const { rows } = await client.query<{ indisvalid: boolean }>(
    'select indisvalid from pg_index where indexrelid = to_regclass($1)',
    [name],
  )
  const [found] = rows
  if (found?.indisvalid && /\bif\s+not\s+exists\b/i.test(statement)) return
  if (found && !found.indisvalid) await client.query(`drop index concurrently ${name}`)
  await client.query(statement)
}

/** Runs something that may wait for a lock, again and again, and says who holds it. */
async function untilUnlocked(
  session: MigratingSession,
  name: string,
  work: () => Promise<void>,
): Promise<void> {
  const deadline = performance.now() + patienceMs
  let said = ''
  const timer = setInterval(async () => {
    const blockers = await whoBlocks(session).catch(() => '')
    if (blockers === '' || blockers === said) return
    said = blockers
    session.log(`migration ${name} waits for ${blockers}`)
  }, lookEveryMs)
  try {
    for (let attempt = 1; ; attempt++) {
      try {
        const timeoutMs = attempt % longEvery === 0 ? longLockTimeoutMs : lockTimeoutMs
        await session.client.query(`set lock_timeout = ${timeoutMs}`)
        await work()
        return
      } catch (error) {
        // A lock that was not given in time, or a deadlock.
        if (!['55P03', '40P01'].includes(sqlState(error) ?? '')) throw error
        if (performance.now() > deadline) {
          throw new DatabaseFault(
            `migration ${name} did not get a lock in ten minutes: end ${said || 'what holds it'}, or run "sluice migrate" when it is over`,
            { cause: error },
          )
        }
      }
      await pause(Math.min(500 * attempt, 5_000))
    }
  } finally {
    clearInterval(timer)
  }
}

async function whoBlocks({ pid, onlooker }: MigratingSession): Promise<string> {
  const { rows } = await onlooker.query<{ who: string }>(
    `select format('session %s (%s, %s) since %s', pid,
       coalesce(nullif(application_name, ''), usename, backend_type), coalesce(state, 'at work'),
       to_char(xact_start at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS')) as who
     from pg_stat_activity where pid = any(pg_blocking_pids($1)) order by pid`,
    [pid],
  )
  return rows.map(({ who }) => who).join(', ')
}

function faultOf(what: string, error: unknown): DatabaseFault {
  if (error instanceof DatabaseFault) return error
  return new DatabaseFault(`${what}: ${String(error)}`, { cause: error })
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
