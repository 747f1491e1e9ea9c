import type { LocalTime } from '../lib/local-time.ts'
import { maxAccountMinor, maxBalanceMinor } from '../lib/money.ts'
import type { ProblemCode } from '../lib/problem.ts'
import { type AccountName, type Accounts, accountNames, add, noChange } from './accounts.ts'
import type { Callback, JournalRow, Order, OrderEvent, Payer, Wallet } from './book.ts'
import { callbackBody } from './callback-body.ts'
import type { BookView, Decision } from './commands.ts'
import { providerOfPayment, unknownProvider } from './house.ts'
import { changeOf } from './transitions.ts'

export function refused(code: ProblemCode | 'changed_meanwhile', detail: string): Decision {
  return { type: 'refused', code, detail }
}

/** Moves reported money that belongs to no order: into suspense, or out of it. */
export function moveSuspense(
  wallet: Wallet,
  event: 'payment_received' | 'payment_returned' | 'payment_dismissed' | 'payment_assigned',
  { paymentId, amountMinor }: { paymentId: string; amountMinor: bigint },
  at: Date,
  reason: string | null = null,
) {
  const suspense = event === 'payment_received' ? amountMinor : -amountMinor
  return writeRow(
    wallet,
    { ...noChange, suspense, clearing: -suspense },
    {
      orderId: null,
      event,
      at,
      clearingAt: providerOfPayment(paymentId),
      onceKey: `${event}:${paymentId}`,
      reason,
    },
  )
}

export function adjustmentKey(ref: string): string {
  return `adjustment:${ref}`
}

/** Records an outcome: the journal row, and the callback that notifies the agent. */
export function outcome(
  book: BookView,
  order: Order,
  event: OrderEvent,
  at: Date,
  localTime: LocalTime,
  { payer, ...more }: { payer?: Payer | null } & Partial<More> = {},
): Decision {
  const entry = write(book, order, event, at, more)
  if (!entry) return beyondBound
  const callback: Callback = {
    agentId: order.agentId,
    seq: entry.row.seq,
    orderId: order.orderId,
    kind: order.kind,
    follows: book.order?.status !== 'WAITING',
    body: callbackBody(order, entry.row, payer ?? null, localTime),
    createdAt: at,
  }
  return { type: 'changed', ...nothingElse, ...entry, order, callback }
}

interface More {
  onceKey: string
  reason: string
  /** Where the money is, if not at the order's provider. */
  clearingAt: string
  /** Whether the money comes from suspense. */
  isFromSuspense: boolean
  /** What of the money goes into the reserve or, if negative, comes from it. */
  reservedMinor: bigint
}

export function write(
  book: BookView,
  order: Order,
  event: OrderEvent,
  at: Date,
  { onceKey, reason, clearingAt, isFromSuspense, reservedMinor = 0n }: Partial<More> = {},
) {
  let change = changeOf(event, order)
  if (isFromSuspense) change = { ...change, suspense: change.clearing, clearing: 0n }
  if (reservedMinor !== 0n) {
    change = { ...change, available: change.available - reservedMinor, reserve: reservedMinor }
  }
  return writeRow(book.wallet, change, {
    orderId: order.orderId,
    event,
    at,
    clearingAt: change.clearing === 0n ? null : (clearingAt ?? order.provider ?? unknownProvider),
    onceKey: onceKey ?? null,
    reason: reason ?? null,
  })
}

/** What belongs to the agent, whether it may use it or not. */
const ownAccounts = new Set<AccountName>(['available', 'held', 'reserve'])

export function writeRow(
  wallet: Wallet,
  change: Accounts,
  what: Pick<JournalRow, 'orderId' | 'event' | 'at' | 'clearingAt' | 'onceKey' | 'reason'>,
): { wallet: Wallet; row: JournalRow } | undefined {
  const { agentId, currency, hash } = wallet
  if ((change.clearing === 0n) !== (what.clearingAt === null)) {
    throw new Error(`${what.event} of agent ${agentId} does not say where the money is`)
  }
  const seq = wallet.seq + 1n
  const balances = add(wallet.balances, change)
  const within = accountNames.every((name) => {
    const most = ownAccounts.has(name) ? maxBalanceMinor : maxAccountMinor
    return balances[name] <= most && balances[name] >= -most
  })
  if (!within) return undefined
  return {
    wallet: { agentId, currency, seq, balances, hash },
    // The fold adds up what is at each provider, and then hashes the row.
    row: { agentId, seq, currency, change, balances, clearingThere: null, ...what, hash: '' },
  }
}

export const nothingElse = {
  row: undefined,
  callback: undefined,
  payment: undefined,
  payout: undefined,
  item: undefined,
  reopens: undefined,
  closes: undefined,
  booked: undefined,
  house: undefined,
  unmatched: undefined,
  claim: undefined,
  check: undefined,
}

export const beyondBound: Decision = {
  type: 'refused',
  code: 'amount_out_of_range',
  detail: 'The wallet cannot hold that much.',
}
