import { findAgentById } from '../agents/find-agent.ts'
import { type ApprovalRule, judge } from '../approvals/approval-rules.ts'
import { type Person, type Proposal, type ProposedAction, propose } from '../approvals/proposal.ts'
import { inTransaction } from '../db/in-transaction.ts'
import { type Pool, sqlState } from '../db/pool.ts'
import type { Order } from '../ledger/book.ts'
import type { LimitCheck } from '../ledger/limits.ts'
import { txnId } from '../lib/ids.ts'
import { decimalText } from '../lib/money.ts'
import { Problem } from '../lib/problem.ts'
import type { Desk } from '../teller/desk.ts'
import { whyRestoreHolds } from './restore-lock.ts'

type ApprovalDesk = Pick<Desk, 'pool' | 'teller' | 'now'>

/** What is run when a payout is approved: nothing but the hand-over, which looks at the decision itself. */
export const payOutRoute = 'pay out'

/** How long a withdrawal waits for a decision; then it fails. */
const waitsMs = 7 * 86_400_000

/**
 * Whether a withdrawal may be handed to a provider: a rule may ask for a second person above an amount, and when
 * the withdrawal was created a limit may have said that it waits for one, or for a time. The
 * proposal has the order's id, so it is made once. A withdrawal that was declined or not decided on in time
 * fails, whatever the rules say by then: no provider has seen it.
 */
export async function mayPayOut(desk: ApprovalDesk, order: Order): Promise<boolean> {
  const [said] = await readSaid(desk, [order])
  if (!said) return false
  const { says, why, adminOnly } = said
  if (says === 'propose') await proposePayout(desk, order, adminOnly, why)
  // After a restore it may have been approved and paid, in the time that was lost.
  if (says === 'fail' && (await whyRestoreHolds(desk.pool, order)) === undefined) {
    await fail(desk, order, why ?? '')
  }
  return says === 'pay'
}

/** Those of some withdrawals that nobody can pay out yet, and of which nothing has to be said, in one look. */
export async function payoutsThatWait(
  desk: Pick<ApprovalDesk, 'pool' | 'now'>,
  orders: readonly Order[],
): Promise<Set<string>> {
  const said = await readSaid(desk, orders)
  return new Set(said.flatMap(({ orderId, says }) => (says === 'wait' ? orderId : [])))
}

/** Those of some withdrawals that may be paid out now, in one look that changes nothing. */
export async function payoutsAllowed(
  desk: Pick<ApprovalDesk, 'pool' | 'now'>,
  orders: readonly Order[],
): Promise<Set<string>> {
  if (orders.length === 0) return new Set()
  const said = await readSaid(desk, orders)
  return new Set(said.flatMap(({ orderId, says }) => (says === 'pay' ? orderId : [])))
}

interface Said {
  orderId: string
  says: 'pay' | 'wait' | 'propose' | 'fail'
  why: string | null
  adminOnly: boolean
}

type SaidRow = Pick<LimitCheck, 'orderId'> & {
  outcome: LimitCheck['outcome'] | null
  words: string | null
  waitUntil: Date | null
  isProposed: boolean
  verdict: Proposal['verdict']
  reason: string | null
}

const ends = {
  declined: 'It was declined',
  withdrawn: 'It was withdrawn',
  expired: 'Nobody approved it in time',
}

/** What the rules for payouts, limits and people say about withdrawals: in one look. */
async function readSaid(
  { pool, now }: Pick<ApprovalDesk, 'pool' | 'now'>,
  orders: readonly Order[],
): Promise<Said[]> {
  const { rows } = await pool.query<
    SaidRow & { [P in keyof ApprovalRule]: ApprovalRule[P] | null }
  >({
    name: 'payouts-said',
    text: `select replace(o.order_id::text, '-', '') as "orderId", c.outcome, c.words,
       c.wait_until as "waitUntil", p.proposal_id is not null as "isProposed", d.verdict, d.reason,
       r.action, r.agent_id as "agentId", r.currency, r.needs_two as "needsTwo",
       r.above as "aboveMinor", r.admin_only as "adminOnly"
     from unnest($1::bigint[], $2::uuid[]) o(agent_id, order_id)
     left join limit_checks c on c.agent_id = o.agent_id and c.order_id = o.order_id
     left join proposals p on p.proposal_id = o.order_id
     left join proposal_decisions d on d.proposal_id = o.order_id
     left join approval_rules r on r.action = 'pay_out'`,
    values: [orders.map(({ agentId }) => agentId), orders.map(({ orderId }) => orderId)],
  })
  // Each order has a row for each rule.
  const first = new Map(rows.map((row) => [row.orderId, row]))
  const rules = rows
    .filter(({ orderId }) => orderId === rows[0]?.orderId)
    .filter((row): row is SaidRow & ApprovalRule => row.action !== null)
  const at = now()
  return orders.flatMap((order) => {
    const row = first.get(order.orderId)
    return row ? saidOf(order, row, rules, at) : []
  })
}

function saidOf(order: Order, row: SaidRow, rules: readonly ApprovalRule[], now: Date): Said {
  const { agentId, orderId, amountMinor: minor, currency } = order
  const { outcome, verdict, waitUntil, reason, words } = row
  const amount = { minor, currency }
  const { needsTwo, adminOnly } = judge(rules, 'sandbox', { action: 'pay_out', agentId, amount })
  const said = (says: Said['says'], why: string | null = null): Said => ({
    ...{ orderId, says, why, adminOnly },
  })
  if (verdict !== null && verdict !== 'approved') {
    return said('fail', reason ? `${ends[verdict]}: ${reason}` : ends[verdict])
  }
  const needsPerson = (needsTwo || outcome === 'hold') && verdict === null
  if (needsPerson && !row.isProposed) return said('propose', outcome === 'note' ? null : words)
  // One that is due but not yet marked as expired might still be approved by a clock that is behind.
  if (needsPerson) return said('wait')
  // The decision counts, however its run ended. Nobody decides that a new account waits less.
  return said(waitUntil === null || waitUntil <= now ? 'pay' : 'wait')
}

async function proposePayout(
  desk: ApprovalDesk,
  order: Order,
  adminOnly: boolean,
  why: string | null,
): Promise<void> {
  const at = desk.now()
  const person = (await whoRefunds(desk.pool, order)) ?? (await agentOf(desk.pool, order))
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

async function agentOf(pool: Pool, { agentId }: Order): Promise<Person> {
  const agent = await findAgentById(pool, agentId)
  return { userId: null, email: `agent ${agent?.appId ?? agentId}`, ip: null }
}

/** Who asked for a refund in the console: they have caused its payout, so they do not approve it. */
async function whoRefunds(pool: Pool, order: Order): Promise<Person | undefined> {
  const { agentId, refundOf, refId, createdAt } = order
  if (refundOf === null) return undefined
  const { rows } = await pool.query<Person>(
    `select user_id as "userId", email, session_id as "sessionId", ip from audit_log
     where subject_kind = 'order' and subject_id = $1 and action = 'refund_order'
       and outcome = 'asked' and before ->> 'ref_id' = $2 and at <= $3
     order by audit_id desc limit 1`,
    [txnId(agentId, refundOf), refId, createdAt],
  )
  return rows[0]
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
