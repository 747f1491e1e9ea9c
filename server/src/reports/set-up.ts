import type { Pool } from '../db/pool.ts'

export const setUpSteps = [
  'agent',
  'provider',
  'order',
  'callback',
  'second_admin',
  'backup',
] as const
export type SetUpStep = (typeof setUpSteps)[number]

/** What an admin says of backups that the database cannot know of is in the audit log, and counts for a quarter. */
export const backupSaid = {
  action: 'say_backed_up',
  subject: { kind: 'books', id: 'backup' },
} as const

/**
 * Which steps of setting the service up are done, as far as the database knows. A backup is known by the database's own
 * archiver, by a replica that follows, or by an admin's word.
 */
export async function readSetUp(
  pool: Pool,
  takesOrders: boolean,
): Promise<{ step: SetUpStep; done: boolean }[]> {
  const { rows } = await pool.query<Record<Exclude<SetUpStep, 'provider'>, boolean>>(
    `select exists (select 1 from agents) as agent,
       exists (select 1 from orders) as order,
       exists (select 1 from insight_orders where called > 0) as callback,
       (select count(*) from users where role = 'admin' and disabled_at is null
          and sealed_totp_secret is not null) >= 2 as second_admin,
       exists (select 1 from pg_stat_archiver where last_archived_time > now() - interval '7 days')
         or exists (select 1 from pg_stat_replication)
         or exists (select 1 from audit_log where subject_kind = $1 and subject_id = $2
           and action = $3 and at > now() - interval '90 days') as backup`,
    [backupSaid.subject.kind, backupSaid.subject.id, backupSaid.action],
  )
  const known = { ...rows[0], provider: takesOrders }
  return setUpSteps.map((step) => ({ step, done: known[step] === true }))
}
