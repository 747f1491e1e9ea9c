import { txnId } from '../lib/ids.ts'
import { jsonObject, quoted } from '../lib/json-text.ts'
import type { LocalTime } from '../lib/local-time.ts'
import { decimalText } from '../lib/money.ts'
import { shownOfMasked } from '../statements/masked-account-no.ts'
import type { JournalRow, Order, Payer } from './book.ts'

/**
 * The body of the callback for one outcome: exactly the fields of the spec. Amounts are exact decimals,
 * and extParams is the text that the agent sent.
 */
export function callbackBody(
  order: Order,
  row: JournalRow,
  payer: Payer | null,
  localTime: LocalTime,
): string {
  const money = (minor: bigint) => decimalText(minor, order.currency)
  const paid = order.status === 'PAID'
  const amountMinor = paid ? (order.paidAmountMinor ?? order.amountMinor) : order.amountMinor
  return jsonObject({
    refId: quoted(order.refId),
    transactionId: quoted(txnId(order.agentId, order.orderId)),
    userId: quoted(order.userId),
    amount: money(amountMinor),
    fee: money(chargedFee(order, row)),
    status: quoted(order.status),
    extParams: order.extraParams ?? '{}',
    successAt: quoted(localTime(row.at)),
    wallet: jsonObject({ balance: money(row.balances.available) }),
    flag_incorrect_payee: payer ? isAnotherPayer(order, payer)?.toString() : undefined,
    payee: payer
      ? jsonObject({
          account_no: quoted(payer.accountNo),
          account_name: quoted(payer.accountName),
          bank_code: quoted(payer.bankCode),
        })
      : undefined,
  })
}

/** What the agent has been charged for the order, as of this row. */
function chargedFee(order: Order, row: JournalRow): bigint {
  if (order.status === 'PAID') return order.paidFeeMinor ?? 0n
  // A returned payout costs the agent the fee if the fee is kept; every other outcome costs nothing.
  if (row.event === 'withdraw_reverted') return (order.paidFeeMinor ?? 0n) + row.change.fees
  return 0n
}

/**
 * Another account is one whose full number is another. Of a masked number nobody can say so: it is undefined, unless
 * all that is shown of it agrees. A payer without an account is not a mismatch.
 */
function isAnotherPayer(order: Order, payer: Payer): boolean | undefined {
  const written = payer.accountNo ?? ''
  const plain = written.replace(/[^0-9A-Za-z]/g, '').toUpperCase()
  const expected = order.accountNo.toUpperCase()
  const shown = shownOfMasked(written)
  if (plain === expected || (plain === '' && shown === null)) return false
  if (shown === null) return true
  if (/^\**$/.test(shown) || shown.length !== expected.length) return undefined
  const agrees = [...shown].every((each, at) => each === '*' || each === expected[at])
  return agrees ? false : undefined
}
