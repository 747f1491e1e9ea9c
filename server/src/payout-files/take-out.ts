import { inTransaction, type Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { Problem } from '../lib/problem.ts'
import { writeAudit } from '../operators/audit.ts'
import type { Operator } from '../operators/operator.ts'
import { takeEffect } from '../operators/take-effect.ts'
import type { PayoutDesk } from '../payouts/pay-out.ts'
import { whyHeldBack } from './after-restore.ts'
import { insertEnds } from './item-ends.ts'
import { whyAnswered } from './may-leave.ts'
import {
  askAgain,
  lockFile,
  type PayoutFile,
  type PayoutItem,
  readItemsLeft,
  readLines,
  setState,
  sumOf,
} from './payout-file.ts'

type Named = Pick<PayoutFile, 'account' | 'fileId'>

/** What two people decided to take out of a file, by the codes of the payouts. */
export interface TakeOut {
  codes: readonly string[]
  /** Whether another provider may pay them; if not, their orders fail. */
  mayTryAnother: boolean
  reason: string
}

/**
 * Takes payouts out of a file that nobody has downloaded, after two people decided so. What is left has to be approved
 * again, and is sealed anew; if nothing is left, the file is cancelled. Their money is not free yet: `endItems` ends
 * them, in this or any other process, now that the bytes with them are never given out.
 */
export async function takeOut(
  desk: Pick<PayoutDesk, 'pool' | 'now'>,
  named: Named,
  asked: TakeOut,
  operator: Operator,
): Promise<void> {
  const at = desk.now()
  await inTransaction(desk.pool, async (tx) => {
    const file = await lockFile(tx, named)
    const { out, left } = await readTakeOut(tx, file, asked.codes, at)
    const { mayTryAnother, reason } = asked
    await insertEnds(tx, file, out, { how: 'taken_out', mayTryAnother, reason, operator, at })
    const stays = new Set(left.map(({ n }) => n))
    const lines = (await readLines(tx, file)).filter(({ n }) => stays.has(n))
    if (lines.length === 0) await setState(tx, file, 'cancelled')
    else await askAgain(tx, file, lines, at)
    await takeEffect(tx, operator, at)
    await writeAudit(tx, {
      at,
      operator,
      action: 'take_out_payouts',
      subject: { kind: 'payout_file', id: file.fileId },
      agentId: null,
      before: { round: file.round },
      after: { codes: asked.codes, amount: sumOf(out), items_left: lines.length },
      reason,
    })
  })
}

/** What a file pays that is to be taken out, and what is left. Refuses in words what cannot be taken out. */
export async function readTakeOut(
  db: Pool | Tx,
  file: PayoutFile,
  codes: readonly string[],
  now: Date,
): Promise<{ out: PayoutItem[]; left: PayoutItem[] }> {
  const items = (await readItemsLeft(db, file)).filter(({ state }) => state !== 'dropped')
  refuseUnlessHere(file, items)
  // Somebody may have downloaded it in the time that was lost.
  const why = (await whyAnswered(db, file)) ?? (await whyHeldBack(db, file.account, now))
  if (why !== undefined) throw new Problem('invalid_transition', why)
  if (codes.length === 0) throw new Problem('invalid_request', 'Name the payouts to take out.')
  const asked = new Set(codes)
  const out = items.filter(({ reference }) => asked.has(reference ?? ''))
  if (out.length < asked.size) {
    const known = new Set(out.map(({ reference }) => reference))
    const missing = codes.find((code) => !known.has(code))
    throw new Problem('changed_meanwhile', `The file has no payout ${missing}, or no more.`)
  }
  return { out, left: items.filter((item) => !out.includes(item)) }
}

/** Payouts are taken out only while nobody has had the bytes, and once they are handed over to the file. */
function refuseUnlessHere(
  { state, round, alreadyPaid }: PayoutFile,
  items: readonly PayoutItem[],
): void {
  const refuse = (detail: string) => new Problem('invalid_transition', detail)
  if (alreadyPaid) throw refuse('The bank has debited its payouts: their money is gone.')
  switch (state) {
    case 'approved':
      return
    case 'draft':
      if (round > 1) return
      throw refuse(
        'It is a draft that nobody has approved: give it up, or let the agent cancel the withdrawal.',
      )
    case 'approving':
      if (items.every(({ reference }) => reference !== null)) return
      throw refuse('Its payouts are still being handed over to it: try again in a moment.')
    case 'cancelled':
      throw refuse('The file is cancelled: it pays nothing.')
    case 'exported':
    case 'sent':
    case 'acknowledged':
    case 'closed':
      throw refuse(
        'Somebody has downloaded the file, so the bank may pay all of it. Its payouts end by what the bank says, or when two people say that it was never brought to the bank.',
      )
  }
}
