import { databaseTime, timeToPass } from '../db/database-time.ts'
import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import type { Clock } from '../lib/clock.ts'
import type { Channel } from './alert.ts'

/** What a person was told by one channel, or is about to be. */
export interface Delivery {
  alertId: string
  userId: bigint
  email: string
  kind: string
  words: string
  count: number
  channel: Channel
  state: string
  attempts: number
  error: string | null
  at: Date
  dueAt: Date | null
  endedAt: Date | null
}

/** What people were told, newest first. A cursor names the last of the page before. */
export async function listDeliveries(
  pool: Pool,
  {
    state,
    cursor,
    limit,
  }: { state?: string | undefined; cursor?: string | undefined; limit: number },
): Promise<{ data: Delivery[]; next: string | null }> {
  const [alertId, userId, channel] =
    /^([0-9a-f]{32})\.(\d{1,18})\.([a-z]+)$/.exec(cursor ?? '')?.slice(1) ?? []
  const { rows } = await pool.query<Delivery>(
    `select d.alert_id as "alertId", d.user_id as "userId", u.email, a.kind, a.words, a.count, d.channel, d.state,
       d.attempts, d.error, a.last_at as at, d.due_at as "dueAt", d.ended_at as "endedAt"
     from alert_deliveries d join alerts a using (alert_id) join users u on u.user_id = d.user_id
     where ($1::text is null or d.state = $1)
       and ($2::uuid is null or (d.alert_id, d.user_id, d.channel) < ($2, $3::bigint, $4::text))
     order by d.alert_id desc, d.user_id desc, d.channel desc limit $5`,
    [state ?? null, alertId ?? null, userId ?? null, channel ?? null, limit + 1],
  )
  const data = rows.slice(0, limit)
  const last = data.at(-1)
  const isMore = rows.length > limit && last !== undefined
  return { data, next: isMore ? `${last.alertId}.${last.userId}.${last.channel}` : null }
}

/** Lets a delivery that has ended be made once more; false if it has not ended, or is not known. */
export async function sendAgain(
  tx: Tx,
  { alertId, userId, channel }: Pick<Delivery, 'alertId' | 'userId' | 'channel'>,
  now: Clock,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `with at as (select ${databaseTime('$4')} as now)
     update alert_deliveries set state = 'waiting', attempts = 0, due_at = (select now from at),
       ended_at = null, error = null
     where alert_id = $1 and user_id = $2 and channel = $3 and ended_at is not null`,
    [alertId, userId, channel, timeToPass(now)],
  )
  return rowCount === 1
}
