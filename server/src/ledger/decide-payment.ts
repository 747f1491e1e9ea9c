import { feeOf, parseFeeRule } from '../lib/fee.ts'
import type { LocalTime } from '../lib/local-time.ts'
import { noChange } from './accounts.ts'
import type { Order, Payment, PaymentClaim } from './book.ts'
import type { BookView, Command, Decision, PaymentNotice } from './commands.ts'
import { beyondBound, moveSuspense, nothingElse, outcome, refused, writeRow } from './entry.ts'
import { providerOfPayment } from './house.ts'
import { stopRefunds } from './refunds.ts'
import { reservedOf, reserveMadeBy } from './reserve.ts'

/**
 * Records incoming money and pays the order with it if everything fits. Otherwise the payment waits for a
 * person in the agent's suspense account, unless the order's terms credit late or different amounts. A
 * payment belongs to the agent and order of its first report, and only the order's own provider can report
 * one for it.
 */
export function receivePayment(
  book: BookView,
  command: Command & { type: 'receive_payment' },
  localTime: LocalTime,
): Decision {
  const { order } = book
  const { payment: notice, at } = command
  const contradicts = book.claim !== undefined && !agrees(book.claim, book.payment, command)
  // A report that differs from the archived one is judged as if the payment were still in the books.
  if (book.archived && !contradicts) return unchanged
  if (command.orderId !== null && order?.kind !== 'deposit') {
    return refused('order_not_found', 'The agent has no such deposit order.')
  }
  if (contradicts) return { type: 'unmatched', order: undefined, why: 'claimed_twice' }
  // If a payment is claimed but not recorded, a person is assigning it to the agent: that decision
  // counts.
  const isClaimed = book.claim !== undefined && command.provider !== null
  if (book.payment || isClaimed) return { type: 'unchanged', order }
  if (order && command.provider !== null && order.provider !== command.provider) {
    return { type: 'unmatched', order: undefined, why: 'wrong_provider' }
  }
  if (command.unlessPaid && order?.status === 'PAID') {
    return { type: 'unmatched', order: undefined, why: 'ambiguous' }
  }
  return takeIn(book, command.orderId, notice, at, localTime)
}

/** Takes money into an agent's book: it pays the order if everything fits, else it waits. */
export function takeIn(
  book: BookView,
  orderId: string | null,
  notice: PaymentNotice,
  at: Date,
  localTime: LocalTime,
): Decision {
  const { order } = book
  const payment: Payment = {
    ...notice,
    agentId: book.wallet.agentId,
    orderId,
    reportedAt: at,
    state: 'waiting',
    why: 'unmatched',
    creditedTo: null,
    evidence: null,
    receivedSeq: book.wallet.seq + 1n,
    returnedSeq: null,
  }
  if (!order) return wait(book, payment, at)
  const inTime = order.expiresAt !== null && notice.paidAt <= order.expiresAt
  // News of a payment made in time still pays the order, even if the order has expired since.
  const open = order.status === 'WAITING' || order.status === 'EXPIRED'
  let why: Payment['why'] = null
  if (order.status === 'PAID') why = 'duplicate'
  else if (!open || !inTime) why = 'late'
  else if (notice.amountMinor !== (order.payableMinor ?? order.amountMinor)) why = 'wrong_amount'
  const byPolicy = (why === 'late' || why === 'wrong_amount') && order.lateMoney === 'credit'
  if (why !== null && !byPolicy) return wait(book, { ...payment, why }, at)
  const paid = pay(book, order, payment, at, localTime)
  return typeof paid === 'string' ? wait(book, { ...payment, why: paid }, at) : paid
}

/** Records money that waits for a decision. */
function wait(book: BookView, payment: Payment, at: Date): Decision {
  const entry = moveSuspense(book.wallet, 'payment_received', payment, at)
  if (!entry) return beyondBound
  return { type: 'changed', ...nothingElse, ...entry, order: book.order, payment }
}

/** Whether a report agrees with the first report of a payment, or with what a person has since decided. */
function agrees(
  claim: PaymentClaim,
  payment: Payment | undefined,
  { agentId, orderId, provider, payment: { amountMinor } }: Command & { type: 'receive_payment' },
): boolean {
  if (claim.agentId !== agentId) return false
  if (provider === null) return true
  const isForIt = claim.orderId === orderId || payment?.orderId === orderId
  return isForIt && claim.amountMinor === amountMinor
}

/** An operator credits a waiting payment to an order, with the amount actually paid. */
export function creditPayment(
  book: BookView,
  order: Order,
  at: Date,
  localTime: LocalTime,
): Decision {
  const { payment } = book
  if (!payment) return noSuchPayment
  const isPaidByIt = payment.creditedTo === 'order' && payment.orderId === order.orderId
  if (payment.state === 'credited' && isPaidByIt) {
    return { type: 'unchanged', order }
  }
  if (payment.state !== 'waiting' || order.kind !== 'deposit' || order.status === 'PAID') {
    return refused(
      'invalid_transition',
      `A payment that is ${payment.state} cannot be credited to a ${order.kind} order that is ${order.status}.`,
    )
  }
  const credited = pay(book, order, { ...payment, orderId: order.orderId }, at, localTime)
  if (typeof credited !== 'string') return credited
  return refused('amount_out_of_range', 'The fee or the bound of the wallet does not allow it.')
}

/** An operator credits a waiting payment to the wallet: an adjustment that names the payment. */
export function creditWallet(
  book: BookView,
  command: Command & { type: 'credit_wallet' },
): Decision {
  const { payment } = book
  if (!payment) return noSuchPayment
  if (payment.state === 'credited' && payment.creditedTo === 'wallet') return unchanged
  if (payment.state !== 'waiting') return isSettled(payment)
  const { amountMinor } = payment
  const entry = writeRow(
    book.wallet,
    { ...noChange, available: amountMinor, suspense: -amountMinor },
    {
      orderId: null,
      event: 'adjustment',
      at: command.at,
      clearingAt: null,
      onceKey: `payment:${payment.paymentId}`,
      reason: command.reason,
    },
  )
  if (!entry) return beyondBound
  return {
    type: 'changed',
    ...nothingElse,
    ...entry,
    order: undefined,
    payment: { ...payment, state: 'credited', why: null, creditedTo: 'wallet' },
  }
}

/** Records that a waiting payment was returned to the payer. */
export function returnPayment(book: BookView, evidence: string, at: Date): Decision {
  const { payment } = book
  if (!payment) return noSuchPayment
  if (payment.state === 'returned') return unchanged
  if (payment.state !== 'waiting') return isSettled(payment)
  const entry = moveSuspense(book.wallet, 'payment_returned', payment, at)
  if (!entry) return beyondBound
  return {
    type: 'changed',
    ...nothingElse,
    ...entry,
    order: book.order,
    payment: { ...payment, state: 'returned', why: null, evidence, returnedSeq: entry.row.seq },
  }
}

/** The bank took a payment back: the order or wallet that it was credited to is debited. */
export function takeBackPayment(
  book: BookView,
  command: Command & { type: 'take_back_payment' },
  localTime: LocalTime,
): Decision {
  const { payment, order } = book
  if (!payment) return noSuchPayment
  if (payment.state === 'waiting') {
    return returnPayment(book, 'The bank took it back.', command.at)
  }
  if (payment.state !== 'credited') return { type: 'unchanged', order }
  const takenBack: Payment = { ...payment, state: 'taken_back' }
  const clearingAt = providerOfPayment(payment.paymentId)
  if (payment.creditedTo === 'wallet') {
    const { amountMinor } = payment
    const entry = writeRow(
      book.wallet,
      { ...noChange, available: -amountMinor, clearing: amountMinor },
      {
        orderId: null,
        event: 'adjustment',
        at: command.at,
        clearingAt,
        onceKey: `payment-taken-back:${payment.paymentId}`,
        reason: `The bank took payment ${payment.paymentId} back.`,
      },
    )
    if (!entry) return beyondBound
    return { type: 'changed', ...nothingElse, ...entry, order: undefined, payment: takenBack }
  }
  if (order?.orderId !== payment.orderId || order?.status !== 'PAID') {
    return refused('invalid_transition', 'The payment was credited to another order meanwhile.')
  }
  const voided: Order = {
    ...order,
    status: 'VOID',
    version: order.version + 1,
    completedAt: command.at,
    releaseAt: null,
  }
  const decision = outcome(book, voided, 'deposit_taken_back', command.at, localTime, {
    clearingAt,
    // What is held back of it goes first.
    reservedMinor: -reservedOf(order),
  })
  if (decision.type !== 'changed') return decision
  const also = stopRefunds({ ...book, wallet: decision.wallet }, command.at, localTime)
  return 'type' in also ? also : { ...decision, payment: takenBack, also }
}

/** Pays an order, or says why it cannot: the fee takes it all, or the wallet cannot hold it. */
function pay(
  book: BookView,
  order: Order,
  payment: Payment,
  at: Date,
  localTime: LocalTime,
): Decision | 'fee' | 'bound' {
  const rule = parseFeeRule(order.feeRule, order.currency)
  if (typeof rule === 'string') throw new Error(`order ${order.orderId}: ${rule}`)
  const feeMinor = feeOf(payment.amountMinor, rule)
  if (feeMinor >= payment.amountMinor) return 'fee'
  const paid: Order = {
    ...order,
    status: 'PAID',
    version: order.version + 1,
    completedAt: at,
    paidAmountMinor: payment.amountMinor,
    paidFeeMinor: feeMinor,
  }
  const reserve = reserveMadeBy(paid, at)
  paid.releaseAt = reserve.until
  const decision = outcome(book, paid, 'deposit_paid', at, localTime, {
    onceKey: `payment:${payment.paymentId}`,
    payer: payment.payer,
    clearingAt: providerOfPayment(payment.paymentId),
    isFromSuspense: book.payment !== undefined,
    reservedMinor: reserve.minor,
  })
  if (decision.type !== 'changed') return 'bound'
  return {
    ...decision,
    payment: { ...payment, state: 'credited', why: null, creditedTo: 'order' },
  }
}

function isSettled(payment: Payment): Decision {
  return refused('invalid_transition', `The payment is ${payment.state.replace('_', ' ')} already.`)
}

const noSuchPayment = refused('order_not_found', 'The agent has no such payment.')
const unchanged: Decision = { type: 'unchanged', order: undefined }
