import { feeOf, parseFeeRule } from '../lib/fee.ts'
import type { LocalTime } from '../lib/local-time.ts'
import { maxBalanceMinor } from '../lib/money.ts'
import type { ProblemCode } from '../lib/problem.ts'
import { isSameJson } from '../lib/same-json.ts'
import { type Accounts, accountNames, add, noChange } from './accounts.ts'
import type {
  Callback,
  JournalRow,
  Order,
  OrderEvent,
  OrderStatus,
  Payer,
  Payment,
  Terms,
  Wallet,
} from './book.ts'
import { callbackBody } from './callback-body.ts'
import { changeOf, eventOf } from './transitions.ts'
import { withdrawAnswer } from './withdraw-answer.ts'

/** Everything that can be asked of an agent's book. Each one may be asked again: it happens once. */
export type Command = { agentId: bigint; at: Date } & (
  | { type: 'create'; order: Order }
  | { type: 'hand_over'; orderId: string; provider: string; providerRef: string }
  | { type: 'cancel'; orderId: string }
  | { type: 'expire'; orderId: string }
  | { type: 'outcome'; orderId: string; to: OrderStatus }
  | { type: 'receive_payment'; orderId: string; payment: PaymentNotice }
  | { type: 'credit_payment'; orderId: string; paymentId: string }
  | { type: 'adjust'; amountMinor: bigint; reason: string; ref: string }
)

/**
 * Creating a deposit moves no money: its refId's unique key is guard enough, and it need not wait for
 * anything else of its agent.
 */
export function needsWallet(command: Command): boolean {
  return command.type !== 'create' || command.order.kind === 'withdraw'
}

export interface PaymentNotice {
  paymentId: string
  amountMinor: bigint
  paidAt: Date
  payer: Payer | null
}

/** The part of the book that one command looks at. */
export interface Page {
  wallet: Wallet
  terms: Terms
  /** The order the command names or, for a creation, the one that already has its refId. */
  order: Order | undefined
  payment: Payment | undefined
  /** Whether an adjustment with this reference has been made. */
  adjusted: boolean
}

export type Decision =
  | { type: 'refused'; code: ProblemCode; detail: string }
  /** Nothing to write: it has happened before, or changes nothing. */
  | { type: 'unchanged'; order: Order | undefined }
  | {
      type: 'changed'
      order: Order | undefined
      wallet: Wallet
      row: JournalRow | undefined
      callback: Callback | undefined
      payment: Payment | undefined
    }

/** What a command does to an agent's book. Pure: no clock, no ids, no I/O. */
export function decide(page: Page, command: Command, localTime: LocalTime): Decision {
  switch (command.type) {
    case 'create':
      return create(page, command.order, command.at, localTime)
    case 'adjust':
      return adjust(page, command)
    case 'receive_payment':
      return receivePayment(page, command.orderId, command.payment, command.at, localTime)
    default:
  }
  const { order } = page
  if (!order) return refused('order_not_found', 'The agent has no such order.')
  switch (command.type) {
    case 'hand_over':
      return handOver(page, order, command)
    case 'cancel':
      return cancel(page, order, command.at, localTime)
    case 'expire':
      if (order.status !== 'WAITING' || !order.expiresAt || order.expiresAt > command.at) {
        return { type: 'unchanged', order }
      }
      return move(page, order, 'EXPIRED', command.at, localTime)
    case 'outcome':
      return move(page, order, command.to, command.at, localTime)
    case 'credit_payment':
      return creditPayment(page, order, command.at, localTime)
  }
}

function refused(code: ProblemCode, detail: string): Decision {
  return { type: 'refused', code, detail }
}

function create(page: Page, order: Order, at: Date, localTime: LocalTime): Decision {
  if (page.order) {
    if (page.order.orderId === order.orderId || isRepeat(page.order, order)) {
      return { type: 'unchanged', order: page.order }
    }
    return refused('ref_id_conflict', refIdConflictDetail)
  }
  if (order.kind === 'deposit') {
    return { type: 'changed', order, wallet: page.wallet, ...nothingElse }
  }
  const total = order.amountMinor + order.feeMinor
  if (page.wallet.balances.available < total) {
    return refused('insufficient_balance', 'The available balance does not cover amount and fee.')
  }
  const entry = write(page, order, 'withdraw_held', at)
  if (!entry) return beyondBound
  const answer = withdrawAnswer(order, entry.wallet.balances.available, page.terms, localTime)
  return { type: 'changed', ...nothingElse, ...entry, order: { ...order, answer } }
}

export const refIdConflictDetail =
  'This refId was used for an order with other contents; a new order needs a refId of its own.'

/** The same order asked for again; the time of asking does not matter. */
export function isRepeat(first: Order, again: Order): boolean {
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

function adjust(page: Page, command: Command & { type: 'adjust' }): Decision {
  if (page.adjusted) return { type: 'unchanged', order: undefined }
  const change = {
    ...noChange,
    available: command.amountMinor,
    adjustments: -command.amountMinor,
  }
  const entry = writeRow(page.wallet, change, {
    orderId: null,
    event: 'adjustment',
    at: command.at,
    onceKey: adjustmentKey(command.ref),
    reason: command.reason,
  })
  if (!entry) return beyondBound
  return { type: 'changed', ...nothingElse, ...entry, order: undefined }
}

export function adjustmentKey(ref: string): string {
  return `adjustment:${ref}`
}

function handOver(page: Page, order: Order, command: Command & { type: 'hand_over' }): Decision {
  if (order.handedOverAt) {
    if (order.provider === command.provider && order.providerRef === command.providerRef) {
      return { type: 'unchanged', order }
    }
    return refused('invalid_transition', 'The withdrawal is with a provider already.')
  }
  if (order.kind !== 'withdraw' || order.status !== 'WAITING') {
    return refused('invalid_transition', 'Only a waiting withdrawal can be handed to a provider.')
  }
  const handed = {
    ...order,
    version: order.version + 1,
    provider: command.provider,
    providerRef: command.providerRef,
    handedOverAt: command.at,
  }
  return { type: 'changed', ...nothingElse, wallet: page.wallet, order: handed }
}

function cancel(page: Page, order: Order, at: Date, localTime: LocalTime): Decision {
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
  return move(page, order, to, at, localTime)
}

/** Takes an order to another state, if there is such a step. Payments have ways of their own. */
function move(page: Page, order: Order, to: OrderStatus, at: Date, localTime: LocalTime): Decision {
  if (order.status === to) return { type: 'unchanged', order }
  const event = eventOf(order, to)
  // Money that came in is told as a payment, so that it is counted once by the provider's own id.
  if (!event || event === 'deposit_paid') {
    return refused(
      'invalid_transition',
      `A ${order.kind} order that is ${order.status} cannot become ${to}.`,
    )
  }
  const moved: Order = { ...order, status: to, version: order.version + 1, completedAt: at }
  if (event === 'withdraw_paid') {
    moved.paidAmountMinor = order.amountMinor
    moved.paidFeeMinor = order.feeMinor
  }
  return outcome(page, moved, event, at, localTime, { onceKey: null, payer: null })
}

/**
 * Records money that came in, and pays the order with it where everything fits. Anything else waits
 * for a person, unless the agent's terms credit what came late or in another amount.
 */
function receivePayment(
  page: Page,
  orderId: string,
  notice: PaymentNotice,
  at: Date,
  localTime: LocalTime,
): Decision {
  const { order } = page
  if (order?.kind !== 'deposit') {
    return refused('order_not_found', 'The agent has no such deposit order.')
  }
  if (page.payment) return { type: 'unchanged', order }
  const payment: Payment = {
    ...notice,
    agentId: order.agentId,
    orderId,
    reportedAt: at,
    state: 'credited',
    why: null,
  }
  const inTime = order.expiresAt !== null && notice.paidAt <= order.expiresAt
  // An order that expired before the news of a payment in time came is still paid by it.
  const open = order.status === 'WAITING' || order.status === 'EXPIRED'
  let why: Payment['why'] = null
  if (order.status === 'PAID') why = 'duplicate'
  else if (!open || !inTime) why = 'late'
  else if (notice.amountMinor !== order.amountMinor) why = 'wrong_amount'
  const byPolicy = (why === 'late' || why === 'wrong_amount') && page.terms.lateMoney === 'credit'
  if (why !== null && !byPolicy) return waits(page, order, payment, why)
  return pay(page, order, payment, at, localTime)
}

function creditPayment(page: Page, order: Order, at: Date, localTime: LocalTime): Decision {
  const { payment } = page
  if (!payment) return refused('order_not_found', 'There is no such payment.')
  if (payment.state === 'credited' && payment.orderId === order.orderId) {
    return { type: 'unchanged', order }
  }
  if (payment.state !== 'waiting' || order.kind !== 'deposit' || order.status === 'PAID') {
    return refused(
      'invalid_transition',
      `A payment that is ${payment.state} cannot be credited to a ${order.kind} order that is ${order.status}.`,
    )
  }
  const credited = pay(page, order, { ...payment, orderId: order.orderId }, at, localTime)
  if (credited.type === 'changed' && credited.payment?.state === 'waiting') {
    return refused('amount_out_of_range', 'The fee or the bound of the wallet does not allow it.')
  }
  return credited
}

function pay(page: Page, order: Order, payment: Payment, at: Date, localTime: LocalTime): Decision {
  const rule = parseFeeRule(order.feeRule, page.terms.currency)
  if (typeof rule === 'string') throw new Error(`order ${order.orderId}: ${rule}`)
  const feeMinor = feeOf(payment.amountMinor, rule)
  if (feeMinor >= payment.amountMinor) return waits(page, order, payment, 'fee')
  const paid: Order = {
    ...order,
    status: 'PAID',
    version: order.version + 1,
    completedAt: at,
    paidAmountMinor: payment.amountMinor,
    paidFeeMinor: feeMinor,
  }
  const decision = outcome(page, paid, 'deposit_paid', at, localTime, {
    onceKey: `payment:${payment.paymentId}`,
    payer: payment.payer,
  })
  if (decision.type !== 'changed') return waits(page, order, payment, 'bound')
  return { ...decision, payment: { ...payment, state: 'credited', why: null } }
}

function waits(
  page: Page,
  order: Order,
  payment: Payment,
  why: NonNullable<Payment['why']>,
): Decision {
  return {
    type: 'changed',
    ...nothingElse,
    order,
    wallet: page.wallet,
    payment: { ...payment, orderId: order.orderId, state: 'waiting', why },
  }
}

/** Writes an outcome down: the journal row and the callback that tells the agent. */
function outcome(
  page: Page,
  order: Order,
  event: OrderEvent,
  at: Date,
  localTime: LocalTime,
  { onceKey, payer }: { onceKey: string | null; payer: Payer | null },
): Decision {
  const entry = write(page, order, event, at, onceKey)
  if (!entry) return beyondBound
  const callback: Callback = {
    agentId: order.agentId,
    seq: entry.row.seq,
    orderId: order.orderId,
    kind: order.kind,
    follows: page.order?.status !== 'WAITING',
    body: callbackBody(order, entry.row, payer, page.terms, localTime),
    createdAt: at,
  }
  return { type: 'changed', ...nothingElse, ...entry, order, callback }
}

function write(
  page: Page,
  order: Order,
  event: OrderEvent,
  at: Date,
  onceKey: string | null = null,
) {
  const change = changeOf(event, order, page.terms)
  return writeRow(page.wallet, change, { orderId: order.orderId, event, at, onceKey, reason: null })
}

function writeRow(
  wallet: Wallet,
  change: Accounts,
  what: Pick<JournalRow, 'orderId' | 'event' | 'at' | 'onceKey' | 'reason'>,
): { wallet: Wallet; row: JournalRow } | undefined {
  const { agentId } = wallet
  const seq = wallet.seq + 1n
  const balances = add(wallet.balances, change)
  const within = accountNames.every(
    (name) => balances[name] <= maxBalanceMinor && balances[name] >= -maxBalanceMinor,
  )
  if (!within) return undefined
  return {
    wallet: { agentId, seq, balances },
    row: { agentId, seq, change, balances, ...what },
  }
}

const nothingElse = { row: undefined, callback: undefined, payment: undefined }

const beyondBound: Decision = {
  type: 'refused',
  code: 'amount_out_of_range',
  detail: 'The wallet cannot hold that much.',
}
