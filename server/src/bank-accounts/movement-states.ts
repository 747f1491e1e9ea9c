import { databaseTime } from '../db/database-time.ts'
import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { type BankMovement, movementColumns } from './bank-movement.ts'

/**
 * Takes movements whose time has come, of all accounts or one, or one movement of it; others leave them alone
 * until the next try.
 */
export async function claimMovements(
  pool: Pool,
  /** Null for the database's own time; see `timeToPass`. */
  at: Date | null,
  account: string | null,
  movementId: string | null,
  limit: number,
): Promise<BankMovement[]> {
  // What another process takes, or an import adds to, at this moment is left alone: nobody waits for it. A claim is known
  // again by its version; by its time too, as a process of the release before changes that alone. This one keeps
  // milliseconds of it.
  const { rows } = await pool.query<BankMovement>(
    `with due as materialized (
       select account, movement_id, date_trunc('milliseconds', ${databaseTime('$1')}) as now
       from bank_movements
       where act_at <= ${databaseTime('$1')} and ($2::text is null or account = $2)
         and ($3::uuid is null or movement_id = $3)
       order by act_at, movement_id limit $4 for update skip locked
     )
     update bank_movements m set tries = m.tries + 1, version = m.version + 1,
       act_at = due.now + least(power(2, least(m.tries, 10)), 600) * interval '1 second' + interval '20 seconds'
     from due where m.account = due.account and m.movement_id = due.movement_id
     returning ${movementColumns.select('m')}`,
    [at, account, movementId, limit],
  )
  return rows.sort((a, b) => (a.movementId < b.movementId ? -1 : 1))
}

/** What a movement is taken for, as it is written down. */
const decisionColumns = movementColumns.pick(
  'account',
  'movementId',
  'state',
  'explainedBy',
  'agentId',
  'orderId',
  'paidAt',
  'why',
  'returns',
  'deductedMinor',
  'detail',
  'actAt',
  'version',
)
export type MovementDecision = Parameters<typeof decisionColumns.values>[0][number]

/**
 * Writes down what movements are. Returns those that no other process was quicker with, and of which the bank has
 * said nothing more since they were claimed, as decided.
 */
export async function writeDecisions(
  db: Pool | Tx,
  decisions: readonly MovementDecision[],
): Promise<BankMovement[]> {
  const decided: BankMovement[] = []
  for (const [account, own] of byAccount(decisions)) {
    const { rows } = await db.query<BankMovement>(writeDecisionsOf, [
      account,
      ...decisionColumns.values(own),
    ])
    decided.push(...rows)
  }
  return decided
}

const writeDecisionsOf = `with locked as materialized (${lockInOrder(decisionColumns.rows('k', 2))})
     update bank_movements m set state = d.state, explained_by = d.explained_by,
       agent_id = d.agent_id, order_id = d.order_id, paid_at = d.paid_at, why = d.why,
       returns = d.returns, deducted = d.deducted, detail = d.detail,
       act_at = case when d.state = 'unexplained' then null else m.act_at end
     from locked l, ${decisionColumns.rows('d', 2)}
     where m.account = $1 and m.movement_id = l.movement_id and m.movement_id = d.movement_id
       and m.state = 'new' and m.act_at = d.act_at and m.version = d.version
     returning ${movementColumns.select('m')}`

/**
 * The order that was decided on does not take the money, for certain: it is nobody's. Returns false if the bank has said more
 * of it, or another process has claimed it, since this one did: the order may take it by now.
 */
export async function withdrawDecision(
  pool: Pool,
  claim: Pick<BankMovement, 'account' | 'movementId' | 'actAt' | 'version'>,
  why: NonNullable<BankMovement['why']>,
  /** What is known instead, if anything is. */
  detail: string | null,
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `update bank_movements set agent_id = null, order_id = null, deducted = 0, why = $5,
       detail = coalesce($6, detail)
     where account = $1 and movement_id = $2 and act_at = $3 and version = $4
       and state = 'matched' and order_id is not null`,
    [claim.account, claim.movementId, claim.actAt, claim.version, why, detail],
  )
  return rowCount === 1
}

/** Movements are in the books, unless the bank has said more of them since they were claimed. */
export async function markBooked(
  pool: Pool,
  movements: readonly Pick<BankMovement, 'account' | 'movementId' | 'actAt' | 'version'>[],
): Promise<void> {
  for (const [account, own] of byAccount(movements)) {
    await pool.query(
      `with locked as materialized (${lockInOrder(claimColumns.rows('k', 2))})
       update bank_movements m set state = 'booked', act_at = null
       from locked l, ${claimColumns.rows('c', 2)}
       where m.account = $1 and m.movement_id = l.movement_id and m.movement_id = c.movement_id
         and m.act_at = c.act_at and m.version = c.version and m.state = 'matched'`,
      [account, ...claimColumns.values(own)],
    )
  }
}

function byAccount<T extends { account: string }>(movements: readonly T[]): Map<string, T[]> {
  const accounts = new Map<string, T[]>()
  for (const each of movements) {
    const own = accounts.get(each.account)
    if (own) own.push(each)
    else accounts.set(each.account, [each])
  }
  return accounts
}

/**
 * SQL: whoever changes several movements of an account, of an import or of these, locks them in one order, so that nobody
 * waits in a circle.
 */
function lockInOrder(rows: string): string {
  return `select m.movement_id from bank_movements m join ${rows} on m.movement_id = k.movement_id
    where m.account = $1 order by m.movement_id for no key update of m`
}

const claimColumns = movementColumns.pick('account', 'movementId', 'actAt', 'version')

/** A payment that was nobody's is an order's, by what the bank has said since. */
export async function noteWhose(
  pool: Pool,
  { account, movementId }: Pick<BankMovement, 'account' | 'movementId'>,
  detail: string,
): Promise<void> {
  await pool.query(
    `update bank_movements set why = null, detail = $3
     where account = $1 and movement_id = $2 and explained_by = 'payment' and order_id is null`,
    [account, movementId, detail],
  )
}

/** What is known by now of a payment that is nobody's. */
export async function noteDetail(
  pool: Pool,
  { account, movementId }: Pick<BankMovement, 'account' | 'movementId'>,
  detail: string,
): Promise<void> {
  await pool.query(
    `update bank_movements set detail = $3
     where account = $1 and movement_id = $2 and explained_by = 'payment' and order_id is null
       and why is not null and detail is distinct from $3`,
    [account, movementId, detail],
  )
}

/** A page of the debits that wait for a person, of accounts with payouts in files that the bank may have debited. */
export async function unexplainedDebits(
  pool: Pool,
  account: string | null,
  after: Pick<BankMovement, 'account' | 'bookedOn' | 'movementId'> | null,
  limit: number,
): Promise<BankMovement[]> {
  const { rows } = await pool.query<BankMovement>(
    `select ${movementColumns.select('m')} from bank_movements m
     where m.state = 'unexplained' and m.amount < 0 and ($1::text is null or m.account = $1)
       and ($3::text is null or (m.account, m.booked_on, m.movement_id) > ($3, $4::date, $5::uuid))
       and (exists (select 1 from payout_files f where f.account = m.account
           and f.state in ('approving', 'exported', 'sent', 'acknowledged'))
         or exists (select 1 from payout_items i where i.account = m.account
           and i.debited_by is null and i.state in ('paid', 'returned'))
         or exists (select 1 from payout_item_ends e
           join payout_items i on i.account = e.account and i.file_id = e.file_id and i.n = e.n
           where e.account = m.account and e.how = 'abandoned' and i.debited_by is null))
     order by m.account, m.booked_on, m.movement_id limit $2`,
    [account, limit, after?.account ?? null, after?.bookedOn ?? null, after?.movementId ?? null],
  )
  return rows
}

/** Debits that the house's account for what nothing explains lacks, or still has though they are explained. */
export async function debitsToHold(
  pool: Pool,
  account: string | null,
  limit: number,
): Promise<BankMovement[]> {
  const { rows } = await pool.query<BankMovement>(
    `select ${movementColumns.select('m')} from bank_movements m
     where ((m.state = 'unexplained' and m.amount < 0 and not m.held) or (m.state = 'booked' and m.held))
       and ($1::text is null or m.account = $1)
     order by m.account, m.movement_id limit $2`,
    [account, limit],
  )
  return rows
}

export async function markHeld(
  pool: Pool,
  { account, movementId }: Pick<BankMovement, 'account' | 'movementId'>,
  held: boolean,
): Promise<void> {
  await pool.query(
    'update bank_movements set held = $3 where account = $1 and movement_id = $2 and held <> $3',
    [account, movementId, held],
  )
}

/** SQL: whoever explains a movement books it at once; others do if that takes longer than this. */
const unlessGone = `interval '20 seconds'`

/** What a person may say that a movement was. */
export const explanations = ['bank_fee', 'interest', 'own_transfer', 'correction'] as const

/**
 * A person says what a movement was: one that nobody could explain, or a credit that is nobody's. Returns it, to
 * be booked so; undefined if it is neither any more.
 */
export async function explain(
  db: Pool | Tx,
  { account, movementId }: Pick<BankMovement, 'account' | 'movementId'>,
  as: (typeof explanations)[number] | 'payment_returned' | 'payout',
  detail: string,
  at: Date,
  returns: string | null,
  deductedMinor = 0n,
): Promise<BankMovement | undefined> {
  const { rows } = await db.query<BankMovement>(
    `update bank_movements m set state = 'matched', explained_by = $3, detail = $4, act_at = $5::timestamptz + ${unlessGone},
       version = m.version + 1, returns = $6, deducted = $7
     where m.account = $1 and m.movement_id = $2 and (m.state = 'unexplained'
       or (m.state = 'booked' and m.explained_by = 'payment' and m.order_id is null))
     returning ${movementColumns.select('m')}`,
    [account, movementId, as, detail, at, returns, deductedMinor],
  )
  return rows[0]
}

/**
 * A movement, which is in the books or waits for an explanation, is not money of its own: the payments of a batch are
 * known, or the bank never had it. Returns it, to be booked so; undefined if it is being booked.
 */
export async function explainAsNoMoney(
  tx: Tx,
  { account, movementId }: Pick<BankMovement, 'account' | 'movementId'>,
  as: 'batch' | 'never_booked',
  detail: string,
  at: Date,
): Promise<BankMovement | undefined> {
  const { rows } = await tx.query<BankMovement>(
    `update bank_movements m set state = 'matched', explained_by = $6, detail = $3,
       act_at = $4::timestamptz + ${unlessGone}, version = m.version + 1
     where m.account = $1 and m.movement_id = $2 and (m.state = 'unexplained'
       or (m.state = 'booked' and m.explained_by = any($5::text[])))
     returning ${movementColumns.select('m')}`,
    [account, movementId, detail, at, ['payment', ...explanations], as],
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

/** Whether a debit is explained as this payment going back. */
export async function isReturned(
  pool: Pool | Tx,
  { account, movementId }: Pick<BankMovement, 'account' | 'movementId'>,
): Promise<boolean> {
  const { rows } = await pool.query(
    'select 1 from bank_movements where account = $1 and returns = $2',
    [account, movementId],
  )
  return rows.length > 0
}

/** It turned out that nobody but a person can say what a movement is that was decided on. */
export async function leaveUnexplained(
  pool: Pool,
  { account, movementId }: Pick<BankMovement, 'account' | 'movementId'>,
  detail: string,
): Promise<void> {
  await pool.query(
    `update bank_movements set state = 'unexplained', explained_by = null, returns = null,
       act_at = null, detail = $3
     where account = $1 and movement_id = $2 and state = 'matched'`,
    [account, movementId, detail],
  )
}

export async function findMovement(
  pool: Pool | Tx,
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
