import type pg from 'pg'
import { sqlState } from './pool.ts'
import { splitStatements } from './split-statements.ts'

/** Why a database cannot be used in its present state, and what to do about it. */
export class DatabaseFault extends Error {}

/** The session that migrates, and a second one that finds out which sessions block it. */
export interface MigratingSession {
  client: pg.Client
  /** The process id of the session in the database. */
  pid: number
  onlooker: pg.Client
  log: (message: string) => void
}

/** A file in the migrations folder. */
export interface Migration {
  name: string
  sql: string
  sha256: string
}

/** The first line of a file whose statements run one by one, each in a separate transaction. */
const outsideTransaction = '-- outside a transaction\n'

/**
 * Other sessions queue behind a lock that we wait for, so we wait briefly and try again. The wait is
 * shorter than the second after which PostgreSQL looks for a deadlock and may cancel a writer instead of
 * us. Every few attempts it is longer, because PostgreSQL also cancels a blocking autovacuum only after
 * that second.
 */
const lockTimeoutMs = 500
const longLockTimeoutMs = 1_500
const longEvery = 5
const patienceMs = 10 * 60_000
const lookEveryMs = 200

/**
 * Applies one migration and records it. A failure inside a transaction leaves nothing behind. A migration
 * outside a transaction may stop between two statements, so each of them must be repeatable.
 */
export async function runMigration(session: MigratingSession, migration: Migration): Promise<void> {
  const { client } = session
  const { name, sql } = migration
  // The login's own timeout may be too short for an index on a large table.
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
 * A concurrent index build waits for every earlier transaction but blocks none, so it has no lock
 * timeout. An interrupted build leaves an invalid index, which is dropped first. A valid index is left
 * alone, even if its table has since been partitioned: PostgreSQL rejects a partitioned table before it
 * checks whether the index exists.
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

/** Repeats work that may have to wait for a lock, and logs which session holds it. */
async function untilUnlocked(
  session: MigratingSession,
  name: string,
  work: () => Promise<void>,
): Promise<void> {
  let deadline = performance.now() + patienceMs
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
        const began = performance.now()
        await session.client.query(`set lock_timeout = ${timeoutMs}`)
        await work().finally(() => {
          // It got its locks and worked for a while: the wait for the next one begins now.
          if (performance.now() - began > 2 * timeoutMs) deadline = performance.now() + patienceMs
        })
        return
      } catch (error) {
        // Lock timeout or deadlock.
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
