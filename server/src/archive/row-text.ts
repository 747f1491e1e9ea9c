import type { PoolClient } from '../db/pool.ts'

/** The present columns of a table; a column added later is archived without a change here. */
export interface TableColumns {
  names: string[]
  /** SQL that formats a row of the table, under this alias, as a CSV record. */
  record: (alias: string) => string
}

/** Reads the columns of one of our tables. */
export async function columnsOf(client: PoolClient, table: string): Promise<TableColumns> {
  const { rows } = await client.query<{ name: string; type: string }>(
    `select attname as name, format_type(atttypid, null) as type from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped order by attnum`,
    [`sluice.${table}`],
  )
  return {
    names: rows.map(({ name }) => name),
    record: (alias) =>
      rows.map(({ name, type }) => cellSql(`${alias}.${name}`, type)).join(` || ',' || `),
  }
}

/** Types whose text never contains a comma, a quote or a line break. */
const plainTypes = ['bigint', 'integer', 'smallint', 'boolean', 'uuid']

/** SQL for one value: null is empty, a time is in UTC with microseconds, text is quoted. */
function cellSql(value: string, type: string): string {
  if (plainTypes.includes(type)) return `coalesce(${value}::text, '')`
  if (type === 'timestamp with time zone') {
    return `coalesce(to_char(${value} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), '')`
  }
  return quotedSql(`${value}::text`)
}

/** SQL for quoted text. */
export function quotedSql(text: string): string {
  return `coalesce('"' || replace(${text}, '"', '""') || '"', '')`
}
