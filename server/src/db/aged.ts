import type { Pool } from './pool.ts'

/** A number that is not counted further than is worth it, and the oldest of what was counted. */
export interface Aged {
  count: number
  oldestAt: Date | null
}

/** Counting further than this is worth nothing to a person. */
const countedUpTo = 1_000

/** Counts rows of one column, `at`: all of them, or up to a number. */
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
