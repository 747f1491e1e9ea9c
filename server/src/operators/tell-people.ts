import { raiseAlert } from '../alerts/raise-alert.ts'
import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'

/** What happened: a word for telling whether another is the same, and a sentence. */
interface Told {
  what: string
  words: string
  at: Date
}

/** Tells a user that something of their own account has changed, so that they hear of it if it was somebody else. */
export async function tellOwner(
  db: Pool | Tx,
  userId: bigint,
  { what, words, at }: Told,
): Promise<void> {
  await raiseAlert(db, {
    kind: 'account_changed',
    subject: `user ${userId} ${what}`,
    words: `${words} If that is a surprise, tell an admin at once.`,
    to: { userId },
    at,
  })
}

/** Tells every admin that somebody may do more or less than before, or did alone what takes two people. */
export async function tellAdmins(db: Pool | Tx, { what, words, at }: Told): Promise<void> {
  await raiseAlert(db, {
    kind: 'authority_changed',
    subject: what,
    words,
    to: { roles: ['admin'] },
    at,
  })
}
