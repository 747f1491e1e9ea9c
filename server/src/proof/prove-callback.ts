import { paidInBy } from '../ledger/accounts.ts'
import type { JournalRow, Order, Payer } from '../ledger/book.ts'
import { isLocalTimeOf } from '../ledger/local-time-of.ts'
import { txnId } from '../lib/ids.ts'
import { type JsonMembers, jsonMembers } from '../lib/json-members.ts'
import { jsonObject, quoted } from '../lib/json-text.ts'
import { decimalText } from '../lib/money.ts'
import { ensure, ensureSame, ensureSameUnshown, ProofFailure, statusOf } from './proof-failure.ts'

export interface CallbackRow {
  seq: bigint
  order_id: string
  kind: string
  follows: boolean
  created_at: Date
  body: string | null
}

/** What the callback of an outcome must report. */
export interface Outcome {
  order: Order
  row: JournalRow
  /** Whether the order had an earlier outcome. */
  follows: boolean
  /** The payer according to the payment that the row credits. */
  payer: Payer | null
}

/**
 * Proves that a callback reports its outcome and nothing else. Compares every member as text, because a
 * number may be rounded.
 */
export function proveCallback(
  { order, row, follows, payer }: Outcome,
  callback: CallbackRow,
): void {
  const where = `the callback of journal row ${row.seq}`
  const money = (minor: bigint) => decimalText(minor, order.currency)
  ensureSame(where, 'order', callback.order_id, order.orderId)
  ensureSame(where, 'kind', callback.kind, order.kind)
  ensureSame(where, 'follows', callback.follows, follows)
  ensureSame(where, 'created_at', callback.created_at, row.at)
  const { textOf } = membersOf(callback.body, where)
  const says = (name: string, expected: string) =>
    ensureSame(where, name, textOf.get(name), expected)
  says('status', quoted(statusOf[row.event] ?? null))
  says('transactionId', quoted(txnId(order.agentId, order.orderId)))
  says('refId', quoted(order.refId))
  says('amount', money(amountOf(order, row)))
  says('fee', money(feeChargedBy(order, row)))
  says('wallet', jsonObject({ balance: money(row.balances.available) }))
  ensureSameUnshown(where, 'userId', textOf.get('userId'), quoted(order.userId))
  ensureSameUnshown(where, 'extParams', textOf.get('extParams'), order.extraParams ?? '{}')
  const successAt = textOf.get('successAt')
  ensure(
    isLocalTimeOf(successAt?.slice(1, -1), row.at),
    () => `${where} says successAt ${successAt}, but it is ${row.at.toISOString()}`,
  )
  provePayee(where, textOf, order, payer)
  const unknown = [...textOf.keys()].find((name) => !members.has(name))
  ensure(unknown === undefined, () => `${where} says ${unknown}, which no callback tells`)
}

const members = new Set([
  'refId',
  'transactionId',
  'userId',
  'amount',
  'fee',
  'status',
  'extParams',
  'successAt',
  'wallet',
  'flag_incorrect_payee',
  'payee',
])

function membersOf(body: string | null, where: string): JsonMembers {
  ensure(body !== null, () => `${where} has no body`)
  try {
    JSON.parse(body)
  } catch {
    throw new ProofFailure(`${where} is not JSON`)
  }
  const found = jsonMembers(body)
  ensure(found.duplicateKey === undefined, () => `${where} says ${found.duplicateKey} twice`)
  return found
}

/** The amount actually paid for PAID, otherwise the amount requested. */
function amountOf(order: Order, { event, change }: JournalRow): bigint {
  if (statusOf[event] !== 'PAID') return order.amountMinor
  const moved = paidInBy(change)
  return moved < 0n ? -moved : moved
}

/** What the agent has been charged as of a row; the fee of a returned payout may have been kept. */
function feeChargedBy(order: Order, { event, change }: JournalRow): bigint {
  if (statusOf[event] === 'PAID') return change.fees
  return event === 'withdraw_reverted' ? order.feeMinor + change.fees : 0n
}

function provePayee(
  where: string,
  textOf: ReadonlyMap<string, string>,
  order: Order,
  payer: Payer | null,
): void {
  const told = textOf.get('payee')
  const flag = textOf.get('flag_incorrect_payee')
  ensure(
    told !== undefined || flag === undefined,
    () => `${where} flags a payee that it does not tell`,
  )
  // For a payer without name and number, a callback may omit the payee or give it with null members.
  if (payer === null && told === undefined) return
  const payee = jsonObject({
    account_no: quoted(payer?.accountNo ?? null),
    account_name: quoted(payer?.accountName ?? null),
    bank_code: quoted(payer?.bankCode ?? null),
  })
  ensureSameUnshown(where, 'payee', told, payee)
  const isAnother = isAnotherAccount(order.accountNo, payer?.accountNo ?? '')
  if (isAnother !== undefined) ensureSame(where, 'flag_incorrect_payee', flag, isAnother)
}

/**
 * Undefined if the bank masks too much of the number to decide; the callback's value is then not checked.
 */
function isAnotherAccount(expected: string, shown: string): boolean | undefined {
  const digits = shown.replace(/[\s-]/g, '').toUpperCase()
  const own = expected.toUpperCase()
  if (digits === own) return false
  // What callbacks said of masked numbers, and of other marks between digits, was not always the same.
  return /^[0-9A-WYZ]+$/.test(digits) ? true : undefined
}
