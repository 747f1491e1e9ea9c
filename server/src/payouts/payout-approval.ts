import { findAgentById } from '../agents/find-agent.ts'
import { type ApprovalRule, judge } from '../approvals/approval-rules.ts'
import { findProposal, type ProposedAction, propose } from '../approvals/proposal.ts'
import { inTransaction } from '../db/in-transaction.ts'
import { type Pool, sqlState } from '../db/pool.ts'
import type { Order } from '../ledger/book.ts'
import type { LimitCheck } from '../ledger/limits.ts'
import { txnId } from '../lib/ids.ts'
import { decimalText } from '../lib/money.ts'
import { Problem } from '../lib/problem.ts'
import type { Desk } from '../teller/desk.ts'

type ApprovalDesk = Pick<Desk, 'pool' | 'teller' | 'now'>

/** What is run when a payout is approved: nothing but the hand-over, which looks at the decision itself. */
export const payOutRoute = 'pay out'

/** How long a withdrawal waits for a decision; then it fails. */
const waitsMs = 7 * 86_400_000

/**
 * Whether a withdrawal may be handed to a provider: a rule may ask for a second person above an amount, and when
 * the withdrawal was created a limit may have said that it waits for one, or for a time. The
 * proposal has the order's id, so it is made once. A withdrawal that was declined or not decided on in time
 * fails: no provider has seen it.
 */
export async function mayPayOut(desk: ApprovalDesk, order: Order): Promise<boolean> {
  const { agentId, amountMinor: minor, currency, orderId } = order
  const { rules, check } = await readSaid(desk.pool, order)
  const amount = { minor, currency }
  const { needsTwo, adminOnly } = judge(rules, 'sandbox', { action: 'pay_out', agentId, amount })
  if (!needsTwo && check?.outcome !== 'hold') {
    return check?.waitUntil == null || check.waitUntil <= desk.now()
  }
  const proposal = await findProposal(desk.pool, orderId)
  if (!proposal) {
    const why = check && check.outcome !== 'note' ? check.words : null
    await proposePayout(desk, order, adminOnly, why)
    return false
  }
  const { verdict } = proposal
  // The decision counts, however its run ended. Nobody decides that a new account waits less.
  if (verdict === 'approved') return check?.waitUntil == null || check.waitUntil <= desk.now()
  // One that is due but not yet marked as expired might still be approved by a clock that is behind.
  if (verdict !== null) {
    const why = {
      declined: 'It was declined',
      withdrawn: 'It was withdrawn',
      expired: 'Nobody approved it in time',
    }[verdict]
    await fail(desk, order, proposal.decisionReason ? `${why}: ${proposal.decisionReason}` : why)
  }
  return false
}

type Said = Pick<LimitCheck, 'outcome' | 'words' | 'waitUntil'>

/** The rules for payouts, and what limits said about the withdrawal when it was created: in one look. */
async function readSaid(
  pool: Pool,
  { agentId, orderId }: Order,
): Promise<{ rules: ApprovalRule[]; check: Said | undefined }> {
  const { rows } = await pool.query<ApprovalRule & { [P in keyof Said]: Said[P] | null }>(
    `select r.action, r.agent_id as "agentId", r.currency, r.needs_two as "needsTwo",
       r.above as "aboveMinor", r.admin_only as "adminOnly", c.outcome, c.words,
       c.wait_until as "waitUntil"
     from (select 1) one
     left join limit_checks c on c.agent_id = $1 and c.order_id = $2
     left join approval_rules r on r.action = 'pay_out'`,
    [agentId, orderId],
  )
  const { outcome = null, words = null, waitUntil = null } = rows[0] ?? {}
  return {
    rules: rows.filter(({ action }) => action !== null),
    check: outcome && words ? { outcome, words, waitUntil } : undefined,
  }
}

async function proposePayout(
  desk: ApprovalDesk,
  order: Order,
  adminOnly: boolean,
  why: string | null,
): Promise<void> {
  const at = desk.now()
  const agent = await findAgentById(desk.pool, order.agentId)
  const person = { userId: null, email: `agent ${agent?.appId ?? order.agentId}`, ip: null }
  const options = { proposalId: order.orderId, expiresAt: new Date(at.getTime() + waitsMs) }
  try {
    await inTransaction(desk.pool, (tx) =>
      propose(tx, { ...payOutProposal(order, adminOnly), reason: why }, person, at, options),
    )
  } catch (error) {
    // Another process has made it.
    if (sqlState(error) !== '23505') throw error
  }
}

/** A withdrawal as who approves it sees it. */
export function payOutProposal(order: Order, adminOnly: boolean): ProposedAction {
  const { agentId, orderId, amountMinor: minor, currency, status, version } = order
  const { accountNo, accountName, bankCode } = order
  const named = txnId(agentId, orderId)
  return {
    action: 'pay_out',
    subject: { kind: 'order', id: named },
    agentId,
    amount: { minor, currency },
    route: payOutRoute,
    input: { params: { txn_id: named }, body: {} },
    before: { status, version },
    after: {
      paid: `${decimalText(minor, currency)} ${currency}`,
      account_no: accountNo,
      account_name: accountName,
      bank_code: bankCode,
    },
    permission: 'act_on_orders',
    adminOnly,
    reason: null,
  }
}

/** Ends a withdrawal that no provider has seen, and never will. */
async function fail(desk: ApprovalDesk, { agentId, orderId }: Order, why: string): Promise<void> {
  const evidence = why.slice(0, 1000)
  const command = {
    type: 'outcome',
    agentId,
    orderId,
    at: desk.now(),
    to: 'FAILED',
    evidence,
  } as const
  try {
    await desk.teller.do(command)
  } catch (error) {
    // Its agent has cancelled it.
    if (!(error instanceof Problem) || error.code !== 'invalid_transition') throw error
  }
}
