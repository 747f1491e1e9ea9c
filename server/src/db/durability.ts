import type { Pool } from './pool.ts'

/**
 * Server settings that are off, although without them a crash of the machine can lose or corrupt written
 * data.
 */
export async function unsafeSettings(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select name from pg_settings where name in ('fsync', 'full_page_writes') and setting = 'off'
     order by name`,
  )
  return rows.map(({ name }) => name)
}
