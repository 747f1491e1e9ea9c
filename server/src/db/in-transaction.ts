import type { Pool, PoolClient } from './pool.ts'

/** A connection inside a transaction. Functions whose writes belong together take this, not the pool. */
export type Tx = PoolClient

/** Runs the work in a transaction: all of it is written, or nothing. */
export async function inTransaction<T>(pool: Pool, work: (tx: Tx) => Promise<T>): Promise<T> {
  const tx = await pool.connect()
  let isBroken = false
  try {
    await tx.query('begin')
    const done = await work(tx)
    await tx.query('commit')
    return done
  } catch (error) {
    await tx.query('rollback').catch(() => {
      isBroken = true
    })
    throw error
  } finally {
    tx.release(isBroken)
  }
}

/** Runs the work on a connection. If it fails, the connection is discarded. */
export async function withClient<T>(
  pool: Pool,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect()
  let isBroken = true
  try {
    const done = await work(client)
    isBroken = false
    return done
  } finally {
    client.release(isBroken)
  }
}
