import type { JournalRow, Order } from '../ledger/book.ts'
import { isLocalTimeOf } from '../ledger/local-time-of.ts'
import { txnId } from '../lib/ids.ts'
import { decimalText } from '../lib/money.ts'
import { ensure, ensureSame, ensureSameUnshown, ProofFailure } from './proof-failure.ts'

/**
 * Proves that the response to an order's creation matches the order; `held` is the journal row of a
 * withdrawal's hold.
 */
export function proveAnswer(order: Order, held: JournalRow | undefined): void {
  const id = txnId(order.agentId, order.orderId)
  const where = `the answer to the creation of order ${id}`
  const answer = parsed(order.answer, where)
  const money = (minor: bigint) => Number(decimalText(minor, order.currency))
  ensureSame(where, 'txn_id', answer.txn_id, id)
  ensureSame(where, 'ref_id', answer.ref_id, order.refId)
  ensureSame(where, 'amount', answer.amount, money(order.amountMinor))
  ensureSame(where, 'fee', answer.fee, money(order.feeMinor))
  ensure(
    isLocalTimeOf(String(answer.created_at), order.createdAt),
    () =>
      `${where} says created_at ${answer.created_at}, but it is ${order.createdAt.toISOString()}`,
  )
  if (order.kind === 'withdraw') {
    const balance = answer.wallet?.balance
    ensureSame(where, 'balance', balance, money(held?.balances.available ?? 0n))
    return
  }
  const expiresInMs = (order.expiresAt?.getTime() ?? 0) - order.createdAt.getTime()
  ensureSame(where, 'expires_in', answer.expires_in, expiresInMs / 1000)
  proveInstructions(where, answer, order)
}

/** Proves that the payment page shows what the agent received in the response, as far as it received it. */
function proveInstructions(where: string, answer: Answer, order: Order): void {
  const { instructions, payableMinor, amountMinor, currency } = order
  const money = (minor: bigint) => decimalText(minor, currency)
  ensure(
    payableMinor === null || instructions !== null,
    () => `order ${txnId(order.agentId, order.orderId)} has an amount to pay, but no instructions`,
  )
  if (instructions === null) return
  const { qrcodeText, transfer, exactAmount }: Instructions = parsed(
    instructions,
    `what ${where} was made from`,
  )
  const exact = payableMinor === null ? undefined : money(payableMinor)
  ensureSame(where, 'exact amount to pay', exactAmount, exact)
  if (answer.transfer) {
    const payable = Number(money(payableMinor ?? amountMinor))
    ensureSame(where, 'amount to transfer', answer.transfer.amount, payable)
  }
  if (answer.qrcode) {
    ensureSameUnshown(where, 'QR code', answer.qrcode.qrcode_text, qrcodeText)
    ensure(isPicture(answer.qrcode.qrcode_date_url), () => `${where} has no picture of its QR code`)
  }
  if (answer.transfer) {
    ensureSameUnshown(where, 'bank', answer.transfer.bank_code, transfer?.bankCode)
    ensureSameUnshown(where, 'account', answer.transfer.account_number, transfer?.accountNumber)
    ensureSameUnshown(where, 'account name', answer.transfer.account_name, transfer?.accountName)
  }
}

/** A picture, or the encoder that draws it. */
function isPicture(value: unknown): boolean {
  if (typeof value === 'string') return value.startsWith('data:image/png;base64,')
  return typeof value === 'object' && value !== null && 'encoder' in value
}

interface Answer {
  txn_id?: unknown
  ref_id?: unknown
  amount?: unknown
  fee?: unknown
  created_at?: unknown
  expires_in?: unknown
  wallet?: { balance?: unknown }
  qrcode?: { qrcode_text?: unknown; qrcode_date_url?: unknown }
  transfer?: {
    bank_code?: unknown
    account_number?: unknown
    account_name?: unknown
    amount?: unknown
  }
}

interface Instructions {
  qrcodeText?: unknown
  exactAmount?: unknown
  transfer?: { bankCode?: unknown; accountNumber?: unknown; accountName?: unknown }
}

function parsed(text: string, where: string) {
  try {
    return JSON.parse(text) ?? {}
  } catch {
    throw new ProofFailure(`${where} is not JSON`)
  }
}
