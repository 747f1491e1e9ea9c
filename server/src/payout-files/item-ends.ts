import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { findOrder } from '../ledger/find-order.ts'
import { inParallel } from '../lib/in-parallel.ts'
import { Problem } from '../lib/problem.ts'
import type { Operator } from '../operators/operator.ts'
import { type CallWatch, goingOnMs, type PayoutDesk, settle } from '../payouts/pay-out.ts'
import { findPayout } from '../payouts/payouts.ts'
import { followOrders } from './follow-orders.ts'
import { type ItemEnd, type PayoutFile, type PayoutItem, selectedItem } from './payout-file.ts'

type Named = Pick<PayoutFile, 'account' | 'fileId'>

/** Writes down that two people ended items. The database asks for their decision. */
export async function insertEnds(
  tx: Tx,
  { account, fileId, round, alreadyPaid }: PayoutFile,
  items: readonly PayoutItem[],
  end: { how: ItemEnd; mayTryAnother: boolean; reason: string; operator: Operator; at: Date },
): Promise<void> {
  const { how, mayTryAnother, reason, operator, at } = end
  if (!operator.proposal) throw new Problem('not_permitted', 'Two people have to decide on it.')
  await tx.query(
    `insert into payout_item_ends
       (account, file_id, n, how, round, may_try_another, proposal_id, action, subject_id, verdict,
        reason, at, already_paid)
     select $1, $2, n, $4, $5, $6, $7, $10, replace($2::uuid::text, '-', ''), 'approved', $8, $9, $11
     from unnest($3::int[]) n`,
    [
      account,
      fileId,
      items.map(({ n }) => n),
      how,
      round,
      mayTryAnother,
      operator.proposal.id,
      reason,
      at,
      how === 'taken_out' ? 'take_out_payouts' : 'abandon_payout_file',
      alreadyPaid,
    ],
  )
}

const atOnce = 64

/** Hands what was taken out to the next provider, and knows until when it has been: it may wait for a place, or a stop. */
export interface PassingOn {
  passOn: NonNullable<CallWatch['passOn']>
  /** By reference, by the process's steady clock. */
  untilMs: Map<string, number>
}

interface Ending extends PayoutItem {
  mayTryAnother: boolean
  reason: string
}

/**
 * Ends in the books what two people have ended: its order fails, or the next provider gets it. Of one file or of all;
 * any number of processes may do so at the same time, as the teller ends each payout once. Without `passing`, what is
 * for another provider is left to a worker.
 */
export async function endItems(
  desk: PayoutDesk,
  which: Named | 'all',
  onError: (error: unknown) => void,
  passing?: PassingOn,
): Promise<void> {
  const named = which === 'all' ? null : which
  const { rows } = await desk.pool.query<Ending>(
    `select ${selectedItem}, d.may_try_another as "mayTryAnother", d.reason
     from payout_item_ends d
     join payout_items i on i.account = d.account and i.file_id = d.file_id and i.n = d.n
     where i.state in ('waiting', 'accepted', 'unknown') and i.debited_by is null
       and ($1::text is null or i.account = $1) and ($2::uuid is null or i.file_id = $2)`,
    [named?.account ?? null, named?.fileId ?? null],
  )
  await inParallel(atOnce, rows, (item) =>
    endItem(desk, item, passing).catch((error) => {
      const isForWorker = error instanceof Problem && error.code === 'overloaded'
      if (!isForWorker) onError(error)
    }),
  )
  const files = new Map(rows.map((item) => [`${item.account} ${item.fileId}`, item]))
  for (const file of files.values()) await followOrders(desk.pool, file)
}

async function endItem(
  desk: PayoutDesk,
  item: Ending,
  passing: PassingOn | undefined,
): Promise<void> {
  const { account, agentId, orderId, reference, mayTryAnother, reason } = item
  const order = await findOrder(desk.pool, agentId, orderId)
  const attempt = reference && (await findPayout(desk.pool, agentId, account, reference))
  if (!order || !attempt) return
  if (order.providerRef !== reference) {
    passing?.untilMs.delete(reference)
    return markRejected(desk.pool, item)
  }
  if (order.status !== 'WAITING' || isPassedOn(passing, reference)) return
  const outcome = { type: 'rejected', mayTryAnother, reason: wordsOf(item, reason) } as const
  await settle(desk, attempt, outcome, { passOn: passing && notingIn(passing) })
}

function isPassedOn(passing: PassingOn | undefined, reference: string): boolean {
  const untilMs = passing?.untilMs.get(reference) ?? 0
  if (untilMs > performance.now()) return true
  passing?.untilMs.delete(reference)
  return false
}

function notingIn({ passOn, untilMs }: PassingOn): NonNullable<CallWatch['passOn']> {
  return (order, provider, refused) => {
    untilMs.set(refused.reference, performance.now() + goingOnMs)
    passOn(order, provider, refused)
  }
}

/** Another provider has the order: here it was refused. */
async function markRejected(pool: Pool, { account, fileId, n }: PayoutItem): Promise<void> {
  await pool.query(
    `update payout_items set state = 'rejected'
     where account = $1 and file_id = $2 and n = $3 and state in ('waiting', 'accepted', 'unknown')`,
    [account, fileId, n],
  )
}

function wordsOf({ ended }: PayoutItem, reason: string): string {
  return ended === 'abandoned'
    ? `The bank has not paid it by its payout file: ${reason}`
    : `It was taken out of its payout file: ${reason}`
}
