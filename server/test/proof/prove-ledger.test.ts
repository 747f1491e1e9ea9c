import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestService, type TestService } from '../support/service.ts'

let s: TestService
beforeAll(async () => {
  s = await startTestService()
})
afterAll(() => s.close())

/** Other tests end with a proof; this one shows that it can fail, also where it was given before. */
test.each([
  ['wallets', 'available = available + 1, adjustments = adjustments - 1'],
  ['orders', `status = 'FAILED'`],
  ['callback_bodies', `body = replace(body, 'PAID', 'VOID')`],
])('what is changed in %s behind the ledger’s back is found', async (table, change) => {
  const [agent, other] = [await s.agent(), await s.agent()]
  await Promise.all([agent.fund(100), other.fund(100)])
  await s.prove()
  const { agentId } = agent
  await s.sql(`create table kept as select * from ${table} where agent_id = ${agentId}`)
  await s.sql(`update ${table} set ${change} where agent_id = ${agentId}`)
  await other.fund(100)
  await expect(s.prove()).rejects.toThrow('does not prove')
  await expect(s.prove()).rejects.toThrow('does not prove')
  const { fields } = await s.sql('select * from kept limit 0')
  const columns = fields.map(({ name }) => name).filter((name) => name !== 'agent_id')
  const mended = columns.map((name) => `${name} = kept.${name}`).join(', ')
  await s.sql(`update ${table} t set ${mended} from kept where t.agent_id = kept.agent_id`)
  await s.sql('drop table kept')
  await s.prove()
})
