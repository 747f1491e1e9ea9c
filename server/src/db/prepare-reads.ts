import type pg from 'pg'
import type { Pool } from './pool.ts'

/** More texts than any pool has; what is put together anew each time must not fill the sessions with plans. */
const mostPrepared = 400

const names = new Map<string, string>()

/**
 * Makes each session of a pool plan a read once instead of each time. For pools that ask the same many questions over and
 * over: to prove a few new rows of a book takes some forty statements, and planning them took most of the time.
 */
export function prepareReads(pool: Pool): Pool {
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...given: unknown[]) => unknown
    const prepared = (given: string | pg.QueryConfig, ...rest: unknown[]) => {
      const config = typeof given === 'string' ? { text: given } : given
      const name = config.name ?? nameOf(config.text)
      return query(name === undefined ? given : { ...config, name }, ...rest)
    }
    Object.assign(client, { query: prepared })
  })
  return pool
}

/**
 * What begins and ends transactions has no plan, and what is no plain text is no question of ours. A session refuses a
 * prepared statement that selects all columns for good once a migration has added one.
 */
function nameOf(statement: unknown): string | undefined {
  if (typeof statement !== 'string' || !/^\s*(select|with)\b/.test(statement)) return undefined
  if (/(\bselect\s+|\.)\*/.test(statement)) return undefined
  const known = names.get(statement)
  if (known !== undefined || names.size >= mostPrepared) return known
  const name = `read ${names.size}`
  names.set(statement, name)
  return name
}
