import { believeToken } from '../connectors/believe-token.ts'
import { findAskedDeposit } from '../connectors/connector-deposits.ts'
import { findOrder } from '../ledger/find-order.ts'
import { callWithin } from '../lib/call-within.ts'
import { parseTxnId } from '../lib/ids.ts'
import { type Currency, sizeOf } from '../lib/money.ts'
import { Problem } from '../lib/problem.ts'
import { toCollect } from '../orders/to-collect.ts'
import type { Provider, ProviderEvent } from '../providers/provider.ts'
import type { Desk } from '../teller/desk.ts'

type ByTokenDesk = Pick<Desk, 'pool' | 'now'>

const callLimitMs = 10_000

/**
 * What counts of an event whose notice had no signature: itself if it moves no money or is within the provider's
 * limits, otherwise what the provider says of it when it is asked. Throws a problem while it does not say the same; the
 * event then waits, and a person sees it. Payouts are asked about elsewhere.
 */
export async function confirmedEvent(
  desk: ByTokenDesk,
  provider: Provider,
  event: ProviderEvent,
): Promise<ProviderEvent> {
  switch (event.type) {
    case 'payout':
    case 'unread':
      return event
    case 'payment':
    case 'cost':
      if (await isBelieved(desk, provider, event)) return event
      break
    case 'deposit_ended':
      // Without a question nobody could say it otherwise, and money that comes after it is kept.
      if (!provider.canAskDeposits) return event
      break
    case 'payment_taken_back':
  }
  const said = await askAbout(desk, provider, event.reference)
  const same = said.find((each) => keyOf(each) === keyOf(event))
  if (same) return same
  const says = `Told with a token, which ${provider.name} does not confirm when it is asked; a person has to look into it.`
  throw new Problem('overloaded', says, { retryAfterS: 60 })
}

/** Whether a payout that is told to be paid with a token is within the limits. */
export async function isWithinTokenLimits(
  desk: ByTokenDesk,
  provider: Provider,
  payout: { agentId: bigint; orderId: string },
): Promise<boolean> {
  const order = await findOrder(desk.pool, payout.agentId, payout.orderId)
  return order !== undefined && isBelieved(desk, provider, order)
}

async function isBelieved(
  { pool, now }: ByTokenDesk,
  { name, tokenLimits }: Provider,
  { amountMinor: signed, currency }: { amountMinor: bigint; currency: Currency },
): Promise<boolean> {
  const limits = tokenLimits?.get(currency)
  // What a provider gives back counts as much as what it charges.
  const amountMinor = sizeOf(signed)
  if (!limits || amountMinor > limits.payment) return false
  return believeToken(pool, { connector: name, currency, amountMinor, most: limits.day }, now())
}

/** What the provider says about a deposit under each of its ids; nothing if there is nothing to ask. */
async function askAbout(
  { pool }: ByTokenDesk,
  provider: Provider,
  reference: string,
): Promise<ProviderEvent[]> {
  const named = parseTxnId(reference)
  const order = named && (await findOrder(pool, named.agentId, named.orderId))
  const deposit = order && (await findAskedDeposit(pool, order, provider.name))
  if (!order || !deposit) return []
  const said: ProviderEvent[] = []
  for (const theirId of deposit.theirIds.length > 0 ? deposit.theirIds : [null]) {
    const asked = { ...toCollect(order, deposit.code), use: deposit.use, theirId }
    const answer = await callWithin(callLimitMs, undefined, async (signal) =>
      provider.askDeposit?.(asked, signal),
    ).catch(() => undefined)
    said.push(...(answer?.events ?? []))
  }
  return said
}

/** What an event says, whatever its own id and its amount: those of the answer count. */
function keyOf(event: ProviderEvent): string {
  const thing =
    ('paymentId' in event && event.paymentId) ||
    ('costId' in event && event.costId) ||
    ('status' in event && event.status)
  return JSON.stringify([event.type, event.reference, thing])
}
