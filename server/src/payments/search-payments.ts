import { type Aged, countAged } from '../db/aged.ts'
import type { Pool } from '../db/pool.ts'
import type { Payer, Payment, UnmatchedWhy } from '../ledger/book.ts'
import { payerFromRow } from '../ledger/payer-from-row.ts'
import { findClaim } from '../ledger/payment-claims.ts'
import type { Currency } from '../lib/money.ts'
import { isUndecided } from './unmatched-payments.ts'

/** A payment that a person decides on, or has decided on. */
export interface FoundPayment {
  paymentId: string
  /** Null where nobody knows whose it is. */
  agentId: bigint | null
  orderId: string | null
  amountMinor: bigint
  currency: Currency
  paidAt: Date
  reportedAt: Date
  payer: Payer | null
  /** Dismissed: it was not money. */
  state: Payment['state'] | 'dismissed'
  why: Payment['why'] | UnmatchedWhy
  creditedTo: Payment['creditedTo']
  evidence: string | null
  reference: string | null
  /** The payment that it says something else of. */
  contradicts: string | null
  assignee: string | null
}

export interface PaymentSearch {
  state: 'to_decide' | 'decided'
  agentId: bigint | null
  paymentId: string | null
  why: string | null
  assignee: string | null
  after: { reportedAt: Date; paymentId: string } | null
  limit: number
}

/** Of an agent's own, one waits. */
const isWaiting = `state = 'waiting'`

const isEnded = `u.state in ('returned', 'dismissed')`

const columns = `p.agent_id, p.order_id, p.payment_id, p.amount, a.currency, p.paid_at, p.reported_at,
  p.payer_account_no, p.payer_account_name, p.payer_bank_code, p.state, p.why, p.credited_to,
  p.evidence, null as reference, null as contradicts`

const fromUnmatched = (condition: string) => `
  select null::bigint, null::uuid, u.payment_id, u.amount, u.currency, u.paid_at, u.reported_at,
    u.payer_account_no, u.payer_account_name, u.payer_bank_code,
    case when u.state = 'assigned' then 'waiting' else u.state end, u.why, null, u.evidence,
    u.reference, u.contradicts
  from unmatched_payments u where $1::bigint is null and (${condition})`

/** Everything that waits for a decision. */
export const allToDecide: PaymentSearch = {
  state: 'to_decide',
  agentId: null,
  paymentId: null,
  why: null,
  assignee: null,
  after: null,
  limit: 10_000,
}

/** The latest word on who looks into a payment. */
const withAssignee = (found: string) => `select f.*, n.assignee from (${found}) f
  left join lateral (
    select assignee from payment_notes n where n.payment_id = f.payment_id and n.assigns
    order by n.note_no desc limit 1
  ) n on true`

/**
 * Payments for which a person is or was needed, the oldest first; decided ones the latest first. Those
 * that paid their order by themselves, nearly all, are in neither index and are not looked at.
 */
export async function searchPayments(pool: Pool, search: PaymentSearch): Promise<FoundPayment[]> {
  const { agentId, paymentId, why, assignee, after, limit } = search
  const isToDecide = search.state === 'to_decide'
  const [beyond, direction] = isToDecide ? ['>', 'asc'] : ['<', 'desc']
  const sorted = `order by reported_at ${direction}, payment_id ${direction}`
  const isNext = `($2::text is null or why = $2) and ($7::text is null or payment_id = $7)
    and ($3::timestamptz is null or (reported_at, payment_id) ${beyond} ($3, $4))`
  const isDecided = `credited_to is distinct from 'order' and state <> 'waiting'`
  // Agent by agent along the index of what waits; who is assigned is looked up for one page only,
  // unless that is what is asked for.
  const found = `
    select ${columns} from agents a cross join lateral (
      select * from payments q where q.agent_id = a.agent_id and ${isToDecide ? isWaiting : isDecided}
        and ${isNext} ${sorted} ${assignee === null ? 'limit $5' : ''}
    ) p where $1::bigint is null or a.agent_id = $1
    union all
    select * from (${fromUnmatched(isToDecide ? isUndecided : isEnded)})
      u(agent_id, order_id, payment_id, amount, currency, paid_at, reported_at, payer_account_no,
        payer_account_name, payer_bank_code, state, why, credited_to, evidence, reference,
        contradicts)
    where ${isNext}`
  const statement =
    assignee === null
      ? `${withAssignee(`select * from (${found}) x ${sorted} limit $5`)} where $6::text is null`
      : `${withAssignee(found)} where n.assignee = $6`
  const { rows } = await pool.query<FoundRow>(`${statement} ${sorted} limit $5`, [
    agentId,
    why,
    after?.reportedAt ?? null,
    after?.paymentId ?? null,
    limit,
    assignee,
    paymentId,
  ])
  return rows.map(foundFromRow)
}

/**
 * How many payments wait for a decision, of these agents or, without any, of all and of nobody; and since when.
 * Counted as far as a person wants to know or, with null, to the end.
 */
export function paymentsToDecide(
  pool: Pool,
  agentIds: readonly bigint[] | null,
  upTo?: null,
): Promise<Aged> {
  return countAged(
    pool,
    `select reported_at as at from payments
     where ${isWaiting} and ($1::bigint[] is null or agent_id = any($1))
     union all
     select u.reported_at from unmatched_payments u where $1::bigint[] is null and ${isUndecided}`,
    [agentIds],
    upTo,
  )
}

/** One payment, in whatever state; of those that a person had to do with or that paid an order. */
export async function findPayment(
  pool: Pool,
  paymentId: string,
): Promise<FoundPayment | undefined> {
  const claim = await findClaim(pool, paymentId)
  const payments = `select ${columns} from payments p join agents a using (agent_id)
    where p.payment_id = $2`
  const found = `
    ${payments} and p.agent_id = $3
    union ${payments} and p.state = 'waiting'
    union all ${fromUnmatched(`u.payment_id = $2 and (${isEnded} or ${isUndecided})`)}`
  // Of two that a provider gave one id, before there were claims, the one to decide on first.
  const first = `order by f.state = 'waiting' desc, f.reported_at, f.agent_id limit 1`
  const values = [null, paymentId, claim?.agentId ?? 0n]
  const { rows } = await pool.query<FoundRow>(`${withAssignee(found)} ${first}`, values)
  return rows[0] && foundFromRow(rows[0])
}

interface FoundRow {
  agent_id: bigint | null
  order_id: string | null
  payment_id: string
  amount: bigint
  currency: Currency
  paid_at: Date
  reported_at: Date
  payer_account_no: string | null
  payer_account_name: string | null
  payer_bank_code: string | null
  state: FoundPayment['state']
  why: FoundPayment['why']
  credited_to: Payment['creditedTo']
  evidence: string | null
  reference: string | null
  contradicts: string | null
  assignee: string | null
}

function foundFromRow(row: FoundRow): FoundPayment {
  return {
    paymentId: row.payment_id,
    agentId: row.agent_id,
    orderId: row.order_id,
    amountMinor: row.amount,
    currency: row.currency,
    paidAt: row.paid_at,
    reportedAt: row.reported_at,
    payer: payerFromRow(row),
    state: row.state,
    why: row.state === 'waiting' ? row.why : null,
    creditedTo: row.credited_to,
    evidence: row.evidence,
    reference: row.reference,
    contradicts: row.contradicts,
    assignee: row.assignee,
  }
}
