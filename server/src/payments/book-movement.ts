import { raiseAlarm } from '../approvals/alarms.ts'
import { type BankAccount, findBankAccount } from '../bank-accounts/bank-account.ts'
import { type BankMovement, paymentIdOf } from '../bank-accounts/bank-movement.ts'
import {
  claimMovements,
  explain,
  findMovement,
  keepAsPayment,
  leaveUnexplained,
  type MovementDecision,
  markBooked,
  noteDetail,
  noteWhose,
  unexplainedDebits,
  withdrawDecision,
  writeDecisions,
} from '../bank-accounts/movement-states.ts'
import { paymentStates } from '../bank-accounts/read-movements.ts'
import { timeToPass } from '../db/database-time.ts'
import { inTransaction, type Tx } from '../db/in-transaction.ts'
import { isConnectionLost, type Pool } from '../db/pool.ts'
import type { Difference, PaymentNotice } from '../ledger/commands.ts'
import { writeOffKey } from '../ledger/decide-house.ts'
import { houseBook } from '../ledger/house.ts'
import { readJournalByKey } from '../ledger/read-journal.ts'
import { inParallel } from '../lib/in-parallel.ts'
import { Problem } from '../lib/problem.ts'
import {
  followMovements,
  linkItems,
  payoutOf,
  settleMovement,
} from '../payout-files/item-movements.ts'
import type { Desk } from '../teller/desk.ts'
import { writeOff } from '../teller/write-off.ts'
import { holdDebit, holdDebits, releaseDebit } from './held-debits.ts'
import { type MovementMatch, matchCredits, matchDebits, matchSecond } from './match-movements.ts'
import { isArchivedPayment } from './payments.ts'
import { takeBack } from './take-payment.ts'
import { endUnmatched, findUnmatched, recordUnmatched } from './unmatched-payments.ts'
import { whyNotGiven } from './why-not-given.ts'

type MovementDesk = Pick<Desk, 'pool' | 'teller' | 'now' | 'providers'>

/** How many movements are booked at once; the teller puts what they change into batches. */
const atOnce = 64

/** How many movements one round books. */
export const movementPage = 500

/**
 * Books the movements that wait: of all accounts, of one, or one of it. Several processes may do so at once: each
 * decision is written down before the books change, and the books take every payment once.
 */
export async function bookMovements(
  desk: MovementDesk,
  onError: (error: unknown) => void,
  account: string | null = null,
  movementId: string | null = null,
): Promise<number> {
  const due = await claimMovements(
    desk.pool,
    timeToPass(desk.now),
    account,
    movementId,
    movementPage,
  )
  for (const name of new Set(due.map((each) => each.account))) {
    const ofIt = due.filter((each) => each.account === name)
    // One account holds up no other: what fails is tried again later.
    await bookAccount(desk, name, ofIt, onError).catch(onError)
  }
  if (account !== null) await bookFileSums(desk, onError, account)
  await holdDebits(desk, onError, account)
  return due.length
}

async function bookAccount(
  desk: MovementDesk,
  name: string,
  due: readonly BankMovement[],
  onError: (error: unknown) => void,
): Promise<void> {
  const account = await findBankAccount(desk.pool, name)
  if (!account) return
  // Credits come first: a debit may take one of them back.
  const isCredit = ({ amountMinor }: BankMovement) => amountMinor > 0n
  await bookPage(desk, account, due.filter(isCredit), onError)
  const debits = due.filter((each) => !isCredit(each))
  await bookPage(desk, account, debits, onError)
}

/** How many debits that wait for a person are looked at again at once, and how often in a round. */
const sumPage = 100
const sumPages = 50

/**
 * Looks again at debits that wait for a person while payout files are open: the bank may have put a whole file into
 * one sum, and a refusal of one of its items may have been confirmed only now.
 */
export async function bookFileSums(
  desk: MovementDesk,
  onError: (error: unknown) => void,
  only: string | null = null,
): Promise<void> {
  let last: BankMovement | null = null
  for (let page = 0; page < sumPages; page++) {
    const sums: BankMovement[] = await unexplainedDebits(desk.pool, only, last, sumPage)
    for (const name of new Set(sums.map(({ account }) => account))) {
      const account = await findBankAccount(desk.pool, name)
      const own = sums.filter((each) => each.account === name)
      if (!account) continue
      const matches = await matchDebits(desk.pool, account, own)
      for (const sum of own) {
        const match = matches.get(sum.movementId)
        if (match?.type === 'payout') await bookAsPayout(desk, account, sum, match).catch(onError)
      }
    }
    if (sums.length < sumPage) return
    last = sums.at(-1) ?? null
  }
}

/** A debit that waited for a person is of payouts, by what is known of it now. */
export async function bookAsPayout(
  desk: MovementDesk,
  account: BankAccount,
  sum: BankMovement,
  match: MovementMatch,
): Promise<void> {
  await holdDebit(desk, sum)
  const movement = await inTransaction(desk.pool, async (tx) => {
    const explained = await explain(
      tx,
      sum,
      'payout',
      match.detail,
      desk.now(),
      null,
      chargesOf(match),
    )
    if (explained) await link(tx, explained, match)
    return explained
  })
  if (!movement) return
  if (await bookMovement(desk, account, movement)) {
    await markBooked(desk.pool, [movement])
  }
  await followMovements(desk.pool, account.name, [sum.movementId])
}

/** Decides on those that are new, and books all as decided. What fails is tried again later, by itself. */
async function bookPage(
  desk: MovementDesk,
  account: BankAccount,
  movements: readonly BankMovement[],
  onError: (error: unknown) => void,
): Promise<void> {
  const fresh = movements.filter(({ state }) => state === 'new')
  const decided = await inHalves(fresh, (part) => decide(desk, account, part), onError)
  // In the order of the bank's times: of two payments for one order, the first one pays it.
  const toBook = [...movements, ...decided]
    .filter(({ state }) => state === 'matched')
    .sort((a, b) => timeOf(a) - timeOf(b))
  const done: BankMovement[] = []
  await inParallel(atOnce, toBook, async (movement) => {
    const isBooked = await bookMovement(desk, account, movement).catch((error) => {
      onError(error)
      return false
    })
    if (isBooked) done.push(movement)
  })
  const again = new Set(movements.filter(isNobodys))
  const late = await giveToOrders(
    desk,
    account,
    done.filter((movement) => again.has(movement)),
    onError,
  )
  const booked = done.filter((movement) => !late.has(movement))
  await markBooked(desk.pool, booked)
  const ids = booked.map(({ movementId }) => movementId)
  await followMovements(desk.pool, account.name, ids)
}

/** Whether it was decided before that a movement is a payment of nobody. */
function isNobodys({ state, explainedBy, orderId }: BankMovement): boolean {
  return state === 'matched' && explainedBy === 'payment' && orderId === null
}

/**
 * Gives payments that were nobody's to the orders that they pay by all that the bank has said of them by now. Returns
 * those that this failed for.
 */
async function giveToOrders(
  desk: MovementDesk,
  account: BankAccount,
  movements: readonly BankMovement[],
  onError: (error: unknown) => void,
): Promise<Set<BankMovement>> {
  const failed = new Set(movements)
  await inHalves(
    movements,
    async (part) => {
      const matches = await matchCredits(desk.pool, account, part)
      await inParallel(atOnce, part, async (movement) => {
        const match = matches.get(movement.movementId)
        if (match?.type === 'order') await giveToOrder(desk, movement, match)
        else if (match) await noteAnew(desk.pool, movement, match)
        failed.delete(movement)
      })
      return []
    },
    onError,
  )
  return failed
}

async function giveToOrder(
  desk: MovementDesk,
  movement: BankMovement,
  match: MovementMatch & { type: 'order' },
): Promise<void> {
  const { agentId, orderId, detail } = match
  if ((await whyNotGiven(desk.pool, movement, match)) !== undefined) return
  const paymentId = paymentIdOf(movement)
  const houseId = houseBook(movement.currency)
  const at = desk.now()
  try {
    const given = { agentId, houseId, orderId, paymentId, reason: null, at }
    await desk.teller.do({ type: 'assign_payment', ...given })
  } catch (error) {
    // The order is paid by now, or a person was first: it stays as it is.
    if (!(error instanceof Problem) || error.code !== 'invalid_transition') throw error
    return noteDetail(desk.pool, movement, 'It names an order that is paid.')
  }
  await noteWhose(desk.pool, movement, detail)
}

/** Money that still waits for a person says what the bank has said of it since: that it is a payout of ours, perhaps. */
async function noteAnew(pool: Pool, movement: BankMovement, match: MovementMatch): Promise<void> {
  const waiting = await findUnmatched(pool, paymentIdOf(movement))
  if (waiting?.state !== 'waiting') return
  const detail =
    match.type === 'payout_returned'
      ? `return_unknown: it was taken for a payment before the bank said what it is. ${match.detail}`
      : match.detail
  await noteDetail(pool, movement, detail)
}

function timeOf({ bookedAt, bookedOn }: BankMovement): number {
  return bookedAt?.getTime() ?? Date.parse(bookedOn)
}

/** Does work for many. Where it fails, it is done in halves, so that one that is bad holds up no other. */
async function inHalves<Item, Result>(
  items: readonly Item[],
  work: (items: readonly Item[]) => Promise<Result[]>,
  onError: (error: unknown) => void,
): Promise<Result[]> {
  if (items.length === 0) return []
  try {
    return await work(items)
  } catch (error) {
    if (items.length === 1 || isConnectionLost(error)) {
      onError(error)
      return []
    }
    const middle = items.length >> 1
    const first = await inHalves(items.slice(0, middle), work, onError)
    return [...first, ...(await inHalves(items.slice(middle), work, onError))]
  }
}

/** Decides what movements are and writes it down. Returns those that this process decided. */
async function decide(
  { pool, now }: MovementDesk,
  account: BankAccount,
  movements: readonly BankMovement[],
): Promise<BankMovement[]> {
  const isDebit = (movements[0]?.amountMinor ?? 0n) < 0n
  const matches = await (isDebit ? matchDebits : matchCredits)(pool, account, movements)
  const decided: MovementDecision[] = []
  for (const movement of movements) {
    const match = matches.get(movement.movementId)
    if (match) decided.push(decisionOf(movement, match))
  }
  const written = await inTransaction(pool, async (tx) => {
    const own = await writeDecisions(tx, decided)
    for (const movement of own) await link(tx, movement, matches.get(movement.movementId))
    return own
  })
  for (const movement of written) {
    const match = matches.get(movement.movementId)
    const isNews = movements.some(
      (before) => before.movementId === movement.movementId && before.detail !== movement.detail,
    )
    if (match?.type === 'unexplained' && match.isAlarm && isNews) await alarm(pool, movement, now())
  }
  return written
}

/** Payouts of files are a movement's when it is decided so, and not if another movement was first. */
async function link(
  tx: Tx,
  { account, movementId }: BankMovement,
  match: MovementMatch | undefined,
): Promise<void> {
  if (match?.type !== 'payout' && match?.type !== 'payout_returned') return
  const as = match.type === 'payout' ? 'debited_by' : 'returned_by'
  if (await linkItems(tx, account, movementId, match.references, as)) return
  throw new Error(`another movement than ${movementId} was first with a payout`)
}

/** Money left that nothing explains: nobody should have to look for that. */
async function alarm(pool: Pool, { account, detail }: BankMovement, at: Date): Promise<void> {
  await raiseAlarm(pool, { at, by: account, words: `${account}: ${detail ?? 'a debit'}` })
}

function decisionOf(
  { account, movementId, actAt, version }: BankMovement,
  match: MovementMatch,
): MovementDecision {
  const isOrder = match.type === 'order'
  const explainedBy =
    match.type === 'unexplained'
      ? null
      : match.type === 'takes_back'
        ? 'payment_taken_back'
        : match.type === 'payout' || match.type === 'payout_returned'
          ? match.type
          : 'payment'
  return {
    account,
    movementId,
    state: match.type === 'unexplained' ? 'unexplained' : 'matched',
    explainedBy,
    agentId: isOrder ? match.agentId : null,
    orderId: isOrder ? match.orderId : null,
    paidAt: 'paidAt' in match ? match.paidAt : null,
    why: match.type === 'nobody' ? match.why : null,
    returns: match.type === 'takes_back' ? match.movementId : null,
    deductedMinor: isOrder ? match.deductedMinor : chargesOf(match),
    detail: match.detail,
    actAt,
    version,
  }
}

function chargesOf(match: MovementMatch): bigint {
  return match.type === 'payout' ? (match.chargesMinor ?? 0n) : 0n
}

/**
 * Brings a movement into the books as it was decided. Returns whether it is to be marked as booked. What waited in the
 * house's account until then leaves it last: so it is in the books all the time.
 */
export async function bookMovement(
  desk: MovementDesk,
  account: BankAccount,
  movement: BankMovement,
): Promise<boolean> {
  const isBooked = await bookAsDecided(desk, account, movement)
  if (isBooked) await releaseDebit(desk, movement)
  return isBooked
}

async function bookAsDecided(
  desk: MovementDesk,
  account: BankAccount,
  movement: BankMovement,
): Promise<boolean> {
  switch (movement.explainedBy) {
    case null:
      return false
    case 'payment_taken_back':
      return bookTakenBack(desk, account, movement)
    case 'payment':
      return bookPayment(desk, account, movement)
    case 'payment_returned':
      await endDeduction(desk, movement)
      return true
    case 'payout':
      await settleMovement(desk, movement, 'debited_by')
      await bookCharge(desk, movement)
      return true
    case 'payout_returned':
      await settleMovement(desk, movement, 'returned_by')
      return true
    case 'batch':
    case 'never_booked':
      return unbook(desk, movement)
    default:
      return bookExplained(desk, movement)
  }
}

/** Returns false if it is left to who has claimed it since, or will. */
async function bookPayment(
  desk: MovementDesk,
  account: BankAccount,
  movement: BankMovement,
): Promise<boolean> {
  const { agentId, orderId, amountMinor, deductedMinor } = movement
  const payment = {
    paymentId: paymentIdOf(movement),
    amountMinor,
    paidAt: movement.paidAt ?? movement.reportedAt,
    payer: payerOf(movement),
  }
  let why = movement.why
  let second: MovementMatch | undefined
  if (agentId !== null && orderId !== null) {
    const named = { agentId, orderId }
    const paid = { ...payment, amountMinor: amountMinor + deductedMinor }
    let unmatched = await receive(desk, account.name, named, paid, true)
    if (unmatched === 'ambiguous') {
      second = await matchSecond(desk.pool, account, movement)
      const isSecond = second?.type === 'order' && second.orderId === orderId
      if (isSecond) unmatched = await receive(desk, account.name, named, paid, false)
    }
    if (unmatched === undefined) {
      await bookDeduction(desk, movement, 'deduction', deductedMinor)
      return true
    }
    if (unmatched === 'claimed_twice') {
      // Another process has found meanwhile that it is nobody's.
      if (!(await findUnmatched(desk.pool, payment.paymentId))) {
        throw new Error(`payment ${payment.paymentId} was claimed by another order than decided`)
      }
      await giveToOrders(desk, account, [movement], rethrow)
      return true
    }
    why = unmatched === 'wrong_provider' || unmatched === 'ambiguous' ? unmatched : 'unmatched'
    if (!(await withdrawDecision(desk.pool, movement, why, second?.detail ?? null))) return false
  }
  await recordUnmatched(desk, {
    ...payment,
    reference: movement.text.replace(/\s+/g, ' ').trim() || '-',
    currency: movement.currency,
    why: why ?? 'unmatched',
    contradicts: null,
  })
  if (second?.type === 'order') await giveToOrder(desk, movement, second)
  return true
}

function rethrow(error: unknown): never {
  throw error
}

/** What the rail kept of a payment is a cost of its order, at the account. */
async function bookDeduction(
  desk: MovementDesk,
  { account, movementId, agentId, orderId }: BankMovement,
  of: 'deduction' | 'deduction-back',
  amountMinor: bigint,
): Promise<void> {
  if (amountMinor === 0n || agentId === null || orderId === null) return
  const cost = { provider: account, costId: `${of}:${movementId}`, amountMinor }
  await desk.teller.do({ type: 'charge_cost', agentId, orderId, ...cost, at: desk.now() })
}

/** What the bank debited more than its payout is a cost of that order, at the account. */
async function bookCharge(desk: MovementDesk, movement: BankMovement): Promise<void> {
  const { account, movementId, deductedMinor } = movement
  if (deductedMinor === 0n) return
  const { agentId, orderId } = await payoutOf(desk.pool, account, movementId)
  await bookDeduction(desk, { ...movement, agentId, orderId }, 'deduction', deductedMinor)
}

/** If a debit is only what had arrived of the payment that it gives back, nobody kept anything of it. */
async function endDeduction(desk: MovementDesk, debit: BankMovement): Promise<void> {
  const paid = debit.returns && (await findMovement(desk.pool, debit.account, debit.returns))
  if (!paid || paid.amountMinor !== -debit.amountMinor) return
  await bookDeduction(desk, paid, 'deduction-back', -paid.deductedMinor)
}

/** Returns why the order does not take the money; undefined if it does, or did before. */
async function receive(
  desk: MovementDesk,
  provider: string,
  named: { agentId: bigint; orderId: string },
  payment: PaymentNotice,
  unlessPaid: boolean,
) {
  const at = desk.now()
  try {
    const asked = { ...named, provider, payment, unlessPaid, at }
    const command = { type: 'receive_payment', ...asked } as const
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

/** Returns false if a person has to say what it was: the books have no order any more that it could be taken from. */
async function bookTakenBack(
  desk: MovementDesk,
  account: BankAccount,
  movement: BankMovement,
): Promise<boolean> {
  const { returns, movementId } = movement
  if (returns === null) return true
  if (await isArchivedPayment(desk.pool, `${account.name}:${returns}`)) {
    const detail = `The bank took back the payment of movement ${returns}, whose order is archived. Explain it as a correction, which the house bears; if the agent is to bear it, debit its wallet as well.`
    await leaveUnexplained(desk.pool, movement, detail)
    return false
  }
  const effect = await takeBack(desk, account, {
    type: 'payment_taken_back',
    id: movementId,
    paymentId: returns,
    reference: '',
  })
  if (effect.result === 'refused') throw new Problem('overloaded', effect.detail ?? '', {})
  await endDeduction(desk, movement)
  return true
}

/** Returns false if the money turned out to be an agent's. */
async function bookExplained(desk: MovementDesk, movement: BankMovement): Promise<boolean> {
  const { account, currency, amountMinor, explainedBy, detail } = movement
  const paymentId = paymentIdOf(movement)
  const reason = detail ?? 'explained by a person'
  const explained = {
    provider: account,
    amountMinor: -amountMinor,
    reason: `${explainedBy}: ${reason}`,
    ref: `movement:${paymentId}`,
    asCost: explainedBy === 'bank_fee',
  }
  if (!(await dismissWaiting(desk, movement, reason, explained))) {
    await keepAsPayment(desk.pool, movement)
    return false
  }
  // A debit, or a credit that was dismissed before.
  await writeOff(desk, { currency, ...explained })
  return true
}

/**
 * What turned out to be no money of its own is taken out of the books: the sum of a batch whose payments are known, or
 * what the bank never had. Returns false if it turned out to be an agent's.
 */
async function unbook(desk: MovementDesk, movement: BankMovement): Promise<boolean> {
  const { account, currency, detail, explainedBy } = movement
  const paymentId = paymentIdOf(movement)
  const reason = `${explainedBy}: ${detail ?? 'it is no money of its own'}`
  await dismissWaiting(desk, movement, reason)
  const payment = (await paymentStates(desk.pool, [movement])).get(paymentId)
  if (payment === 'waiting' || payment === 'credited') {
    await keepAsPayment(desk.pool, movement)
    return false
  }
  await bookDeduction(desk, movement, 'deduction-back', -movement.deductedMinor)
  const key = writeOffKey({ provider: account, ref: `movement:${paymentId}` })
  const booked = await readJournalByKey(desk.pool, houseBook(currency), key)
  if (!booked) return true
  await writeOff(desk, {
    currency,
    provider: account,
    amountMinor: -(booked.change.clearing + booked.change.unexplained),
    reason,
    ref: `batch:${paymentId}`,
    asCost: booked.change.costs !== 0n,
  })
  return true
}

/** A credit that waited for a decision is no payment. Returns false if somebody has decided otherwise. */
async function dismissWaiting(
  desk: MovementDesk,
  movement: BankMovement,
  reason: string,
  explained?: Difference,
): Promise<boolean> {
  const { currency } = movement
  const paymentId = paymentIdOf(movement)
  if (!(await findUnmatched(desk.pool, paymentId))) return true
  const unmatched = { paymentId, currency }
  if (await endUnmatched(desk, unmatched, 'dismissed', reason, explained)) return true
  return (await findUnmatched(desk.pool, paymentId))?.state === 'dismissed'
}
