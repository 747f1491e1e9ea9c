import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import type { UnmatchedPayment } from '../ledger/book.ts'
import { unmatchedColumns } from '../ledger/book-columns.ts'
import type { Difference, UnmatchedNotice } from '../ledger/commands.ts'
import { houseBook } from '../ledger/house.ts'
import { Problem } from '../lib/problem.ts'
import type { Desk } from '../teller/desk.ts'
import { cut } from './event-text.ts'

type PaymentDesk = Pick<Desk, 'pool' | 'teller' | 'now'>

/** Records money that belongs to no agent. Returns false if its payment was claimed before. */
export async function recordUnmatched(
  { teller, now }: PaymentDesk,
  payment: UnmatchedNotice,
): Promise<boolean> {
  const { changed } = await teller.do({
    type: 'receive_unmatched',
    agentId: houseBook(payment.currency),
    at: now(),
    unmatched: { ...payment, reference: storedReference(payment.reference) },
  })
  return changed
}

/** A reference, cut to the stored length. */
export const storedReference = (reference: string) => cut(reference, 200)

export async function findUnmatched(
  pool: Pool | Tx,
  paymentId: string,
): Promise<UnmatchedPayment | undefined> {
  const { rows } = await pool.query(
    `select ${unmatchedColumns.select('u')} from unmatched_payments u where payment_id = $1`,
    [paymentId],
  )
  return rows[0] && unmatchedColumns.fromRow(rows[0])
}

/** Marks a payment as returned or dismissed. Returns false if it no longer waits. */
export async function endUnmatched(
  { teller, now }: PaymentDesk,
  { paymentId, currency }: Pick<UnmatchedPayment, 'paymentId' | 'currency'>,
  state: 'returned' | 'dismissed',
  evidence: string,
  explained?: Difference,
): Promise<boolean> {
  const agentId = houseBook(currency)
  try {
    const command = {
      type: 'end_unmatched',
      agentId,
      at: now(),
      paymentId,
      state,
      evidence,
      ...(explained && { explained }),
    } as const
    return (await teller.do(command)).changed
  } catch (error) {
    if (error instanceof Problem && error.code === 'invalid_transition') return false
    throw error
  }
}

/**
 * The other reports of a payment that have this reference, at most two. Returned or dismissed ones count only
 * if there is no other.
 */
export async function findContradicting(
  pool: Pool,
  paymentId: string,
  reference: string,
): Promise<string[]> {
  const { rows } = await pool.query<{ payment_id: string; has_ended: boolean }>(
    `select payment_id, state in ('returned', 'dismissed') as has_ended from unmatched_payments
     where contradicts = $1 and reference = $2 order by has_ended, payment_id limit 2`,
    [paymentId, storedReference(reference)],
  )
  return rows.filter((row, at) => at === 0 || !row.has_ended).map(({ payment_id }) => payment_id)
}
