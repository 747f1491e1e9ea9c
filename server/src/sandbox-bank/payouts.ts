import { columns } from '../db/columns.ts'
import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { type Currency, decimalText } from '../lib/money.ts'
import { makeBooker } from './make-booker.ts'
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

const payoutColumns = columns<PayoutOrder & { state: PayoutState; createdAt: Date }>({
  reference: ['reference', 'text'],
  amountMinor: ['amount', 'bigint'],
  currency: ['currency', 'text'],
  payee: {
    accountNo: ['payee_account_no', 'text'],
    accountName: ['payee_account_name', 'text'],
    bankCode: ['payee_bank_code', 'text'],
  },
  story: ['story', 'text', 'null'],
  state: ['state', 'text'],
  createdAt: ['created_at', 'timestamptz'],
})
const contents = payoutColumns.pick('reference', 'amountMinor', 'currency', 'payee', 'story')

/** Books payouts with the acts of their stories. Repeating one changes nothing. Answers with its state. */
export function makePayoutBooker(
  pool: Pool,
): (order: PayoutOrder, story: PayoutStory, now: Date) => Promise<PayoutState> {
  const insert = 'insert into sandbox_bank.payouts'
  const book = makeBooker(pool, 'payout', insert, payoutColumns, contents)
  return async (order, { acts }, now) => {
    const booked = await book({
      order: { ...order, state: 'accepted', createdAt: now },
      acts: acts.map(({ afterMs }) => new Date(now.getTime() + afterMs)),
    })
    if (booked === 'new') return 'accepted'
    if (booked === 'other') throw new Refusal(409, 'Another payout has this reference.')
    const payout = await findPayout(pool, order.reference)
    if (!payout) throw new Error('a payout was not booked')
    return payout.state
  }
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
  const payout = (await lockPayouts(tx, [reference])).get(reference)
  if (!payout) throw new Refusal(404, 'There is no such payout.')
  const { state } = payout
  if (state !== to && !canGo(state, to)) {
    throw new Refusal(409, `A payout that is ${state} cannot be ${to}.`)
  }
  await writeStates(tx, [{ reference, state: to }])
  return addNotice(tx, { reference, type: 'payout', outcome: outcomeOf(to) }, now)
}

export function canGo(from: PayoutState, to: PayoutState): boolean {
  return next[from].includes(to)
}

export interface LockedPayout {
  reference: string
  amountMinor: bigint
  currency: Currency
  state: PayoutState
  story: string | null
}

/** Reads payouts and locks them until the transaction ends. */
export async function lockPayouts(
  tx: Tx,
  references: readonly string[],
): Promise<Map<string, LockedPayout>> {
  const { rows } = await tx.query<LockedPayout>({
    name: 'bank-lock-payouts',
    text: `select reference, amount as "amountMinor", currency, state, story
      from sandbox_bank.payouts where reference = any($1) order by reference for update`,
    values: [references],
  })
  return new Map(rows.map((payout) => [payout.reference, payout]))
}

export async function writeStates(
  tx: Tx,
  changes: readonly { reference: string; state: PayoutState }[],
): Promise<void> {
  await tx.query({
    name: 'bank-payout-states',
    text: `update sandbox_bank.payouts p set state = c.state
      from unnest($1::text[], $2::text[]) c (reference, state) where p.reference = c.reference`,
    values: [changes.map(({ reference }) => reference), changes.map(({ state }) => state)],
  })
}
