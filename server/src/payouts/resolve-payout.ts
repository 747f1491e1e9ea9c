import { timeToPass } from '../db/database-time.ts'
import type { Order } from '../ledger/book.ts'
import { Problem } from '../lib/problem.ts'
import type { PayoutDesk } from './pay-out.ts'
import { holdPayout, type PayoutAttempt, payoutsOfOrder, savePayout } from './payouts.ts'

/**
 * Ends a payout by a person's word, or says of one that failed that it was paid after all. The evidence
 * stays in the journal: if the provider says otherwise later, it is the person who has to answer for
 * it. `order` and `attempts` are what the person knows of; the core refuses what is no longer so.
 */
export async function resolvePayout(
  desk: PayoutDesk,
  order: Order,
  attempts: readonly PayoutAttempt[],
  to: 'paid' | 'failed',
  evidence: string,
): Promise<{ order: Order; changed: boolean }> {
  const { agentId, orderId } = order
  // An order that failed was paid by the attempt of which its provider says so, whichever came last.
  const isPaidAfterAll = to === 'paid' && order.status === 'FAILED'
  const payer = isPaidAfterAll ? attempts.findLast(({ state }) => state === 'paid') : undefined
  const attempt = payer ?? attempts.find(({ reference }) => reference === order.providerRef)
  if (!attempt) {
    throw new Problem('invalid_transition', 'No provider has it: nothing is unknown about it.')
  }
  if (to === 'failed' && attempt.askAt !== null) await hold(desk, attempt)
  const { order: after, changed } = await desk.teller.do({
    type: 'outcome',
    agentId,
    orderId,
    at: desk.now(),
    to: to === 'paid' ? 'PAID' : 'FAILED',
    provider: attempt.provider,
    providerRef: attempt.reference,
    evidence,
  })
  const state = to === 'paid' ? 'paid' : 'rejected'
  const known = { state, askInMs: null, said: null, evidence } as const
  await savePayout(desk.pool, attempt, known, timeToPass(desk.now))
  if (!after) throw new Error('a payout was resolved without an order')
  return { order: after, changed }
}

/** How long a payout is kept from being handed over again while a person's word is written down. */
const holdMs = 60_000

async function hold(desk: PayoutDesk, attempt: PayoutAttempt): Promise<void> {
  if (await holdPayout(desk.pool, attempt, timeToPass(desk.now), holdMs)) return
  const [latest] = (await payoutsOfOrder(desk.pool, attempt.agentId, attempt.orderId)).slice(-1)
  // It has ended meanwhile: the core says what can become of it.
  if (latest?.reference !== attempt.reference || latest.askAt === null) return
  const seconds = Math.max(1, Math.ceil((latest.askAt.getTime() - desk.now().getTime()) / 1000))
  throw new Problem(
    'invalid_transition',
    `${attempt.provider} is being called with it at this moment and may be paying it: try again in ${seconds} s.`,
  )
}
