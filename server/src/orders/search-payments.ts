import type { Pool } from '../db/pool.ts'
import type { Payer, Payment } from '../ledger/book.ts'
import { orderIdFromUuid } from '../lib/ids.ts'
import type { Currency } from '../lib/money.ts'

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
  state: Payment['state']
  why: Payment['why']
  creditedTo: Payment['creditedTo']
  evidence: string | null
  reference: string | null
  assignee: string | null
}

export interface PaymentSearch {
  state: 'to_decide' | 'decided'
  agentId: bigint | null
  why: string | null
  assignee: string | null
  /** One payment, in whatever state. */
  paymentId: string | null
  after: { reportedAt: Date; paymentId: string } | null
  limit: number
}

/** One that was assigned and not credited counts too: crediting it again goes on from there. */
const isUndecided = `(u.state = 'waiting' or u.state = 'assigned' and not exists (
  select 1 from payments q where q.agent_id = u.assigned_to and q.payment_id = u.payment_id))`

const fromPayments = (condition: string) => `
  select p.agent_id, p.order_id, p.payment_id, p.amount, a.currency, p.paid_at, p.reported_at,
    p.payer_account_no, p.payer_account_name, p.payer_bank_code, p.state, p.why, p.credited_to,
    p.evidence, null as reference
  from payments p join agents a using (agent_id)
  where ${condition} and ($1::bigint is null or p.agent_id = $1)`

const fromUnmatched = (condition: string) => `
  select null::bigint, null::uuid, u.payment_id, u.amount, u.currency, u.paid_at, u.reported_at,
    u.payer_account_no, u.payer_account_name, u.payer_bank_code,
    case when u.state = 'assigned' then 'waiting' else u.state end, 'unmatched', null, u.evidence,
    u.reference
  from unmatched_payments u where ${condition} and $1::bigint is null`

/**
 * Payments for which a person is or was needed, the oldest first; decided ones the latest first. Those
 * that paid their order by themselves, nearly all, are in neither index and are not looked at.
 */
export async function searchPayments(pool: Pool, search: PaymentSearch): Promise<FoundPayment[]> {
  const { state, agentId, why, assignee, paymentId, after, limit } = search
  const isOpen = state === 'to_decide'
  const found = paymentId
    ? `${fromPayments('p.payment_id = $4')} union all ${fromUnmatched(`u.payment_id = $4
        and (u.state = 'returned' or ${isUndecided})`)}`
    : isOpen
      ? `${fromPayments("p.state = 'waiting' and $4::text is null")}
         union all ${fromUnmatched(isUndecided)}`
      : `${fromPayments("p.credited_to is distinct from 'order' and p.state <> 'waiting' and $4::text is null")}
         union all ${fromUnmatched("u.state = 'returned'")}`
  const [beyond, direction] = isOpen ? ['>', 'asc'] : ['<', 'desc']
  const { rows } = await pool.query<FoundRow>(
    `select f.*, n.assignee from (${found}) f
     left join lateral (
       select assignee from payment_notes n where n.payment_id = f.payment_id and n.assigns
       order by n.note_id desc limit 1
     ) n on true
     where ($2::text is null or f.why = $2) and ($3::text is null or n.assignee = $3)
       and ($5::timestamptz is null or (f.reported_at, f.payment_id) ${beyond} ($5, $6))
     order by f.reported_at ${direction}, f.payment_id ${direction} limit $7`,
    [agentId, why, assignee, paymentId, after?.reportedAt ?? null, after?.paymentId ?? null, limit],
  )
  return rows.map(foundFromRow)
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
  state: Payment['state']
  why: Payment['why']
  credited_to: Payment['creditedTo']
  evidence: string | null
  reference: string | null
  assignee: string | null
}

function foundFromRow(row: FoundRow): FoundPayment {
  const payer = {
    accountNo: row.payer_account_no,
    accountName: row.payer_account_name,
    bankCode: row.payer_bank_code,
  }
  const isKnown = Object.values(payer).some((value) => value !== null)
  return {
    paymentId: row.payment_id,
    agentId: row.agent_id,
    orderId: row.order_id && orderIdFromUuid(row.order_id),
    amountMinor: row.amount,
    currency: row.currency,
    paidAt: row.paid_at,
    reportedAt: row.reported_at,
    payer: isKnown ? payer : null,
    state: row.state,
    why: row.state === 'waiting' ? row.why : null,
    creditedTo: row.credited_to,
    evidence: row.evidence,
    reference: row.reference,
    assignee: row.assignee,
  }
}
