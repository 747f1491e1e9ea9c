import { randomBytes } from 'node:crypto'
import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { type Resealed, resealRows } from '../db/reseal-rows.ts'
import { type SecretKeys, seal } from '../lib/secret-box.ts'
import type { AlertKind, Channel } from './alert.ts'

/** Who the secret of a webhook, or the address of a Slack channel, is sealed for. */
export function secretOwner(userId: bigint): string {
  return `alerts of user ${userId}`
}

/** Where a person is told besides by mail. */
export interface AlertChannel {
  channel: Exclude<Channel, 'mail'>
  target: string
}

export const deliveryStates = ['waiting', 'held', 'gathered', 'sent', 'given_up'] as const

export interface AlertDelivery {
  kind: string
  words: string
  count: number
  channel: Channel
  state: (typeof deliveryStates)[number]
  at: Date
  attempts: number
  error: string | null
}

export async function channelsOf(pool: Pool, userId: bigint): Promise<AlertChannel[]> {
  const { rows } = await pool.query<AlertChannel>(
    'select channel, target from alert_channels where user_id = $1 order by channel',
    [userId],
  )
  return rows
}

export async function choicesOf(pool: Pool, userId: bigint): Promise<Map<string, Channel[]>> {
  const { rows } = await pool.query<{ kind: string; channels: Channel[] }>(
    'select kind, channels from alert_choices where user_id = $1',
    [userId],
  )
  return new Map(rows.map(({ kind, channels }) => [kind, channels]))
}

/** The last alerts that a person was told of, newest first. */
export async function deliveriesOf(pool: Pool, userId: bigint): Promise<AlertDelivery[]> {
  const { rows } = await pool.query<AlertDelivery>(
    `select a.kind, a.words, a.count, d.channel, d.state, a.last_at as at, d.attempts, d.error
     from alert_deliveries d join alerts a using (alert_id)
     where d.user_id = $1 order by d.alert_id desc, d.channel limit 20`,
    [userId],
  )
  return rows
}

/**
 * Sets where a channel leads. A webhook gets a new secret, which is shown only here, once. The address of a Slack
 * channel is a secret as a whole: only its host is kept readable.
 */
export async function setChannel(
  tx: Tx,
  secretKeys: SecretKeys,
  userId: bigint,
  { channel, target }: AlertChannel,
  now: Date,
): Promise<string | undefined> {
  const secret = channel === 'webhook' ? `whsec_${randomBytes(24).toString('hex')}` : undefined
  const isSlack = channel === 'slack'
  const kept = isSlack ? target : secret
  const sealed = kept === undefined ? null : seal(secretKeys, secretOwner(userId), kept)
  await tx.query(
    `insert into alert_channels (user_id, channel, target, sealed_secret, updated_at)
     values ($1, $2, $3, $4, $5)
     on conflict (user_id, channel) do update set target = excluded.target,
       sealed_secret = excluded.sealed_secret, updated_at = excluded.updated_at`,
    [userId, channel, isSlack ? `${new URL(target).origin}/…` : target, sealed, now],
  )
  return secret
}

export async function removeChannel(
  tx: Tx,
  userId: bigint,
  channel: AlertChannel['channel'],
): Promise<boolean> {
  const { rowCount } = await tx.query(
    'delete from alert_channels where user_id = $1 and channel = $2',
    [userId, channel],
  )
  return rowCount === 1
}

/** Whether security alerts reach a user: by mail, where it is set up, or by a channel of their own. */
export async function isReached(
  tx: Tx,
  available: readonly Channel[],
  userId: bigint,
): Promise<boolean> {
  if (available.includes('mail')) return true
  const { rows } = await tx.query(
    'select 1 from alert_channels where user_id = $1 and channel = any($2) limit 1',
    [userId, available],
  )
  return rows.length > 0
}

/** Whoever had the account may have left a channel of their own, or hours in which its owner hears nothing. */
export async function removeChannels(tx: Tx, userId: bigint): Promise<void> {
  await tx.query('delete from alert_channels where user_id = $1', [userId])
  await tx.query('delete from alert_times where user_id = $1', [userId])
}

export async function setChoice(
  tx: Tx,
  userId: bigint,
  kind: AlertKind,
  channels: readonly Channel[],
): Promise<void> {
  await tx.query(
    `insert into alert_choices (user_id, kind, channels) values ($1, $2, $3)
     on conflict (user_id, kind) do update set channels = excluded.channels`,
    [userId, kind, channels],
  )
}

/** Seals the secrets of webhooks and Slack channels with the current key. For the owner's login. */
export async function resealChannels(owner: Pool, secretKeys: SecretKeys): Promise<Resealed> {
  const { rows } = await owner.query<{
    user_id: bigint
    channel: Channel
    owner: string
    sealed: Buffer
  }>(
    `select user_id, channel, 'alerts of user ' || user_id as owner, sealed_secret as sealed
     from alert_channels where sealed_secret is not null order by user_id, channel`,
  )
  return resealRows(secretKeys, rows, async (row, sealed) => {
    const { rowCount } = await owner.query(
      `update alert_channels set sealed_secret = $2
       where user_id = $1 and channel = $4 and sealed_secret = $3`,
      [row.user_id, sealed, row.sealed, row.channel],
    )
    return rowCount
  })
}
