import type { LocalTime } from '../lib/local-time.ts'
import { noChange } from './accounts.ts'
import type { Order, UnmatchedPayment, Wallet } from './book.ts'
import type { BookView, Change, Command, Decision } from './commands.ts'
import { creditPayment, creditWallet, takeIn } from './decide-payment.ts'
import { beyondBound, moveSuspense, nothingElse, refused, writeRow } from './entry.ts'

/** Records money that belongs to no agent, in the house's suspense account. */
export function receiveUnmatched(
  book: BookView,
  { unmatched: notice, at }: Command & { type: 'receive_unmatched' },
): Decision {
  if (book.claim) return unchanged
  const entry = moveSuspense(book.wallet, 'payment_received', notice, at)
  if (!entry) return beyondBound
  const { paymentId, amountMinor, currency } = notice
  return {
    type: 'changed',
    ...nothingElse,
    ...entry,
    order: undefined,
    unmatched: {
      ...notice,
      reportedAt: at,
      state: 'waiting',
      assignedTo: null,
      evidence: null,
      decidedAt: null,
      receivedSeq: entry.row.seq,
      decidedSeq: null,
    },
    claim: { paymentId, agentId: 0n, orderId: null, amountMinor, currency, claimedAt: at },
  }
}

/**
 * Ends money that belongs to no agent: it was returned to its payer, or the report was not a payment. What it was instead
 * is booked with it.
 */
export function endUnmatched(
  book: BookView,
  { state, evidence, explained, at }: Command & { type: 'end_unmatched' },
): Decision {
  const { unmatched } = book
  if (!unmatched) return noSuchPayment
  if (unmatched.state === state) return unchanged
  if (unmatched.state !== 'waiting') return isDecided(unmatched)
  const event = state === 'returned' ? 'payment_returned' : 'payment_dismissed'
  const entry = moveSuspense(book.wallet, event, unmatched, at)
  if (!entry) return beyondBound
  const ended: Decision = {
    type: 'changed',
    ...nothingElse,
    ...entry,
    order: undefined,
    unmatched: { ...unmatched, state, evidence, decidedAt: at, decidedSeq: entry.row.seq },
  }
  if (!explained || book.isDone || book.archived) return ended
  const account = explained.asCost ? 'costs' : 'differences'
  const instead = writeOffRow(entry.wallet, { ...explained, at }, account)
  if (!instead) return beyondBound
  return { ...ended, also: [{ ...nothingElse, ...instead, order: undefined }] }
}

/**
 * Credits money that belonged to no agent to an agent's wallet, or to one of its orders: the house's book gives it
 * up, and the agent's book takes it in at the same provider and credits it. If a person's credit cannot be made, the
 * house keeps it; if no person asked for one, what does not pay its order by itself waits in the agent's book.
 */
export function assignPayment(
  book: BookView,
  command: Command & { type: 'assign_payment' },
  localTime: LocalTime,
): Decision {
  const { agentId, orderId, at } = command
  const { unmatched, order, house, wallet } = book
  if (!house) throw new Error('the book of the house was not read')
  if (!unmatched) return noSuchPayment
  if (unmatched.state === 'assigned' && unmatched.assignedTo === agentId) {
    return { type: 'unchanged', order }
  }
  if (unmatched.state !== 'waiting') return isDecided(unmatched)
  const { currency, paymentId, amountMinor } = unmatched
  if (wallet.currency !== currency || house.currency !== currency) {
    return refused('invalid_transition', `The payment is in ${currency}, the wallet is not.`)
  }
  if (orderId !== null && (order?.kind !== 'deposit' || order.status === 'PAID')) {
    const what = order ? `a ${order.kind} order that is ${order.status}` : 'no order'
    return refused('invalid_transition', `A payment cannot be credited to ${what}.`)
  }
  const given = moveSuspense(house, 'payment_assigned', unmatched, at)
  const taken = takeIn(book, orderId, unmatchedNotice(unmatched), at, localTime)
  if (!given || taken.type !== 'changed') return beyondBound
  const credit = creditAssigned(book, taken, command, localTime)
  if (credit && credit.type !== 'changed') return credit
  return {
    ...taken,
    ...(credit && { order: credit.order, payment: credit.payment, also: [credit] }),
    house: given,
    unmatched: {
      ...unmatched,
      state: 'assigned',
      assignedTo: agentId,
      decidedAt: at,
      decidedSeq: given.row.seq,
    },
    claim: { paymentId, agentId, orderId, amountMinor, currency, claimedAt: unmatched.reportedAt },
  }
}

/** Credits what the agent's book has taken in, unless it paid its order at once. */
function creditAssigned(
  book: BookView,
  { wallet, payment }: Change,
  command: Command & { type: 'assign_payment' },
  localTime: LocalTime,
): Decision | undefined {
  const { reason } = command
  if (reason === null || payment?.state !== 'waiting') return undefined
  const view = { ...book, wallet, payment }
  return book.order
    ? creditPayment(view, book.order, command.at, localTime)
    : creditWallet(view, { ...command, type: 'credit_wallet', reason })
}

function unmatchedNotice({ paymentId, amountMinor, paidAt, payer }: UnmatchedPayment) {
  return { paymentId, amountMinor, paidAt, payer }
}

/** A provider charges for an order: it keeps that much of the money that is at it. */
export function chargeCost(
  book: BookView,
  order: Order,
  command: Command & { type: 'charge_cost' },
): Decision {
  if (book.isDone || book.archived) return { type: 'unchanged', order }
  if (command.amountMinor === 0n) return nothingToMove
  const { provider, amountMinor, at } = command
  const entry = writeRow(
    book.wallet,
    { ...noChange, costs: -amountMinor, clearing: amountMinor },
    {
      orderId: order.orderId,
      event: 'cost_charged',
      at,
      clearingAt: provider,
      onceKey: costKey(command),
      reason: null,
    },
  )
  if (!entry) return beyondBound
  return { type: 'changed', ...nothingElse, ...entry, order: undefined }
}

export function costKey({ provider, costId }: { provider: string; costId: string }): string {
  return `cost:${provider}:${costId}`
}

/** Moves what the agent was charged, and what its orders cost, to the house. */
export function sweep(book: BookView, command: Command & { type: 'sweep' }): Decision {
  const { house, wallet } = book
  if (!house) throw new Error('the book of the house was not read')
  const { fees, costs } = wallet.balances
  if (book.isDone || book.archived || (fees === 0n && costs === 0n)) return unchanged
  if (wallet.currency !== house.currency) {
    return refused('invalid_transition', 'The book of the house is in another currency.')
  }
  const what = { orderId: null, event: 'swept', at: command.at, clearingAt: null } as const
  const change = { ...noChange, fees: -fees, costs: -costs, transfers: fees + costs }
  const taken = writeRow(wallet, change, { ...what, onceKey: sweepKey(command), reason: null })
  const given = writeRow(
    house,
    { ...noChange, fees, costs, transfers: -(fees + costs) },
    { ...what, onceKey: `${sweepKey(command)}:${command.agentId}`, reason: null },
  )
  if (!taken || !given) return beyondBound
  return { type: 'changed', ...nothingElse, ...taken, order: undefined, house: given }
}

export function sweepKey({ day }: { day: string }): string {
  return `sweep:${day}`
}

/** The house takes on itself what a provider's account shows more or less than the books. */
export function writeOff(book: BookView, command: Command & { type: 'write_off' }): Decision {
  if (book.isDone || book.archived) return unchanged
  if (command.amountMinor === 0n) return nothingToMove
  const account = command.asCost ? 'costs' : 'differences'
  // A debit that is in an account already only moves: it left clearing when it was reported.
  const entry = writeOffRow(book.wallet, command, account, book.isHeld)
  if (!entry) return beyondBound
  return { type: 'changed', ...nothingElse, ...entry, order: undefined }
}

/** What left a provider and is of no order is a difference, a cost, or passed on to an agent. */
export function writeOffRow(
  house: Wallet,
  off: Omit<Command & { type: 'write_off' }, 'type' | 'agentId' | 'asCost'>,
  account: 'differences' | 'costs' | 'transfers',
  isHeld = false,
) {
  const { amountMinor, provider, reason, at } = off
  const from = isHeld ? 'unexplained' : 'clearing'
  return writeRow(
    house,
    { ...noChange, [account]: -amountMinor, [from]: amountMinor },
    {
      orderId: null,
      event: 'written_off',
      at,
      clearingAt: isHeld ? null : provider,
      onceKey: writeOffKey(off),
      reason,
    },
  )
}

/** A reference counts once per provider. That of a bank movement, or of its batch, names its account already. */
export function writeOffKey({ provider, ref }: { provider: string; ref: string }): string {
  return ref.startsWith(`movement:${provider}:`) || ref.startsWith(`batch:${provider}:`)
    ? `write-off:${ref}`
    : `write-off:${provider}:${ref}`
}

type DebitMoved = Command & { type: 'report_debit' | 'explain_debit' }

/**
 * Puts a debit that nothing explains into the house's account for that, or takes it out again because it is in the books
 * as what it was.
 */
export function moveDebit(book: BookView, command: DebitMoved): Decision {
  const isReport = command.type === 'report_debit'
  if (book.isDone || (!isReport && !book.isHeld)) return unchanged
  const moved = isReport ? command.amountMinor : -command.amountMinor
  const entry = writeRow(
    book.wallet,
    { ...noChange, unexplained: -moved, clearing: moved },
    {
      orderId: null,
      event: isReport ? 'debit_reported' : 'debit_explained',
      at: command.at,
      clearingAt: command.provider,
      onceKey: debitKeys(debitOf(command) ?? '')[isReport ? 'reported' : 'explained'],
      reason: null,
    },
  )
  if (!entry) return beyondBound
  return { type: 'changed', ...nothingElse, ...entry, order: undefined }
}

/** The debit that a command is about: its account and its id. */
export function debitOf(command: Command): string | undefined {
  if (command.type === 'report_debit' || command.type === 'explain_debit') {
    return `${command.provider}:${command.movementId}`
  }
  const isOfMovement = command.type === 'write_off' && command.ref.startsWith('movement:')
  return isOfMovement ? command.ref.slice('movement:'.length) : undefined
}

/** The keys of the rows of a debit that was not explained at once. */
export function debitKeys(debit: string) {
  return {
    reported: `debit_reported:${debit}`,
    explained: `debit_explained:${debit}`,
    /** A person's explanation takes it out of the account by itself. */
    writtenOff: `write-off:movement:${debit}`,
  }
}

function isDecided({ state }: UnmatchedPayment): Decision {
  return refused('invalid_transition', `The payment is ${state} already.`)
}

const nothingToMove = refused('amount_out_of_range', 'There is no amount to move.')
const noSuchPayment = refused('order_not_found', 'No such payment waits for an owner.')
const unchanged: Decision = { type: 'unchanged', order: undefined }
