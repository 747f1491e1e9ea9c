import type { Pool, PoolClient } from './pool.ts'

/** A connection inside a transaction. Functions whose writes belong together take this, not the pool. */
export type Tx = PoolClient

/** Runs the work in a transaction: all of it is written, or nothing. */
export async function inTransaction<T>(
  pool: Pool,
  work: (tx: Tx) => Promise<T>,
  mode: '' | 'isolation level repeatable read read only' = '',
): Promise<T> {
  const tx = await pool.connect()
  let isBroken = false
  try {
    await tx.query(`begin ${mode}`)
    const done = await work(tx)
    const { command } = await tx.query('commit')
    // PostgreSQL answers a commit of an aborted transaction with ROLLBACK, not with an error.
    if (command !== 'COMMIT') throw new Error(`commit was answered with ${command}`)
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

/** Runs the work in a transaction and undoes it: what it returns is what would come of it. */
export async function triedOut<T>(pool: Pool, work: (tx: Tx) => Promise<T>): Promise<T> {
  const tx = await pool.connect()
  try {
    await tx.query('begin')
    return await work(tx)
  } finally {
    await tx.query('rollback').then(
      () => tx.release(),
      () => tx.release(true),
    )
  }
}

/**
 * Lets each statement of a transaction take that long, which is more than a request usually may. Both ends wait: the
 * client gives up on a server that is gone a little after the server would have given up on the statement.
 */
export async function withPatience<T>(tx: Tx, seconds: number, work: () => Promise<T>): Promise<T> {
  // The library reads this before each statement, and has no other way to be told once for several.
  const { connectionParameters } = tx as Tx & { connectionParameters: { query_timeout: number } }
  const usual = connectionParameters.query_timeout
  connectionParameters.query_timeout = (seconds + 5) * 1_000
  try {
    await tx.query(`set local statement_timeout = '${seconds}s'`)
    return await work()
  } finally {
    connectionParameters.query_timeout = usual
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
