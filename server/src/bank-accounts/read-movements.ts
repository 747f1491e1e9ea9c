import type { Pool } from '../db/pool.ts'
import type { Day } from '../statements/statement.ts'
import { type BankMovement, movementColumns, paymentIdOf } from './bank-movement.ts'

/** A movement with what became of its payment. */
export interface FoundMovement extends BankMovement {
  /** The payment's state; null if it is no payment. */
  paymentState: string | null
  /** How the movement was reported: push, intraday, statement. */
  sources: string[]
  /** Who brought the files that report it. */
  broughtBy: string[]
}

export interface MovementSearch {
  account: string
  from: Day | null
  to: Day | null
  /** Shows those after this movement, by day and id. */
  after: { bookedOn: Day; movementId: string } | null
  limit: number
}

/** The movements of an account, oldest first. */
export async function readMovements(
  pool: Pool,
  { account, from, to, after, limit }: MovementSearch,
): Promise<FoundMovement[]> {
  const { rows } = await pool.query<BankMovement>(
    `select ${movementColumns.select('m')} from bank_movements m
     where m.account = $1 and ($2::date is null or m.booked_on >= $2)
       and ($3::date is null or m.booked_on <= $3)
       and ($4::date is null or (m.booked_on, m.movement_id) > ($4, $5::uuid))
     order by m.booked_on, m.movement_id limit $6`,
    [account, from, to, after?.bookedOn ?? null, after?.movementId ?? null, limit],
  )
  if (rows.length === 0) return []
  const [states, reports] = await Promise.all([
    paymentStates(pool, rows),
    reportsOf(
      pool,
      account,
      rows.map(({ movementId }) => movementId),
    ),
  ])
  return rows.map((movement) => ({
    ...movement,
    paymentState: states.get(paymentIdOf(movement)) ?? null,
    sources: reports.get(movement.movementId)?.sources ?? [],
    broughtBy: reports.get(movement.movementId)?.by ?? [],
  }))
}

/** The states of the movements' payments, by payment id. */
export async function paymentStates(
  pool: Pool,
  movements: readonly BankMovement[],
): Promise<Map<string, string>> {
  const ids = movements.filter(({ amountMinor }) => amountMinor > 0n).map(paymentIdOf)
  const { rows: claims } = await pool.query<{ payment_id: string; agent_id: bigint }>(
    'select payment_id, agent_id from payment_claims where payment_id = any($1::text[])',
    [ids],
  )
  const [{ rows: unmatched }, { rows: payments }] = await Promise.all([
    pool.query<{ payment_id: string; state: string }>(
      'select payment_id, state from unmatched_payments where payment_id = any($1::text[])',
      [ids],
    ),
    pool.query<{ payment_id: string; state: string }>(
      `select p.payment_id, p.state from payments p
       join unnest($1::bigint[], $2::text[]) k(agent_id, payment_id)
         on p.agent_id = k.agent_id and p.payment_id = k.payment_id`,
      [claims.map(({ agent_id }) => agent_id), claims.map(({ payment_id }) => payment_id)],
    ),
  ])
  // What a person assigned to an agent counts by its state there.
  return new Map([...unmatched, ...payments].map(({ payment_id, state }) => [payment_id, state]))
}

async function reportsOf(
  pool: Pool,
  account: string,
  ids: readonly string[],
): Promise<Map<string, { sources: string[]; by: string[] }>> {
  const { rows } = await pool.query<{ movement_id: string; source: string; by: string | null }>(
    `select distinct r.movement_id, r.source, f.brought_by as by from bank_reports r
     left join bank_files f on f.account = r.account and f.file_id = r.file_id
     where r.account = $1 and r.movement_id = any($2::uuid[]) order by 1, 2, 3`,
    [account, ids],
  )
  const reports = new Map<string, { sources: string[]; by: string[] }>()
  for (const { movement_id, source, by } of rows) {
    const each = reports.get(movement_id) ?? { sources: [], by: [] }
    if (!each.sources.includes(source)) each.sources.push(source)
    if (by !== null && !each.by.includes(by)) each.by.push(by)
    reports.set(movement_id, each)
  }
  return reports
}
