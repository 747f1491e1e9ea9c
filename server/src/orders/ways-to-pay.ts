import type { Agent } from '../agents/agent.ts'
import type { Order } from '../ledger/book.ts'
import type { DepositInstructions } from '../providers/provider.ts'
import type { Desk } from '../teller/desk.ts'
import { toCollect } from './to-collect.ts'

/** Whether a payer can follow the instructions, which may come from a third party. */
export function isPayable(instructions: DepositInstructions | undefined): boolean {
  if (!instructions) return false
  const { qrcodeText, transfer, link } = instructions
  if (link && !isWebLink(link)) return false
  if (transfer && !(transfer.accountNumber && transfer.accountName)) return false
  if (Buffer.byteLength(qrcodeText ?? '') > longestQrBytes) return false
  if (Buffer.byteLength(JSON.stringify(instructions)) > longestBytes) return false
  return Boolean(qrcodeText || transfer || link)
}

/** The most that a QR code with medium error correction holds. */
const longestQrBytes = 2331
/** The database keeps no more. */
const longestBytes = 4096

function isWebLink(text: string): boolean {
  return URL.canParse(text) && new URL(text).protocol === 'https:'
}

/**
 * The instructions that an agent and its payer get: those for the agent's method. If the provider offers none
 * of them, or the agent only uses the payment page, the page shows every available way.
 */
export function waysNamedBy(
  method: Agent['method'],
  { qrcodeText, qrKind, transfer, link, code, exactAmount }: DepositInstructions,
): DepositInstructions {
  const recognised = { ...(code && { code }), ...(exactAmount && { exactAmount }) }
  const qr = qrcodeText ? { qrcodeText, ...(qrKind && { qrKind }) } : {}
  const named: DepositInstructions = {
    ...(method.includes('qrcode') && qr),
    ...(method.includes('transfer') && transfer && { transfer }),
  }
  if (named.qrcodeText || named.transfer) return { ...named, ...recognised }
  return { ...qr, ...(transfer && { transfer }), ...(link && { link }), ...recognised }
}

/** How an order can be paid. For an order from before instructions were stored, asks its provider again. */
export function waysToPay(desk: Pick<Desk, 'providers'>, order: Order): DepositInstructions {
  if (order.instructions !== null) return JSON.parse(order.instructions) as DepositInstructions
  const provider = desk.providers.find(order.provider)
  return provider?.depositInstructions(toCollect(order)) ?? {}
}
