import { columns } from '../db/columns.ts'
import { handedColumns } from '../ledger/book-columns.ts'
import type { BatchTx } from '../ledger/books-store.ts'
import type { PayoutState } from '../ledger/payout-state.ts'

/** The state of a payout that was written in the same transaction. */
export interface PastPayout {
  agentId: bigint
  orderId: string
  state: PayoutState
  asks: number
  askAt: Date | null
  said: string | null
}

const changes = columns<Omit<PastPayout, 'agentId' | 'orderId'>>({
  state: ['state', 'text'],
  asks: ['asks', 'int'],
  askAt: ['ask_at', 'timestamptz', 'null'],
  said: ['said', 'text', 'null'],
})

const pastColumns = columns<PastPayout>({
  ...handedColumns.pick('agentId', 'orderId').description,
  ...changes.description,
})

/** Writes the states of many payouts. Only for made-up history: the teller ends payouts one by one. */
export async function writePastPayouts(tx: BatchTx, payouts: readonly PastPayout[]): Promise<void> {
  if (payouts.length === 0) return
  await tx.query(
    `update payouts p set ${changes.set('u')} from ${pastColumns.rows('u')}
     where p.agent_id = u.agent_id and p.order_id = u.order_id and p.ask_at is not null`,
    pastColumns.values(payouts),
  )
}
