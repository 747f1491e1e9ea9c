import type { Pool } from '../db/pool.ts'
import { newOrderId } from '../lib/ids.ts'

export interface PaymentNote {
  at: Date
  author: string
  /** Whether it says who looks into the payment from then on. */
  assigns: boolean
  assignee: string | null
  note: string | null
}

/** What was noted on a payment, oldest first. */
export async function readPaymentNotes(pool: Pool, paymentId: string): Promise<PaymentNote[]> {
  const { rows } = await pool.query<PaymentNote>(
    `select at, author, assigns, assignee, note from payment_notes
     where payment_id = $1 order by note_id`,
    [paymentId],
  )
  return rows
}

/** Notes something on a payment, or who looks into it. Nothing of it is ever changed. */
export async function writePaymentNote(
  pool: Pool,
  paymentId: string,
  note: PaymentNote,
): Promise<void> {
  await pool.query(
    `insert into payment_notes (payment_id, note_id, at, author, assigns, assignee, note)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [paymentId, newOrderId(note.at), note.at, note.author, note.assigns, note.assignee, note.note],
  )
}
