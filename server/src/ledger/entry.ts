import type { LocalTime } from '../lib/local-time.ts'
import { maxBalanceMinor } from '../lib/money.ts'
import type { ProblemCode } from '../lib/problem.ts'
import { type Accounts, accountNames, add } from './accounts.ts'
import type { Callback, JournalRow, Order, OrderEvent, Payer, Wallet } from './book.ts'
import { callbackBody } from './callback-body.ts'
import type { BookView, Decision } from './commands.ts'
import { changeOf } from './transitions.ts'

export function refused(code: ProblemCode, detail: string): Decision {
  return { type: 'refused', code, detail }
}

/** Records an outcome: the journal row, and the callback that notifies the agent. */
export function outcome(
  book: BookView,
  order: Order,
  event: OrderEvent,
  at: Date,
  localTime: LocalTime,
  { onceKey, payer, reason }: { onceKey?: string; payer?: Payer | null; reason?: string } = {},
): Decision {
  const entry = write(book, order, event, at, { onceKey, reason })
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

export function write(
  book: BookView,
  order: Order,
  event: OrderEvent,
  at: Date,
  { onceKey, reason }: { onceKey?: string | undefined; reason?: string | undefined } = {},
) {
  return writeRow(book.wallet, changeOf(event, order), {
    orderId: order.orderId,
    event,
    at,
    currency: order.currency,
    onceKey: onceKey ?? null,
    reason: reason ?? null,
  })
}

export function writeRow(
  wallet: Wallet,
  change: Accounts,
  what: Pick<JournalRow, 'orderId' | 'event' | 'at' | 'currency' | 'onceKey' | 'reason'>,
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

export const nothingElse = {
  row: undefined,
  callback: undefined,
  payment: undefined,
  payout: undefined,
  item: undefined,
  closes: undefined,
}

export const beyondBound: Decision = {
  type: 'refused',
  code: 'amount_out_of_range',
  detail: 'The wallet cannot hold that much.',
}
