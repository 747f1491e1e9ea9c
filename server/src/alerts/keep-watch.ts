import { inTransaction } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import type { AlertKind } from './alert.ts'
import { type NewAlert, raiseAlert } from './raise-alert.ts'

/** Something that is wrong at the moment. */
export interface Trouble {
  /** What is wrong, such as one payout: it is told once, until it is right again. */
  subject: string
  /** What the alert is about: troubles of one topic that begin at once are one alert. */
  topic: string
  words: string
  to: NewAlert['to']
}

/**
 * Raises an alert for each trouble of a kind that was not there at the last look. Of several processes that look at
 * once one raises it, and it is raised with what says that it was.
 */
export async function keepWatch(
  pool: Pool,
  kind: AlertKind,
  troubles: readonly Trouble[],
  now: Date,
): Promise<void> {
  const subjects = troubles.map(({ subject }) => subject)
  await inTransaction(pool, async (tx) => {
    await tx.query('delete from alert_watch where kind = $1 and not (subject = any ($2))', [
      kind,
      subjects,
    ])
    const { rows } = await tx.query<{ subject: string }>(
      `insert into alert_watch (kind, subject, since)
       select $1, subject, $3 from unnest($2::text[]) subject order by subject
       on conflict do nothing returning subject`,
      [kind, subjects, now],
    )
    const begun = new Set(rows.map(({ subject }) => subject))
    const fresh = troubles.filter(({ subject }) => begun.has(subject))
    // In one order, so that no two processes wait for each other.
    for (const topic of [...new Set(fresh.map((each) => each.topic))].sort()) {
      const of = fresh.filter((each) => each.topic === topic)
      const [first] = of
      if (!first) continue
      const { words, to } = first
      await raiseAlert(tx, { kind, subject: topic, words, to, at: now, count: of.length })
    }
  })
}

/** What was wrong at the last look, the longest first, up to a number. */
export async function readWatched(
  pool: Pool,
  kind: AlertKind,
  limit: number,
): Promise<{ subject: string; since: Date }[]> {
  const { rows } = await pool.query<{ subject: string; since: Date }>(
    'select subject, since from alert_watch where kind = $1 order by since, subject limit $2',
    [kind, limit],
  )
  return rows
}
