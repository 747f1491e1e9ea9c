import type { Answer } from '../../api.ts'
import type { api } from '../../paths.ts'

/** A payout file with all that is known about it. */
export type PayoutFileDetail = Answer<typeof api.payoutFile>
