import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import type { Day } from '../statements/statement.ts'
import { type BankMovement, movementColumns, paymentIdOf } from './bank-movement.ts'
import { type HandPayment, readHandPayments } from './slips.ts'

/** A movement with what became of its payment. */
export interface FoundMovement extends BankMovement {
  /** The payment's state; null if it is no payment. */
  paymentState: string | null
  /** How the movement was reported: push, intraday, statement, hand. */
  sources: string[]
  /** Who brought the files that report it. */
  broughtBy: string[]
  files: ReportingFile[]
  /** Who recorded it by hand. */
  hand: HandPayment | null
  /** The order that its payment is for now, whoever decided so. */
  paidOrder: { agentId: bigint; orderId: string } | null
}

/** A file that reports a movement. */
export interface ReportingFile {
  fileId: string
  name: string
  via: string
  broughtBy: string
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
  return found(pool, rows)
}

/** What an operator looks for among the movements; null where anything fits. */
export interface MovementFilter {
  account: string | null
  movementId: string | null
  from: Day | null
  to: Day | null
  states: readonly BankMovement['state'][] | null
  explainedBy: string | null
  amountMinor: bigint | null
  /** In the text, or in who paid. */
  text: string | null
  fileId: string | null
  /** Shows those before this movement, by day and id. */
  before: { bookedOn: Day; movementId: string } | null
  limit: number
}

/** The movements that fit, newest first. */
export async function searchMovements(
  pool: Pool,
  filter: MovementFilter,
): Promise<FoundMovement[]> {
  const { rows } = await pool.query<BankMovement>(
    `select ${movementColumns.select('m')} from bank_movements m
     where ($1::text is null or m.account = $1)
       and ($2::date is null or m.booked_on >= $2) and ($3::date is null or m.booked_on <= $3)
       and ($4::text[] is null or m.state = any($4)) and ($5::text is null or m.explained_by = $5)
       and ($6::bigint is null or abs(m.amount) = abs($6)
         or (m.deducted > 0 and m.amount + m.deducted = abs($6)))
       and ($7::text is null or position(lower($7) in lower(concat_ws(' ', m.text, m.payer_name,
         m.payer_account_no))) > 0)
       and ($8::uuid is null or exists (select 1 from bank_reports r where r.account = m.account
         and r.movement_id = m.movement_id and r.file_id = $8))
       and ($12::uuid is null or m.movement_id = $12)
       and ($9::date is null or (m.booked_on, m.movement_id) < ($9, $10::uuid))
     order by m.booked_on desc, m.movement_id desc limit $11`,
    [
      filter.account,
      filter.from,
      filter.to,
      filter.states,
      filter.explainedBy,
      filter.amountMinor,
      filter.text,
      filter.fileId,
      filter.before?.bookedOn ?? null,
      filter.before?.movementId ?? null,
      filter.limit,
      filter.movementId,
    ],
  )
  return found(pool, rows)
}

/** The movements that nothing explains, of all accounts. */
export async function listUnexplained(
  pool: Pool,
  limit: number,
  first: 'newest' | 'oldest' = 'newest',
): Promise<FoundMovement[]> {
  const way = first === 'oldest' ? 'asc' : 'desc'
  const { rows } = await pool.query<BankMovement>(
    `select ${movementColumns.select('m')} from bank_movements m where m.state = 'unexplained'
     order by m.booked_on ${way}, m.movement_id ${way} limit $1`,
    [limit],
  )
  return found(pool, rows)
}

async function found(pool: Pool, rows: readonly BankMovement[]): Promise<FoundMovement[]> {
  if (rows.length === 0) return []
  const [payments, reports, hands] = await Promise.all([
    paymentsOf(pool, rows),
    reportsOf(pool, rows),
    readHandPayments(pool, rows),
  ])
  return rows.map((movement) => {
    const payment = payments.get(paymentIdOf(movement))
    const { sources = [], files = [] } = reports.get(paymentIdOf(movement)) ?? {}
    return {
      ...movement,
      paymentState: payment?.state ?? null,
      paidOrder: payment?.order ?? null,
      sources,
      broughtBy: [...new Set(files.map(({ broughtBy }) => broughtBy))].sort(),
      files,
      hand: hands.get(paymentIdOf(movement)) ?? null,
    }
  })
}

/** The states of the movements' payments, by payment id. */
export async function paymentStates(
  pool: Pool | Tx,
  movements: readonly BankMovement[],
): Promise<Map<string, string>> {
  const payments = await paymentsOf(pool, movements)
  return new Map([...payments].map(([paymentId, { state }]) => [paymentId, state]))
}

interface PaymentOfMovement {
  state: string
  order: { agentId: bigint; orderId: string } | null
}

/** What became of the movements' payments, by payment id. */
async function paymentsOf(
  pool: Pool | Tx,
  movements: readonly BankMovement[],
): Promise<Map<string, PaymentOfMovement>> {
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
    pool.query<{ payment_id: string; state: string; agent_id: bigint; order_id: string | null }>(
      `select p.payment_id, p.state, p.agent_id, p.order_id from payments p
       join unnest($1::bigint[], $2::text[]) k(agent_id, payment_id)
         on p.agent_id = k.agent_id and p.payment_id = k.payment_id`,
      [claims.map(({ agent_id }) => agent_id), claims.map(({ payment_id }) => payment_id)],
    ),
  ])
  // What a person assigned to an agent counts by its state there.
  const found = new Map<string, PaymentOfMovement>(
    unmatched.map(({ payment_id, state }) => [payment_id, { state, order: null }]),
  )
  for (const { payment_id, state, agent_id, order_id } of payments) {
    const order = order_id === null ? null : { agentId: agent_id, orderId: order_id }
    found.set(payment_id, { state, order })
  }
  return found
}

async function reportsOf(
  pool: Pool,
  movements: readonly BankMovement[],
): Promise<Map<string, { sources: string[]; files: ReportingFile[] }>> {
  const { rows } = await pool.query<{
    account: string
    movement_id: string
    source: string
    file_id: string | null
    name: string
    via: string
    brought_by: string
  }>(
    `select distinct r.account, r.movement_id, r.source, f.received_at, f.file_id, f.name, f.via,
       f.brought_by
     from bank_reports r
     join unnest($1::text[], $2::uuid[]) k(account, movement_id)
       on r.account = k.account and r.movement_id = k.movement_id
     left join bank_files f on f.account = r.account and f.file_id = r.file_id
     order by 1, 2, 3, 4, 5`,
    [movements.map(({ account }) => account), movements.map(({ movementId }) => movementId)],
  )
  const reports = new Map<string, { sources: string[]; files: ReportingFile[] }>()
  for (const { account, movement_id, source, file_id, name, via, brought_by } of rows) {
    const id = paymentIdOf({ account, movementId: movement_id })
    const each = reports.get(id) ?? { sources: [], files: [] }
    if (!each.sources.includes(source)) each.sources.push(source)
    if (file_id !== null && !each.files.some(({ fileId }) => fileId === file_id)) {
      each.files.push({ fileId: file_id, name, via, broughtBy: brought_by })
    }
    reports.set(id, each)
  }
  return reports
}
