import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { migrate } from '../src/db/migrate.ts'
import { type TestDatabase, testDatabase } from './support/database.ts'

let database: TestDatabase
let folder: string
const clients: pg.Client[] = []

beforeEach(async () => {
  database = await testDatabase({ empty: true })
  folder = mkdtempSync(join(tmpdir(), 'sluice-migrations-'))
  file('0001_t.sql', 'create table t (a int); insert into t select generate_series(1, 1000);')
  await run()
})

afterEach(async () => {
  for (const client of clients.splice(0)) await client.end()
  await database.close()
  rmSync(folder, { recursive: true })
})

it('a lock that is held is asked for again, who holds it is named, and nobody waits behind the question', async () => {
  const holder = await connect()
  await holder.query('begin')
  const { rows } = await holder.query('select pg_backend_pid() as pid, count(*) from sluice.t')
  file('0002_more.sql', 'alter table t add column b int;')
  const said: string[] = []
  const migrating = run((message) => said.push(message))
  await seen(`select from pg_locks where relation = 'sluice.t'::regclass and not granted`)

  // Waits behind the alter table, and gets past it while the holder still holds its lock.
  await (await connect()).query('insert into sluice.t values (1)')
  await until(() => said.length > 0)
  expect(said[0]).toContain(`0002_more.sql waits for session ${rows[0].pid} (`)
  expect(said[0]).toContain('idle in transaction')

  await holder.query('commit')
  expect(await migrating).toEqual(['0002_more.sql'])
})

it('what is interrupted outside a transaction goes on where it was, and half an index is built again', async () => {
  file(
    '0002_index.sql',
    `-- outside a transaction
alter table t add column if not exists b int default 7;
create index concurrently if not exists t_a on t (a);
create index concurrently if not exists t_b on t (b);
`,
  )
  // An index waits for every snapshot that is older than itself.
  const holder = await connect()
  await holder.query('begin isolation level repeatable read')
  await holder.query('select 1')
  const migrating = run()
  const fault = expect(migrating).rejects.toThrow(/0002_index.sql failed at "create index .*t_a/)
  await seen(
    `select from pg_stat_activity where datname = current_database()
       and query like 'create index concurrently%' and wait_event = 'virtualxid'`,
  )
  const state = `select array_agg(c.relname || ' ' || i.indisvalid) as found
    from pg_index i join pg_class c on c.oid = i.indexrelid where c.relname in ('t_a', 't_b')`
  const onlooker = await connect()
  await onlooker.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and query like 'create index concurrently%'`,
  )
  await fault
  expect((await onlooker.query(state)).rows).toEqual([{ found: ['t_a false'] }])

  await holder.query('commit')
  expect(await run()).toEqual(['0002_index.sql'])
  expect((await onlooker.query(state)).rows).toEqual([{ found: ['t_a true', 't_b true'] }])
  expect(await run()).toEqual([])
})

it('those that migrate at once do not wait for each other in a circle', async () => {
  file(
    '0002_index.sql',
    '-- outside a transaction\ncreate index concurrently if not exists t_a on t (a);\n',
  )
  const applied = await Promise.all(Array.from({ length: 5 }, () => run()))
  expect(applied.flat()).toEqual(['0002_index.sql'])
})

function file(name: string, sql: string): void {
  writeFileSync(join(folder, name), sql)
}

function run(log: (message: string) => void = () => {}): Promise<string[]> {
  return migrate(database.url, { folder: pathToFileURL(`${folder}/`), log })
}

async function connect(): Promise<pg.Client> {
  const client = new pg.Client(database.url)
  client.on('error', () => {})
  await client.connect()
  clients.push(client)
  return client
}

/** Resolves when the query finds something. */
async function seen(sql: string): Promise<void> {
  const client = await connect()
  await until(async () => (await client.query(sql)).rowCount !== 0)
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20))
}
