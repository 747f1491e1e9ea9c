import { heardBy } from '../alerts/alert.ts'
import type { Trouble } from '../alerts/keep-watch.ts'
import type { Pool } from '../db/pool.ts'

/** A provider gets this long to say how a payout ended before people are told. */
const patienceMs = 10 * 60_000

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
