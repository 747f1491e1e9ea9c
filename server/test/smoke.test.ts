import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestService, type TestService } from './support/service.ts'

let s: TestService
beforeAll(async () => {
  s = await startTestService()
})
afterAll(async () => {
  await s.prove()
  await s.close()
})

test('a deposit that is paid ends in the wallet', async () => {
  const agent = await s.agent({ depositFee: '1.5%+2' })
  const created = await agent.deposit({ amount: 1000 })
  expect(created.status).toBe(201)
  expect(created.json.fee).toBe(17)
  const paid = await agent.trigger(created.json.txn_id, 'PAID')
  expect(paid.json.status).toBe('PAID')
  expect(await agent.balance()).toBe(983)
})
