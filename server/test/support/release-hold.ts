import { expect } from 'vitest'
import { askAfterRestore } from '../../src/payouts/ask-after-restore.ts'
import type { OperatorClient } from './operator.ts'
import type { TestService } from './service.ts'

/** Two people let payouts go on after a restore, once all providers have been asked. */
export async function releaseHold(
  s: TestService,
  maker: OperatorClient,
  checker: OperatorClient,
): Promise<void> {
  await askAfterRestore(s.service.desk, (error) => {
    throw error
  })
  const [hold] = (await maker.get('/restores')).json.data
  const words = { reason: 'our own lists of the lost hour fit', code: maker.code() }
  const asked = await maker.post(`/restores/${hold.id}/release`, words)
  expect(asked.status).toBe(202)
  const { digest } = (await checker.get(`/approvals/${asked.json.proposal}`)).json
  const yes = { digest, code: checker.code() }
  expect((await checker.post(`/approvals/${asked.json.proposal}/approve`, yes)).status).toBe(200)
  await expect.poll(async () => (await maker.get('/restores')).json.data).toEqual([])
}
