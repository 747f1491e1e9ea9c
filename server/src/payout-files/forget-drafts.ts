import type { PayoutDesk } from '../payouts/pay-out.ts'
import { cancelDraft } from './draft-file.ts'
import { readOldDrafts } from './payout-file.ts'

/** How long a draft waits for approval, as a proposal does. */
export const draftValidMs = 72 * 3_600_000

const clock = { userId: null, email: 'the clock', ip: null }

/**
 * Cancels drafts that nobody approved in time: their withdrawals wait for the next one, and they use up no ceiling any
 * more. What was handed over already waits on: it can be in no other file.
 */
export async function forgetDrafts(
  desk: Pick<PayoutDesk, 'pool' | 'now'>,
  onError: (error: unknown) => void,
): Promise<void> {
  const before = new Date(desk.now().getTime() - draftValidMs)
  for (const file of await readOldDrafts(desk.pool, before)) {
    await cancelDraft(desk, file, clock, 'Nobody approved it in time.').catch(onError)
  }
}
