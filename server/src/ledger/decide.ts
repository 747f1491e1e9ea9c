import type { LocalTime } from '../lib/local-time.ts'
import { isSameJson } from '../lib/same-json.ts'
import { noChange } from './accounts.ts'
import type { HandedPayout, Order } from './book.ts'
import type { BookView, Command, Decision } from './commands.ts'
import {
  assignPayment,
  chargeCost,
  endUnmatched,
  moveDebit,
  receiveUnmatched,
  sweep,
  writeOff,
} from './decide-house.ts'
import { bookItem } from './decide-item.ts'
import { decideOutcome, move } from './decide-outcome.ts'
import {
  creditPayment,
  creditWallet,
  receivePayment,
  returnPayment,
  takeBackPayment,
} from './decide-payment.ts'
import { adjustmentKey, beyondBound, nothingElse, refused, write, writeRow } from './entry.ts'
import { hitsOf, type LimitHit, verdictOf } from './limits.ts'
import { refundKey, refundRefusal } from './refunds.ts'
import { releaseReserve } from './reserve.ts'
import { withdrawAnswer } from './withdraw-answer.ts'

/** Decides what a command does to an agent's book. Pure: no clock, no ids, no I/O. */
export function decide(book: BookView, command: Command, localTime: LocalTime): Decision {
  switch (command.type) {
    case 'create':
      return create(book, command, localTime)
    case 'adjust':
      return adjust(book, command)
    case 'receive_payment':
      return receivePayment(book, command, localTime)
    case 'credit_wallet':
      return creditWallet(book, command)
    case 'return_payment':
      return returnPayment(book, command.evidence, command.at)
    case 'take_back_payment':
      return takeBackPayment(book, command, localTime)
    case 'receive_unmatched':
      return receiveUnmatched(book, command)
    case 'end_unmatched':
      return endUnmatched(book, command)
    case 'assign_payment':
      return assignPayment(book, command, localTime)
    case 'sweep':
      return sweep(book, command)
    case 'write_off':
      return writeOff(book, command)
    case 'report_debit':
    case 'explain_debit':
      return moveDebit(book, command)
    default:
  }
  const { order } = book
  if (!order) return refused('order_not_found', 'The agent has no such order.')
  switch (command.type) {
    case 'instruct':
      return instruct(book, order, command)
    case 'hand_over':
      return handOver(book, order, command)
    case 'cancel':
      return cancel(book, order, command.at, localTime)
    case 'expire':
      if (order.status !== 'WAITING' || !order.expiresAt || order.expiresAt > command.at) {
        return { type: 'unchanged', order }
      }
      return move(book, order, 'EXPIRED', command.at, localTime)
    case 'outcome':
      return decideOutcome(book, order, command, localTime)
    case 'credit_payment':
      return creditPayment(book, order, command.at, localTime)
    case 'charge_cost':
      return chargeCost(book, order, command)
    case 'book_item':
      return bookItem(book, order, command)
    case 'release_reserve':
      return releaseReserve(book, order, command)
  }
}

function create(
  book: BookView,
  { order, at, depositVersion, toPayer, leaveMinor = 0n, onlyRepeat }: Command & { type: 'create' },
  localTime: LocalTime,
): Decision {
  if (book.order) {
    if (book.order.orderId === order.orderId || isRepeat(book.order, order)) {
      return { type: 'unchanged', order: book.order }
    }
    return refused('ref_id_conflict', refIdConflictDetail)
  }
  if (book.archived) return refused('ref_id_conflict', archivedRefDetail)
  if (onlyRepeat) return refused('not_found', 'There is no such order.')
  // The payer's account is no new one: the money came from it.
  const limits = book.limits && toPayer ? { ...book.limits, isPayee: () => true } : book.limits
  const verdict = limits ? verdictOf(order, hitsOf(order, limits, localTime)) : { check: undefined }
  if ('refusal' in verdict) return limitExceeded(verdict.refusal, localTime)
  const { check } = verdict
  if (order.kind === 'deposit') {
    return { type: 'changed', order, wallet: book.wallet, ...nothingElse, check }
  }
  const noRefund = order.refundOf === null ? undefined : refundRefusal(book, order, depositVersion)
  if (noRefund) return noRefund
  const total = order.amountMinor + order.feeMinor
  const { available } = book.wallet.balances
  if (available < total) {
    return refused('insufficient_balance', 'The available balance does not cover amount and fee.')
  }
  if (available - total < leaveMinor) {
    return refused('insufficient_balance', 'It would leave less in the wallet than is to stay.')
  }
  const entry = write(book, order, 'withdraw_held', at, refundKey(order))
  if (!entry) return beyondBound
  const answer = withdrawAnswer(order, entry.wallet.balances.available, localTime)
  return { type: 'changed', ...nothingElse, ...entry, order: { ...order, answer }, check }
}

function limitExceeded({ rule, words, frees }: LimitHit, localTime: LocalTime): Decision {
  const freesAt = frees && localTime(frees)
  return {
    type: 'refused',
    code: 'limit_exceeded',
    detail: freesAt === null ? `${words}.` : `${words}. It frees at ${freesAt}.`,
    limit: { name: rule.name, frees_at: freesAt },
  }
}

export const archivedRefDetail =
  'This refId was used for an order that was archived; a new order needs a refId of its own.'

export const refIdConflictDetail =
  'This refId was used for an order with other contents; a new order needs a refId of its own.'

/**
 * Whether a request repeats the first one; the time of the request does not matter. Where a refund goes is
 * not in its request.
 */
export function isRepeat(first: Order, again: Order): boolean {
  if (first.refundOf !== again.refundOf) return false
  if (first.refundOf !== null) {
    return (
      first.amountMinor === again.amountMinor &&
      isSameJson(first.extraParams ?? '{}', again.extraParams ?? '{}')
    )
  }
  return (
    first.kind === again.kind &&
    first.userId === again.userId &&
    first.amountMinor === again.amountMinor &&
    first.accountName === again.accountName &&
    first.accountNo === again.accountNo &&
    first.bankCode === again.bankCode &&
    isSameJson(first.extraParams ?? '{}', again.extraParams ?? '{}')
  )
}

function adjust(book: BookView, command: Command & { type: 'adjust' }): Decision {
  if (book.isDone || book.archived) return { type: 'unchanged', order: undefined }
  const change = {
    ...noChange,
    available: command.amountMinor,
    adjustments: -command.amountMinor,
  }
  const entry = writeRow(book.wallet, change, {
    orderId: null,
    event: 'adjustment',
    at: command.at,
    clearingAt: null,
    onceKey: adjustmentKey(command.ref),
    reason: command.reason,
  })
  if (!entry) return beyondBound
  return { type: 'changed', ...nothingElse, ...entry, order: undefined }
}

function instruct(book: BookView, order: Order, command: Command & { type: 'instruct' }): Decision {
  if (order.kind !== 'deposit') {
    return refused('invalid_transition', 'Only a deposit has instructions.')
  }
  // Once the order has ended, a repeated request may have been answered without instructions.
  if (order.providerRef !== null || order.status !== 'WAITING') return { type: 'unchanged', order }
  const { provider, providerRef, instructions, answer } = command
  const told = { provider, providerRef, instructions, answer }
  const instructed = { ...order, version: order.version + 1, ...told }
  return { type: 'changed', ...nothingElse, wallet: book.wallet, order: instructed }
}

function handOver(
  book: BookView,
  order: Order,
  command: Command & { type: 'hand_over' },
): Decision {
  const { provider, references, insteadOf, token, at, askAt } = command
  if (
    order.handedOverAt &&
    order.provider === provider &&
    references.includes(order.providerRef ?? '')
  ) {
    return { type: 'unchanged', order }
  }
  if (order.kind !== 'withdraw' || order.status !== 'WAITING') {
    return refused('invalid_transition', 'Only a waiting withdrawal can be handed to a provider.')
  }
  if ((order.handedOverAt ? order.providerRef : null) !== insteadOf) {
    return refused('invalid_transition', 'The withdrawal is with a provider already.')
  }
  if (book.payer) {
    return refused('invalid_transition', `${book.payer.provider} says that it paid the withdrawal.`)
  }
  // The deposit may have been paid again since, but by somebody else.
  const isTakenBack = order.refundOf !== null && book.refunded?.status !== 'PAID'
  if (insteadOf !== null && (isTakenBack || book.isTakenBack)) {
    return refused('invalid_transition', 'The deposit that it refunds was taken back.')
  }
  const providerRef = references.find((each) => !book.takenReferences.has(each))
  if (providerRef === undefined) {
    return refused('invalid_transition', 'Other payouts have every reference that it could get.')
  }
  const handed: Order = {
    ...order,
    version: order.version + 1,
    provider,
    providerRef,
    handedOverAt: at,
  }
  // Apart from hand-overs, a withdrawal changes only by its outcomes, after which it is not handed over
  // again. So the version numbers the attempts.
  const payout: HandedPayout = {
    agentId: order.agentId,
    orderId: order.orderId,
    attempt: order.version,
    provider,
    reference: providerRef,
    version: command.version ?? null,
    use: command.use ?? null,
    token,
    handedAt: at,
    askAt,
  }
  return { type: 'changed', ...nothingElse, wallet: book.wallet, order: handed, payout }
}

function cancel(book: BookView, order: Order, at: Date, localTime: LocalTime): Decision {
  const to = order.kind === 'deposit' ? 'VOID' : 'CANCEL'
  const wasPaid = order.kind === 'deposit' && order.paidAmountMinor !== null
  if (order.status === to && !wasPaid) return { type: 'unchanged', order }
  if (order.status !== 'WAITING') {
    return refused('order_not_cancellable', `The order is ${order.status} and stays so.`)
  }
  if (order.handedOverAt) {
    return refused(
      'order_not_cancellable',
      'The withdrawal is with a provider; its outcome will be called back.',
    )
  }
  return move(book, order, to, at, localTime)
}
