import type { Pool } from '../db/pool.ts'

/** What a person decided on a payment. */
export interface PaymentDecision {
  at: Date
  action: 'credit_payment' | 'return_payment' | 'dismiss_payment'
  /** Who decided, or proposed it where two people had to. */
  by: string
  approvedBy: string | null
  reason: string | null
  evidence: string | null
  /** Where a credit went: an order, or an agent's wallet. */
  txnId: string | null
  walletOf: bigint | null
}

/** The decision on a payment that no longer waits, as the audit log has it; undefined if no person took one. */
export async function findDecision(
  pool: Pool,
  paymentId: string,
): Promise<PaymentDecision | undefined> {
  const { rows } = await pool.query<{
    at: Date
    action: PaymentDecision['action']
    by: string
    approved_by: string | null
    reason: string | null
    after: { txn_id?: string | null; evidence?: string } | null
    agent_id: bigint | null
  }>(
    `select l.at, l.action, coalesce(p.proposer, l.email) as by, p.decider as approved_by, l.reason,
       l.after, l.agent_id
     from audit_log l
     left join lateral (
       select p.proposer, d.decider from proposals p
       join proposal_decisions d using (proposal_id)
       left join proposal_ends e using (proposal_id)
       where (p.subject_kind = 'payment' and p.subject_id = $1 and p.action = l.action
           or p.subject_kind = 'payments' and p.subject_id = l.after ->> 'together')
         and d.verdict = 'approved' and d.decided_at <= l.at and e.state is distinct from 'refused'
       order by p.proposal_id desc limit 1
     ) p on true
     where l.subject_kind = 'payment' and l.subject_id = $1 and l.outcome = 'done'
       and l.action in ('credit_payment', 'return_payment', 'dismiss_payment')
     order by l.audit_id desc limit 1`,
    [paymentId],
  )
  const [row] = rows
  if (!row) return undefined
  const { at, action, by, reason, after } = row
  const txnId = after?.txn_id ?? null
  const isToWallet = action === 'credit_payment' && txnId === null
  return {
    at,
    action,
    by,
    approvedBy: row.approved_by,
    reason,
    evidence: after?.evidence ?? null,
    txnId,
    walletOf: isToWallet ? row.agent_id : null,
  }
}
