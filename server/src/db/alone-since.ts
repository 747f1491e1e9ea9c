import type { Pool } from './pool.ts'

/**
 * From when on nobody reads the database but this release and later ones: at once in a database that began with the
 * migration, else from a day after it, by which time the processes of the release before have ended.
 */
export async function aloneSince(pool: Pool, migration: string): Promise<Date> {
  const { rows } = await pool.query<{ since: Date }>(
    `select m.applied_at + interval '1 day' as since from schema_migrations m
     where m.name = $1 and exists (
       select 1 from schema_migrations e where e.applied_at < m.applied_at - interval '1 hour')`,
    [migration],
  )
  return rows[0]?.since ?? new Date(0)
}
