import type { Answer } from '../../api.ts'
import type { api } from '../../paths.ts'

/** A payout file with all that is known about it. */
export type PayoutFileDetail = Answer<typeof api.payoutFile>

/** The payouts that the bank may still pay, as far as is known. */
export function openItems({ items }: PayoutFileDetail): PayoutFileDetail['items'] {
  return items.filter(
    ({ state, ended, code }) =>
      ended === null && code !== null && ['waiting', 'accepted', 'unknown'].includes(state),
  )
}
