import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPool, type Pool } from '../../src/db/pool.ts'
import { newOrderId } from '../../src/lib/ids.ts'
import { localTimeIn } from '../../src/lib/local-time.ts'
import { Teller } from '../../src/teller/teller.ts'
import { openTellerPool } from '../../src/teller/teller-pool.ts'
import { newOrder } from '../support/naive-model.ts'
import { startTestService, type TestService } from '../support/service.ts'

let s: TestService
beforeAll(async () => {
  s = await startTestService()
})
afterAll(async () => {
  await s.prove()
  await s.close()
})

it.each([
  ['off', 'on'],
  ['local', 'on'],
  ['remote_write', 'on'],
  ['on', 'on'],
  ['remote_apply', 'remote_apply'],
])(
  'where the database says synchronous_commit %s, what is acknowledged waits for the disk as with %s',
  async (inherited, inForce) => {
    await setForDatabase(inherited)
    const pools = [
      openTellerPool(s.database.url, () => {}),
      openPool({ url: s.database.url, max: 1, name: 'test', onError: () => {} }),
    ]
    for (const pool of pools) {
      expect(await settingInTransaction(pool)).toBe(inForce)
      await pool.end()
    }
  },
)

it('an address that turns it off is not believed, and a later change of the server lowers nothing', async () => {
  await setForDatabase('on')
  const url = new URL(s.database.url)
  url.searchParams.set('options', '-c synchronous_commit=off')
  const pool = openTellerPool(url.href, () => {}, 1)
  expect(await settingInTransaction(pool)).toBe('on')
  const { rows } = await pool.query(
    `select source from pg_settings where name = 'synchronous_commit'`,
  )
  // What the session has set itself goes before whatever the server is told later.
  expect(rows).toEqual([{ source: 'session' }])
  await pool.end()
})

it('every transaction of the teller waits for the disk, even in a session that somebody else has lowered', async () => {
  // As behind a pooler, where a transaction runs in whichever session is free.
  const pool = openTellerPool(s.database.url, () => {}, 1)
  await pool.query('set synchronous_commit = off')
  await s.sql('create table seen (setting text)')
  await s.sql('grant insert on seen to public')
  await s.sql(`create function see() returns trigger language plpgsql as
    $$ begin insert into sluice.seen values (current_setting('synchronous_commit')); return null; end $$`)
  for (const table of ['orders', 'journal']) {
    await s.sql(`create trigger see after insert on ${table} execute function see()`)
  }
  const { agentId } = await s.agent()
  const teller = new Teller({
    ...{ pool, localTime: localTimeIn('UTC'), writers: 1, maxBatch: 10, maxQueue: 10 },
    patienceMs: 10_000,
  })
  const at = s.clock()
  const order = newOrder({ agentId, orderId: newOrderId(at), kind: 'deposit', createdAt: at })
  await teller.do({ type: 'create', agentId, at, order })
  await teller.do({ type: 'adjust', agentId, at, amountMinor: 1n, reason: 'test', ref: 'seen' })
  const { rows } = await s.sql('select setting from seen')
  expect(rows).toEqual([{ setting: 'on' }, { setting: 'on' }])
  for (const table of ['orders', 'journal']) await s.sql(`drop trigger see on ${table}`)
  await s.sql('drop function see')
  await s.sql('drop table seen')
  await pool.end()
})

it('the oldest snapshot is told with its age, whoever holds it', async () => {
  const holder = new pg.Client({
    connectionString: s.database.ownerUrl,
    application_name: 'a report',
  })
  await holder.connect()
  try {
    await holder.query('begin isolation level repeatable read')
    await holder.query('select 1')
    // Other tests share the server: theirs may be older, never younger, than the oldest that is told.
    for (let times = 0; times < 2; times++) {
      const { rows } = await holder.query<{ seconds: number }>(
        'select extract(epoch from clock_timestamp() - now())::float8 as seconds',
      )
      expect((await metrics()).seconds).toBeGreaterThan(rows[0]?.seconds ?? 0)
    }
    await s.sql('select pg_current_xact_id()')
    expect((await metrics()).transactions).toBeGreaterThan(0)
  } finally {
    await holder.end()
  }
})

async function setForDatabase(value: string): Promise<void> {
  const { rows } = await s.sql('select current_database() as name')
  await s.sql(`alter database ${rows[0]?.name} set synchronous_commit = ${value}`)
}

async function settingInTransaction(pool: Pool): Promise<string> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const { rows } = await client.query<{ synchronous_commit: string }>('show synchronous_commit')
    await client.query('commit')
    return rows[0]?.synchronous_commit ?? ''
  } finally {
    client.release()
  }
}

async function metrics(): Promise<{ seconds: number; transactions: number }> {
  const text = await (await fetch(`${s.service.url}/metrics`)).text()
  const figure = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
  return {
    seconds: figure('sluice_oldest_snapshot_seconds'),
    transactions: figure('sluice_oldest_snapshot_transactions'),
  }
}
