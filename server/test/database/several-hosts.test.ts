import { expect, it } from 'vitest'
import { openBackend } from '../../src/backend.ts'
import { testDatabase } from '../support/database.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'

const patient = { interval: 50 }

it('a database that is newer than this version is refused, with words', async () => {
  const s = await startTestService()
  await s.sql(
    `insert into schema_migrations (name, sha256, applied_at) values ('9999_of_tomorrow.sql', '', now())`,
  )
  const words = 'it has 9999_of_tomorrow.sql, which this version does not know: run a newer version'
  await expect(openBackend(s.config, 'serve', () => {})).rejects.toThrow(words)
  // A process that runs goes on beside newer ones.
  expect((await (await s.agent()).deposit()).status).toBe(201)
  await s.close()
})

it('with several servers in DATABASE_URL the service goes on at the one that takes writes', async () => {
  const database = await testDatabase()
  const [one, two] = [await TcpProxy.open(database.url), await TcpProxy.open(database.url)]
  const [first, second] = [new URL(one.url), new URL(two.url)]
  const url = `${first.protocol}//${first.username}:${first.password}@${first.host},${second.host}${first.pathname}?target_session_attrs=read-write`
  // Only the second one is there when it starts.
  one.refuse(true)
  // A server that is there may be heard too late on a busy machine; then it is tried again, as by whoever runs the service.
  const options = { env: { DATABASE_URL: url }, realTime: true }
  let started: TestService | undefined
  await expect
    .poll(async () => {
      started ??= await startTestService(options).catch(() => undefined)
      return started !== undefined
    }, patient)
    .toBe(true)
  const s = started as TestService
  let made: AgentClient | undefined
  await expect
    .poll(async () => {
      made ??= await s.agent().catch(() => undefined)
      return made !== undefined
    }, patient)
    .toBe(true)
  const agent = made as AgentClient

  const answers = new Set<number>()
  const tryAgain = async () => {
    const answer = await agent.deposit()
    answers.add(answer.status)
    if (answer.status === 503) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    return answer.status
  }
  await expect.poll(tryAgain, patient).toBe(201)
  // The second one says nothing any more, which a connection that is open does not notice by itself.
  one.refuse(false)
  two.stall(true)
  await expect.poll(tryAgain, patient).toBe(201)
  // The first one is gone, and the second one is back.
  two.stall(false)
  one.refuse(true)
  expect(one.cutAll()).toBeGreaterThan(0)
  await expect.poll(tryAgain, patient).toBe(201)
  for (const status of answers) expect([201, 503]).toContain(status)
  await s.close()
  await Promise.all([one.close(), two.close()])
  await database.close()
})
