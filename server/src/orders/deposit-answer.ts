import type { Agent } from '../agents/agent.ts'
import type { Order } from '../ledger/book.ts'
import { txnId } from '../lib/ids.ts'
import { jsonObject, quoted } from '../lib/json-text.ts'
import { decimalText } from '../lib/money.ts'
import { qrDataUrl } from '../lib/qr-png.ts'
import type { DepositInstructions } from '../providers/provider.ts'
import type { Desk } from './desk.ts'
import { pageToken } from './page-token.ts'

/** What creating a deposit is answered with: exactly the spec's fields. */
export function depositAnswer(
  desk: Pick<Desk, 'publicUrl' | 'secretKeys' | 'localTime'>,
  agent: Agent,
  order: Order,
  { qrcodeText, transfer }: DepositInstructions,
): string {
  const money = (minor: bigint) => decimalText(minor, agent.currency)
  const link = `${desk.publicUrl()}/pay/${pageToken(desk.secretKeys, order.agentId, order.orderId)}`
  return jsonObject({
    txn_id: quoted(txnId(order.agentId, order.orderId)),
    ref_id: quoted(order.refId),
    amount: money(order.amountMinor),
    fee: money(order.feeMinor),
    method: quoted(agent.method),
    link: quoted(link),
    qrcode: agent.method.includes('qrcode')
      ? jsonObject({
          qrcode_text: quoted(qrcodeText),
          link: quoted(`${link}/qr`),
          qrcode_date_url: quoted(qrDataUrl(qrcodeText)),
        })
      : undefined,
    transfer: agent.method.includes('transfer')
      ? jsonObject({
          bank_code: quoted(transfer.bankCode),
          account_number: quoted(transfer.accountNumber),
          account_name: quoted(transfer.accountName),
          amount: money(order.amountMinor),
        })
      : undefined,
    expires_in: String(agent.expiresInS),
    created_at: quoted(desk.localTime(order.createdAt)),
  })
}
