import type { Pool } from '../db/pool.ts'

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
     where payment_id = $1 order by note_no`,
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
  for (let tries = 1; tries <= 50; tries++) {
    const { rowCount } = await pool.query(
      `insert into payment_notes (payment_id, note_no, at, author, assigns, assignee, note)
       select $1, coalesce(max(note_no), 0) + 1, $2, $3, $4, $5, $6
       from payment_notes where payment_id = $1 on conflict do nothing`,
      [paymentId, note.at, note.author, note.assigns, note.assignee, note.note],
    )
    // Somebody else wrote the same number first.
    if (rowCount === 1) return
  }
  throw new Error('no number could be had for the note; try again')
}
