import { type BankAccount, findBankAccount } from '../bank-accounts/bank-account.ts'
import { type BankMovement, paymentIdOf } from '../bank-accounts/bank-movement.ts'
import {
  explain,
  explainAsNoMoney,
  type explanations,
  findMovement,
  isReturned,
  markBooked,
} from '../bank-accounts/movement-states.ts'
import { paymentStates } from '../bank-accounts/read-movements.ts'
import { findPaymentsOf, isSplit } from '../bank-accounts/split-batches.ts'
import {
  insertParts,
  lockAccount,
  markAsBatch,
  partUnconfirmed,
} from '../bank-accounts/take-reports.ts'
import { inTransaction, type Tx } from '../db/in-transaction.ts'
import { type Pool, sqlState } from '../db/pool.ts'
import { findClaim } from '../ledger/payment-claims.ts'
import { currencyRow, mayBeCharged } from '../lib/currencies.ts'
import { decimalText } from '../lib/money.ts'
import { Problem } from '../lib/problem.ts'
import { refuseIfOfLostFile } from '../payout-files/after-restore.ts'
import type { Desk } from '../teller/desk.ts'
import { bookAsPayout, bookMovement } from './book-movement.ts'
import { holdDebit } from './held-debits.ts'
import { matchDebits } from './match-movements.ts'
import { findUnmatched } from './unmatched-payments.ts'

type MovementDesk = Pick<Desk, 'pool' | 'teller' | 'now' | 'providers'>

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
  await refuseExplanation(desk, before, as)
  await holdDebit(desk, before)
  const movement = await explain(desk.pool, before, as, reason, desk.now(), null)
  if (!movement) throw cannotExplain(before)
  if (await bookMovement(desk, account, movement)) {
    await markBooked(desk.pool, [movement])
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
  const before = await existingMovement(pool, account, movementId)
  if (before.explainedBy === 'payment_returned' && before.returns === returned) {
    return { changed: false }
  }
  await refuseExplanation(desk, before, 'payment_returned')
  const payment = await findMovement(pool, account.name, returned)
  if (!payment) throw new Problem('not_found', `${account.name} has no movement ${returned}.`)
  if (payment.explainedBy === 'batch') {
    const detail = 'It is the sum of payments: name the payment that went back.'
    throw new Problem('invalid_transition', detail)
  }
  const arrived = payment.amountMinor
  if (![arrived, arrived + payment.deductedMinor].includes(-before.amountMinor)) {
    throw new Problem('invalid_transition', 'The payment has another amount than what left.')
  }
  const state = (await paymentStates(pool, [payment])).get(paymentIdOf(payment))
  if (state !== 'returned' && state !== 'taken_back') {
    const detail = `The payment is ${state ?? 'no payment'}: mark it as returned first.`
    throw new Problem('invalid_transition', detail)
  }
  await holdDebit(desk, before)
  const at = desk.now()
  const movement = await explain(pool, before, 'payment_returned', reason, at, returned).catch(
    (error) => {
      if (sqlState(error) !== '23505') throw error
      throw new Problem('invalid_transition', 'Another movement is this payment going back.')
    },
  )
  if (!movement) throw cannotExplain(before)
  await bookMovement(desk, account, movement)
  await markBooked(pool, [movement])
  return { changed: true }
}

async function existingMovement(
  pool: Pool,
  { name }: BankAccount,
  movementId: string,
): Promise<BankMovement> {
  const movement = await findMovement(pool, name, movementId)
  if (!movement) throw new Problem('not_found', `${name} has no movement ${movementId}.`)
  return movement
}

/**
 * A person says that a debit is the payout that it names, and that the rest of it is what the bank charged for that: the
 * rest is a cost of the order.
 */
export async function explainPayout(
  desk: MovementDesk,
  account: BankAccount,
  movementId: string,
  reason: string,
): Promise<{ changed: boolean }> {
  const { pool } = desk
  const before = await existingMovement(pool, account, movementId)
  if (before.explainedBy === 'payout' && before.state === 'booked') return { changed: false }
  await refuseExplanation(desk, before, 'payout')
  const match = await payoutsIn(pool, account, before)
  await bookAsPayout(desk, account, before, { ...match, detail: reason })
  const after = await findMovement(pool, account.name, movementId)
  if (after?.explainedBy !== 'payout') throw cannotExplain(before)
  return { changed: true }
}

/** The payouts that a debit names, and what it would say that the bank charged for them: no more than banks do. */
export async function payoutsIn(
  pool: Pool,
  account: BankAccount,
  debit: BankMovement,
): Promise<{ type: 'payout'; references: string[]; detail: string; chargesMinor: bigint }> {
  const match = (await matchDebits(pool, account, [debit], true)).get(debit.movementId)
  if (match?.type !== 'payout') {
    throw new Problem('invalid_transition', match?.detail ?? 'It names no payout.')
  }
  const { chargesMinor = 0n } = match
  if (mayBeCharged(chargesMinor, -debit.amountMinor - chargesMinor, account.currency)) {
    return { ...match, type: 'payout', chargesMinor }
  }
  const rest = decimalText(chargesMinor, account.currency)
  const most = decimalText(currencyRow(account.currency).mostChargeMinor, account.currency)
  const detail = `It is ${rest} ${account.currency} more than its payout. A bank charges less than it pays, and ${most} at most: find out what else it is.`
  throw new Problem('invalid_transition', detail)
}

/**
 * A person says of the sum of a batch, which was booked before its payments were known, that it is only their sum:
 * what was booked for it is taken out of the books again. What an agent has of it must be taken back there first.
 */
export async function explainBatch(
  desk: MovementDesk,
  account: BankAccount,
  movementId: string,
  reason: string,
): Promise<{ changed: boolean }> {
  const { pool } = desk
  const before = await existingMovement(pool, account, movementId)
  if (before.explainedBy === 'batch' && before.state === 'booked') return { changed: false }
  await refuseExplanation(desk, before, 'batch')
  await holdDebit(desk, before)
  const movement = await inTransaction(pool, async (tx) => {
    await lockAccount(tx, account.name)
    const sum = await findPaymentsOf(tx, account, movementId)
    if (sum) {
      await markAsBatch(tx, account.name, sum)
      await insertParts(tx, account.name, sum, desk.now())
    }
    if (!(await isSplit(tx, account.name, movementId))) {
      throw new Problem('invalid_transition', 'It is no batch whose payments are known.')
    }
    return explainAsNoMoney(tx, before, 'batch', reason, desk.now())
  })
  if (!movement) throw cannotExplain(before)
  if (await bookMovement(desk, account, movement)) {
    await markBooked(pool, [movement])
  }
  const after = await findMovement(pool, account.name, movementId)
  if (after?.explainedBy !== 'batch') throw cannotExplain(before)
  return { changed: true }
}

/**
 * A person says of a payment that people recorded by hand that the bank never had it: it is no money. What an agent has of
 * it must be taken back there first.
 */
export async function explainNeverBooked(
  desk: MovementDesk,
  account: BankAccount,
  movementId: string,
  reason: string,
): Promise<{ changed: boolean }> {
  const { pool } = desk
  const before = await existingMovement(pool, account, movementId)
  if (before.explainedBy === 'never_booked' && before.state === 'booked') return { changed: false }
  const movement = await inTransaction(pool, async (tx) => {
    // While the account is locked, its bank reports nothing.
    await lockAccount(tx, account.name)
    await refuseExplanation({ ...desk, pool: tx }, before, 'never_booked')
    await partUnconfirmed(tx, before, desk.now())
    return explainAsNoMoney(tx, before, 'never_booked', reason, desk.now())
  })
  if (!movement) throw cannotExplain(before)
  if (await bookMovement(desk, account, movement)) {
    await markBooked(pool, [movement])
  }
  const after = await findMovement(pool, account.name, movementId)
  if (after?.explainedBy !== 'never_booked') throw cannotExplain(before)
  return { changed: true }
}

/** Refuses to say that the bank never had what it reports. */
async function refuseIfReported(db: Pool | Tx, movement: BankMovement): Promise<void> {
  const { rows } = await db.query<{ source: string }>(
    `select source from bank_reports
     where account = $1 and movement_id = $2 and source <> 'hand' and is_trusted`,
    [movement.account, movement.movementId],
  )
  const [other] = rows
  if (!other) return
  const detail = `It was not recorded by hand alone: the source ${other.source} has it too.`
  throw new Problem('invalid_transition', detail)
}

/** Refuses what a movement cannot be explained as, before anything is changed. */
export async function refuseExplanation(
  desk: { pool: Pool | Tx; now: () => Date },
  movement: BankMovement,
  as: string,
): Promise<void> {
  const { state, explainedBy, amountMinor } = movement
  const isPayment = state === 'booked' && explainedBy === 'payment'
  const account = await findBankAccount(desk.pool, movement.account)
  if (account) await refuseIfOfLostFile(desk.pool, account, movement.movementId)
  if (as === 'batch' || as === 'never_booked') {
    if (as === 'never_booked') await refuseIfReported(desk.pool, movement)
    if (state === 'unconfirmed') throw cannotExplain(movement)
    if (isPayment) await refuseIfKept(desk, movement)
    return
  }
  if (as === 'bank_fee' && amountMinor > 0n) {
    const detail = 'Money that came in is no fee: say interest or correction.'
    throw new Problem('invalid_transition', detail)
  }
  if (as === 'payout' && (state !== 'unexplained' || amountMinor > 0n)) {
    throw new Problem('invalid_transition', 'Only a debit that nothing explains is a payout.')
  }
  if (state === 'unexplained') return
  const payment = isPayment ? await findUnmatched(desk.pool, paymentIdOf(movement)) : undefined
  if (payment?.state !== 'waiting') throw cannotExplain(movement)
}

/** Refuses while an agent has the money, or while a debit is explained as it going back. */
async function refuseIfKept({ pool }: { pool: Pool | Tx }, sum: BankMovement): Promise<void> {
  const state = (await paymentStates(pool, [sum])).get(paymentIdOf(sum))
  const isAgents = (await findClaim(pool, paymentIdOf(sum)))?.agentId !== 0n
  if (state === 'credited') {
    const detail = 'The money is credited to an agent: take it back there first.'
    throw new Problem('invalid_transition', detail)
  }
  if (state === 'waiting' && isAgents) {
    const detail = 'The money waits at an order: mark it as returned under Payments first.'
    throw new Problem('invalid_transition', detail)
  }
  if (state === undefined) {
    throw new Problem('invalid_transition', 'The order that the money was credited to is archived.')
  }
  if (await isReturned(pool, sum)) {
    throw new Problem('invalid_transition', 'A debit is explained as this money going back.')
  }
}

function cannotExplain({ explainedBy, state }: BankMovement): Problem {
  const detail =
    state === 'unconfirmed'
      ? "It is not the bank's own word yet: a second person must confirm the file first."
      : `The movement is explained already: ${explainedBy ?? 'it is being booked'}.`
  return new Problem('invalid_transition', detail)
}
