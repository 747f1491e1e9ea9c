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

/** A fresh database with the schema in place, or without it where `empty` is asked for. */
export async function testDatabase(options: { empty?: boolean } = {}): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`
  const url = new URL(inject('postgresUrl'))
  const admin = (sql: string) => asAdmin(inject('postgresUrl'), sql)
  // Copied as files: by way of the log, which is PostgreSQL's own choice, it costs ten times as much.
  const from = options.empty ? '' : `template ${templateName} strategy file_copy`
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

async function asAdmin(url: string, sql: string): Promise<void> {
  const client = new pg.Client(url)
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
