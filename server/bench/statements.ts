import pg from 'pg'

/** What one statement takes of an order, with the time that PostgreSQL plans it. */
export interface StatementCost {
  text: string
  calls: number
  us: number
  planUs: number
  walBytes: number
}

/** Has PostgreSQL count its statements from its next start on. */
export async function watchStatements(ownerUrl: string): Promise<void> {
  await query(ownerUrl, `alter system set shared_preload_libraries = 'pg_stat_statements'`)
}

/** Forgets what was counted in a database until now. */
export async function forgetStatements(ownerUrl: string): Promise<void> {
  await query(ownerUrl, 'create extension if not exists pg_stat_statements')
  await query(ownerUrl, 'alter system set pg_stat_statements.track_planning = on')
  await query(ownerUrl, 'select pg_reload_conf()')
  await query(ownerUrl, 'select pg_stat_statements_reset()')
}

/** What each statement has taken of each of so many orders since, most first. */
export async function readStatements(ownerUrl: string, orders: number): Promise<StatementCost[]> {
  const { rows } = await query(
    ownerUrl,
    `select query as text, calls::float8 / $1 as calls, 1000 * total_exec_time / $1 as us,
       1000 * total_plan_time / $1 as "planUs", wal_bytes::float8 / $1 as "walBytes"
     from pg_stat_statements
     where dbid = (select oid from pg_database where datname = current_database())
     order by total_exec_time + total_plan_time desc`,
    [orders],
  )
  return rows
}

export function statementLine({ text, calls, us, planUs, walBytes }: StatementCost): string {
  const number = (value: number, digits: number) => value.toFixed(digits).padStart(8)
  return `${number(calls, 3)} calls ${number(us, 1)} µs ${number(planUs, 1)} planned ${number(walBytes, 0)} B  ${text.replace(/\s+/g, ' ').slice(0, 100)}`
}

async function query(url: string, text: string, values?: unknown[]) {
  const client = new pg.Client({ connectionString: url, application_name: 'bench' })
  await client.connect()
  try {
    return await client.query(text, values)
  } finally {
    await client.end()
  }
}
