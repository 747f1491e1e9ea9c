import type { PaymentClaim } from '../ledger/book.ts'
import { claimsById } from '../ledger/payment-claims.ts'
import { findNamedPayouts } from '../ledger/payout-references.ts'
import { ensure, type ProofTx } from './proof-failure.ts'

/** The key of an event: its agent, the provider that reported it, and its id. */
export type EventPlace = readonly [agentId: bigint, provider: string, eventId: string]

export const beforeAllEvents: EventPlace = [-1n, '', '']

interface EventRow {
  agent_id: bigint
  provider: string
  event_id: string
  event: string | null
  result: string | null
  act_at: Date | null
  detail: string | null
}

/** How earlier releases refused an event about a payout that no provider has; it stays open now. */
const noSuchPayout = 'There is no such payout.'

const largestAmount = 2n ** 53n - 1n

/**
 * Proves that every event reported by a provider has been or will be handled: one without a result has a
 * due time, and a payment that was acted on is claimed. Notices from before events were stored are not
 * checked. Returns the last key if the page was full.
 */
export async function proveEventPage(
  tx: ProofTx,
  after: EventPlace,
  limit: number,
): Promise<EventPlace | null> {
  const { rows } = await tx.query<EventRow>(
    `select agent_id, provider, event_id, event, result, act_at, detail from notice_events
     where (agent_id, provider, event_id) > ($1, $2, $3)
     order by agent_id, provider, event_id limit $4`,
    [...after, limit],
  )
  const paidBy = new Map<string, string>()
  const ofNoPayout: { provider: string; reference: string; where: string }[] = []
  for (const { provider, event_id, event, result, act_at, detail } of rows) {
    if (event === null) continue
    const where = `event ${event_id} of ${provider}`
    ensure(result !== null || act_at !== null, () => `${where} is open, and never due`)
    const told = readEvent(event)
    // A person may have looked at what it was, and closed it.
    ensure(told !== undefined || result === 'closed', () => `${where} cannot be read`)
    if (!told) continue
    const { type, paymentId, amountMinor, reference } = told
    if (type === 'payout' && detail === noSuchPayout) {
      ofNoPayout.push({ provider, reference: String(reference), where })
    }
    if (type !== 'payment' || result === null) continue
    // Whoever has seen a token can tell of money that there is none of: a person has looked into it.
    if (told.byToken === true && result === 'closed') continue
    const isMoney = amountMinor > 0n && amountMinor <= largestAmount
    ensure(result !== 'refused' || !isMoney, () => `${where} is money, but was refused`)
    if (isMoney) paidBy.set(`${provider}:${paymentId}`, where)
  }
  const { rows: claims } = await tx.query<PaymentClaim>(claimsById, [[...paidBy.keys()]])
  for (const { paymentId } of claims) paidBy.delete(paymentId)
  const [lost] = paidBy
  ensure(
    lost === undefined,
    () => `${lost?.[1]} told of payment ${lost?.[0]}, which is not claimed`,
  )
  await proveNoPayouts(tx, ofNoPayout)
  const last = rows.at(-1)
  return rows.length < limit || !last ? null : [last.agent_id, last.provider, last.event_id]
}

/** Reads an event as it was stored; undefined if somebody has changed it so that it is none. */
function readEvent(text: string):
  | {
      type: unknown
      paymentId: unknown
      reference: unknown
      byToken: unknown
      amountMinor: bigint
    }
  | undefined {
  try {
    const { type, paymentId, reference, byToken, amountMinor } = JSON.parse(text)
    return {
      type,
      paymentId,
      reference,
      byToken,
      amountMinor: type === 'payment' ? BigInt(amountMinor) : 0n,
    }
  } catch {
    return undefined
  }
}

/** Proves that events that were refused because there is no such payout are about none. */
async function proveNoPayouts(
  tx: ProofTx,
  events: readonly { provider: string; reference: string; where: string }[],
): Promise<void> {
  const named = await findNamedPayouts(
    tx,
    events.map(({ reference }) => reference),
  )
  for (const { provider, reference, where } of events) {
    const { rows } = await tx.query<{ reference: string }>(
      'select reference from payouts where agent_id = $1 and provider = $2 and reference = $3',
      [named.get(reference)?.agentId ?? 0n, provider, reference],
    )
    ensure(rows.length === 0, () => `${where} is about payout ${reference}, but was refused`)
  }
}
