import { currencyOf } from '../agents/agent-currency.ts'
import type { Pool } from '../db/pool.ts'
import type { Payer, Payment } from '../ledger/book.ts'
import type { PaymentNotice } from '../ledger/decide.ts'
import { orderIdFromUuid } from '../lib/ids.ts'
import type { Currency } from '../lib/money.ts'
import { Problem } from '../lib/problem.ts'
import type { Desk } from './desk.ts'

type PaymentDesk = Pick<Desk, 'pool' | 'teller' | 'now'>

/** Money that came in and waits for a person's decision. */
export interface WaitingPayment extends PaymentNotice {
  /** Null where nobody knows whose it is. */
  agentId: bigint | null
  orderId: string | null
  currency: Currency
  reportedAt: Date
  why: NonNullable<Payment['why']>
  /** What the payer gave as the reference, where it led nowhere. */
  reference: string | null
}

export interface UnmatchedPayment extends PaymentNotice {
  reference: string
  currency: Currency
  state: 'waiting' | 'assigned' | 'returned'
  assignedTo: bigint | null
}

interface PayerRow {
  payer_account_no: string | null
  payer_account_name: string | null
  payer_bank_code: string | null
}

interface UnmatchedRow extends PayerRow {
  payment_id: string
  reference: string
  amount: bigint
  currency: Currency
  paid_at: Date
  reported_at: Date
  state: UnmatchedPayment['state']
  assigned_to: bigint | null
}

/** False where it was recorded before. */
export async function recordUnmatched(
  pool: Pool,
  payment: PaymentNotice & { reference: string; currency: Currency },
  at: Date,
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `insert into unmatched_payments (payment_id, reference, amount, currency, paid_at, reported_at,
       payer_account_no, payer_account_name, payer_bank_code, state)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'waiting') on conflict do nothing`,
    [
      payment.paymentId,
      payment.reference.slice(0, 200),
      payment.amountMinor,
      payment.currency,
      payment.paidAt,
      at,
      payment.payer?.accountNo ?? null,
      payment.payer?.accountName ?? null,
      payment.payer?.bankCode ?? null,
    ],
  )
  return rowCount === 1
}

export async function findUnmatched(
  pool: Pool,
  paymentId: string,
): Promise<UnmatchedPayment | undefined> {
  const { rows } = await pool.query<UnmatchedRow>(
    'select * from unmatched_payments where payment_id = $1',
    [paymentId],
  )
  const row = rows[0]
  return (
    row && {
      paymentId,
      reference: row.reference,
      amountMinor: row.amount,
      currency: row.currency,
      paidAt: row.paid_at,
      payer: payerFromRow(row),
      state: row.state,
      assignedTo: row.assigned_to,
    }
  )
}

/** False where it does not wait any more. */
export async function returnUnmatched(
  pool: Pool,
  paymentId: string,
  evidence: string,
  at: Date,
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `update unmatched_payments set state = 'returned', evidence = $2, decided_at = $3
     where payment_id = $1 and state = 'waiting'`,
    [paymentId, evidence, at],
  )
  return rowCount === 1
}

export async function findPayment(
  pool: Pool,
  agentId: bigint,
  paymentId: string,
): Promise<Pick<Payment, 'orderId' | 'state'> | undefined> {
  const { rows } = await pool.query<{ order_id: string | null; state: Payment['state'] }>(
    'select order_id, state from payments where agent_id = $1 and payment_id = $2',
    [agentId, paymentId],
  )
  const row = rows[0]
  return row && { orderId: row.order_id && orderIdFromUuid(row.order_id), state: row.state }
}

/** Everything that waits for a decision, the oldest first. */
export async function listWaitingPayments(
  pool: Pool,
  filter: { agentId: bigint | null; paymentId: string | null; limit: number },
): Promise<WaitingPayment[]> {
  const { rows } = await pool.query<
    Omit<UnmatchedRow, 'reference'> & {
      agent_id: bigint | null
      order_id: string | null
      why: WaitingPayment['why']
      reference: string | null
    }
  >(
    `select * from (
       select p.agent_id, p.order_id, p.payment_id, p.amount, a.currency, p.paid_at, p.reported_at,
         p.payer_account_no, p.payer_account_name, p.payer_bank_code, p.why, null as reference
       from payments p join agents a using (agent_id)
       where p.state = 'waiting' and ($1::bigint is null or p.agent_id = $1)
       union all
       select null, null, u.payment_id, u.amount, u.currency, u.paid_at, u.reported_at,
         u.payer_account_no, u.payer_account_name, u.payer_bank_code, 'unmatched', u.reference
       from unmatched_payments u
       where $1::bigint is null and (u.state = 'waiting'
         -- Whoever assigned it did not live to credit it: doing so again goes on from there.
         or u.state = 'assigned' and not exists (select 1 from payments p
           where p.agent_id = u.assigned_to and p.payment_id = u.payment_id))
     ) waiting
     where $2::text is null or payment_id = $2
     order by reported_at, payment_id limit $3`,
    [filter.agentId, filter.paymentId, filter.limit],
  )
  return rows.map((row) => ({
    agentId: row.agent_id,
    orderId: row.order_id && orderIdFromUuid(row.order_id),
    paymentId: row.payment_id,
    amountMinor: row.amount,
    currency: row.currency,
    paidAt: row.paid_at,
    reportedAt: row.reported_at,
    payer: payerFromRow(row),
    why: row.why,
    reference: row.reference,
  }))
}

/**
 * Credits a payment that waits: to an order, with the amount really paid and the fee by the order's
 * own rule, or to the wallet as an adjustment that names the payment.
 */
export async function creditPayment(
  desk: PaymentDesk,
  paymentId: string,
  to: { agentId: bigint; orderId: string | null },
  reason: string,
): Promise<{ changed: boolean }> {
  const { agentId, orderId } = to
  const unmatched = await findUnmatched(desk.pool, paymentId)
  if (unmatched) await assign(desk, unmatched, agentId, orderId)
  const at = desk.now()
  // What has been credited by being assigned to its order is unchanged here, which is as well.
  return orderId === null
    ? desk.teller.do({ type: 'credit_wallet', agentId, at, paymentId, reason })
    : desk.teller.do({ type: 'credit_payment', agentId, at, orderId, paymentId })
}

/** A payment that waits was given back to whoever paid it. */
export async function returnPayment(
  desk: PaymentDesk,
  paymentId: string,
  evidence: string,
): Promise<void> {
  const [waiting] = await listWaitingPayments(desk.pool, { agentId: null, paymentId, limit: 1 })
  if (!waiting) throw new Problem('not_found', `No payment ${paymentId} waits for a decision.`)
  const at = desk.now()
  const { agentId } = waiting
  if (agentId === null) {
    if (await returnUnmatched(desk.pool, paymentId, evidence, at)) return
    throw new Problem('invalid_transition', 'The payment was decided on meanwhile.')
  }
  await desk.teller.do({ type: 'return_payment', agentId, at, paymentId, evidence })
}

/** Makes a payment nobody knew one of the agent's: the first who does so decides whose it is. */
async function assign(
  desk: PaymentDesk,
  unmatched: UnmatchedPayment,
  agentId: bigint,
  orderId: string | null,
): Promise<void> {
  const { paymentId, amountMinor, paidAt, payer, currency } = unmatched
  if ((await currencyOf(desk.pool, agentId)) !== currency) {
    throw new Problem('invalid_transition', `The payment is in ${currency}, the wallet is not.`)
  }
  const at = desk.now()
  await desk.pool.query(
    `update unmatched_payments set state = 'assigned', assigned_to = $2, decided_at = $3
     where payment_id = $1 and state = 'waiting'`,
    [paymentId, agentId, at],
  )
  const now = await findUnmatched(desk.pool, paymentId)
  if (now?.assignedTo !== agentId) {
    throw new Problem('invalid_transition', `The payment is ${now?.state ?? 'gone'} already.`)
  }
  const payment = { paymentId, amountMinor, paidAt, payer }
  await desk.teller.do({ type: 'receive_payment', agentId, orderId, at, payment })
}

function payerFromRow(row: PayerRow): Payer | null {
  const payer = {
    accountNo: row.payer_account_no,
    accountName: row.payer_account_name,
    bankCode: row.payer_bank_code,
  }
  return Object.values(payer).some((value) => value !== null) ? payer : null
}
