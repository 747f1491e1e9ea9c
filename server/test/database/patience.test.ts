import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { inTransaction, withPatience } from '../../src/db/in-transaction.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'

let database: TestDatabase
let pool: pg.Pool
beforeAll(async () => {
  database = await testDatabase({ empty: true })
  // Both ends give up after a time in which a busy machine still begins a transaction.
  pool = new pg.Pool({
    connectionString: database.url,
    max: 1,
    statement_timeout: 2_000,
    query_timeout: 4_000,
  })
})
afterAll(async () => {
  await pool.end()
  await database.close()
})

const slow = 'select pg_sleep(5)'

it('a statement of a patient transaction may take longer than others, at both ends', async () => {
  await inTransaction(pool, (tx) => withPatience(tx, 60, () => tx.query(slow)))
})

it('afterwards the connection is as impatient as before', async () => {
  await inTransaction(pool, (tx) => withPatience(tx, 60, async () => {}))
  await expect(pool.query(slow)).rejects.toThrow(/statement timeout|read timeout/)
})
