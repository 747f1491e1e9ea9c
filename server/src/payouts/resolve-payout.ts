import { timeToPass } from '../db/database-time.ts'
import type { Order } from '../ledger/book.ts'
import { openItemsOfOrder } from '../ledger/open-items.ts'
import { Problem } from '../lib/problem.ts'
import type { PayoutDesk } from './pay-out.ts'
import { holdPayout, type PayoutAttempt, payoutsOfOrder, savePayout } from './payouts.ts'

/**
 * Ends a payout on a person's decision, or records that a failed one was paid after all. The evidence stays
 * in the journal, so that the person can be asked if the provider later disagrees. `order` and `attempts` are
 * what the person saw; the core refuses a decision that no longer applies.
 */
export async function resolvePayout(
  desk: PayoutDesk,
  order: Order,
  attempts: readonly PayoutAttempt[],
  to: 'paid' | 'failed',
  evidence: string,
): Promise<{ order: Order; changed: boolean }> {
  const { agentId, orderId } = order
  const current = attempts.find(({ reference }) => reference === order.providerRef)
  const attempt = (to === 'paid' && (await paidAfterAll(desk, order, attempts))) || current
  if (!attempt) {
    throw new Problem('invalid_transition', 'No provider has it: nothing is unknown about it.')
  }
  const isInFile = attempt.askAt !== null && (await hasItem(desk, attempt))
  if (to === 'failed' && attempt.askAt !== null) {
    if (isInFile) {
      throw new Problem(
        'invalid_transition',
        `It is in a payout file of ${attempt.provider}, which the bank may still pay: it ends by what the bank says.`,
      )
    }
    await hold(desk, attempt)
  }
  if (to === 'paid' && isInFile) await refuseUnlessItLeft(desk, attempt)
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

/**
 * If an order that failed, or whose last provider has refused it, was paid after all: the attempt that paid it, even if
 * that is not the last one. While the order waits, it is the one that a person is asked about.
 */
async function paidAfterAll(
  desk: PayoutDesk,
  { agentId, orderId, status }: Order,
  attempts: readonly PayoutAttempt[],
): Promise<PayoutAttempt | undefined> {
  if (status === 'FAILED') return attempts.findLast(({ state }) => state === 'paid')
  if (status !== 'WAITING') return undefined
  const items = await openItemsOfOrder(desk.pool, agentId, orderId)
  const asked = items.find((item) => item.providerSaid === 'PAID' && item.reopenedAt !== null)
  return attempts.find(({ reference }) => reference === asked?.reference)
}

/** Whether a payout is in a file. Its account may pay otherwise by now, or be gone from the routes. */
async function hasItem(desk: PayoutDesk, attempt: PayoutAttempt): Promise<boolean> {
  const { provider, agentId, orderId, attempt: n } = attempt
  const { rows } = await desk.pool.query(
    `select 1 from payout_items
     where account = $1 and agent_id = $2 and order_id = $3 and attempt = $4`,
    [provider, agentId, orderId, n],
  )
  return rows.length > 0
}

/** A payout that is marked as paid while its file can still leave would be paid twice. */
async function refuseUnlessItLeft(desk: PayoutDesk, attempt: PayoutAttempt): Promise<void> {
  const { rows } = await desk.pool.query(
    `select 1 from payout_items i
     join payout_file_downloads d on d.account = i.account and d.file_id = i.file_id
     where i.account = $1 and i.reference = $2 and not exists (select 1 from payout_item_ends e
       where e.account = i.account and e.file_id = i.file_id and e.n = i.n and e.how = 'taken_out')
     limit 1`,
    [attempt.provider, attempt.reference],
  )
  if (rows.length > 0) return
  throw new Problem(
    'invalid_transition',
    `It is in a payout file of ${attempt.provider} that nobody has downloaded: the bank cannot have paid it, and still would.`,
  )
}

/** How long a payout cannot be handed over again while a person's decision is saved. */
const holdMs = 60_000

async function hold(desk: PayoutDesk, attempt: PayoutAttempt): Promise<void> {
  if (await holdPayout(desk.pool, attempt, timeToPass(desk.now), holdMs)) return
  const [latest] = (await payoutsOfOrder(desk.pool, attempt.agentId, attempt.orderId)).slice(-1)
  // The payout has ended in the meantime; the core decides whether the transition is valid.
  if (latest?.reference !== attempt.reference || latest.askAt === null) return
  const seconds = Math.max(1, Math.ceil((latest.askAt.getTime() - desk.now().getTime()) / 1000))
  throw new Problem(
    'invalid_transition',
    `${attempt.provider} is being called with it at this moment and may be paying it: try again in ${seconds} s.`,
  )
}
