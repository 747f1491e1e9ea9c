import type { Pool } from './pool.ts'

/** Names this database, as its copies and backups are named: by the moment of its first start. */
export async function deploymentName(pool: Pool): Promise<string> {
  const { rows } = await pool.query<{ taken_at: Date }>('select taken_at from deployment')
  if (!rows[0]) throw new Error('the database was never started')
  return rows[0].taken_at.toISOString().replace(/[^0-9]/g, '')
}

/** A process's row; nobody else raises it. */
export interface Mark {
  witnessId: string
  turn: bigint
  markedAt: Date
}

export async function makeMark(pool: Pool, { witnessId, turn, markedAt }: Mark): Promise<void> {
  await pool.query('insert into witness_marks (witness_id, turn, marked_at) values ($1, $2, $3)', [
    witnessId,
    turn,
    markedAt,
  ])
}

/**
 * Raises a mark from what it is known to be, or from what it may have become meanwhile. False if the database has
 * forgotten that.
 */
export async function raiseMark(
  pool: Pool,
  { witnessId, turn, markedAt }: Mark,
  atLeast: bigint,
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `update witness_marks set turn = $2, marked_at = $3
     where witness_id = $1 and turn >= $4 and turn < $2`,
    [witnessId, turn, markedAt, atLeast],
  )
  return rowCount === 1
}

export async function readMarks(pool: Pool): Promise<Mark[]> {
  const { rows } = await pool.query<Mark>(
    `select witness_id as "witnessId", turn, marked_at as "markedAt" from witness_marks
     order by marked_at`,
  )
  return rows
}

/**
 * Forgets the marks of processes that ended long ago, by the database's clock: one that is far ahead must not take those
 * of running processes. Whatever they kept outside is older than any backup.
 */
export async function forgetMarks(pool: Pool, afterDays: number): Promise<void> {
  await pool.query(
    'delete from witness_marks where marked_at < now() - make_interval(days => $1)',
    [afterDays],
  )
}
