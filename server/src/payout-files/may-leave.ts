import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
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
  file: Pick<PayoutFile, 'account' | 'fileId' | 'alreadyPaid'>,
  items: readonly PayoutItem[],
  at: Date,
): Promise<string | undefined> {
  const stopped = await whyStopped(tx, file.account, items)
  if (stopped !== undefined) return stopped
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
  if (doubtful[0]) {
    const { agent_id, order_id, kind } = doubtful[0]
    return `Somebody has to look into order ${txnId(agent_id, order_id)} first: ${kind}.`
  }
  if (file.alreadyPaid) return undefined
  // What the statements have caught up with is released first: that settles what the bank was found to have.
  return (await whyLocked(tx, file.account, at)) ?? whyAnswered(tx, file)
}

/** Whether somebody stopped everything, an agent of these payouts or the account, in words. */
export async function whyStopped(
  tx: Tx,
  account: string,
  items: readonly PayoutItem[],
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
  return states.length > 0 ? `${account} is switched off.` : undefined
}

/**
 * Why the bank seems to have a file that nobody has had here, in words: it has answered about it, or debited some of it.
 * The database is an old one, or the bytes got there by other means: once more they would be paid twice. A restore that
 * was marked, and whose lock the statements have opened since, has settled what was paid.
 */
export async function whyAnswered(
  db: Pool | Tx,
  { account, fileId }: Pick<PayoutFile, 'account' | 'fileId'>,
): Promise<string | undefined> {
  const { rows } = await db.query(
    `select 1 from (
       select r.at from payout_file_reports r where r.account = $1 and r.file_id = $2
       union all select m.reported_at from payout_items i
         join bank_movements m on m.account = i.account and m.movement_id = i.debited_by
         where i.account = $1 and i.file_id = $2) known
     where not exists (select 1 from payout_file_downloads d
         where d.account = $1 and d.file_id = $2)
       and not exists (select 1 from payout_lock_releases l
         where l.account = $1 and l.released_at > known.at)
     limit 1`,
    [account, fileId],
  )
  return rows.length > 0
    ? 'The bank has it, although nobody has downloaded it: was the database restored from a backup? Then run "sluice doctor --after-restore".'
    : undefined
}
