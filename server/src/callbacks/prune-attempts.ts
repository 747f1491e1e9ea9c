import { inTransaction } from '../db/in-transaction.ts'
import { type Partition, readPartitions } from '../db/partitions.ts'
import type { Pool } from '../db/pool.ts'

/** Held during a step, so that only one process prunes at a time. */
const pruningLock = 7_358_403

interface AttemptKey {
  agent_id: bigint
  seq: bigint
  attempt_id: string
}

/** A key that sorts before every attempt. */
const beforeAll: AttemptKey = {
  agent_id: 0n,
  seq: 0n,
  attempt_id: '00000000-0000-0000-0000-000000000000',
}

/**
 * Deletes a bounded number of attempts from the oldest month that ended before a given time. The latest
 * attempt of each callback stays, so a month cannot be dropped as a whole: each attempt is examined once, and
 * the progress is on disk. Returns whether there is more to do.
 */
export async function pruneAttempts(
  pool: Pool,
  endedBefore: Date,
  limit: number,
): Promise<'done' | 'more'> {
  const months = (await readPartitions(pool)).get('callback_attempts') ?? []
  const { rows } = await pool.query<{ until: Date }>(
    'select until from attempt_prunings where is_done',
  )
  const done = new Set(rows.map(({ until }) => until.getTime()))
  const month = months.find(({ until }) => until <= endedBefore && !done.has(until.getTime()))
  return month ? pruneSome(pool, month, limit) : 'done'
}

async function pruneSome(pool: Pool, month: Partition, limit: number): Promise<'done' | 'more'> {
  return inTransaction(pool, async (tx) => {
    const lock = await tx.query<{ taken: boolean }>(
      'select pg_try_advisory_xact_lock($1) as taken',
      [pruningLock],
    )
    if (!lock.rows[0]?.taken) return 'done'
    const from = month.from ?? '-infinity'
    const { rows: places } = await tx.query<AttemptKey>(
      'select agent_id, seq, attempt_id from attempt_prunings where until = $1',
      [month.until],
    )
    const after = places[0] ?? beforeAll
    const { rows } = await tx.query<AttemptKey & { is_latest: boolean }>(
      `select t.agent_id, t.seq, t.attempt_id, not exists (
         select from callback_attempts later where later.agent_id = t.agent_id
           and later.seq = t.seq and later.attempt_id > t.attempt_id and later.started_at >= $1
       ) as is_latest
       from callback_attempts t
       where t.started_at >= $1 and t.started_at < $2
         and (t.agent_id, t.seq, t.attempt_id) > ($3, $4, $5)
       order by t.agent_id, t.seq, t.attempt_id limit $6`,
      [from, month.until, after.agent_id, after.seq, after.attempt_id, limit],
    )
    const old = rows.filter(({ is_latest }) => !is_latest)
    await tx.query(
      `delete from callback_attempts t using unnest($1::bigint[], $2::bigint[], $3::uuid[])
         old(agent_id, seq, attempt_id)
       where t.agent_id = old.agent_id and t.seq = old.seq and t.attempt_id = old.attempt_id
         and t.started_at >= $4 and t.started_at < $5`,
      [
        old.map(({ agent_id }) => agent_id),
        old.map(({ seq }) => seq),
        old.map(({ attempt_id }) => attempt_id),
        from,
        month.until,
      ],
    )
    const last = rows.at(-1) ?? after
    await tx.query(
      `insert into attempt_prunings (until, agent_id, seq, attempt_id, is_done)
       values ($1, $2, $3, $4, $5)
       on conflict (until) do update set agent_id = excluded.agent_id, seq = excluded.seq,
         attempt_id = excluded.attempt_id, is_done = excluded.is_done`,
      [month.until, last.agent_id, last.seq, last.attempt_id, rows.length < limit],
    )
    return 'more'
  })
}
