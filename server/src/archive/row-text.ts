import type { PoolClient } from '../db/pool.ts'

/** The columns of a table as they are now: one that was added later is archived without being named here. */
export interface TableColumns {
  names: string[]
  /** SQL that writes a row of the table, known by this alias, as a record of a CSV file. */
  record: (alias: string) => string
}

/** Reads the columns of a table of ours. */
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

/** Types whose text never has a comma, a quote or a line end. */
const plainTypes = ['bigint', 'integer', 'smallint', 'boolean', 'uuid']

/** SQL for one value: empty where it is null, a time in UTC to the microsecond, text in quotes. */
function cellSql(value: string, type: string): string {
  if (plainTypes.includes(type)) return `coalesce(${value}::text, '')`
  if (type === 'timestamp with time zone') {
    return `coalesce(to_char(${value} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), '')`
  }
  return quotedSql(`${value}::text`)
}

/** SQL for a text in quotes. */
export function quotedSql(text: string): string {
  return `coalesce('"' || replace(${text}, '"', '""') || '"', '')`
}
