import { type Aged, countAged } from '../db/aged.ts'
import type { Pool } from '../db/pool.ts'
import type { Payer, Payment, UnmatchedWhy } from '../ledger/book.ts'
import { payerFromRow } from '../ledger/payer-from-row.ts'
import { findClaim } from '../ledger/payment-claims.ts'
import type { Currency } from '../lib/money.ts'

/** A payment that awaits an operator's decision, or has had one. */
export interface FoundPayment {
  paymentId: string
  /** Null if it belongs to no known agent. */
  agentId: bigint | null
  orderId: string | null
  amountMinor: bigint
  currency: Currency
  paidAt: Date
  reportedAt: Date
  payer: Payer | null
  /** Dismissed means that the report was not a payment. */
  state: Payment['state'] | 'dismissed'
  why: Payment['why'] | UnmatchedWhy
  creditedTo: Payment['creditedTo']
  evidence: string | null
  reference: string | null
  /** The payment whose report it contradicts. */
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

/** Only this state needs a decision, of an agent's payments as of unmatched ones. */
const isWaiting = `state = 'waiting'`

const isEnded = `u.state in ('returned', 'dismissed')`

const columns = `p.agent_id, p.order_id, p.payment_id, p.amount, a.currency, p.paid_at, p.reported_at,
  p.payer_account_no, p.payer_account_name, p.payer_bank_code, p.state, p.why, p.credited_to,
  p.evidence, null as reference, null as contradicts`

const fromUnmatched = (condition: string) => `
  select null::bigint, null::uuid, u.payment_id, u.amount, u.currency, u.paid_at, u.reported_at,
    u.payer_account_no, u.payer_account_name, u.payer_bank_code,
    u.state, u.why, null, u.evidence, u.reference, u.contradicts
  from unmatched_payments u where $1::bigint is null and (${condition})`

/** Every payment that awaits a decision. */
export const allToDecide: PaymentSearch = {
  state: 'to_decide',
  agentId: null,
  paymentId: null,
  why: null,
  assignee: null,
  after: null,
  limit: 10_000,
}

/** Joins the latest assignment of a payment. */
const withAssignee = (found: string) => `select f.*, n.assignee from (${found}) f
  left join lateral (
    select assignee from payment_notes n where n.payment_id = f.payment_id and n.assigns
    order by n.note_no desc limit 1
  ) n on true`

/**
 * Payments that a person credited to an order, by the latest ten thousand decisions: only the audit log tells them from
 * those that came in right.
 */
const creditedByPerson = `select ${columns} from (
    select distinct d.agent_id, d.subject_id from (
      select l.agent_id, l.subject_id from audit_log l
      where l.action = 'credit_payment' and l.outcome = 'done' and l.subject_kind = 'payment'
        and ($1::bigint is null or l.agent_id = $1)
      order by l.audit_id desc limit 10000
    ) d
  ) l
  join payments p on p.agent_id = l.agent_id and p.payment_id = l.subject_id
  join agents a on a.agent_id = p.agent_id
  where p.credited_to = 'order'`

/**
 * Payments that need or needed a person, oldest first; decided ones latest first. Payments that paid their
 * order directly, which is nearly all of them, are in no index used here and are not read.
 */
export async function searchPayments(pool: Pool, search: PaymentSearch): Promise<FoundPayment[]> {
  const { agentId, paymentId, why, assignee, after, limit } = search
  const isToDecide = search.state === 'to_decide'
  const [beyond, direction] = isToDecide ? ['>', 'asc'] : ['<', 'desc']
  const sorted = `order by reported_at ${direction}, payment_id ${direction}`
  const isNext = `($2::text is null or why = $2) and ($7::text is null or payment_id = $7)
    and ($3::timestamptz is null or (reported_at, payment_id) ${beyond} ($3, $4))`
  const isDecided = `credited_to is distinct from 'order' and state <> 'waiting'`
  // Reads agent by agent along the index of waiting payments. Assignees are looked up for one page only,
  // unless the search filters by assignee.
  const found = `
    select ${columns} from agents a cross join lateral (
      select * from payments q where q.agent_id = a.agent_id and ${isToDecide ? isWaiting : isDecided}
        and ${isNext} ${sorted} ${assignee === null ? 'limit $5' : ''}
    ) p where $1::bigint is null or a.agent_id = $1
    union all
    select * from (${fromUnmatched(isToDecide ? isWaiting : isEnded)})
      u(agent_id, order_id, payment_id, amount, currency, paid_at, reported_at, payer_account_no,
        payer_account_name, payer_bank_code, state, why, credited_to, evidence, reference,
        contradicts)
    where ${isNext}
    ${isToDecide ? '' : `union all select * from (${creditedByPerson}) c where ${isNext}`}`
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
 * How many payments await a decision, and since when: those of the given agents, or all of them including
 * unmatched ones. Counts up to a limit, or all of them if `upTo` is null.
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
     select u.reported_at from unmatched_payments u where $1::bigint[] is null and ${isWaiting}`,
    [agentIds],
    upTo,
  )
}

/** One payment in any state, among those that involved a person or paid an order. */
export async function findPayment(
  pool: Pool,
  paymentId: string,
): Promise<FoundPayment | undefined> {
  // A payment that is assigned to an agent between the two reads is found by the second look.
  return (await lookFor(pool, paymentId)) ?? lookFor(pool, paymentId)
}

async function lookFor(pool: Pool, paymentId: string): Promise<FoundPayment | undefined> {
  const claim = await findClaim(pool, paymentId)
  const payments = `select ${columns} from payments p join agents a using (agent_id)
    where p.payment_id = $2`
  const found = `
    ${payments} and p.agent_id = $3
    union ${payments} and p.state = 'waiting'
    union all ${fromUnmatched(`u.payment_id = $2 and (${isEnded} or ${isWaiting})`)}`
  // Before claims existed, a provider could give two payments one id: the one to decide on comes first.
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
