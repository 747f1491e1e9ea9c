import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import { openEmbeddedPostgres } from '../../src/db/embedded.ts'
import {
  cleanUp,
  dataFolder,
  expectShutDown,
  serve,
  tempFolder,
  verifyClean,
} from '../support/process.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'

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

const patient = { interval: 50, timeout: 60_000 }

test('of two servers that take writes the one that was promoted last counts, and the other one is left', async () => {
  const DATA_DIR = await dataFolder()
  const copyDir = await tempFolder()
  const made = await serve({ DATA_DIR, LOG_LEVEL: 'warn' })
  const { demo } = made
  await made.stop()
  await expectShutDown(DATA_DIR)
  execFileSync('cp', ['-a', `${DATA_DIR}/.`, copyDir])
  await writeFile(join(copyDir, 'postgres/standby.signal'), '')
  const [one, two] = [await serverIn(DATA_DIR), await serverIn(copyDir)]

  // Both are named in the address; or one name leads to them by turns, and what is open stays where it is.
  const hosts = `${new URL(one.tcpUrl).host},${new URL(two.tcpUrl).host}`
  const named = one.tcpUrl.replace(new URL(one.tcpUrl).host, hosts)
  const proxy = await TcpProxy.open(one.tcpUrl)
  const services = await Promise.all([
    serve({ DATA_DIR, DATABASE_URL: named, LOG_LEVEL: 'fatal' }),
    serve({ DATA_DIR, DATABASE_URL: proxy.url, LOG_LEVEL: 'fatal' }),
  ])
  const agents = services.map((service) => service.agent(demo))
  for (const agent of agents) expect((await agent.deposit()).status).toBe(201)

  await two.owner.query('select pg_promote()')
  proxy.leadTo(two.tcpUrl)
  // A connection that has to be made anew meets the new server.
  await one.owner.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'sluice door'`,
  )
  const sessionsOfOld = async () => {
    for (const agent of agents) await agent.deposit()
    return one.sessions()
  }
  await expect.poll(sessionsOfOld, patient).toBe(0)
  const before = await one.count('orders')
  for (const agent of agents) {
    await expect.poll(async () => (await agent.deposit()).status, patient).toBe(201)
  }
  expect(await one.count('orders')).toBe(before)
  expect(await two.count('orders')).toBeGreaterThanOrEqual(2)
  // The old one has taken what the new one never saw.
  expect(await two.count('restore_holds')).toBeGreaterThan(0)
  for (const service of services) await service.stop()
  for (const server of [one, two]) await server.close()
  await proxy.close()
})

/** The PostgreSQL in a data directory, with nobody in it but this test. */
async function serverIn(dataDir: string) {
  const postgres = await openEmbeddedPostgres({ dataDir, use: 'command', log: () => {} })
  const owner = new pg.Client(postgres.ownerUrl)
  await owner.connect()
  const { port, username, password } = new URL(postgres.url)
  return {
    owner,
    tcpUrl: `postgres://${username}:${password}@127.0.0.1:${port}/sluice`,
    async count(table: string): Promise<number> {
      return Number((await owner.query(`select count(*) from sluice.${table}`)).rows[0].count)
    },
    async sessions(): Promise<number> {
      const { rowCount } = await owner.query(
        `select from pg_stat_activity where application_name ~ '^sluice (teller|door|witness|work)'`,
      )
      return rowCount ?? 0
    },
    async close() {
      await owner.end()
      await postgres.close()
    },
  }
}
