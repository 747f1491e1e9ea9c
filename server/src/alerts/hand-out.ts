import { inTransaction, type Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { type AlertKind, type Channel, securityKinds } from './alert.ts'
import { heldUntil } from './quiet-hours.ts'

/** An alert gathers for this long, so that what happens at once is told at once. */
const gatherMs = 5_000
/** The same about the same is told at most this often. */
const quietMs = 15 * 60_000

/**
 * Makes of one alert a delivery for each person and channel that it is for. Returns false if none is due. Any number
 * of processes may do it.
 */
export async function handOutAlert(
  pool: Pool,
  available: readonly Channel[],
  now: Date,
): Promise<boolean> {
  return inTransaction(pool, async (tx) => {
    const { rows } = await tx.query<{
      alert_id: string
      kind: AlertKind | 'test'
      user_id: bigint | null
      roles: string[]
      agent_id: bigint | null
      except_user_id: bigint
      user_ids: bigint[]
      channels: Channel[]
      is_urgent: boolean
    }>(
      `select alert_id, kind, user_id, roles, agent_id, except_user_id, user_ids, channels, is_urgent
       from alerts a
       where handed_out_at is null and (kind = 'test' or first_at <= $1)
         and (kind = 'test' or not exists (select 1 from alerts b
           where b.kind = a.kind and b.subject = a.subject and b.handed_out_at > $2))
       order by first_at limit 1 for update skip locked`,
      [ago(now, gatherMs), ago(now, quietMs)],
    )
    const [alert] = rows
    if (!alert) return false
    const { rows: people } = await tx.query<{ user_id: bigint }>(
      // Who was reset or locked out hears of it themselves.
      `select user_id from users
       where user_id = $1 or (disabled_at is null and sealed_totp_secret is not null
         and user_id <> $4 and (role = any ($2) or user_id = any ($5))
         and (role <> 'agent' or agent_id = $3))`,
      [alert.user_id, alert.roles, alert.agent_id, alert.except_user_id, alert.user_ids],
    )
    for (const { user_id: userId } of people) {
      const held = alert.is_urgent ? undefined : await heldUntil(tx, userId, alert.kind, now)
      for (const channel of await channelsFor(tx, userId, alert, available)) {
        await tx.query(
          `insert into alert_deliveries (alert_id, user_id, channel, state, attempts, due_at)
           values ($1, $2, $3, $5, 0, coalesce($6::timestamptz, least($4::timestamptz, now())))`,
          [alert.alert_id, userId, channel, now, held ? 'held' : 'waiting', held ?? null],
        )
      }
    }
    await tx.query('update alerts set handed_out_at = $2 where alert_id = $1', [
      alert.alert_id,
      now,
    ])
    return true
  })
}

/** The channels that a person has, or those of them that a rule names or they chose for the kind. */
async function channelsFor(
  tx: Tx,
  userId: bigint,
  { kind, channels: named }: { kind: AlertKind | 'test'; channels: readonly Channel[] },
  available: readonly Channel[],
): Promise<Channel[]> {
  const { rows } = await tx.query<{ channel: Channel }>(
    'select channel from alert_channels where user_id = $1',
    [userId],
  )
  const set = rows.map(({ channel }) => channel)
  const has = available.filter((channel) => channel === 'mail' || set.includes(channel))
  if (kind === 'test' || securityKinds.includes(kind)) return has
  if (named.length > 0) {
    const wanted = has.filter((channel) => named.includes(channel))
    // Who has none of them is told by mail, rather than not at all.
    return wanted.length > 0 ? wanted : has.filter((channel) => channel === 'mail')
  }
  const { rows: chosen } = await tx.query<{ channels: string[] }>(
    'select channels from alert_choices where user_id = $1 and kind = $2',
    [userId, kind],
  )
  const wanted = chosen[0]?.channels ?? ['mail']
  return has.filter((channel) => wanted.includes(channel))
}

/** Deletes alerts that were handed out long ago, with their deliveries. */
export async function forgetAlerts(pool: Pool, before: Date): Promise<'done' | 'more'> {
  const page = 500
  return inTransaction(pool, async (tx) => {
    const { rows } = await tx.query<{ alert_id: string }>(
      `select alert_id from alerts a where handed_out_at < $1
         and not exists (select 1 from alert_deliveries d
           where d.alert_id = a.alert_id and d.state in ('waiting', 'held'))
       limit $2 for update skip locked`,
      [before, page],
    )
    const ids = rows.map(({ alert_id }) => alert_id)
    await tx.query('delete from alert_deliveries where alert_id = any ($1::uuid[])', [ids])
    await tx.query('delete from alerts where alert_id = any ($1::uuid[])', [ids])
    return ids.length === page ? 'more' : 'done'
  })
}

function ago(now: Date, ms: number): Date {
  return new Date(now.getTime() - ms)
}
