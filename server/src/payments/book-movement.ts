import { type BankAccount, findBankAccount } from '../bank-accounts/bank-account.ts'
import { type BankMovement, paymentIdOf } from '../bank-accounts/bank-movement.ts'
import {
  claimMovements,
  keepAsPayment,
  markBooked,
  withdrawDecision,
  writeDecision,
} from '../bank-accounts/movement-states.ts'
import type { PaymentNotice } from '../ledger/commands.ts'
import { Problem } from '../lib/problem.ts'
import type { Desk } from '../teller/desk.ts'
import { writeOff } from '../teller/write-off.ts'
import { matchMovement } from './match-movement.ts'
import { takeBack } from './take-payment.ts'
import { endUnmatched, findUnmatched, recordUnmatched } from './unmatched-payments.ts'

type MovementDesk = Pick<Desk, 'pool' | 'teller' | 'now'>

/** How many movements one round books. */
export const movementPage = 200

/**
 * Books the movements that wait. Several processes may do so at once: each decision is written down before the
 * books change, and the books take every payment once.
 */
export async function bookMovements(
  desk: MovementDesk,
  onError: (error: unknown) => void,
  account: string | null = null,
): Promise<number> {
  const due = await claimMovements(desk.pool, desk.now(), account, movementPage)
  const accounts = new Map<string, BankAccount>()
  for (const name of new Set(due.map((each) => each.account))) {
    const found = await findBankAccount(desk.pool, name)
    if (found) accounts.set(name, found)
  }
  await Promise.all(
    due.map(async (movement) => {
      const its = accounts.get(movement.account)
      if (its) await bookMovement(desk, its, movement).catch(onError)
    }),
  )
  return due.length
}

/** Books a movement as it was decided, or decides first. */
export async function bookMovement(
  desk: MovementDesk,
  account: BankAccount,
  movement: BankMovement,
): Promise<void> {
  const decided = movement.state === 'new' ? await decide(desk, account, movement) : movement
  if (decided?.state !== 'matched') return
  if (decided.explainedBy === 'payment_taken_back') await bookTakenBack(desk, account, decided)
  else if (decided.explainedBy === 'payment') await bookPayment(desk, decided)
  else if (decided.explainedBy !== 'payment_returned' && !(await bookExplained(desk, decided))) {
    return
  }
  await markBooked(desk.pool, decided)
}

/** Decides what a movement is and writes it down. Returns it as decided, by this process or another. */
async function decide(
  { pool }: MovementDesk,
  account: BankAccount,
  movement: BankMovement,
): Promise<BankMovement | undefined> {
  const match = await matchMovement(pool, account, movement)
  const isOrder = match.type === 'order'
  const explainedBy =
    match.type === 'unexplained'
      ? null
      : match.type === 'takes_back'
        ? 'payment_taken_back'
        : 'payment'
  return writeDecision(pool, movement, {
    state: match.type === 'unexplained' ? 'unexplained' : 'matched',
    explainedBy,
    agentId: isOrder ? match.agentId : null,
    orderId: isOrder ? match.orderId : null,
    paidAt: 'paidAt' in match ? match.paidAt : null,
    why: match.type === 'nobody' ? match.why : null,
    returns: match.type === 'takes_back' ? match.movementId : null,
    detail: match.detail,
  })
}

async function bookPayment(desk: MovementDesk, movement: BankMovement): Promise<void> {
  const { account, agentId, orderId, amountMinor } = movement
  const payment = {
    paymentId: paymentIdOf(movement),
    amountMinor,
    paidAt: movement.paidAt ?? movement.reportedAt,
    payer: payerOf(movement),
  }
  let why = movement.why
  if (agentId !== null && orderId !== null) {
    const unmatched = await receive(desk, account, { agentId, orderId }, payment)
    if (unmatched === undefined) return
    if (unmatched === 'claimed_twice') {
      throw new Error(`payment ${payment.paymentId} was claimed by another order than decided`)
    }
    why = unmatched === 'wrong_provider' ? 'wrong_provider' : 'unmatched'
    await withdrawDecision(desk.pool, movement, why)
  }
  await recordUnmatched(desk, {
    ...payment,
    reference: movement.text.replace(/\s+/g, ' ').trim() || '-',
    currency: movement.currency,
    why: why ?? 'unmatched',
    contradicts: null,
  })
}

/** Returns why the order does not take the money; undefined if it does, or did before. */
async function receive(
  desk: MovementDesk,
  provider: string,
  named: { agentId: bigint; orderId: string },
  payment: PaymentNotice,
) {
  const at = desk.now()
  try {
    const command = { type: 'receive_payment', ...named, provider, payment, at } as const
    return (await desk.teller.do(command)).unmatched
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'order_not_found') throw error
    return 'unmatched' as const
  }
}

function payerOf({ payerAccountNo, payerName, payerBank }: BankMovement) {
  if (payerAccountNo === null && payerName === null && payerBank === null) return null
  return { accountNo: payerAccountNo, accountName: payerName, bankCode: payerBank }
}

async function bookTakenBack(
  desk: MovementDesk,
  account: BankAccount,
  { returns, movementId }: BankMovement,
): Promise<void> {
  if (returns === null) return
  const effect = await takeBack(desk, account, {
    type: 'payment_taken_back',
    id: movementId,
    paymentId: returns,
    reference: '',
  })
  if (effect.result === 'refused') throw new Problem('overloaded', effect.detail ?? '', {})
}

/** Returns false if the money turned out to be an agent's. */
async function bookExplained(desk: MovementDesk, movement: BankMovement): Promise<boolean> {
  const { account, currency, amountMinor, explainedBy, detail } = movement
  const paymentId = paymentIdOf(movement)
  const reason = detail ?? 'explained by a person'
  const unmatched = await findUnmatched(desk.pool, paymentId)
  if (unmatched && !(await endUnmatched(desk, { paymentId, currency }, 'dismissed', reason))) {
    const { state } = (await findUnmatched(desk.pool, paymentId)) ?? unmatched
    if (state !== 'dismissed') {
      await keepAsPayment(desk.pool, movement)
      return false
    }
  }
  await writeOff(desk, {
    currency,
    provider: account,
    amountMinor: -amountMinor,
    reason: `${explainedBy}: ${reason}`,
    ref: `movement:${paymentId}`,
    asCost: explainedBy === 'bank_fee',
  })
  return true
}
