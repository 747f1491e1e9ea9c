import type { Pool } from '../db/pool.ts'

export interface PaymentNote {
  at: Date
  author: string
  /** Whether the note assigns the payment to an operator. */
  assigns: boolean
  assignee: string | null
  note: string | null
}

/** Reads a payment's notes, oldest first. */
export async function readPaymentNotes(pool: Pool, paymentId: string): Promise<PaymentNote[]> {
  const { rows } = await pool.query<PaymentNote>(
    `select at, author, assigns, assignee, note from payment_notes
     where payment_id = $1 order by note_no`,
    [paymentId],
  )
  return rows
}

/**
 * Adds a note to a payment, or assigns it. Notes never change. If `insteadOf` is given and the payment has
 * another assignee by now, writes nothing and returns that assignee.
 */
export async function writePaymentNote(
  pool: Pool,
  paymentId: string,
  note: PaymentNote,
  insteadOf?: string | null,
): Promise<{ assignee: string | null } | undefined> {
  for (let tries = 1; tries <= 50; tries++) {
    const { rows } = await pool.query<{ note_no: number; assignee: string | null }>(
      `select note_no, (select assignee from payment_notes a where a.payment_id = $1 and a.assigns
         order by note_no desc limit 1) as assignee
       from payment_notes where payment_id = $1 order by note_no desc limit 1`,
      [paymentId],
    )
    const { note_no: last, assignee } = rows[0] ?? { note_no: 0, assignee: null }
    if (insteadOf !== undefined && assignee !== insteadOf) return { assignee }
    const { rowCount } = await pool.query(
      `insert into payment_notes (payment_id, note_no, at, author, assigns, assignee, note)
       values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
      [paymentId, last + 1, note.at, note.author, note.assigns, note.assignee, note.note],
    )
    // Otherwise another transaction wrote the same number first, and may have assigned the payment.
    if (rowCount === 1) return undefined
  }
  throw new Error('no number could be had for the note; try again')
}
