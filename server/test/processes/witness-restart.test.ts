import pg from 'pg'
import { afterEach, expect, it } from 'vitest'
import { openEmbeddedPostgres } from '../../src/db/embedded.ts'
import { cleanUp, kill, postmasterPid, serve, sluice, tempFolder } from '../support/process.ts'

afterEach(cleanUp)

it('a database that starts again with everything in it is gone on with: nothing is held', async () => {
  const env = { DATA_DIR: await tempFolder(), LOG_LEVEL: 'fatal' }
  const service = await serve(env)
  const agent = service.agent()
  await agent.fund(1_000)
  const paid = (await agent.withdraw({ amount: 10, extraParams: { sandbox: 'paid' } })).json
  const slow = (await agent.withdraw({ amount: 10, extraParams: { sandbox: 'slow' } })).json
  const patient = { interval: 100 }
  const statusOf = async (txnId: string) =>
    (await agent.get(`/payment/orders/${txnId}`)).json.status
  await expect.poll(() => statusOf(paid.txn_id), patient).toBe('PAID')
  // What was written before the last mark may be archived by now.
  const postgres = await openEmbeddedPostgres({
    ...{ dataDir: env.DATA_DIR, use: 'command', log: () => {} },
  })
  const owner = new pg.Client({ connectionString: postgres.ownerUrl })
  await owner.connect()
  await owner.query('set search_path = sluice')
  const turn = async () =>
    Number((await owner.query('select max(turn) as turn from witness_marks')).rows[0].turn)
  const before = await turn()
  await expect.poll(turn, patient).toBeGreaterThan(before + 1)
  await owner.query('set session_replication_role = replica')
  const gone = await owner.query(`delete from orders where kind = 'withdraw' and status = 'PAID'`)
  expect(gone.rowCount).toBe(1)
  await owner.end()
  await postgres.close()
  kill(postmasterPid(env.DATA_DIR) ?? 0)
  await expect.poll(async () => (await agent.deposit()).status, patient).toBe(201)
  expect((await sluice(['doctor', '--json'], env)).stdout).toContain('nothing is held back')
  expect(await statusOf(slow.txn_id)).toBe('WAITING')
})
