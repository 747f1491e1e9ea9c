import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'

export const templateName = 'sluice_template'

export interface TestDatabase {
  /** As the owner of the schema. */
  url: string
  close(): Promise<void>
}

/** A fresh database with the schema in place, or without it where `empty` is asked for. */
export async function testDatabase(options: { empty?: boolean } = {}): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`
  const url = new URL(inject('postgresUrl'))
  const admin = (sql: string) => asAdmin(inject('postgresUrl'), sql)
  await admin(`create database ${name} ${options.empty ? '' : `template ${templateName}`}`)
  url.pathname = `/${name}`
  return {
    url: url.href,
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
