import type { Tx } from '../db/in-transaction.ts'
import { txnId } from '../lib/ids.ts'
import { whyLocked } from './after-restore.ts'
import type { PayoutFile, PayoutItem } from './payout-file.ts'

/**
 * Why a file must not come nearer to the bank at this moment, in words: somebody stopped everything, an agent of it or
 * the account, one of its orders has ended or is in doubt, so that paying it now would be once too often, or what was
 * paid before the database was restored is not known yet.
 */
export async function whyItMustStay(
  tx: Tx,
  { account, alreadyPaid }: Pick<PayoutFile, 'account' | 'alreadyPaid'>,
  items: readonly PayoutItem[],
  at: Date,
): Promise<string | undefined> {
  const agentIds = [...new Set(items.map(({ agentId }) => agentId))]
  const { rows: stops } = await tx.query<{ agent_id: bigint }>(
    'select agent_id from stops where agent_id = 0 or agent_id = any($1::bigint[]) limit 1',
    [agentIds],
  )
  if (stops[0]?.agent_id === 0n) return 'Everything is stopped.'
  if (stops[0]) return `Agent ${stops[0].agent_id} is stopped.`
  const { rows: states } = await tx.query(
    `select 1 from providers where name = $1 and state = 'off'`,
    [account],
  )
  if (states.length > 0) return `${account} is switched off.`
  const handed = items.filter(({ reference }) => reference !== null)
  const these = [handed.map(({ agentId }) => agentId), handed.map(({ orderId }) => orderId)]
  const { rows: ended } = await tx.query<{ agent_id: bigint; order_id: string; status: string }>(
    `select agent_id, replace(order_id::text, '-', '') as order_id, status from orders
     join unnest($1::bigint[], $2::uuid[]) as i (agent_id, order_id) using (agent_id, order_id)
     where status <> 'WAITING' limit 1`,
    these,
  )
  if (ended[0]) {
    const { agent_id, order_id, status } = ended[0]
    return `Order ${txnId(agent_id, order_id)} is ${status} already, and would be paid once more.`
  }
  const { rows: doubtful } = await tx.query<{ agent_id: bigint; order_id: string; kind: string }>(
    `select agent_id, replace(order_id::text, '-', '') as order_id, kind from open_items
     join unnest($1::bigint[], $2::uuid[]) as i (agent_id, order_id) using (agent_id, order_id)
     where closed_at is null limit 1`,
    these,
  )
  if (!doubtful[0]) return alreadyPaid ? undefined : whyLocked(tx, account, at)
  const { agent_id, order_id, kind } = doubtful[0]
  return `Somebody has to look into order ${txnId(agent_id, order_id)} first: ${kind}.`
}
