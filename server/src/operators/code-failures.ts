import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { type Outsider, writeAudit } from './audit.ts'
import type { Operator } from './operator.ts'
import { endSessions } from './sessions.ts'
import { tellAdmins, tellOwner } from './tell-people.ts'

/** So many wrong codes in a row are no mistakes any more. One in 300,000 of a million would be right by chance. */
const mostCodeFailures = 10

/**
 * Counts a wrong code of somebody who knows the password. At the last that is permitted, no stranger's device signs in
 * with this password any more; a device that has signed in before becomes a stranger's. Returns true when that happens.
 */
export async function countSignInFailure(
  tx: Tx,
  user: { userId: bigint; agentId: bigint | null },
  onDevice: boolean,
  by: Outsider,
  now: Date,
): Promise<boolean> {
  const count = onDevice ? 'device_failures' : 'code_failures'
  const { rows } = await tx.query<{ failures: number; is_stopped: boolean }>(
    `update users set ${count} = ${count} + 1 where user_id = $1
     returning ${count} as failures, codes_stopped_at is not null as is_stopped`,
    [user.userId],
  )
  const [row] = rows
  if (!row || row.failures < mostCodeFailures || (row.is_stopped && !onDevice)) return false
  await tx.query(
    onDevice
      ? 'update users set devices_since = $2, device_failures = 0 where user_id = $1'
      : 'update users set codes_stopped_at = $2 where user_id = $1',
    [user.userId, now],
  )
  await auditStop(tx, user, by, onDevice ? 'forget_devices' : 'stop_codes', now)
  return true
}

/** Counts a wrong code in a session. At the last that is permitted, all sessions of the user end. */
export async function countSessionFailure(tx: Tx, operator: Operator, now: Date): Promise<boolean> {
  const { rows } = await tx.query<{ failures: number }>(
    `update users set device_failures = device_failures + 1 where user_id = $1
     returning device_failures as failures`,
    [operator.userId],
  )
  if ((rows[0]?.failures ?? 0) < mostCodeFailures) return false
  // Who guesses in a session may have proposed something there, too.
  await tx.query('update users set device_failures = 0, proposals_since = $2 where user_id = $1', [
    operator.userId,
    now,
  ])
  await endSessions(tx, operator.userId, now)
  await auditStop(tx, operator, operator, 'end_sessions', now)
  return true
}

/** A right code ends the row of wrong ones. A stop stays: somebody else knows the password, until it is changed. */
export async function forgetFailures(db: Pool | Tx, userId: bigint): Promise<void> {
  await db.query(
    `update users set device_failures = 0,
       code_failures = case when codes_stopped_at is null then 0 else code_failures end
     where user_id = $1 and (device_failures > 0 or code_failures > 0)`,
    [userId],
  )
}

const stopWords = {
  stop_codes: (whose: string) =>
    `Somebody who knows the password of ${whose} sends wrong codes: it signs in no new device until it is changed.`,
  forget_devices: (whose: string) =>
    `A known device of ${whose} sent wrong codes again and again, and counts as a stranger's now.`,
  end_sessions: (whose: string) =>
    `Somebody signed in to ${whose} sent wrong codes again and again: all its sessions have ended.`,
}

async function auditStop(
  tx: Tx,
  { userId, agentId }: { userId: bigint; agentId: bigint | null },
  operator: Operator | Outsider,
  action: keyof typeof stopWords,
  at: Date,
): Promise<void> {
  await writeAudit(tx, {
    at,
    operator,
    action,
    subject: { kind: 'user', id: String(userId) },
    agentId,
    after: { wrong_codes_in_a_row: mostCodeFailures },
  })
  const ownWords = `${stopWords[action]('your account')} Change your password.`
  await tellOwner(tx, userId, { what: action, words: ownWords, at })
  const words = stopWords[action](operator.email)
  await tellAdmins(tx, { what: `user ${userId} ${action}`, words, at })
}
