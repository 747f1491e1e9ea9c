import pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import { openEmbeddedPostgres } from '../../src/db/embedded.ts'
import { cleanUp, dataFolder, serve, verifyClean } from '../support/process.ts'

afterEach(cleanUp)

test('an order whose first answer may be lost is answered again only when the replicas have it', async () => {
  const dataDir = await dataFolder()
  const env = { DATA_DIR: dataDir, LOG_LEVEL: 'warn' }
  const agent = (await serve(env)).agent()
  const request = agent.order()
  const first = await agent.post('/payment/deposit', request)
  expect(first.status).toBe(201)

  const postgres = await openEmbeddedPostgres({ dataDir, use: 'command', log: () => {} })
  const owner = new pg.Client(postgres.ownerUrl)
  await owner.connect()
  // Every commit now waits for a replica that is not there.
  await owner.query(`alter system set synchronous_standby_names = 'away'`)
  await owner.query('select pg_reload_conf()')
  await expect
    .poll(async () => (await owner.query('show synchronous_standby_names')).rows[0], {
      interval: 20,
    })
    .toEqual({ synchronous_standby_names: 'away' })

  const seen: string[] = []
  const again = agent.post('/payment/deposit', request).finally(() => seen.push('answered'))
  const waiting = `select from pg_stat_activity
    where application_name = 'sluice teller' and wait_event = 'SyncRep'`
  await expect
    .poll(async () => seen.length + ((await owner.query(waiting)).rowCount ?? 0), { interval: 20 })
    .toBeGreaterThan(0)
  expect(seen).toEqual([])

  await owner.query('alter system reset synchronous_standby_names')
  await owner.query('select pg_reload_conf()')
  const repeated = await again
  expect(repeated.text).toBe(first.text)
  await owner.end()
  await postgres.close()
  await verifyClean(env)
})
