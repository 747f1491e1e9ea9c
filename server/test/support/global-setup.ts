import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { embeddedLogin, openEmbeddedPostgres } from '../../src/db/embedded.ts'
import { migrate } from '../../src/db/migrate.ts'
import { bundlePrograms, type Programs } from './bundle.ts'
import { templateName } from './database.ts'
import { makeScratch } from './scratch.ts'

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string
    serviceUrl: string
    programs: Programs
  }
}

/** One real PostgreSQL for the whole run; every test makes a database of its own from a template. */
export default async function setup(project: TestProject) {
  // npm test has just built it.
  if (process.env.npm_lifecycle_event !== 'test') {
    execFileSync('npm', ['run', 'build', '--silent'], { stdio: 'inherit' })
  }
  const scratch = makeScratch()
  // For the workers, which inherit it, and all that they start.
  process.env.TMPDIR = scratch
  const dataDir = join(scratch, 'postgres')
  const postgres = await openEmbeddedPostgres({ dataDir, use: 'serve', log: () => {} })
  const admin = new pg.Client(postgres.ownerUrl)
  await admin.connect()
  // Nobody pulls its plug; those that are killed are clusters of their tests' own.
  for (const name of ['fsync', 'full_page_writes']) {
    await admin.query(`alter system set ${name} = off`)
  }
  await admin.query('select pg_reload_conf()')
  // Tests open thousands of connections, and guessing these passwords is nobody's subject.
  await admin.query('set scram_iterations = 1')
  for (const { username, password } of [new URL(postgres.ownerUrl), new URL(postgres.url)]) {
    await admin.query(`alter role ${username} password '${password}'`)
  }
  await admin.query(`create database ${templateName}`)
  await admin.end()
  await migrate(withDatabase(postgres.ownerUrl, templateName), { serviceLogin: embeddedLogin })
  project.provide('postgresUrl', postgres.ownerUrl)
  project.provide('serviceUrl', postgres.url)
  project.provide('programs', await bundlePrograms(join(scratch, 'programs')))
  return async () => {
    await postgres.close()
    rmSync(scratch, { recursive: true, force: true })
  }
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}
