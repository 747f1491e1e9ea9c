import type { Agent } from '../agents/agent.ts'
import type { Order } from '../ledger/book.ts'
import { txnId } from '../lib/ids.ts'
import { jsonObject, quoted } from '../lib/json-text.ts'
import { decimalText } from '../lib/money.ts'
import { qrDataUrl } from '../lib/qr-png.ts'
import type { DepositInstructions } from '../providers/provider.ts'
import type { Desk } from '../teller/desk.ts'
import { pageToken } from './page-token.ts'

/** What creating a deposit is answered with: exactly the spec's fields. */
export function depositAnswer(
  desk: Pick<Desk, 'publicUrl' | 'secretKeys' | 'localTime'>,
  agent: Agent,
  order: Order,
  instructions: DepositInstructions | undefined,
): string {
  const money = (minor: bigint) => decimalText(minor, order.currency)
  const link = `${desk.publicUrl()}/pay/${pageToken(desk.secretKeys, order.agentId, order.orderId)}`
  return jsonObject({
    txn_id: quoted(txnId(order.agentId, order.orderId)),
    ref_id: quoted(order.refId),
    amount: money(order.amountMinor),
    fee: money(order.feeMinor),
    method: quoted(agent.method),
    link: quoted(link),
    qrcode:
      agent.method.includes('qrcode') && instructions
        ? jsonObject({
            qrcode_text: quoted(instructions.qrcodeText),
            link: quoted(`${link}/qr`),
            qrcode_date_url: quoted(qrDataUrl(instructions.qrcodeText)),
          })
        : undefined,
    transfer:
      agent.method.includes('transfer') && instructions
        ? jsonObject({
            bank_code: quoted(instructions.transfer.bankCode),
            account_number: quoted(instructions.transfer.accountNumber),
            account_name: quoted(instructions.transfer.accountName),
            amount: money(order.amountMinor),
          })
        : undefined,
    expires_in: String(agent.expiresInS),
    created_at: quoted(desk.localTime(order.createdAt)),
  })
}
