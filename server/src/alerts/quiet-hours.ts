import { databaseTime, timeToPass } from '../db/database-time.ts'
import { inTransaction, type Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import type { Clock } from '../lib/clock.ts'
import { hoursAround } from '../lib/daily-hours.ts'
import { newOrderId } from '../lib/ids.ts'
import { localTimeIn } from '../lib/local-time.ts'
import { daysAfter } from '../lib/period.ts'
import { type AlertKind, alertTitles, type Channel, securityKinds } from './alert.ts'

/** When a person is told what can wait, and when they get a digest. */
export interface AlertTimes {
  zone: string
  quietFrom: string | null
  quietTo: string | null
  digestAt: string | null
}

/** These are told at once at any hour: whoever sleeps through them loses money, or an account. */
export const neverHeld: readonly (AlertKind | 'test')[] = [
  ...securityKinds,
  'proof_red',
  'payout_alarm',
  'test',
]

const columns = `zone, quiet_from as "quietFrom", quiet_to as "quietTo", digest_at as "digestAt"`

export async function timesOf(db: Pool | Tx, userId: bigint): Promise<AlertTimes | undefined> {
  const { rows } = await db.query<AlertTimes>(
    `select ${columns} from alert_times where user_id = $1`,
    [userId],
  )
  return rows[0]
}

/**
 * Sets a person's hours. A digest that is asked for comes the next time that it is its hour, and not for what was before.
 * Which day was told last stays: no change of the hours tells a day twice, or leaves one out.
 */
export async function setTimes(
  tx: Tx,
  userId: bigint,
  times: AlertTimes,
  now: Date,
): Promise<void> {
  await tx.query(
    `insert into alert_times (user_id, zone, quiet_from, quiet_to, digest_at, digest_day)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (user_id) do update set zone = excluded.zone, quiet_from = excluded.quiet_from,
       quiet_to = excluded.quiet_to, digest_at = excluded.digest_at,
       digest_day = case when alert_times.digest_at is null or excluded.digest_at is null
         then greatest(alert_times.digest_day, excluded.digest_day) else alert_times.digest_day end`,
    [
      userId,
      times.zone,
      times.quietFrom,
      times.quietTo,
      times.digestAt,
      times.digestAt === null ? null : digestDay(times.zone, times.digestAt, now),
    ],
  )
}

/** The last day whose digest is due: the day before the last time that it was the hour. */
export function digestDay(zone: string, digestAt: string, now: Date): string {
  const [day = '', time = ''] = localTimeIn(zone)(now).slice(0, 16).split(' ')
  return daysAfter(day, time >= digestAt ? -1 : -2)
}

/** Until when a person is not told of a kind; undefined: they are told now. */
export async function heldUntil(
  tx: Tx,
  userId: bigint,
  kind: AlertKind | 'test',
  now: Date,
): Promise<Date | undefined> {
  if (neverHeld.includes(kind)) return undefined
  const times = await timesOf(tx, userId)
  if (!times || times.quietFrom === null || times.quietTo === null) return undefined
  const { quietFrom: from, quietTo: to, zone } = times
  return hoursAround({ from, to, zone }, now)?.end
}

interface Held {
  alert_id: string
  kind: AlertKind
  words: string
  count: number
}

/** Makes one message of what was held for a person and a channel whose quiet hours are over. */
export async function gatherHeld(pool: Pool, now: Clock): Promise<'done' | 'more'> {
  const { rows } = await pool.query<{ user_id: bigint; channel: Channel }>(
    `select user_id, channel from alert_deliveries
     where state = 'held' and due_at <= ${databaseTime('$1')} order by due_at limit 1`,
    [timeToPass(now)],
  )
  const [whose] = rows
  if (!whose) return 'done'
  const { user_id: userId, channel } = whose
  await inTransaction(pool, async (tx) => {
    // In one order, so that no two processes wait for each other; what another has gathered is held no more.
    const { rows: held } = await tx.query<Held>(
      `select d.alert_id, a.kind, a.words, a.count from alert_deliveries d join alerts a using (alert_id)
       where d.user_id = $1 and d.channel = $2 and d.state = 'held' and d.due_at <= ${databaseTime('$3')}
       order by d.alert_id for update of d`,
      [userId, channel, timeToPass(now)],
    )
    const ids = held.map(({ alert_id }) => alert_id)
    if (held.length === 0) return
    if (held.length === 1) {
      await tx.query(
        `update alert_deliveries set state = 'waiting' where alert_id = $1 and user_id = $2 and channel = $3`,
        [ids[0], userId, channel],
      )
      return
    }
    const at = now()
    const alertId = newOrderId(at)
    await tx.query(
      `insert into alerts (alert_id, kind, subject, user_id, roles, except_user_id, words, count, first_at,
         last_at, handed_out_at) values ($1, 'held', $2, $3, '{}', 0, $4, 1, $5, $5, $5)`,
      [alertId, `user ${userId} ${channel}`, userId, inOneMessage(held), at],
    )
    await tx.query(
      `insert into alert_deliveries (alert_id, user_id, channel, state, attempts, due_at)
       values ($1, $2, $3, 'waiting', 0, least($4::timestamptz, now()))`,
      [alertId, userId, channel, at],
    )
    await tx.query(
      `update alert_deliveries set state = 'gathered', due_at = null, ended_at = $4
       where alert_id = any ($1::uuid[]) and user_id = $2 and channel = $3`,
      [ids, userId, channel, at],
    )
  })
  return 'more'
}

const mostText = 3_500

/** Every alert on a line of its own, as many as fit. */
function inOneMessage(held: readonly Held[]): string {
  const lines = held.map(({ kind, words, count }) => {
    const often = count === 1 ? '' : ` (${count} times)`
    return `- ${alertTitles[kind]}: ${words}${often}`
  })
  let text = `${held.length} alerts came in your quiet hours.\n`
  for (const [at, line] of lines.entries()) {
    if (text.length + line.length > mostText) {
      return `${text}\nAnd ${lines.length - at} more: see Your account in the console.`
    }
    text += `\n${line}`
  }
  return text
}

/** A person whose digest is due, and the day that it is about. */
export interface DigestDue {
  userId: bigint
  zone: string
  /** For a user of an agent, the agent. */
  agentId: bigint | null
  day: string
  /** The day that was told last. */
  told: string | null
}

/** Whose digests are due, without those of whom it cannot be told. */
export async function digestsDue(
  pool: Pool,
  now: Date,
  onError: (error: unknown) => void,
): Promise<DigestDue[]> {
  const { rows } = await pool.query<Omit<DigestDue, 'day'> & { digestAt: string }>(
    `select t.user_id as "userId", t.zone, t.digest_at as "digestAt", u.agent_id as "agentId",
       t.digest_day::text as told
     from alert_times t join users u using (user_id)
     where t.digest_at is not null and u.disabled_at is null and u.sealed_totp_secret is not null
     order by t.user_id`,
  )
  return rows.flatMap(({ digestAt, ...row }) => {
    try {
      const day = digestDay(row.zone, digestAt, now)
      return row.told !== null && row.told >= day ? [] : { ...row, day }
    } catch (error) {
      // A zone that this version of Node.js does not know.
      onError(error)
      return []
    }
  })
}

/** Notes that a person is told of a day, for whoever does so; false if another has. */
export async function takeDigest(tx: Tx, { userId, day, told }: DigestDue): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update alert_times set digest_day = $2::date
     where user_id = $1 and digest_day is not distinct from $3::date and digest_at is not null`,
    [userId, day, told],
  )
  return rowCount === 1
}
