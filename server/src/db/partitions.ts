import { inTransaction } from './in-transaction.ts'
import type { Pool } from './pool.ts'

/** The tables that are partitioned by month. `make_month_partition` has the same list. */
export const partitionedTables = ['callback_attempts', 'callback_bodies', 'notices'] as const
export type PartitionedTable = (typeof partitionedTables)[number]

/** Partitions exist for this month and this many more, so the service may be down for that long. */
const monthsAhead = 3

/** Other users of the table queue behind a pending lock, so we give up on it quickly. */
const lockTimeoutMs = 200

export interface Partition {
  /** Null if it begins with the oldest row. */
  from: Date | null
  until: Date
}

/**
 * The partitions of each table that is partitioned by month, oldest first, without the default partition.
 */
export async function readPartitions(pool: Pool): Promise<Map<string, Partition[]>> {
  const { rows } = await pool.query<{ parent: string; bounds: [string, string] | null }>(
    `select p.relname as parent,
       regexp_match(pg_get_expr(c.relpartbound, c.oid), 'FROM \\((.+)\\) TO \\((.+)\\)') as bounds
     from pg_class p
     join pg_inherits i on i.inhparent = p.oid
     join pg_class c on c.oid = i.inhrelid
     where p.relnamespace = 'sluice'::regnamespace and p.relkind = 'p' and p.relname = any($1)`,
    [partitionedTables],
  )
  const partitions = new Map<string, Partition[]>()
  for (const { parent, bounds } of rows) {
    const own = partitions.get(parent) ?? []
    partitions.set(parent, own)
    if (!bounds) continue
    const [from, until] = bounds
    own.push({ from: from === 'MINVALUE' ? null : timeOf(from), until: timeOf(until) })
  }
  for (const own of partitions.values()) own.sort((a, b) => a.until.getTime() - b.until.getTime())
  return partitions
}

/** Parses a bound as PostgreSQL writes it in our sessions, whose zone is UTC. */
function timeOf(bound: string): Date {
  return new Date(bound.replaceAll("'", '').replace(' ', 'T').replace('+00', 'Z'))
}

/** Creates the missing partitions of this month and the coming ones. Returns how many it created. */
export async function makePartitionsAhead(pool: Pool, now: Date): Promise<number> {
  let made = 0
  for (const [table, partitions] of await readPartitions(pool)) {
    for (let ahead = 0; ahead <= monthsAhead; ahead++) {
      const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead))
      if (isCovered(partitions, month)) continue
      if (await makePartition(pool, table, month)) made++
    }
  }
  return made
}

function isCovered(partitions: readonly Partition[], time: Date): boolean {
  return partitions.some(({ from, until }) => (from === null || from <= time) && until > time)
}

async function makePartition(pool: Pool, table: string, month: Date): Promise<boolean> {
  return inTransaction(pool, async (tx) => {
    await tx.query(`set local lock_timeout = ${lockTimeoutMs}`)
    const { rows } = await tx.query<{ made: boolean }>(
      'select make_month_partition($1, $2::date) as made',
      [table, month.toISOString().slice(0, 10)],
    )
    return rows[0]?.made === true
  })
}

/**
 * Drops a table's oldest partition if it ended before a given time. Returns its name, if it dropped one.
 */
export async function dropPartition(
  pool: Pool,
  table: PartitionedTable,
  endedBefore: Date,
): Promise<string | undefined> {
  return inTransaction(pool, async (tx) => {
    await tx.query(`set local lock_timeout = ${lockTimeoutMs}`)
    const { rows } = await tx.query<{ dropped: string | null }>(
      'select drop_month_partition($1, $2) as dropped',
      [table, endedBefore],
    )
    return rows[0]?.dropped ?? undefined
  })
}

/** For each table, the time until which partitions follow each other without a gap, from now on. */
export async function coveredUntil(pool: Pool, now: Date): Promise<Map<string, Date>> {
  const covered = new Map<string, Date>()
  for (const [table, partitions] of await readPartitions(pool)) {
    let end = now
    for (const { from, until } of partitions) {
      if ((from === null || from <= end) && until > end) end = until
    }
    covered.set(table, end)
  }
  return covered
}
