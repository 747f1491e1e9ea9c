import type { Agent } from '../agents/agent.ts'
import type { Order } from '../ledger/book.ts'
import { txnId } from '../lib/ids.ts'
import { jsonObject, quoted } from '../lib/json-text.ts'
import { decimalText } from '../lib/money.ts'
import { Problem } from '../lib/problem.ts'
import { qrEncoder, qrPicture } from '../lib/qr-encoders.ts'
import type { DepositInstructions } from '../providers/provider.ts'
import type { Desk } from '../teller/desk.ts'
import { pageLink } from './page-token.ts'

/**
 * The answer to creating a deposit as it is stored, with exactly the fields of the spec. In the place of the QR code's
 * picture it has the encoder that draws it: see `answerOf`.
 */
export function depositAnswer(
  desk: Pick<Desk, 'publicUrl' | 'secretKeys' | 'localTime'>,
  agent: Agent,
  order: Order,
  ways: DepositInstructions | undefined,
): string {
  const money = (minor: bigint) => decimalText(minor, order.currency)
  const link = pageLink(desk, order)
  return jsonObject({
    txn_id: quoted(txnId(order.agentId, order.orderId)),
    ref_id: quoted(order.refId),
    amount: money(order.amountMinor),
    fee: money(order.feeMinor),
    method: quoted(methodOf(agent.method, ways)),
    link: quoted(link),
    qrcode:
      agent.method.includes('qrcode') && ways?.qrcodeText !== undefined
        ? jsonObject({
            qrcode_text: quoted(ways.qrcodeText),
            link: quoted(`${link}/qr`),
            qrcode_date_url: drawnBy(qrEncoder),
          })
        : undefined,
    transfer:
      agent.method.includes('transfer') && ways?.transfer
        ? jsonObject({
            bank_code: quoted(ways.transfer.bankCode),
            account_number: quoted(ways.transfer.accountNumber),
            account_name: quoted(ways.transfer.accountName),
            amount: money(order.payableMinor ?? order.amountMinor),
          })
        : undefined,
    // The agent's terms may have changed since the order was created.
    expires_in: String(((order.expiresAt?.getTime() ?? 0) - order.createdAt.getTime()) / 1000),
    created_at: quoted(desk.localTime(order.createdAt)),
  })
}

/** The agent's method without what the provider does not offer; the link is always given. */
function methodOf(method: Agent['method'], ways: DepositInstructions | undefined): string {
  if (!ways) return method
  return method
    .split('+')
    .filter((way) =>
      way === 'qrcode' ? ways.qrcodeText : way === 'transfer' ? ways.transfer : true,
    )
    .join('+')
}

const drawnBy = (encoder: number) => `{"encoder":${encoder}}`
/** In no text of the answer: there, quotes are escaped. */
const toDraw = /"qrcode_date_url":\{"encoder":(\d+)\}/

/**
 * The answer to creating an order, the same bytes at any time. Orders from before version 1 of the encoder have their
 * picture in what is stored.
 */
export function answerOf({ kind, answer }: Pick<Order, 'kind' | 'answer'>): string {
  const found = kind === 'deposit' ? toDraw.exec(answer) : null
  if (!found) return answer
  const picture = qrPicture(Number(found[1]), JSON.parse(answer).qrcode.qrcode_text)
  if (picture === undefined) {
    const detail = 'This process is older than the order; repeat the request.'
    throw new Problem('overloaded', detail, { retryAfterS: 5 })
  }
  const before = answer.slice(0, found.index)
  const after = answer.slice(found.index + found[0].length)
  return `${before}"qrcode_date_url":"${picture}"${after}`
}
