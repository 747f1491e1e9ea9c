import type { Pool } from '../db/pool.ts'
import { type BankMovement, movementColumns } from './bank-movement.ts'

/** Takes movements whose time has come; others leave them alone until the next try. */
export async function claimMovements(
  pool: Pool,
  at: Date,
  account: string | null,
  limit: number,
): Promise<BankMovement[]> {
  const { rows: due } = await pool.query<{ account: string; movement_id: string; tries: number }>(
    `select account, movement_id, tries from bank_movements
     where act_at <= $1 and ($2::text is null or account = $2)
     order by act_at, movement_id limit $3`,
    [at, account, limit],
  )
  if (due.length === 0) return []
  // Of several processes that found it, the one that counts the try has it.
  const { rows } = await pool.query<BankMovement>(
    `update bank_movements m set tries = m.tries + 1,
       act_at = $1 + least(power(2, m.tries), 600) * interval '1 second' + interval '20 seconds'
     from unnest($2::text[], $3::uuid[], $4::int[]) due(account, movement_id, tries)
     where m.account = due.account and m.movement_id = due.movement_id and m.tries = due.tries
       and m.act_at <= $1
     returning ${movementColumns.select('m')}`,
    [
      at,
      due.map((each) => each.account),
      due.map((each) => each.movement_id),
      due.map(({ tries }) => tries),
    ],
  )
  return rows.sort((a, b) => (a.movementId < b.movementId ? -1 : 1))
}

type Decision = Pick<
  BankMovement,
  'state' | 'explainedBy' | 'agentId' | 'orderId' | 'paidAt' | 'why' | 'returns' | 'detail'
>

/** Writes down what a movement is. Returns it as decided; undefined if another process was quicker. */
export async function writeDecision(
  pool: Pool,
  { account, movementId }: Pick<BankMovement, 'account' | 'movementId'>,
  decision: Decision,
): Promise<BankMovement | undefined> {
  const { rows } = await pool.query<BankMovement>(
    `update bank_movements m set state = $3, explained_by = $4, agent_id = $5, order_id = $6,
       paid_at = $7, why = $8, returns = $9, detail = $10,
       act_at = case when $3 = 'unexplained' then null else m.act_at end
     where m.account = $1 and m.movement_id = $2 and m.state = 'new'
     returning ${movementColumns.select('m')}`,
    [
      account,
      movementId,
      decision.state,
      decision.explainedBy,
      decision.agentId,
      decision.orderId,
      decision.paidAt,
      decision.why,
      decision.returns,
      decision.detail,
    ],
  )
  return rows[0]
}

/** The order that was decided on does not take the money, for certain: it is nobody's. */
export async function withdrawDecision(
  pool: Pool,
  { account, movementId }: Pick<BankMovement, 'account' | 'movementId'>,
  why: NonNullable<BankMovement['why']>,
): Promise<void> {
  await pool.query(
    `update bank_movements set agent_id = null, order_id = null, why = $3
     where account = $1 and movement_id = $2 and state = 'matched'`,
    [account, movementId, why],
  )
}

export async function markBooked(
  pool: Pool,
  { account, movementId }: Pick<BankMovement, 'account' | 'movementId'>,
): Promise<void> {
  await pool.query(
    `update bank_movements set state = 'booked', act_at = null
     where account = $1 and movement_id = $2 and state = 'matched'`,
    [account, movementId],
  )
}

/** What a person may say that a movement was. */
export const explanations = ['bank_fee', 'interest', 'own_transfer', 'correction'] as const

/**
 * A person says what a movement was: one that nobody could explain, or a credit that is nobody's. Returns it, to
 * be booked so; undefined if it is neither any more.
 */
export async function explain(
  pool: Pool,
  { account, movementId }: Pick<BankMovement, 'account' | 'movementId'>,
  as: (typeof explanations)[number] | 'payment_returned',
  detail: string,
  at: Date,
  returns: string | null,
): Promise<BankMovement | undefined> {
  const { rows } = await pool.query<BankMovement>(
    `update bank_movements m set state = 'matched', explained_by = $3, detail = $4, act_at = $5,
       returns = $6
     where m.account = $1 and m.movement_id = $2 and (m.state = 'unexplained'
       or (m.state = 'booked' and m.explained_by = 'payment' and m.order_id is null))
     returning ${movementColumns.select('m')}`,
    [account, movementId, as, detail, at, returns],
  )
  return rows[0]
}

/** The money was given to an agent before it could be explained otherwise: it stays a payment. */
export async function keepAsPayment(
  pool: Pool,
  { account, movementId }: Pick<BankMovement, 'account' | 'movementId'>,
): Promise<void> {
  await pool.query(
    `update bank_movements set state = 'booked', explained_by = 'payment', act_at = null
     where account = $1 and movement_id = $2 and state = 'matched'`,
    [account, movementId],
  )
}

export async function findMovement(
  pool: Pool,
  account: string,
  movementId: string,
): Promise<BankMovement | undefined> {
  const { rows } = await pool.query<BankMovement>(
    `select ${movementColumns.select('m')} from bank_movements m
     where account = $1 and movement_id = $2`,
    [account, movementId],
  )
  return rows[0]
}
