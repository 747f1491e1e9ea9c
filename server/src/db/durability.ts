import type { Pool } from './pool.ts'

/** Settings of the server without which a crash of its machine loses or spoils what was written. */
export async function unsafeSettings(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select name from pg_settings where name in ('fsync', 'full_page_writes') and setting = 'off'
     order by name`,
  )
  return rows.map(({ name }) => name)
}
