import type { BankMovement } from '../bank-accounts/bank-movement.ts'
import { debitsToHold, markHeld } from '../bank-accounts/movement-states.ts'
import { houseBook } from '../ledger/house.ts'
import type { Desk } from '../teller/desk.ts'

type HoldingDesk = Pick<Desk, 'pool' | 'teller' | 'now'>

/** Puts a debit that nothing explains into the house's account for that, unless it is there. */
export async function holdDebit(desk: HoldingDesk, debit: BankMovement): Promise<void> {
  if (debit.held || debit.state !== 'unexplained' || debit.amountMinor > 0n) return
  await move(desk, debit, 'report_debit')
}

/** Takes a debit out of the account again: it is in the books as what it was. */
export async function releaseDebit(desk: HoldingDesk, debit: BankMovement): Promise<void> {
  if (debit.held) await move(desk, debit, 'explain_debit')
}

/** The row comes first: that it is there is only noted with the movement, and found out again if it was not. */
async function move(
  desk: HoldingDesk,
  debit: BankMovement,
  type: 'report_debit' | 'explain_debit',
): Promise<void> {
  const { account: provider, movementId, currency } = debit
  const amountMinor = -debit.amountMinor
  const agentId = houseBook(currency)
  await desk.teller.do({ type, agentId, provider, movementId, amountMinor, at: desk.now() })
  await markHeld(desk.pool, debit, type === 'report_debit')
}

const atOnce = 500

/** Holds debits that have come to wait for a person since, and releases those that were explained elsewhere. */
export async function holdDebits(
  desk: HoldingDesk,
  onError: (error: unknown) => void,
  account: string | null,
): Promise<void> {
  for (const debit of await debitsToHold(desk.pool, account, atOnce)) {
    await (debit.held ? releaseDebit : holdDebit)(desk, debit).catch(onError)
  }
}
