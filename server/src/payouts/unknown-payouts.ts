import { heardBy } from '../alerts/alert.ts'
import type { Trouble } from '../alerts/keep-watch.ts'
import type { Pool } from '../db/pool.ts'
import type { Currency } from '../lib/money.ts'

/** A provider gets this long to say how a payout ended before people are told. */
const patienceMs = 10 * 60_000

/** A payout whose outcome nobody knows. */
export interface UnknownPayout {
  agentId: bigint
  orderId: string
  provider: string
  handedAt: Date
  amountMinor: bigint
  currency: Currency
}

/** Payouts whose outcome is not known, the oldest first. */
export async function listUnknownPayouts(pool: Pool, limit: number): Promise<UnknownPayout[]> {
  const { rows } = await pool.query<UnknownPayout>(
    `select p.agent_id as "agentId", p.order_id as "orderId", p.provider, p.handed_at as "handedAt",
       o.amount as "amountMinor", o.currency
     from payouts p join orders o on o.agent_id = p.agent_id and o.order_id = p.order_id
     where p.ask_at is not null and p.state in ('unknown', 'not_found')
     order by p.handed_at, p.order_id limit $1`,
    [limit],
  )
  return rows
}

/** Payouts whose outcome has not been known for a while. */
export async function unknownPayouts(pool: Pool, now: Date): Promise<Trouble[]> {
  const { rows } = await pool.query<{ order_id: string; agent_id: bigint; provider: string }>(
    `select agent_id, order_id, provider from payouts
     where ask_at is not null and state in ('unknown', 'not_found') and handed_at < $1
     order by ask_at limit 1000`,
    [new Date(now.getTime() - patienceMs)],
  )
  return rows.map(({ agent_id, order_id, provider }) => ({
    subject: `${agent_id} ${order_id}`,
    topic: provider,
    words: `It is not known whether ${provider} has made a payout. The money stays held, and the service keeps asking.`,
    to: { roles: heardBy.payout_unknown },
  }))
}
