import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { newOrderId } from '../lib/ids.ts'

/** What every admin has to take note of. */
export interface Alarm {
  id: string
  at: Date
  by: string
  words: string
}

/**
 * Raises an alarm: the console shows it to each admin until they acknowledge it. Returns false if one with this id was
 * raised before.
 */
export async function raiseAlarm(
  db: Pool | Tx,
  { at, by, words, id = newOrderId(at) }: Omit<Alarm, 'id'> & { id?: string },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into alarms (alarm_id, at, raised_by, words) values ($1, $2, $3, $4)
     on conflict do nothing`,
    [id, at, by, words.slice(0, 2000)],
  )
  return rowCount === 1
}

/** The alarms that a user has not acknowledged, newest first. Those from before they were invited are not theirs. */
export async function alarmsFor(pool: Pool, userId: bigint): Promise<Alarm[]> {
  const { rows } = await pool.query<Alarm>(
    `select a.alarm_id as id, a.at, a.raised_by as by, a.words from alarms a
     where a.at >= (select created_at from users where user_id = $1)
       and not exists (select 1 from alarm_acknowledgements k
         where k.alarm_id = a.alarm_id and k.user_id = $1)
     order by a.alarm_id desc limit 20`,
    [userId],
  )
  return rows
}

/** Returns false if there is no such alarm or the user has acknowledged it before. */
export async function acknowledge(
  tx: Tx,
  alarmId: string,
  userId: bigint,
  at: Date,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into alarm_acknowledgements (alarm_id, user_id, at)
     select alarm_id, $2, $3 from alarms where alarm_id = $1 on conflict do nothing`,
    [alarmId, userId, at],
  )
  return rowCount === 1
}
