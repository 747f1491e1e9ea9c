import { execFileSync } from 'node:child_process'
import { appendFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { embeddedLogin, openEmbeddedPostgres } from '../../src/db/embedded.ts'
import { migrate } from '../../src/db/migrate.ts'
import { bundlePrograms, type Programs } from './bundle.ts'
import { templateName } from './database.ts'
import { isStale } from './load-built.ts'
import { makeScratch } from './scratch.ts'

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string
    serviceUrl: string
    programs: Programs
    /** A DATA_DIR that has been served from and closed; to be copied. */
    madeDataDir: string
    /** Where the statements of the service are written down. */
    statements: string
  }
}

/** One real PostgreSQL for the whole run; every test makes a database of its own from a template. */
export default async function setup(project: TestProject) {
  // npm test has just built it.
  if (process.env.npm_lifecycle_event !== 'test' || isStale()) {
    execFileSync('npm', ['run', 'build', '--silent'], { stdio: 'inherit' })
  }
  const scratch = makeScratch()
  // For the workers, which inherit it, and all that they start.
  process.env.TMPDIR = scratch
  // While the database is made, which waits more than it works.
  const programs = bundlePrograms(join(scratch, 'programs'))
  programs.catch(() => {})
  const dataDir = join(scratch, 'data')
  await makeData(dataDir)
  const madeDataDir = join(scratch, 'made-data')
  // With its owner, who is another than root.
  execFileSync('cp', ['-a', dataDir, madeDataDir])
  // Each copy finds a port of its own.
  const settings = join(madeDataDir, 'postgres/sluice.json')
  const { password } = JSON.parse(readFileSync(settings, 'utf8'))
  writeFileSync(settings, JSON.stringify({ password }))
  tune(join(dataDir, 'postgres'))
  const postgres = await openEmbeddedPostgres({ dataDir, use: 'serve', log: () => {} })
  await query(postgres.ownerUrl, `create database ${templateName}`)
  await migrate(withDatabase(postgres.ownerUrl, templateName), { serviceLogin: embeddedLogin })
  project.provide('postgresUrl', postgres.ownerUrl)
  project.provide('serviceUrl', postgres.url)
  project.provide('madeDataDir', madeDataDir)
  const statements = join(scratch, 'statements')
  mkdirSync(statements)
  project.provide('statements', statements)
  project.provide('programs', await programs)
  return async () => {
    if (process.env.KEEP_STATEMENTS)
      cpSync(statements, process.env.KEEP_STATEMENTS, { recursive: true })
    await postgres.close()
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** Makes what the first start of a service makes, and closes it. */
async function makeData(dataDir: string): Promise<void> {
  const { ownerUrl, url, close } = await openEmbeddedPostgres({
    dataDir,
    use: 'serve',
    log: () => {},
  })
  await migrate(ownerUrl, { serviceLogin: embeddedLogin })
  // Tests open thousands of connections, and guessing these passwords is nobody's subject.
  for (const { username, password } of [new URL(ownerUrl), new URL(url)]) {
    await query(ownerUrl, `set scram_iterations = 1; alter role ${username} password '${password}'`)
  }
  await close()
}

/** Saves what a database for tests has no use for. */
function tune(cluster: string): void {
  const settings = [
    // Nobody pulls its plug; those that are killed are clusters of their tests' own.
    'fsync = off',
    'full_page_writes = off',
    'wal_level = minimal',
    'max_wal_senders = 0',
    // Its files are in memory, or soon in the system's cache.
    'io_method = sync',
    // No database lives long enough.
    'autovacuum = off',
  ]
  appendFileSync(join(cluster, 'postgresql.conf'), `\n${settings.join('\n')}\n`)
  // Passwords are still asked for, at a fraction of what scram takes at both ends.
  writeFileSync(
    join(cluster, 'pg_hba.conf'),
    'local all all password\nhost all all 127.0.0.1/32 password\n',
  )
}

async function query(url: string, sql: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  await client.query(sql)
  await client.end()
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}
