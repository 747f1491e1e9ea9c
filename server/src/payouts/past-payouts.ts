import type { BatchTx } from '../ledger/books-store.ts'
import type { PayoutState } from '../ledger/payout-state.ts'

/** Where a payout stands that was written in the same transaction. */
export interface PastPayout {
  agentId: bigint
  orderId: string
  state: PayoutState
  asks: number
  askAt: Date | null
  said: string | null
}

/** Says of many payouts how they stand. For made-up history: the teller's payouts end one by one. */
export async function writePastPayouts(tx: BatchTx, payouts: readonly PastPayout[]): Promise<void> {
  if (payouts.length === 0) return
  await tx.query(
    `update payouts p set state = u.state, asks = u.asks, ask_at = u.ask_at, said = u.said
     from unnest($1::bigint[], $2::uuid[], $3::text[], $4::int[], $5::timestamptz[], $6::text[])
       u(agent_id, order_id, state, asks, ask_at, said)
     where p.agent_id = u.agent_id and p.order_id = u.order_id and p.ask_at is not null`,
    [
      payouts.map(({ agentId }) => agentId),
      payouts.map(({ orderId }) => orderId),
      payouts.map(({ state }) => state),
      payouts.map(({ asks }) => asks),
      payouts.map(({ askAt }) => askAt?.toISOString() ?? null),
      payouts.map(({ said }) => said),
    ],
  )
}
