import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { newOrderId } from '../lib/ids.ts'
import type { AlertKind, Channel } from './alert.ts'

export interface NewAlert {
  kind: AlertKind | 'test'
  /** What it is about, for telling whether another is the same. Nobody is shown it. */
  subject: string
  /** One sentence without secrets, and with no more about persons than is needed. */
  words: string
  /** One person, or all who have one of the roles or are named; those of the role agent only if they are of the agent. */
  to: { userId: bigint } | AlertedGroup
  at: Date
  /** How many times it happened. */
  count?: number
  /** Quiet hours do not hold it, whatever its kind. */
  isUrgent?: boolean
}

interface AlertedGroup {
  roles: readonly string[]
  agentId?: bigint | null
  except?: bigint
  userIds?: readonly bigint[]
  /** Where they are told; none: wherever each of them wants to be. */
  channels?: readonly Channel[]
}

/**
 * Tells people of something, with the transaction in which it happens: if that is committed, they are told, whatever
 * ends afterwards. The same about the same is counted until it is handed out.
 */
export async function raiseAlert(db: Pool | Tx, alert: NewAlert): Promise<void> {
  const { kind, subject, words, to, at, count = 1 } = alert
  const group: AlertedGroup = 'roles' in to ? to : { roles: [] }
  await db.query(
    `insert into alerts (alert_id, kind, subject, user_id, roles, agent_id, except_user_id, words, count,
       first_at, last_at, user_ids, channels, is_urgent)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, $11, $12, $13)
     on conflict (kind, subject) where handed_out_at is null do update
     set count = alerts.count + excluded.count, words = excluded.words,
       last_at = greatest(alerts.last_at, excluded.last_at)`,
    [
      newOrderId(at),
      kind,
      subject.slice(0, 200),
      'userId' in to ? to.userId : null,
      group.roles,
      group.agentId ?? null,
      group.except ?? 0n,
      words.slice(0, 4000),
      count,
      at,
      group.userIds ?? [],
      group.channels ?? [],
      alert.isUrgent ?? false,
    ],
  )
}
