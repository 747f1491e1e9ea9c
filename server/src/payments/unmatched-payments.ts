import { inTransaction } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import type { UnmatchedWhy } from '../ledger/book.ts'
import type { PaymentNotice } from '../ledger/commands.ts'
import { type PayerRow, payerFromRow } from '../ledger/payer-from-row.ts'
import { claimForNobody, giveClaim } from '../ledger/payment-claims.ts'
import type { Currency } from '../lib/money.ts'
import { Problem } from '../lib/problem.ts'
import { cut } from './event-text.ts'

/** Money that matches no agent, or that was claimed before. */
export interface UnmatchedNotice extends PaymentNotice {
  reference: string
  currency: Currency
  why: UnmatchedWhy
  contradicts: string | null
}

export interface UnmatchedPayment extends UnmatchedNotice {
  state: 'waiting' | 'assigned' | 'returned' | 'dismissed'
  assignedTo: bigint | null
}

export interface UnmatchedRow extends PayerRow {
  payment_id: string
  reference: string
  amount: bigint
  currency: Currency
  paid_at: Date
  reported_at: Date
  why: UnmatchedWhy
  contradicts: string | null
  state: UnmatchedPayment['state']
  assigned_to: bigint | null
}

/**
 * Whether `u`, a row of unmatched_payments, is still undecided. A payment that was assigned but not credited
 * counts too, because crediting it again continues from there. A credited one may have been archived since.
 */
export const isUndecided = `(u.state = 'waiting' or u.state = 'assigned' and not exists (
    select 1 from payments c where c.agent_id = u.assigned_to and c.payment_id = u.payment_id)
  and not exists (select 1 from archived_keys k
    where k.agent_id = u.assigned_to and k.once_key = 'payment:' || u.payment_id))`

/** Claims a payment without an agent and records it. Returns false if it was claimed before. */
export async function recordUnmatched(
  pool: Pool,
  payment: UnmatchedNotice,
  at: Date,
): Promise<boolean> {
  return inTransaction(pool, async (tx) => {
    if (!(await claimForNobody(tx, { ...payment, claimedAt: at }))) return false
    await tx.query(
      `insert into unmatched_payments (payment_id, reference, amount, currency, paid_at, reported_at,
         payer_account_no, payer_account_name, payer_bank_code, why, contradicts, state)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'waiting')`,
      [
        payment.paymentId,
        storedReference(payment.reference),
        payment.amountMinor,
        payment.currency,
        payment.paidAt,
        at,
        payment.payer?.accountNo ?? null,
        payment.payer?.accountName ?? null,
        payment.payer?.bankCode ?? null,
        payment.why,
        payment.contradicts,
      ],
    )
    return true
  })
}

/** A reference, cut to the stored length. */
export const storedReference = (reference: string) => cut(reference, 200)

export async function findUnmatched(
  pool: Pool,
  paymentId: string,
): Promise<UnmatchedPayment | undefined> {
  const { rows } = await pool.query<UnmatchedRow>(
    'select * from unmatched_payments where payment_id = $1',
    [paymentId],
  )
  const row = rows[0]
  return (
    row && {
      paymentId,
      reference: row.reference,
      amountMinor: row.amount,
      currency: row.currency,
      paidAt: row.paid_at,
      payer: payerFromRow(row),
      why: row.why,
      contradicts: row.contradicts,
      state: row.state,
      assignedTo: row.assigned_to,
    }
  )
}

/** Marks a payment as returned or dismissed. Returns false if it no longer waits. */
export async function endUnmatched(
  pool: Pool,
  paymentId: string,
  state: 'returned' | 'dismissed',
  evidence: string,
  at: Date,
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `update unmatched_payments set state = $2, evidence = $3, decided_at = $4
     where payment_id = $1 and state = 'waiting'`,
    [paymentId, state, evidence, at],
  )
  return rowCount === 1
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

/** Assigns a payment and its claim to an agent, if it still waits. */
export async function assignUnmatched(
  pool: Pool,
  paymentId: string,
  to: { agentId: bigint; orderId: string | null },
  at: Date,
): Promise<void> {
  await inTransaction(pool, async (tx) => {
    const { rowCount } = await tx.query(
      `update unmatched_payments set state = 'assigned', assigned_to = $2, decided_at = $3
       where payment_id = $1 and state = 'waiting'`,
      [paymentId, to.agentId, at],
    )
    if (rowCount === 1 && !(await giveClaim(tx, paymentId, to))) {
      throw new Problem('invalid_transition', 'The payment is claimed by an agent already.')
    }
  })
}
