import type { Order } from '../ledger/book.ts'
import { ensure, type ProofTx } from './proof-failure.ts'

/**
 * Proves that every payout that counts as paid has paid its order, or that an item for a person records
 * the contradiction: the order failed, or another provider has it or has paid it.
 */
export async function provePayouts(
  tx: ProofTx,
  agentId: bigint,
  orders: readonly Order[],
): Promise<void> {
  const orderIds = orders.filter(({ kind }) => kind === 'withdraw').map(({ orderId }) => orderId)
  if (orderIds.length === 0) return
  const { rows } = await tx.query<{ reference: string; status: string }>(
    `select p.reference, o.status from payouts p
     join orders o on o.agent_id = p.agent_id and o.order_id = p.order_id
     where p.agent_id = $1 and p.order_id = any($2) and p.state in ('paid', 'returned')
       and (o.status not in ('PAID', 'REVERT') or o.provider_ref is distinct from p.reference)
       and not exists (
         select 1 from open_items i where i.agent_id = p.agent_id and i.order_id = p.order_id
           and i.reference = p.reference and i.kind <> 'refunded_and_taken_back'
       ) limit 1`,
    [agentId, orderIds],
  )
  const [lie] = rows
  ensure(
    lie === undefined,
    () =>
      `payout ${lie?.reference} was paid, but its order is ${lie?.status} and there is no open item that says so`,
  )
}
