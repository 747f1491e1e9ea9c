import type { BankAccount } from '../bank-accounts/bank-account.ts'
import { type BankMovement, paymentIdOf } from '../bank-accounts/bank-movement.ts'
import {
  explain,
  explainAsBatch,
  type explanations,
  findMovement,
  markBooked,
} from '../bank-accounts/movement-states.ts'
import { paymentStates } from '../bank-accounts/read-movements.ts'
import { isSplit } from '../bank-accounts/split-batches.ts'
import { sqlState } from '../db/pool.ts'
import { Problem } from '../lib/problem.ts'
import type { Desk } from '../teller/desk.ts'
import { bookMovement } from './book-movement.ts'
import { findUnmatched } from './unmatched-payments.ts'

type MovementDesk = Pick<Desk, 'pool' | 'teller' | 'now'>

/**
 * A person says what a movement was. It is booked in the house's book, at this account; a credit that waited for a
 * decision is no payment then.
 */
export async function explainMovement(
  desk: MovementDesk,
  account: BankAccount,
  movementId: string,
  as: (typeof explanations)[number],
  reason: string,
): Promise<{ changed: boolean }> {
  const before = await findMovement(desk.pool, account.name, movementId)
  if (!before) throw new Problem('not_found', `${account.name} has no movement ${movementId}.`)
  if (before.explainedBy === as && before.state === 'booked') return { changed: false }
  if (as === 'bank_fee' && before.amountMinor > 0n) {
    throw new Problem(
      'invalid_transition',
      'Money that came in is no fee: say interest or correction.',
    )
  }
  if (before.state === 'booked' && before.amountMinor > 0n) {
    const waiting = await findUnmatched(desk.pool, paymentIdOf(before))
    if (waiting?.state !== 'waiting') throw cannotExplain(before)
  }
  const movement = await explain(desk.pool, before, as, reason, desk.now(), null)
  if (!movement) throw cannotExplain(before)
  if (await bookMovement(desk, account, movement)) {
    await markBooked(desk.pool, account.name, [movementId])
  }
  const after = await findMovement(desk.pool, account.name, movementId)
  if (after?.explainedBy !== as) throw cannotExplain(before)
  return { changed: true }
}

/**
 * A person says that a debit is a payment going back which was marked as returned: the books have it already, so
 * nothing is booked again. Each payment leaves once.
 */
export async function explainReturn(
  desk: MovementDesk,
  account: BankAccount,
  movementId: string,
  returned: string,
  reason: string,
): Promise<{ changed: boolean }> {
  const { pool } = desk
  const before = await findMovement(pool, account.name, movementId)
  if (!before) throw new Problem('not_found', `${account.name} has no movement ${movementId}.`)
  if (before.explainedBy === 'payment_returned' && before.returns === returned) {
    return { changed: false }
  }
  const payment = await findMovement(pool, account.name, returned)
  if (!payment) throw new Problem('not_found', `${account.name} has no movement ${returned}.`)
  if (payment.amountMinor !== -before.amountMinor) {
    throw new Problem('invalid_transition', 'The payment has another amount than what left.')
  }
  const state = (await paymentStates(pool, [payment])).get(paymentIdOf(payment))
  if (state !== 'returned' && state !== 'taken_back') {
    const detail = `The payment is ${state ?? 'no payment'}: mark it as returned first.`
    throw new Problem('invalid_transition', detail)
  }
  const at = desk.now()
  const movement = await explain(pool, before, 'payment_returned', reason, at, returned).catch(
    (error) => {
      if (sqlState(error) !== '23505') throw error
      throw new Problem('invalid_transition', 'Another movement is this payment going back.')
    },
  )
  if (!movement) throw cannotExplain(before)
  await markBooked(pool, account.name, [movementId])
  return { changed: true }
}

/**
 * A person says of the sum of a batch, which was explained before its payments were known, that it is only their
 * sum: what was booked for it is taken out of the books again.
 */
export async function explainBatch(
  desk: MovementDesk,
  account: BankAccount,
  movementId: string,
  reason: string,
): Promise<{ changed: boolean }> {
  const { pool } = desk
  const before = await findMovement(pool, account.name, movementId)
  if (!before) throw new Problem('not_found', `${account.name} has no movement ${movementId}.`)
  if (before.explainedBy === 'batch') return { changed: false }
  if (!(await isSplit(pool, account.name, movementId))) {
    throw new Problem('invalid_transition', 'It is no batch whose payments are known.')
  }
  const movement = await explainAsBatch(pool, before, reason, desk.now())
  if (!movement) throw cannotExplain(before)
  await bookMovement(desk, account, movement)
  await markBooked(pool, account.name, [movementId])
  return { changed: true }
}

function cannotExplain({ explainedBy }: BankMovement): Problem {
  const detail = `The movement is explained already: ${explainedBy ?? 'it is being booked'}.`
  return new Problem('invalid_transition', detail)
}
