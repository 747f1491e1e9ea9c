import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'

export const templateName = 'sluice_template'

export interface TestDatabase {
  /** As the service's login; in an empty database, which has no rights to give, as its owner. */
  url: string
  /** As the owner of the schema. */
  ownerUrl: string
  close(): Promise<void>
}

/**
 * A fresh database with the schema in place, without it where `empty` is asked for, or a copy of another that nobody
 * is connected to.
 */
export async function testDatabase(
  options: { empty?: boolean; of?: TestDatabase } = {},
): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`
  const url = new URL(inject('postgresUrl'))
  const admin = (sql: string) => asAdmin(inject('postgresUrl'), sql)
  // Copied as files: by way of the log, which is PostgreSQL's own choice, it costs ten times as much.
  const template = options.of ? new URL(options.of.ownerUrl).pathname.slice(1) : templateName
  const from = options.empty ? '' : `template ${template} strategy file_copy`
  await admin(`create database ${name} ${from}`)
  url.pathname = `/${name}`
  const ownerUrl = url.href
  const login = new URL(inject('serviceUrl'))
  login.pathname = url.pathname
  return {
    url: options.empty ? ownerUrl : login.href,
    ownerUrl,
    close: () => admin(`drop database ${name} with (force)`),
  }
}

async function asAdmin(url: string, sql: string, tries = 10): Promise<void> {
  const client = new pg.Client(url)
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query(sql)
  } catch (error) {
    // A session that was told to end may take longer on a busy machine than the five seconds it is waited for.
    const isInUse = error instanceof pg.DatabaseError && error.code === '55006'
    if (tries === 1 || !isInUse) throw error
    await asAdmin(url, sql, tries - 1)
  } finally {
    await client.end()
  }
}
