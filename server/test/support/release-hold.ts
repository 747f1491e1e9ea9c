import { expect } from 'vitest'
import { askAfterRestore } from '../../src/payouts/ask-after-restore.ts'
import { openHold } from '../../src/payouts/restore-hold.ts'
import type { OperatorClient } from './operator.ts'
import type { TestService } from './service.ts'

/** Longer than any call that was under way when a hold began. */
const silentMs = 60_000

/**
 * Asks all providers until that is noted, as the service's own worker may at the same time: one of the two finds a payout
 * handed over by the other.
 */
export async function untilAsked(s: TestService): Promise<void> {
  await expect
    .poll(async () => {
      await askAfterRestore(s.service.desk, () => {})
      return (await openHold(s.backend.pool))?.askedAt
    })
    .not.toBe(null)
}

/** Two people let payouts go on after a restore, once all providers have been asked. */
export async function releaseHold(
  s: TestService,
  maker: OperatorClient,
  checker: OperatorClient,
): Promise<void> {
  const [{ at, id }] = (await maker.get('/restores')).json.data
  s.clock.advance(Math.max(0, Date.parse(at) + silentMs - s.clock().getTime()))
  await untilAsked(s)
  const [hold] = (await maker.get('/restores')).json.data
  const differences = hold.differences
    .filter(({ open }: { open: boolean }) => open)
    .map(({ subject, txn_id }: { subject: string; txn_id: string | null }) => ({
      subject,
      finding: txn_id === null ? 'seen' : 'not_paid',
    }))
  const words = {
    reason: 'our own lists of the lost hour fit',
    differences,
    code: maker.code(),
  }
  const asked = await maker.post(`/restores/${id}/release`, words)
  expect(asked.status).toBe(202)
  const { digest } = (await checker.get(`/approvals/${asked.json.proposal}`)).json
  const yes = { digest, code: checker.code() }
  expect((await checker.post(`/approvals/${asked.json.proposal}/approve`, yes)).status).toBe(200)
  await expect.poll(async () => (await maker.get('/restores')).json.data).toEqual([])
}
