import { databaseTime, timeToPass } from '../db/database-time.ts'
import type { Pool } from '../db/pool.ts'
import type { Clock } from '../lib/clock.ts'
import { type SecretKeys, unseal } from '../lib/secret-box.ts'
import type { AlertMessage, Channel } from './alert.ts'
import { secretOwner } from './alert-channels.ts'

/** Where a message goes. */
export interface AlertTarget {
  /** A mail address, a URL, or the id of a chat or person. */
  address: string
  /** What signs it, for a webhook. */
  secret: string | undefined
}

/** Sends a message by one channel; returns what went wrong, in words without secrets. */
export type SendAlert = (message: AlertMessage, target: AlertTarget) => Promise<string | undefined>

export type AlertSenders = Partial<Record<Channel, SendAlert>>

/** After each failure it is tried again after so long; after the last, never. */
const pausesMs = [1, 5, 15, 60, 180, 360, 720, 1440].map((minutes) => minutes * 60_000)
/** Nobody else takes a delivery for this long after it was claimed. Whoever died with it is not waited for longer. */
const leaseMs = 2 * 60_000
const atOnce = 10

interface Claimed {
  alert_id: string
  user_id: bigint
  channel: Channel
  attempts: number
  kind: AlertMessage['kind']
  words: string
  count: number
  first_at: Date
  last_at: Date
  address: string | null
  sealed_secret: Buffer | null
}

/**
 * Sends what is due. Each delivery is claimed before it is sent and recorded afterwards: if the process ends in
 * between, it is sent once more, so nothing is lost, and something may come twice.
 */
export async function deliverAlerts(
  pool: Pool,
  secretKeys: SecretKeys,
  senders: AlertSenders,
  now: Clock,
  onGivenUp: (message: string) => void,
): Promise<'done' | 'more'> {
  const { rows } = await pool.query<Claimed>(
    `with at as (select ${databaseTime('$1')} as now), due as (
       select alert_id, user_id, channel from alert_deliveries
       where state = 'waiting' and due_at <= ${databaseTime('$1')}
       order by due_at limit $3 for update skip locked
     ), claimed as (
       update alert_deliveries d set attempts = d.attempts + 1,
         due_at = (select now from at) + $2 * interval '1 millisecond' from due
       where d.alert_id = due.alert_id and d.user_id = due.user_id and d.channel = due.channel
       returning d.alert_id, d.user_id, d.channel, d.attempts
     )
     select c.*, a.kind, a.words, a.count, a.first_at, a.last_at, h.sealed_secret,
       case when u.disabled_at is not null and a.kind <> 'account_changed' then null
         when c.channel = 'mail' then u.email else h.target end as address
     from claimed c join alerts a using (alert_id) join users u on u.user_id = c.user_id
     left join alert_channels h on h.user_id = c.user_id and h.channel = c.channel`,
    [timeToPass(now), leaseMs, atOnce],
  )
  await Promise.all(
    rows.map(async (row) => {
      const error = await send(secretKeys, senders, row)
      if (error !== undefined && row.attempts > pausesMs.length) {
        onGivenUp(`an alert to user ${row.user_id} by ${row.channel} was given up: ${error}`)
      }
      await record(pool, row, error, timeToPass(now))
    }),
  )
  return rows.length === atOnce ? 'more' : 'done'
}

async function send(
  secretKeys: SecretKeys,
  senders: AlertSenders,
  row: Claimed,
): Promise<string | undefined> {
  const sender = senders[row.channel]
  if (!sender) return 'this channel is not set up any more'
  if (row.address === null) return 'the person has this channel no more'
  const secret =
    row.sealed_secret === null
      ? undefined
      : unseal(secretKeys, secretOwner(row.user_id), row.sealed_secret)
  if (row.sealed_secret !== null && secret === undefined) return 'no key opens its secret'
  const { alert_id: alertId, user_id: userId, first_at: firstAt, last_at: lastAt } = row
  const { kind, words, count } = row
  const message = { alertId, userId, kind, words, count, firstAt, lastAt }
  try {
    return await sender(message, { address: row.address, secret })
  } catch (error) {
    // Only the kind of error: its text may hold an address with a token.
    return error instanceof Error && 'code' in error ? String(error.code) : 'it failed'
  }
}

async function record(pool: Pool, row: Claimed, error: string | undefined, at: Date | null) {
  const pauseMs = error === undefined ? undefined : pausesMs[row.attempts - 1]
  const state = error === undefined ? 'sent' : pauseMs === undefined ? 'given_up' : 'waiting'
  await pool.query(
    `with at as (select ${databaseTime('$5')} as now)
     update alert_deliveries set state = $4, error = $7,
       due_at = (select now from at) + $6::double precision * interval '1 millisecond',
       ended_at = case when $6::double precision is null then (select now from at) end
     where alert_id = $1 and user_id = $2 and channel = $3 and attempts = $8 and state = 'waiting'`,
    [
      row.alert_id,
      row.user_id,
      row.channel,
      state,
      at,
      pauseMs ?? null,
      error?.slice(0, 500) ?? null,
      row.attempts,
    ],
  )
}
