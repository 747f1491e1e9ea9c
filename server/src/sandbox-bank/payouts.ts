import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { type Currency, decimalText } from '../lib/money.ts'
import { addNotice } from './notices.ts'
import { Refusal } from './refusal.ts'
import type { PayoutStory } from './stories.ts'

export type PayoutState = 'accepted' | 'paid' | 'rejected' | 'returned' | 'cancelled'

export interface PayoutOrder {
  reference: string
  amountMinor: bigint
  currency: Currency
  payee: { accountNo: string; accountName: string; bankCode: string }
  story: string | null
}

/** The states that can follow each state; a reported outcome is never withdrawn. */
const next: Record<PayoutState, readonly PayoutState[]> = {
  accepted: ['paid', 'rejected', 'cancelled'],
  paid: ['returned'],
  rejected: [],
  returned: [],
  cancelled: [],
}

/** Books a payout with the acts of its story. Repeating it changes nothing. */
export async function bookPayout(
  pool: Pool,
  order: PayoutOrder,
  { acts }: PayoutStory,
  now: Date,
): Promise<PayoutState> {
  const { reference, amountMinor, currency, payee, story } = order
  const contents = [
    amountMinor,
    currency,
    payee.accountNo,
    payee.accountName,
    payee.bankCode,
    story,
  ]
  await pool.query(
    `with booked as (
       insert into sandbox_bank.payouts (reference, amount, currency, payee_account_no,
         payee_account_name, payee_bank_code, story, state, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, 'accepted', $8)
       on conflict do nothing returning reference
     )
     insert into sandbox_bank.acts (party, reference, step, due_at)
     select 'payout', reference, act.step - 1, act.due_at
     from booked, unnest($9::timestamptz[]) with ordinality act (due_at, step)`,
    [reference, ...contents, now, acts.map(({ afterMs }) => new Date(now.getTime() + afterMs))],
  )
  const { rows } = await pool.query<{ state: PayoutState; is_same: boolean }>(
    `select state, (amount, currency, payee_account_no, payee_account_name, payee_bank_code, story)
       is not distinct from ($2::bigint, $3::text, $4::text, $5::text, $6::text, $7::text) as is_same
     from sandbox_bank.payouts where reference = $1`,
    [reference, ...contents],
  )
  if (!rows[0]) throw new Error('a payout was not booked')
  if (!rows[0].is_same) throw new Refusal(409, 'Another payout has this reference.')
  return rows[0].state
}

type KnownPayout = Pick<PayoutOrder, 'amountMinor' | 'currency'> & { state: PayoutState }

export async function findPayout(pool: Pool, reference: string): Promise<KnownPayout | undefined> {
  const { rows } = await pool.query<KnownPayout>(
    `select amount as "amountMinor", currency, state
     from sandbox_bank.payouts where reference = $1`,
    [reference],
  )
  return rows[0]
}

/** An answer says which payout it is about, and of how much. */
export function answerAbout({
  reference,
  amountMinor,
  currency,
  state,
}: KnownPayout & { reference: string }): object {
  const amount = decimalText(amountMinor, currency)
  return { reference, amount, currency, state, ...rejection(state) }
}

/** The outcome that a notice reports for a payout in this state. */
export function outcomeOf(state: PayoutState): { type: PayoutState } {
  return { type: state, ...rejection(state) }
}

/** The details of a rejection, in answers and in notices. */
function rejection(state: PayoutState): { reason: string; mayTryAnother: boolean } | object {
  if (state !== 'rejected') return {}
  return { reason: "the payee's bank refused the payment", mayTryAnother: false }
}

/** Moves a payout to a state, or reports that state again. Returns the number of its notice. */
export async function setPayout(
  tx: Tx,
  reference: string,
  to: PayoutState,
  now: Date,
): Promise<bigint> {
  const payout = await lockPayout(tx, reference)
  if (!payout) throw new Refusal(404, 'There is no such payout.')
  const { state } = payout
  if (state !== to && !canGo(state, to)) {
    throw new Refusal(409, `A payout that is ${state} cannot be ${to}.`)
  }
  await writeState(tx, reference, to)
  return addNotice(tx, { reference, type: 'payout', outcome: outcomeOf(to) }, now)
}

export function canGo(from: PayoutState, to: PayoutState): boolean {
  return next[from].includes(to)
}

interface LockedPayout {
  amountMinor: bigint
  currency: Currency
  state: PayoutState
  story: string | null
}

/** Reads a payout and locks it until the transaction ends. */
export async function lockPayout(tx: Tx, reference: string): Promise<LockedPayout | undefined> {
  const { rows } = await tx.query<LockedPayout>(
    `select amount as "amountMinor", currency, state, story
     from sandbox_bank.payouts where reference = $1 for update`,
    [reference],
  )
  return rows[0]
}

export async function writeState(tx: Tx, reference: string, state: PayoutState): Promise<void> {
  await tx.query('update sandbox_bank.payouts set state = $2 where reference = $1', [
    reference,
    state,
  ])
}
