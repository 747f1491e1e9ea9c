import type { Pool } from './pool.ts'

/** A count, possibly capped, and the time of the oldest row counted. */
export interface Aged {
  count: number
  oldestAt: Date | null
}

/** An exact count beyond this is of no use to a person. */
const countedUpTo = 1_000

/** Counts the rows of a select whose one column is `at`: up to a limit, or all if `upTo` is null. */
export async function countAged(
  pool: Pool,
  select: string,
  values: readonly unknown[],
  upTo: number | null = countedUpTo,
): Promise<Aged> {
  const { rows } = await pool.query<{ count: bigint; oldest_at: Date | null }>(
    `select count(*) as count, min(at) as oldest_at
     from (select at from (${select}) w limit $${values.length + 1}) x`,
    [...values, upTo],
  )
  return { count: Number(rows[0]?.count ?? 0n), oldestAt: rows[0]?.oldest_at ?? null }
}
